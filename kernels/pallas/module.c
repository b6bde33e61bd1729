/* module.c - from linker sections to programs: opens a module, passes it the API, and builds its programs.
 *
 * Each PROGRAM leaves a pointer in a section, each pl_expect_fault a mark of its function in another; the module's `heddle_module` holds
 * their bounds. No list is maintained by hand, and the order of files on the linker's command line does not matter.
 */
#include "module.h"
#include <dlfcn.h>
#include <glib.h>
#include <string.h>
#include "../../model/heap.h"
#include "../../model/input.h"
#include "../../model/outside.h"
#include "builder.h"

_Static_assert((int)PL_F64 == DTYPE_F64 && (int)PL_BF16 == DTYPE_BF16, "PlType is DType");
_Static_assert((int)PL_SEMAPHORE == SPACE_SEMAPHORE && (int)PL_VMEM == SPACE_VMEM, "PlSpace is Space");
_Static_assert((int)PL_FLAG == SEMAPHORE_FLAG && (int)PL_DMA == SEMAPHORE_DMA, "PlKind is SemaphoreKind");
_Static_assert((int)PL_LE == COMPARE_LE && (int)PL_GT == COMPARE_GT, "PlCompare is Compare");
_Static_assert((int)PL_MAX == TILE_MAX && (int)PL_DIV == TILE_DIV, "PlTileOp is TileOp");
#define SAME_FAULT(name, word, least, most, agents, does) _Static_assert((int)PL_##name == FAULT_##name, "PlFault is FaultId");
FAULT_IDS(SAME_FAULT)
_Static_assert(PL_DIMS_MAX == VIEW_DIMS_MAX && PL_DIMS_MAX == GRID_DIMS_MAX, "dimensions");
_Static_assert(sizeof(PlRef) <= 32, "refs are passed by value");

static const PlApi *the_api(void)
{
    static PlApi api;
    if (api.version == 0) {
        pl_call_install(&api);
        pl_device_install(&api);
        pl_buffer_install(&api);
        pl_ref_install(&api);
        pl_copy_install(&api);
        pl_semaphore_install(&api);
        pl_flag_install(&api);
        pl_value_install(&api);
        pl_compute_install(&api);
        pl_expect_install(&api);
        pl_windows_install(&api);
        pl_kernel_install(&api);
        outside_refuse = builder_refuse;
        api.bytes = sizeof api;
        api.version = PL_API_VERSION;
    }
    return &api;
}

/* With fewer devices than any fault needs, the faults with the smallest `from` are declared, so that the program still counts as wrong. */
static void settle_expected_faults(const Builder *builder)
{
    Program *program = builder->program;
    int64_t least = INT64_MAX;
    for (int f = 0; f < FAULT_COUNT; f++)
        if (builder->from[f] > 0)
            least = MIN(least, builder->from[f]);
    for (int f = 0; f < FAULT_COUNT; f++)
        if (builder->from[f] > 0 && builder->from[f] <= MAX(least, program->devices))
            program->expected_faults |= 1u << f;
    program->expected_from = program->expected_faults != 0 ? (uint32_t)least : 0;
}

/* An expectation must not be about an opaque buffer. */
static void check_expectations(Program *program)
{
    for (uint32_t i = 0; i < program->expectations.count; i++) {
        const Expectation *expectation = &STORE(Expectation, &program->expectations, i);
        for (uint32_t d = 0; d < expectation->decls; d++)
            if (program_decl(program, expectation->decl[d])->opaque)
                program_set_usage_error(program, expectation->site, "%s is opaque, so nothing can be expected of its values",
                                        builder_name(program, expectation->decl[d]));
    }
}

static void check_overrides(const Builder *builder)
{
    Program *program = builder->program;
    for (uint32_t i = 0; i < program->overrides.count; i++) {
        if (i < G_N_ELEMENTS(builder->overridden) && builder->overridden[i])
            continue;
        g_autoptr(GString) known = g_string_new(NULL);
        for (uint32_t p = 0; p < program->parameters.count; p++) {
            const Parameter *parameter = &STORE(Parameter, &program->parameters, p);
            g_string_append_printf(known, "%s%s (%" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ")", p ? ", " : "",
                                   program_text(program, parameter->name), parameter->least, parameter->greatest);
        }
        program_set_usage_error(program, NONE, "%s has no parameter \"%s\"; it has %s", program->name,
                                program_text(program, STORE(Parameter, &program->overrides, i).name), known->len > 0 ? known->str : "none");
    }
}

static void build(Program *program, const ProgramEntry *entry)
{
    const PlProgram *record = entry->self;
    Builder builder = { .program = program, .taken = g_hash_table_new(NULL, NULL) };
    if (program->name == NULL)                  /* a caller in a child has set it already, in memory shared with the parent */
        program->name = entry->name, program->summary = entry->summary, program->source = entry->source;
    builder_open = &builder;
    if (sigsetjmp(builder.unwind, 0) == 0) {
        record->build();
        if (program->launches.count == 0)
            builder_misuse(&record->site, "PROGRAM(%s) launches nothing", record->name);
        check_expectations(program);
        check_overrides(&builder);
        if (!input_is_used_up(program))
            program_set_usage_error(program, NONE, "the given input does not fit %s: it has %zu values, and %zu were asked for",
                                    program->name, program->input.count, program->drawn.count);
    }
    settle_expected_faults(&builder);
    builder_open = NULL;
    g_free(builder.copies);
    g_free(builder.windows);
    g_hash_table_unref(builder.taken);
}

static bool is_twin(const PlModule *module, const PlProgram *program)
{
    for (const PlTwin *const *twin = module->twin; twin < module->twin_end; twin++)
        if (strcmp((*twin)->function, program->site.function) == 0 && strcmp((*twin)->file, program->site.file) == 0)
            return true;
    return false;
}

static const char *group_of(const PlModule *module, const PlProgram *program)
{
    static const char *const folder[] = { "cases", "patterns", "jax", "windows" };
    for (size_t i = 0; i < G_N_ELEMENTS(folder); i++) {
        g_autofree char *path = g_strdup_printf("kernels/%s/", folder[i]);
        if (strstr(program->site.file, path) != NULL)
            return folder[i];
    }
    return is_twin(module, program) ? "twins" : "collectives";
}

static int compare_entries(const void *a, const void *b)
{
    const PlProgram *left = ((const ProgramEntry *)a)->self, *right = ((const ProgramEntry *)b)->self;
    int order = strcmp(left->site.file, right->site.file);
    return order != 0 ? order : (left->site.counter > right->site.counter) - (left->site.counter < right->site.counter);
}

static const char *twice(const PlModule *module)
{
    for (const PlProgram *const *a = module->program; a < module->program_end; a++)
        for (const PlProgram *const *b = a + 1; b < module->program_end; b++)
            if (strcmp((*a)->name, (*b)->name) == 0)
                return (*a)->name;
    return NULL;
}

static int compare_steps(const void *a, const void *b)
{
    const ProgramStep *left = a, *right = b;
    int order = strcmp(left->file, right->file);
    return order != 0 ? order : (left->counter > right->counter) - (left->counter < right->counter);
}

static ProgramStep *list_steps(const PlModule *module, size_t *steps)
{
    *steps = (size_t)(module->step_end - module->step);
    ProgramStep *step = g_new0(ProgramStep, MAX(*steps, 1));
    for (size_t i = 0; i < *steps; i++) {
        const PlSite *site = module->step[i];
        step[i] = (ProgramStep){ site->file, builder_function_name(site->function), site->line, site->counter };
    }
    qsort(step, *steps, sizeof *step, compare_steps);
    return step;
}

static ProgramModule *list_programs(const PlModule *module, void *handle)
{
    size_t count = (size_t)(module->program_end - module->program);
    ProgramEntry *entry = g_new0(ProgramEntry, MAX(count, 1));
    for (size_t i = 0; i < count; i++) {
        const PlProgram *program = module->program[i];
        entry[i] = (ProgramEntry){ program->name, program->summary, group_of(module, program), program->site.file, program, build };
    }
    qsort(entry, count, sizeof *entry, compare_entries);
    ProgramModule *opened = g_new0(ProgramModule, 1);
    *opened = (ProgramModule){ .entry = entry, .entries = count, .handle = handle };
    opened->step = list_steps(module, &opened->steps);
    *module->api = the_api();
    return opened;
}

static char *one_line(const char *text)
{
    return g_strdelimit(g_strdup(text != NULL ? text : "unknown reason"), "\r\n", ' ');
}

static const PlModule *find_module(void *handle, const char *path, char **error)
{
    const PlModule *module = dlsym(handle, "heddle_module");
    if (module == NULL || memcmp(module->magic, "heddle", sizeof "heddle") != 0)
        *error = g_strdup_printf("%s is not a Heddle module: no source of it includes heddle/pallas.h", path);
    else if (module->version != PL_API_VERSION || module->bytes != sizeof(PlApi))
        *error = g_strdup_printf("%s was built for version %u of the kernel API, this is version %u: compile it again", path,
                                 module->version, PL_API_VERSION);
    else if (module->program == module->program_end)
        *error = g_strdup_printf("%s has no programs: write PROGRAM(name, \"summary\") { ... }", path);
    else if (twice(module) != NULL)
        *error = g_strdup_printf("%s has two programs named %s", path, twice(module));
    else
        return module;
    return NULL;
}

ProgramModule *pl_module_open(const char *path, char **error)
{
    if (path == NULL) {
        static ProgramModule *own;              /* never freed */
        g_assert(twice(&heddle_module) == NULL);
        own = own ? own : list_programs(&heddle_module, NULL);
        return own;
    }
    g_autofree char *full = g_canonicalize_filename(path, NULL);        /* dlopen would search for a bare name in the system's folders */
    heap_load();
    void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    heap_loaded();
    if (handle == NULL) {
        g_autofree char *why = one_line(dlerror());
        *error = g_strdup_printf("cannot load %s: %s", path, why);
        return NULL;
    }
    const PlModule *module = find_module(handle, path, error);
    if (module == NULL) {
        dlclose(handle);
        return NULL;
    }
    return list_programs(module, handle);
}
