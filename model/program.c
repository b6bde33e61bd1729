/* program.c - the plan, its tables and its ids.
 *
 * Tables only grow (until rewind_to): a view, region, site or scoped declaration met in one run keeps its id in the next, so two runs
 * of one process can be compared step by step. Each declaration gets a range of ids of objects and semaphores.
 */
#include "program.h"
#include "drawn.h"
#include "labels.h"
#include "sane.h"
#include <glib.h>
#include <stdarg.h>
#include <string.h>

enum { STRINGS_MAX = 1 << 20, VIEWS_MAX = 1 << 24, DECLS_MAX = 1 << 20, RACING_MAX = 1 << 20 };

static void init_tables(Program *program)
{
    intern_init(&program->strings, STRINGS_MAX, (size_t)1 << 28);
    intern_init(&program->views, VIEWS_MAX, (size_t)VIEWS_MAX * 256);
    intern_init(&program->regions, VIEWS_MAX, (size_t)1 << 34);
    intern_init(&program->site_keys, STRINGS_MAX, (size_t)STRINGS_MAX * 32);
    intern_init(&program->scopes, DECLS_MAX, (size_t)DECLS_MAX * 16);
    store_init(&program->text, 1, (size_t)1 << 34);
    store_init(&program->sites, sizeof(Site), STRINGS_MAX);
    store_init(&program->decls, sizeof(Decl), DECLS_MAX);
    store_init(&program->launches, sizeof(Launch), 1 << 16);
    store_init(&program->expectations, sizeof(Expectation), 1 << 16);
    store_init(&program->parameters, sizeof(Parameter), 1 << 12);
    store_init(&program->overrides, sizeof(Parameter), 1 << 12);
    store_init(&program->input, sizeof(int64_t), 1 << 24);
    store_init(&program->drawn, sizeof(Drawn), 1 << 24);
    store_init(&program->steered, sizeof(uint64_t), STRINGS_MAX);
    store_init(&program->labels, sizeof(Labels), DECLS_MAX);
    store_init(&program->passed, sizeof(uint32_t), (size_t)1 << 31);
    store_init(&program->object_decls, sizeof(uint32_t), (size_t)1 << 31);
    store_init(&program->view_regions, sizeof(uint32_t), VIEWS_MAX);
    store_init(&program->semaphore_decls, sizeof(uint32_t), DECLS_MAX);
    store_init(&program->scope_decls, sizeof(uint32_t), DECLS_MAX);
    store_init(&program->barrier_decls, sizeof(uint32_t), DECLS_MAX);
    intern_init(&program->racing.keys, RACING_MAX, (size_t)RACING_MAX * 16);
    intern_init(&program->racing.reached, RACING_MAX, (size_t)RACING_MAX * 16);
    store_init(&program->racing.first, sizeof(uint32_t), RACING_MAX);
    store_init(&program->racing.rivals, 3 * sizeof(uint32_t), (size_t)RACING_MAX * 64);
}

static void begin_tables(Program *program)
{
    store_push(&program->passed, program->cores);
    const Region empty = { 0 };
    program_string(program, "");
    intern_add(&program->regions, &empty, region_key_bytes(&empty));
}

Program *program_new(const Mesh *mesh, uint32_t cores_per_device, const Knobs *knobs)
{
    Store home;
    store_init(&home, sizeof(Program), 1);
    Program *program = store_push(&home, 1);
    program->home = home;
    program_renew(program);
    program->mesh = *mesh;
    program->devices = mesh_devices(mesh);
    program->cores_per_device = cores_per_device;
    program->cores = program->devices * cores_per_device;
    program->knobs = *knobs;
    init_tables(program);
    begin_tables(program);
    return program;
}

enum { INTERNS = 7, STORES = 19 };

static void list_interns(Program *program, Intern **intern)
{
    Intern *const all[INTERNS] = { &program->strings, &program->views, &program->regions, &program->site_keys, &program->scopes,
                                   &program->racing.keys, &program->racing.reached };
    memcpy(intern, all, sizeof all);
}

static void list_stores(Program *program, Store **store)
{
    Store *const all[STORES] = { &program->text, &program->sites, &program->decls, &program->launches, &program->expectations,
                                 &program->parameters, &program->overrides, &program->input, &program->drawn,
                                 &program->labels, &program->object_decls, &program->view_regions, &program->semaphore_decls,
                                 &program->scope_decls, &program->barrier_decls,
                                 &program->racing.first, &program->racing.rivals, &program->passed, &program->steered };
    memcpy(store, all, sizeof all);
}

void program_free(Program *program)
{
    if (program == NULL)
        return;
    Intern *intern[INTERNS];
    Store *store[STORES];
    list_interns(program, intern);
    list_stores(program, store);
    for (size_t i = 0; i < INTERNS; i++)
        intern_clear(intern[i]);
    for (size_t i = 0; i < STORES; i++)
        store_clear(store[i]);
    Store home = program->home;
    store_clear(&home);
}

void program_start_over(Program *program)
{
    Intern *intern[INTERNS];
    Store *store[STORES];
    list_interns(program, intern);
    list_stores(program, store);
    for (size_t i = 0; i < INTERNS; i++)
        intern_truncate(intern[i], 0);
    for (size_t i = 0; i < STORES; i++)
        store_reset(store[i]);
    program->name = program->summary = program->source = NULL;
    program->objects = program->semaphores = program->sites_in_order = 0;
    program->edits = NULL;
    program->expected_faults = program->expected_from = 0;
    program->usage_error = program->not_applicable = NULL;
    program->least_input = program->many_inputs = program->racing.outside = program->note_steering = false;
    program_renew(program);
    begin_tables(program);
}

void program_make_private(Program *program)
{
    Intern *intern[INTERNS];
    Store *store[STORES];
    list_interns(program, intern);
    for (size_t i = 0; i < INTERNS; i++)
        intern_make_private(intern[i]);
    list_stores(program, store);
    for (size_t i = 0; i < STORES; i++)
        if (store[i] != &program->launches && store[i] != &program->passed)     /* what is learnt of a launch is shared */
            store_make_private(store[i]);
    store_make_private(&program->home);
}

void program_renew(Program *program)
{
    static uint32_t generations;
    program->generation = ++generations;
}

void *program_alloc(Program *program, size_t bytes)
{
    size_t pad = -program->text.count & 7;
    char *at = store_push(&program->text, bytes + pad + 1);     /* at least one byte, so that addresses differ */
    return at + pad;
}

uint32_t program_string(Program *program, const char *text)
{
    g_autofree char *valid = NULL;
    const char *c = text;
    while ((unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7f)
        c++;
    if (*c != '\0') {
        valid = g_utf8_make_valid(text, -1);
        for (char *v = valid; *v; v++)
            if ((unsigned char)*v < 0x20 || *v == 0x7f)
                *v = ' ';
        text = valid;
    }
    return intern_add(&program->strings, text, strlen(text) + 1);
}

const char *program_text(const Program *program, uint32_t string)
{
    return intern_get(&program->strings, string, NULL);
}

static uint32_t intern_site(Program *program, Site site)
{
    uint32_t id = intern_add(&program->site_keys, &site, sizeof site);
    if (id == program->sites.count)
        *(Site *)store_push(&program->sites, 1) = site;
    return id;
}

uint32_t program_site(Program *program, const char *file, const char *function, unsigned line, unsigned counter)
{
    return intern_site(program, (Site){ program_string(program, file), program_string(program, function), line, counter, 0, 0 });
}

uint32_t program_site_called(Program *program, uint32_t site_id, uint32_t caller)
{
    Site site = *program_get_site(program, site_id);
    site.caller = caller + 1;
    return intern_site(program, site);
}

bool program_same_line(const Program *program, uint32_t site, uint32_t other)
{
    const Site *a = program_get_site(program, site), *b = program_get_site(program, other);
    return a->file == b->file && a->function == b->function && a->line == b->line && a->counter == b->counter;
}

uint32_t program_view(Program *program, const View *view)
{
    return intern_add(&program->views, view, view_key_bytes(view));
}

const View *program_get_view(const Program *program, uint32_t view)
{
    return intern_get(&program->views, view, NULL);
}

const Region *program_get_region(const Program *program, uint32_t region)
{
    return intern_get(&program->regions, region, NULL);
}

uint32_t program_view_region(Program *program, uint32_t view)
{
    if (view >= program->view_regions.count)
        store_push(&program->view_regions, view + 1 - program->view_regions.count);
    uint32_t *cached = &STORE(uint32_t, &program->view_regions, view);
    if (*cached == 0) {                         /* region id + 1 */
        size_t bytes;
        g_autofree Region *region = view_region(program_get_view(program, view), &bytes);
        if (region == NULL)
            return NONE;
        *cached = (region->bytes ? intern_add(&program->regions, region, bytes) : 0) + 1;
    }
    return *cached - 1;
}

/* Tiles of VMEM are (8 * 4 / item size, 128). */
int64_t program_padded_size(const Decl *decl, unsigned dim)
{
    int64_t size = decl->size[dim], unit = 1;
    if (decl->space == SPACE_VMEM && dim + 1 == decl->ndim)
        unit = 128;
    else if (decl->space == SPACE_VMEM && dim + 2 == decl->ndim)
        unit = 32 / (int64_t)MIN(dtype_size_bytes(decl->dtype), 32);
    return unit == 1 || size == 0 ? size : (size + unit - 1) / unit * unit;
}

static void lay_out(Program *program, Decl *decl)
{
    View view;
    view_whole(&view, decl->dtype, decl->ndim, decl->size);
    int64_t stride = (int64_t)dtype_size_bytes(decl->dtype);
    bool padded = program->knobs.bounds == BOUNDS_PADDED && decl->space == SPACE_VMEM;
    for (unsigned d = decl->ndim; d-- > 0;) {
        view.stride[d] = stride;
        stride *= padded ? program_padded_size(decl, d) : decl->size[d];
    }
    decl->bytes = stride;
    decl->view = program_view(program, &view);
}

uint32_t program_add_decl(Program *program, const DeclSpec *spec)
{
    uint32_t id = (uint32_t)program->decls.count;
    Decl *decl = store_push(&program->decls, 1);
    decl->space = spec->space, decl->semaphore_kind = spec->semaphore_kind, decl->life = spec->life, decl->dtype = spec->dtype;
    decl->opaque = spec->opaque || program->knobs.data == DATA_OPAQUE, decl->input = spec->input, decl->once = spec->once;
    decl->ndim = spec->ndim;
    memcpy(decl->size, spec->size, sizeof decl->size);
    decl->name = program_string(program, spec->name ? spec->name : ""), decl->site = spec->site;
    decl->launch = decl->ordinal = NONE;
    decl->collective_id = spec->collective_id, decl->limit = -1, decl->initial = spec->initial;
    decl->fill = spec->fill, decl->closure = spec->closure;
    lay_out(program, decl);
    decl->first_object = program->objects, decl->units = program_decl_of_cores(decl) ? program->cores : program->devices;
    uint32_t *of = store_push(&program->object_decls, decl->units);
    for (uint32_t i = 0; i < decl->units; i++)
        of[i] = id;
    program->objects += decl->units;
    decl->first_semaphore = NONE;
    if (spec->space == SPACE_SEMAPHORE) {
        decl->elements = (uint32_t)view_elements(program_get_view(program, decl->view));
        decl->first_semaphore = program->semaphores;
        g_assert((uint64_t)program->semaphores + (uint64_t)decl->elements * program->cores < NONE);
        program->semaphores += decl->elements * program->cores;
        *(uint32_t *)store_push(&program->semaphore_decls, 1) = id;
    }
    SANE_NOW_AND_THEN(program->decls.count, program_assert_sane(program));
    return id;
}

void program_assert_sane(const Program *program)
{
    uint32_t objects = 0, semaphores = 0;
    for (uint32_t i = 0; i < program->decls.count; i++) {
        const Decl *decl = program_decl(program, i);
        g_assert(decl->first_object == objects && decl->first_semaphore == (decl->space == SPACE_SEMAPHORE ? semaphores : NONE));
        objects += decl->units, semaphores += decl->elements * program->cores;
    }
    g_assert(objects == program->objects && semaphores == program->semaphores && *program_text(program, 0) == '\0');
}

uint32_t program_scope_decl(Program *program, uint32_t launch, uint32_t ordinal, const DeclSpec *spec)
{
    const uint32_t key[3] = { launch, spec->site, ordinal };
    uint32_t scope = intern_add(&program->scopes, key, sizeof key);
    if (scope == program->scope_decls.count) {
        uint32_t id = program_add_decl(program, spec);
        program_decl(program, id)->launch = launch;
        program_decl(program, id)->ordinal = ordinal;
        *(uint32_t *)store_push(&program->scope_decls, 1) = id;
    }
    return STORE(uint32_t, &program->scope_decls, scope);
}

uint32_t program_barrier_decl(Program *program, int32_t collective_id)
{
    for (uint32_t i = 0; i < program->barrier_decls.count; i++) {
        uint32_t id = STORE(uint32_t, &program->barrier_decls, i);
        if (program_decl(program, id)->collective_id == collective_id)
            return id;
    }
    g_autofree char *name = g_strdup_printf("barrier semaphore of collective_id %d", collective_id);
    const DeclSpec spec = { .space = SPACE_SEMAPHORE, .semaphore_kind = SEMAPHORE_BARRIER, .dtype = DTYPE_I32, .life = LIFE_ALWAYS,
                            .collective_id = collective_id, .name = name };
    uint32_t id = program_add_decl(program, &spec);
    *(uint32_t *)store_push(&program->barrier_decls, 1) = id;
    return id;
}

Launch *program_add_launch(Program *program)
{
    Launch *launch = store_push(&program->launches, 1);
    launch->parallel_dim = launch->collective_id = -1;
    return launch;
}

uint32_t program_object(const Program *program, uint32_t decl, uint32_t core)
{
    const Decl *d = program_decl(program, decl);
    return d->first_object + (d->units == program->cores ? core : core / program->cores_per_device);
}

uint32_t program_object_decl(const Program *program, uint32_t object)
{
    return STORE(uint32_t, &program->object_decls, object);
}

uint32_t program_object_device(const Program *program, uint32_t object)
{
    const Decl *decl = program_decl(program, program_object_decl(program, object));
    uint32_t unit = object - decl->first_object;
    return decl->units == program->devices ? unit : unit / program->cores_per_device;
}

uint32_t program_semaphore_decl(const Program *program, uint32_t semaphore)
{
    uint32_t low = 0, high = (uint32_t)program->semaphore_decls.count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (program_decl(program, STORE(uint32_t, &program->semaphore_decls, middle))->first_semaphore <= semaphore)
            low = middle;
        else
            high = middle;
    }
    return STORE(uint32_t, &program->semaphore_decls, low);
}

uint32_t program_semaphore_core(const Program *program, uint32_t semaphore)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    return (semaphore - decl->first_semaphore) / decl->elements;
}

bool program_decl_is_result(const Decl *decl)
{
    return decl->space != SPACE_SEMAPHORE && !decl->opaque && !decl->once && decl->life != LIFE_SCOPE;
}

bool program_launch_on_device(const Program *program, uint32_t launch, uint32_t device)
{
    const uint8_t *on = program_launch(program, launch)->on_device;
    return on == NULL || on[device];
}

bool program_decl_launches(const Program *program, uint32_t decl, uint32_t device, uint32_t *first, uint32_t *last)
{
    bool found = false;
    for (uint32_t l = 0; l < program->launches.count; l++) {
        const Launch *launch = program_launch(program, l);
        if (!program_launch_on_device(program, l, device))
            continue;
        for (uint32_t i = 0; i < launch->decls; i++)
            if (launch->decl[i] == decl) {
                *first = found ? *first : l;
                *last = l;
                found = true;
            }
    }
    return found;
}

static void append_device(GString *text, const Program *program, uint32_t device)
{
    const Mesh *mesh = &program->mesh;
    g_string_append_printf(text, "device %u", device);
    for (unsigned axis = 0; mesh->axes > 1 && axis < mesh->axes; axis++)
        g_string_append_printf(text, "%s%u%s", axis ? "," : " (", mesh_coordinate(mesh, device, axis), axis + 1 == mesh->axes ? ")" : "");
}

char *program_describe_device(const Program *program, uint32_t device)
{
    GString *text = g_string_new(NULL);
    append_device(text, program, device);
    return g_string_free(text, FALSE);
}

char *program_describe_core(const Program *program, uint32_t core)
{
    uint32_t per = program->cores_per_device;
    GString *text = g_string_new(NULL);
    append_device(text, program, core / per);
    if (per > 1)
        g_string_append_printf(text, " core %u", core % per);
    return g_string_free(text, FALSE);
}

char *program_describe_site(const Program *program, uint32_t site_id)
{
    const Site *site = program_get_site(program, site_id);
    return g_strdup_printf("%s:%u", program_text(program, site->file), site->line);
}

/* The indices, in the decl's dimensions, of the element that contains byte `offset`. */
static void locate(const Program *program, const Decl *decl, int64_t offset, int64_t *index)
{
    const View *whole = program_get_view(program, decl->view);
    for (unsigned d = 0; d < decl->ndim; d++) {
        index[d] = whole->stride[d] ? offset / whole->stride[d] : 0;
        offset -= index[d] * whole->stride[d];
    }
}

static bool fills_its_box(const Decl *decl, const Region *region, const int64_t *first, const int64_t *last)
{
    int64_t elements = 1;
    for (unsigned d = 0; d < decl->ndim; d++) {
        if (last[d] < first[d])
            return false;
        elements *= last[d] - first[d] + 1;
    }
    return elements * (int64_t)dtype_size_bytes(decl->dtype) == region->bytes;
}

char *program_describe_region(const Program *program, uint32_t object, uint32_t region_id)
{
    const Decl *decl = program_decl(program, program_object_decl(program, object));
    const Region *region = program_get_region(program, region_id);
    GString *text = g_string_new(program_text(program, decl->name));
    if (decl->ndim > 0 && region->bytes > 0 && region->bytes < decl->bytes) {
        int64_t first[VIEW_DIMS_MAX], last[VIEW_DIMS_MAX];
        locate(program, decl, region->lo, first);
        locate(program, decl, region->hi - 1, last);
        bool box = fills_its_box(decl, region, first, last);
        g_string_append_c(text, '[');
        for (unsigned d = 0; d < decl->ndim; d++) {
            g_string_append(text, d ? ", " : "");
            if (first[d] == last[d])
                g_string_append_printf(text, "%" G_GINT64_FORMAT, first[d]);
            else
                g_string_append_printf(text, "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, MIN(first[d], last[d]), MAX(first[d], last[d]) + 1);
        }
        int64_t item = (int64_t)dtype_size_bytes(decl->dtype);
        if (!box && region->run_bytes > 0 && region->run_bytes < item)
            g_string_append_printf(text, "] (%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " bytes of an element)", region->run_bytes, item);
        else
            g_string_append(text, box ? "]" : "] (strided)");
    }
    g_string_append(text, " on ");
    append_device(text, program, program_object_device(program, object));
    if (program_decl_of_cores(decl) && program->cores_per_device > 1)
        g_string_append_printf(text, " core %u", (object - decl->first_object) % program->cores_per_device);
    return g_string_free(text, FALSE);
}

char *program_describe_semaphore(const Program *program, uint32_t semaphore)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    uint32_t core = (semaphore - decl->first_semaphore) / decl->elements, element = (semaphore - decl->first_semaphore) % decl->elements;
    GString *text = g_string_new(program_text(program, decl->name));
    if (decl->ndim > 0) {
        int64_t index[VIEW_DIMS_MAX];
        locate(program, decl, (int64_t)element * (int64_t)dtype_size_bytes(decl->dtype), index);
        g_string_append_c(text, '[');
        for (unsigned d = 0; d < decl->ndim; d++)
            g_string_append_printf(text, "%s%" G_GINT64_FORMAT, d ? ", " : "", index[d]);
        g_string_append_c(text, ']');
    }
    g_autofree char *owner = program_describe_core(program, core);
    g_string_append_printf(text, " of %s", owner);
    return g_string_free(text, FALSE);
}

void program_set_usage_error(Program *program, uint32_t site_id, const char *format, ...)
{
    if (program->usage_error != NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *where = site_id == NONE ? NULL : program_describe_site(program, site_id);
    g_autofree char *line = where ? g_strdup_printf("%s: %s", where, text) : g_strdup(text);
    program->usage_error = program_text(program, program_string(program, line));
}
