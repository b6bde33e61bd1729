/* kernel.c - what PROGRAM calls: parameters, sizes that do not apply, launches with checked and named arguments.
 *
 * A launch keeps its kernel and refs in the program's memory. A buffer without a name takes that of the kernel's parameter. Scratch that an
 * earlier launch has taken is declared again: each launch has its own.
 */
#include "kernel.h"
#include <glib.h>
#include <string.h>
#include "builder.h"
#include "windows.h"
#include "windows_inside.h"

typedef struct Call { const PlKernel *kernel; unsigned windows; const Window *window; int refs; PlRef ref[]; } Call;

static int64_t declare(const PlSite *here, const char *what, const char *name, int64_t value, int64_t least, int64_t greatest, bool choice)
{
    Builder *builder = builder_of(here, what);
    Program *program = builder->program;
    uint32_t id = program_string(program, name);
    bool given = false;
    for (uint32_t i = 0; i < program->parameters.count; i++)
        if (STORE(Parameter, &program->parameters, i).name == id)
            builder_misuse(here, "%s(%s, ...) is given twice: use the variable", what, name);
    for (uint32_t i = 0; i < program->overrides.count && i < G_N_ELEMENTS(builder->overridden); i++)
        if (STORE(Parameter, &program->overrides, i).name == id) {
            value = STORE(Parameter, &program->overrides, i).value;
            builder->overridden[i] = given = true;
        }
    if (choice && least <= greatest)
        value = builder_draw(here, name, given ? value : least, given ? value : greatest, NONE);
    if (value < least || value > greatest)
        builder_misuse(here, "%s=%lld is out of range: %s takes %lld to %lld", name, (long long)value, name, (long long)least,
                    (long long)greatest);
    *(Parameter *)store_push(&program->parameters, 1) = (Parameter){ id, value, least, greatest, choice };
    return value;
}

static int64_t parameter(const PlSite *here, const char *name, int64_t value, int64_t least, int64_t greatest)
{
    return declare(here, "PARAMETER", name, value, least, greatest, false);
}

static int64_t choose(const PlSite *here, const char *name, int64_t least, int64_t greatest)
{
    return declare(here, "pl_choose", name, least, least, greatest, true);
}

static int64_t parameter_value(const PlSite *here, const char *name)
{
    const Program *program = builder_program();
    for (uint32_t i = 0; i < program->parameters.count; i++)
        if (strcmp(program_text(program, STORE(Parameter, &program->parameters, i).name), name) == 0)
            return STORE(Parameter, &program->parameters, i).value;
    builder_misuse(here, "pl_parameter(%s): the program has no PARAMETER of that name", name);
}

static const char *where_it_fails(Program *program, const PlSite *here)
{
    g_autofree char *where = program_describe_site(program, builder_site(here));
    g_autofree char *why = g_strdup_printf("the condition at %s does not hold", where);
    return program_text(program, program_string(program, why));
}

static void needs(const PlSite *here, const char *why)
{
    Builder *builder = builder_of(here, "PL_NEEDS");
    builder->program->not_applicable = why != NULL && *why != '\0' ? program_text(builder->program, program_string(builder->program, why))
        : where_it_fails(builder->program, here);
    siglongjmp(builder->unwind, 1);
}

static void run_body(Core *core, const Launch *launch)
{
    const Call *call = launch->closure;
    builder_begin_body(core);
    call->kernel->call(call->ref + call->refs);
    builder_end_body(core);
}

static void run_windowed(Core *core, const Launch *launch)
{
    const Call *call = launch->closure;
    PlRef ref[PL_REFS_MAX] = { { 0 } };         /* windows differ in each step */
    memcpy(ref, call->ref, (size_t)call->refs * sizeof *ref);
    builder_begin_body(core);
    windows_enter(core, call->window, call->windows, ref);
    call->kernel->call(ref + call->refs);
    builder_end_body(core);
    windows_leave(core, call->window, call->windows);
}

/* The i-th of "a, b, c". */
static char *ref_name(const PlKernel *kernel, int i)
{
    g_auto(GStrv) names = g_strsplit(kernel->refs, ",", -1);
    return g_strstrip(g_strdup(g_strv_length(names) > (guint)i ? names[i] : "?"));
}

static uint32_t declare_again(Builder *builder, uint32_t decl)
{
    const Decl old = *program_decl(builder->program, decl);
    DeclSpec spec = { .space = old.space, .semaphore_kind = old.semaphore_kind, .dtype = old.dtype, .life = old.life, .ndim = old.ndim,
                      .opaque = old.opaque, .once = true, .collective_id = -1, .site = old.site,
                      .name = program_text(builder->program, old.name) };
    memcpy(spec.size, old.size, sizeof spec.size);
    uint32_t copy = program_add_decl(builder->program, &spec);
    Decl *now = program_decl(builder->program, copy);
    now->limit = old.limit;
    memcpy(now->exempt, old.exempt, sizeof now->exempt);
    builder->copies = g_renew(BuilderCopy, builder->copies, builder->copies_count + 1);
    builder->copies[builder->copies_count++] = (BuilderCopy){ decl, copy };
    return copy;
}

/* Scratch passed twice to one launch stays one buffer. */
static PlRef own_scratch(Builder *builder, PlRef ref, uint32_t first_copy)
{
    const Program *program = builder->program;
    if (!program_decl(program, ref.buffer)->once || !g_hash_table_contains(builder->taken, GUINT_TO_POINTER(ref.buffer)))
        return ref;
    for (size_t i = first_copy; i < builder->copies_count; i++)
        if (builder->copies[i].decl == ref.buffer)
            return builder_make_ref(builder->copies[i].copy, ref.view, ref.core);
    return builder_make_ref(declare_again(builder, ref.buffer), ref.view, ref.core);
}

static void check_count(const PlSite *here, const PlKernel *kernel, const PlRef *ref, int given)
{
    if (given != kernel->ref_count)
        builder_misuse(here, "%s needs %d refs (%s), got %d", kernel->name, kernel->ref_count, kernel->refs, given);
    for (int i = 0; i < given; i++)
        if (ref[i].mark == 0) {
            char name[64];
            g_autofree char *text = ref_name(kernel, i);
            g_strlcpy(name, text, sizeof name);
            g_clear_pointer(&text, g_free);
            builder_misuse(here, "%s: its ref %d (%s) was never set", kernel->name, i + 1, name);
        }
}

static PlRef take_argument(Builder *builder, const PlSite *here, Launch *launch, const PlKernel *kernel, PlRef ref, uint32_t first_copy)
{
    if (builder_is_barrier_placeholder(ref)) {
        if (launch->collective_id < 0)
            builder_misuse(here, "%s gets a barrier semaphore, which needs a collective_id (.collective_id = 0)", kernel->name);
        launch->uses_barrier_semaphore = true;
        uint32_t decl = program_barrier_decl(builder->program, launch->collective_id);
        return builder_make_ref(decl, program_decl(builder->program, decl)->view, NONE);
    }
    builder_ref(here, ref, kernel->name);
    return own_scratch(builder, ref, first_copy);
}

/* Returns the argument's name; a buffer without a name takes it. */
static const char *name_argument(Program *program, const PlKernel *kernel, int i, uint32_t decl_id)
{
    g_autofree char *name = ref_name(kernel, i);
    uint32_t kept = program_string(program, name);
    Decl *decl = program_decl(program, decl_id);
    if (*program_text(program, decl->name) == '\0')
        decl->name = kept;
    return program_text(program, kept);
}

/* Rooms and semaphores of windows come after the arguments. */
static void take_windows(Launch *launch, const Window *window)
{
    for (uint32_t i = 0; i <= window->buffers; i++)
        launch->decl[launch->decls++] = window->room + i;
}

static void take_arguments(Builder *builder, const PlSite *here, Launch *launch, const PlKernel *kernel, const PlRef *ref)
{
    Program *program = builder->program;
    int refs = kernel->ref_count, windows = 0;
    uint32_t first_copy = (uint32_t)builder->copies_count;
    for (int i = 0; i < refs; i++)
        windows += builder_is_windows_placeholder(ref[i]);
    Call *call = program_alloc(program, sizeof *call + (size_t)refs * sizeof *ref);
    Window *window = program_alloc(program, (size_t)windows * sizeof *window);
    launch->decl = program_alloc(program, ((size_t)refs + (size_t)windows * (PL_BUFFERS_MAX + 1)) * sizeof *launch->decl);
    *call = (Call){ .kernel = kernel, .window = window, .refs = refs };
    for (int i = 0; i < refs; i++) {
        bool windowed = builder_is_windows_placeholder(ref[i]);
        if (windowed && launch->host)
            builder_misuse(here, "pl_host hands arrays to %s as they are: pl_windows is an argument of pl_launch", kernel->name);
        call->ref[i] = take_argument(builder, here, launch, kernel, windowed ? windows_array(builder, ref[i]) : ref[i], first_copy);
        launch->decl[i] = call->ref[i].buffer;
        const char *name = name_argument(program, kernel, i, call->ref[i].buffer);
        if (windowed)
            window[call->windows++] = windows_make(builder, launch, ref[i], call->ref[i], (uint32_t)i, kernel->name, name);
    }
    launch->closure = call, launch->decls = (uint32_t)refs;
    for (unsigned i = 0; i < call->windows; i++)
        take_windows(launch, &window[i]);
    if (call->windows > 0)
        launch->body = run_windowed;
    for (uint32_t i = 0; i < launch->decls; i++)
        g_hash_table_add(builder->taken, GUINT_TO_POINTER(launch->decl[i]));
}

static const uint8_t *mark_devices(const PlSite *here, Program *program, const PlDevices *on)
{
    if (on == NULL)
        return NULL;
    uint8_t *mark = program_alloc(program, program->devices);
    for (int64_t i = 0; i < on->count; i++) {
        int64_t device = on->list != NULL ? on->list[i] : on->first + i * on->step;
        if (device < 0 || device >= program->devices)
            builder_misuse(here, "pl_launch_on names device %lld, but there are devices 0 to %u", (long long)device, program->devices - 1);
        mark[device] = 1;
    }
    return mark;
}

/* How many numbers `.grid = { ... }` has; 0: there is no grid. (A grid of {0} has no step, no grid has one step, and the values alone do
 * not distinguish them.) */
static uint32_t count_grid(const PlSite *here, const char *text)
{
    const char *c = strstr(text, ".grid");
    if (c == NULL)
        return 0;
    c += strlen(".grid");
    c += strspn(c, " \t\n");
    const char *brace = *c == '=' ? c + 1 + strspn(c + 1, " \t\n") : c;
    if (*brace != '{')
        builder_misuse(here, "the grid of a launch is written .grid = { n, ... }");
    c = brace + 1;
    uint32_t dims = c[strspn(c, " \t\n")] != '}';
    for (int depth = 1; *c != '\0' && depth > 0; c++) {
        depth += strchr("({[", *c) != NULL;
        depth -= strchr(")}]", *c) != NULL;
        dims += depth == 1 && *c == ',' && c[1 + strspn(c + 1, " \t\n")] != '}';
    }
    return dims;
}

static void set_grid(const PlSite *here, Launch *launch, const PlLaunch *given, const char *text)
{
    uint32_t dims = count_grid(here, text);
    for (uint32_t d = 0; d < GRID_DIMS_MAX; d++) {
        if (given->grid[d] < 0 || given->grid[d] > INT32_MAX)
            builder_misuse(here, "the grid of %s has %lld steps in dimension %u", program_text(builder_program(), launch->name),
                        (long long)given->grid[d], d);
        if (given->grid[d] != 0 && d >= dims)
            dims = d + 1;
        launch->grid[d] = given->grid[d];
    }
    launch->grid_dims = MIN(dims, GRID_DIMS_MAX);
}

static void set_parallel(const PlSite *here, Launch *launch, const PlLaunch *given)
{
    for (int32_t d = 0; d < GRID_DIMS_MAX; d++)
        if (given->dimension_semantics[d] == PL_PARALLEL) {
            if (d >= (int32_t)launch->grid_dims)
                builder_misuse(here, "dimension_semantics: dimension %d is PL_PARALLEL, but the grid has %u", d, launch->grid_dims);
            launch->parallel_dim = d;           /* Mosaic splits the first parallel dimension */
            return;
        }
}

static int count_args(const PlRef *ref)
{
    int count = PL_REFS_MAX;
    while (count > 0 && ref[count - 1].mark == 0)
        count--;
    return count;
}

static Launch *add_launch(const PlSite *here, Builder *builder, const PlKernel *kernel, const char *name)
{
    if (builder->program->launches.count >= UINT16_MAX)
        builder_misuse(here, "more than %d launches", UINT16_MAX - 1);
    Launch *launch = program_add_launch(builder->program);
    launch->name = program_string(builder->program, name != NULL ? name : kernel->name);
    launch->site = builder_site(here);
    launch->kernel = builder_line(&kernel->site);
    launch->body = run_body;
    return launch;
}

static void launch_kernel(const PlSite *here, const PlDevices *on, const PlKernel *kernel, const PlLaunch *given, const char *text)
{
    Builder *builder = builder_of(here, "pl_launch");
    check_count(here, kernel, given->args, count_args(given->args));
    Launch *launch = add_launch(here, builder, kernel, given->name);
    bool named = given->collective_id != 0 || strstr(text, ".collective_id") != NULL;
    if (given->collective_id < 0)
        builder_misuse(here, "collective_id is %d: it must be 0 or more", given->collective_id);
    launch->collective_id = named ? given->collective_id : -1;
    launch->one_core = given->one_core;
    launch->skip_device_barrier = given->skip_device_barrier;
    launch->allow_unused_collective_id = given->allow_collective_id_without_custom_barrier;
    launch->on_device = mark_devices(here, builder->program, on);
    set_grid(here, launch, given, text);
    set_parallel(here, launch, given);
    take_arguments(builder, here, launch, kernel, given->args);
}

static void host(const PlSite *here, const PlKernel *kernel, int refs, const PlRef *ref)
{
    Builder *builder = builder_of(here, "pl_host");
    check_count(here, kernel, ref, refs);
    Launch *launch = add_launch(here, builder, kernel, NULL);
    launch->host = true;
    take_arguments(builder, here, launch, kernel, ref);
}

void pl_kernel_install(PlApi *api)
{
    api->parameter = parameter;
    api->choose = choose;
    api->parameter_value = parameter_value;
    api->needs = needs;
    api->launch = launch_kernel;
    api->host = host;
}
