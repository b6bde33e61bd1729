/* catalogue.c - asks modules for their programs in one child, because a user's module runs code when it is loaded and built.
 *
 * Each program is built at one machine shape after another until it is applicable; the list shows what it declares there. The answer
 * crosses as one GVariant.
 */
#include "catalogue.h"
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

#define ENTRY_TYPE "(sssssuuuusa(sxxxb))"
#define ANSWER_TYPE "(sa" ENTRY_TYPE ")"

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
    return program;
}

static GVariant *describe_parameters(const Program *program)
{
    GVariantBuilder parameters;
    g_variant_builder_init(&parameters, G_VARIANT_TYPE("a(sxxxb)"));
    for (size_t i = 0; i < program->parameters.count; i++) {
        const Parameter *parameter = &STORE(Parameter, &program->parameters, i);
        g_variant_builder_add(&parameters, "(sxxxb)", program_text(program, parameter->name), parameter->value, parameter->least,
                              parameter->greatest, (gboolean)parameter->choice);
    }
    return g_variant_builder_end(&parameters);
}

static GVariant *describe(const CatalogueShared *shared, const ProgramEntry *entry)
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
    GVariant *answer = g_variant_new("(sssssuuuus@a(sxxxb))", entry->name, entry->summary, shared->built_in ? entry->group : "user",
                                     entry->source, shared->module ? shared->module : "",
                                     program->expected_faults, program->expected_from, fits ? program->devices : 0,
                                     fits ? program->cores_per_device : 1,
                                     fits && program->mesh.axes > 1 ? "x=2,y=2" : "", describe_parameters(program));
    program_free(program);
    return answer;
}

static void describe_all(CatalogueShared *shared, GVariantBuilder *entries, char **error)
{
    shared->control.phase = PHASE_LOAD;
    ProgramModule *module = shared->open(shared->module, error);
    for (size_t i = 0; module != NULL && i < module->entries; i++) {
        if (shared->name != NULL && strcmp(module->entry[i].name, shared->name) != 0)
            continue;
        g_strlcpy(shared->building, module->entry[i].name, sizeof shared->building);
        shared->control.phase = PHASE_PROGRAM;
        g_variant_builder_add_value(entries, describe(shared, &module->entry[i]));
    }
}

static void serve(ChildControl *control, void *argument, char request)
{
    CatalogueShared *shared = argument;
    (void)control, (void)request;
    g_autofree char *error = NULL;
    GVariantBuilder entries;
    g_variant_builder_init(&entries, G_VARIANT_TYPE("a" ENTRY_TYPE));
    for (guint i = 0; error == NULL && i < shared->modules->len; i++) {
        shared->module = shared->modules->pdata[i];
        describe_all(shared, &entries, &error);
    }
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_new(ANSWER_TYPE, error ? error : "", &entries));
    size_t bytes = g_variant_get_size(answer);
    g_variant_store(answer, store_push(&shared->answer, bytes));
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

static CatalogueEntry *read_entry(GVariant *from)
{
    CatalogueEntry *entry = g_new0(CatalogueEntry, 1);
    entry->parameters = g_array_new(FALSE, FALSE, sizeof(CatalogueParameter));
    g_autoptr(GVariantIter) parameters = NULL;
    g_variant_get(from, ENTRY_TYPE, &entry->name, &entry->summary, &entry->group, &entry->source, &entry->module, &entry->expected_faults,
                  &entry->expected_from, &entry->devices_min, &entry->cores, &entry->mesh, &parameters);
    if (entry->module[0] == '\0')
        g_clear_pointer(&entry->module, g_free);
    if (entry->mesh[0] == '\0')
        g_clear_pointer(&entry->mesh, g_free);
    CatalogueParameter parameter;
    gint64 value, least, greatest;
    while (g_variant_iter_next(parameters, "(sxxxb)", &parameter.name, &value, &least, &greatest, &parameter.choice)) {
        parameter.value = value, parameter.least = least, parameter.greatest = greatest;
        g_array_append_val(entry->parameters, parameter);
    }
    return entry;
}

static GPtrArray *read_answer(const Store *store, char **error)
{
    g_autoptr(GVariant) answer = g_variant_ref_sink(
        g_variant_new_from_data(G_VARIANT_TYPE(ANSWER_TYPE), store->base, store->count, FALSE, NULL, NULL));
    g_autoptr(GVariantIter) entries = NULL;
    char *problem = NULL;
    g_variant_get(answer, ANSWER_TYPE, &problem, &entries);
    if (problem[0] != '\0') {
        *error = problem;
        return NULL;
    }
    g_free(problem);
    GPtrArray *catalogue = g_ptr_array_new_with_free_func(free_entry);
    GVariant *entry;
    while ((entry = g_variant_iter_next_value(entries)) != NULL) {
        g_ptr_array_add(catalogue, read_entry(entry));
        g_variant_unref(entry);
    }
    return catalogue;
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
