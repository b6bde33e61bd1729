/* catalogue.c - asks modules for their programs in one child, because a user's module runs code when it is loaded and built.
 *
 * Each program is built at one machine shape after another until it is applicable; the list shows what it declares there.
 */
#include "catalogue.h"
#include "../../model/input.h"
#include "../facts/codec.h"
#include "../facts/limits.h"
#include "../run/child.h"
#include "installed.h"
#include <string.h>

enum { DEVICES_TRIED = 16 };
#define MODULES "lib/heddle"

typedef struct CatalogueShared {
    ChildControl control;
    Store home, answer;
    ProgramModuleOpen open;
    const GPtrArray *modules;                   /* of char*: paths; NULL: linked into this executable */
    bool built_in;                              /* installed with this executable, not a user's */
    const char *name;                           /* only that program; NULL: all */
    const char *module; char building[64];      /* the module and program being built */
} CatalogueShared;

/* Machine shapes to try, simplest first: lines of 1, 2, ... devices, the same with two cores each, then a small mesh. */
static bool nth_shape(unsigned n, Mesh *mesh, uint32_t *cores)
{
    *cores = n < DEVICES_TRIED || n == 2 * DEVICES_TRIED ? 1 : 2;
    if (n < 2 * DEVICES_TRIED)
        mesh_line(mesh, n % DEVICES_TRIED + 1);
    else
        mesh_parse(mesh, "x=2,y=2");
    return n < 2 * DEVICES_TRIED + 2;
}

static Program *build_at(const ProgramEntry *entry, const Mesh *mesh, uint32_t cores)
{
    const Knobs knobs = { 0 };
    Program *program = program_new(mesh, cores, &knobs);
    entry->build(program, entry);
    if (input_try_least(program))
        entry->build(program, entry);
    return program;
}

static void carry_entry(Codec *codec, CatalogueEntry *entry)
{
    codec_text(codec, &entry->name);
    codec_text(codec, &entry->summary);
    codec_text(codec, &entry->group);
    codec_text(codec, &entry->source);
    codec_text(codec, &entry->module);
    CODEC_PLAIN(codec, entry->expected_faults);
    CODEC_PLAIN(codec, entry->expected_from);
    CODEC_PLAIN(codec, entry->devices_min);
    CODEC_PLAIN(codec, entry->cores);
    codec_text(codec, &entry->mesh);
    CODEC_PLAIN(codec, entry->tables);
    codec_array(codec, &entry->parameters, sizeof(CatalogueParameter));
    for (guint i = 0; i < entry->parameters->len; i++) {
        CatalogueParameter *parameter = &g_array_index(entry->parameters, CatalogueParameter, i);
        if (codec_reads(codec))
            parameter->name = NULL;
        codec_text(codec, &parameter->name);
    }
}

static GArray *describe_parameters(const Program *program)
{
    GArray *parameters = g_array_new(FALSE, FALSE, sizeof(CatalogueParameter));
    for (size_t i = 0; i < program->parameters.count; i++) {
        const Parameter *parameter = &STORE(Parameter, &program->parameters, i);
        const CatalogueParameter told = { (char *)program_text(program, parameter->name), parameter->value, parameter->least,
                                          parameter->greatest, parameter->choice };
        g_array_append_val(parameters, told);
    }
    return parameters;
}

static void describe(const CatalogueShared *shared, const ProgramEntry *entry, Codec *codec)
{
    Program *program = NULL;
    Mesh mesh;
    uint32_t cores;
    bool fits = false;
    for (unsigned n = 0; !fits && nth_shape(n, &mesh, &cores); n++) {
        program_free(program);
        program = build_at(entry, &mesh, cores);
        fits = program->not_applicable == NULL;
    }
    g_autoptr(GArray) parameters = describe_parameters(program);
    CatalogueEntry told = { (char *)entry->name, (char *)entry->summary, (char *)(shared->built_in ? entry->group : "user"),
                            (char *)entry->source, (char *)shared->module, program->expected_faults, program->expected_from,
                            fits ? program->devices : 0, fits ? program->cores_per_device : 1,
                            fits && program->mesh.axes > 1 ? (char *)"x=2,y=2" : NULL, parameters, input_has_tables(program) };
    carry_entry(codec, &told);
    program_free(program);
}

static void describe_all(CatalogueShared *shared, Codec *codec, char **error)
{
    shared->control.phase = PHASE_LOAD;
    ProgramModule *module = shared->open(shared->module, error);
    for (size_t i = 0; module != NULL && i < module->entries; i++) {
        if (shared->name != NULL && strcmp(module->entry[i].name, shared->name) != 0)
            continue;
        g_strlcpy(shared->building, module->entry[i].name, sizeof shared->building);
        shared->control.phase = PHASE_PROGRAM;
        codec_flag(codec, true);
        describe(shared, &module->entry[i], codec);
    }
}

/* Entries, each behind a true; a false; and the error. */
static void serve(ChildControl *control, void *argument, char request)
{
    CatalogueShared *shared = argument;
    (void)control, (void)request;
    g_autofree char *error = NULL;
    Codec codec = codec_to_store(&shared->answer);
    for (guint i = 0; error == NULL && i < shared->modules->len; i++) {
        shared->module = shared->modules->pdata[i];
        describe_all(shared, &codec, &error);
    }
    codec_flag(&codec, false);
    codec_text(&codec, &error);
}

static void free_entry(gpointer data)
{
    CatalogueEntry *entry = data;
    for (guint i = 0; i < entry->parameters->len; i++)
        g_free(g_array_index(entry->parameters, CatalogueParameter, i).name);
    g_array_free(entry->parameters, TRUE);
    g_free(entry->name);
    g_free(entry->summary);
    g_free(entry->group);
    g_free(entry->source);
    g_free(entry->module);
    g_free(entry->mesh);
    g_free(entry);
}

static GPtrArray *read_answer(const Store *store, char **error)
{
    GPtrArray *catalogue = g_ptr_array_new_with_free_func(free_entry);
    Codec codec = codec_from(store->base, store->count);
    while (codec_flag(&codec, false)) {
        CatalogueEntry *entry = g_new0(CatalogueEntry, 1);
        carry_entry(&codec, entry);
        g_ptr_array_add(catalogue, entry);
    }
    codec_text(&codec, error);
    if (*error == NULL && !codec_is_over(&codec))
        *error = g_strdup("internal error: the list of programs is damaged");
    if (*error == NULL)
        return catalogue;
    g_ptr_array_free(catalogue, TRUE);
    return NULL;
}

static char *tell_end(const CatalogueShared *shared, ChildEnd end, const char *output)
{
    const char *module = shared->built_in ? "the built-in kernels" : shared->module;
    if (end == CHILD_TIMED_OUT || end == CHILD_OUT_OF_MEMORY) {
        limits_give_up();
        return child_tell_limit(&shared->control, end, module, shared->building, limits_preparation()->seconds);
    }
    if (end == CHILD_NOT_ALONE) {
        g_autofree char *phase = child_name_phase(&shared->control, module, shared->building);
        return g_strdup_printf("%s: %s " CHILD_MAY_NOT_START, module, phase);
    }
    return g_strdup_printf("%s: loading it or building its programs failed: %s%s%s", module,
                           end == CHILD_EXITED ? "it called exit" : child_describe_signal(shared->control.signal), output ? ": " : "",
                           output ? output : "");
}

static GPtrArray *ask(CatalogueShared asked, char **error)
{
    Store home;
    store_init(&home, sizeof(CatalogueShared), 1);
    CatalogueShared *shared = store_push(&home, 1);
    asked.home = home;
    *shared = asked;
    store_init(&shared->answer, 1, (size_t)1 << 28);
    Child child;
    GPtrArray *catalogue = NULL;
    if (child_start(&child, &shared->control, serve, shared, error)) {
        const ChildWatch watch = { .seconds_max = shared->built_in ? 0 : deadline_left(limits_preparation()) };
        ChildEnd end = child_wait(&child, &watch);
        g_autofree char *output = child_end(&child);
        if (end == CHILD_DONE)
            catalogue = read_answer(&shared->answer, error);
        else
            *error = tell_end(shared, end, output);
    }
    store_clear(&shared->answer);
    store_clear(&home);
    return catalogue;
}

GPtrArray *catalogue_read(ProgramModuleOpen open, const char *module, char **error)
{
    g_autoptr(GPtrArray) modules = g_ptr_array_new();
    g_ptr_array_add(modules, (gpointer)module);
    return ask((CatalogueShared){ .open = open, .modules = modules, .built_in = module == NULL }, error);
}

/* ---- built-in programs ---- */

static void add_installed(GPtrArray *modules)
{
    g_autofree char *missing = NULL, *folder = installed_find(MODULES, NULL, &missing);
    g_autoptr(GDir) open = folder ? g_dir_open(folder, 0, NULL) : NULL;
    for (const char *name; open != NULL && (name = g_dir_read_name(open)) != NULL;)
        if (g_str_has_suffix(name, ".so"))
            g_ptr_array_add(modules, g_build_filename(folder, name, NULL));
}

static gint compare_sources(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const CatalogueEntry *const *)a)->source, (*(const CatalogueEntry *const *)b)->source);
}

GPtrArray *catalogue_built_in(ProgramModuleOpen open, const char *name, char **error)
{
    g_autoptr(GPtrArray) modules = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(modules, NULL);
    add_installed(modules);
    GPtrArray *catalogue = ask((CatalogueShared){ .open = open, .modules = modules, .built_in = true, .name = name }, error);
    if (catalogue != NULL)
        g_ptr_array_sort(catalogue, compare_sources);
    return catalogue;
}

char *catalogue_missing(void)
{
    char *missing = NULL;
    g_free(installed_find(MODULES, NULL, &missing));
    return missing;
}
