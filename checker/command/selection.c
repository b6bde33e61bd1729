/* selection.c - finds wrong names and numbers before the first check runs. */
#include "selection.h"
#include <string.h>
#include "../report/suggest.h"

enum { INPUTS_TESTED = 1000 };
#define CHECKS_MAX 100000

CompileOptions selection_compile_options(const Options *options)
{
    return (CompileOptions){.include = options->include, .cflags = options->cflags,
                            .variants = options->command & (COMMAND_CHECK | COMMAND_TEST)};
}

/* Splits "file.c:program"; NULL: the operand names no program. */
static const char *program_part(const char *operand)
{
    const char *colon = strrchr(operand, ':');
    if (!colon || colon - operand < 3 || strchr(colon, '/') || g_file_test(operand, G_FILE_TEST_EXISTS))
        return NULL;
    return !strncmp(colon - 2, ".c", 2) || !strncmp(colon - 3, ".so", 3) ? colon + 1 : NULL;
}

static bool is_folder(const char *operand)
{
    return g_file_test(operand, G_FILE_TEST_IS_DIR);
}

static bool is_file(const char *operand)
{
    return strchr(operand, '/') || g_str_has_suffix(operand, ".c") || g_str_has_suffix(operand, ".so") || program_part(operand);
}

/* The error that the catalogue has no program of that name, or none at all. */
static char *tell_none(const GPtrArray *catalogue, const char *name, const char *source)
{
    if (!name)
        return source ? g_strdup_printf("%s holds no program; a kernel file needs PROGRAM(name, \"summary\") { ... }", source)
                      : g_strdup("no kernel is built in");
    if (!*name)
        return source ? g_strdup_printf("no program is named after the colon; heddle list %s shows those of the file", source)
                      : g_strdup("the name of a kernel is empty; heddle list shows what is built in");
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < catalogue->len; i++)
        g_ptr_array_add(names, ((const CatalogueEntry *)catalogue->pdata[i])->name);
    g_autofree char *missing = source ? NULL : catalogue_missing();
    const char *near = suggest_nearest(names, name);
    if (missing)
        return g_strdup_printf("no built-in kernel %s: only some are here, and %s", name, missing);
    if (near)
        return g_strdup_printf("no program %s in %s; did you mean %s?", name, source ? source : "the built-in kernels", near);
    return source ? g_strdup_printf("no program %s in %s; heddle list %s shows them", name, source, source)
                  : g_strdup_printf("no built-in kernel %s; heddle list shows them (a file needs its .c or a /)", name);
}

/* Appends the programs of a catalogue that are called `name` (NULL: all). */
static bool add_programs(Selection *selection, const GPtrArray *catalogue, const char *name, const char *source, char **error)
{
    guint before = selection->programs->len;
    for (guint i = 0; i < catalogue->len; i++) {
        const CatalogueEntry *entry = catalogue->pdata[i];
        Selected selected = {entry, source};
        if (!name || !strcmp(entry->name, name))
            g_array_append_val(selection->programs, selected);
    }
    bool found = selection->programs->len > before;
    if (!found)
        *error = tell_none(catalogue, name, source);
    return found;
}

static char *keep(Selection *selection, char *text)
{
    g_ptr_array_add(selection->strings, text);
    return text;
}

static bool add_file(Selection *selection, const Session *session, const char *operand, char **error)
{
    const char *program = program_part(operand);
    char *source = keep(selection, program ? g_strndup(operand, program - 1 - operand) : g_strdup(operand));
    CompileOptions compile = selection_compile_options(session->options);
    char *module = NULL;
    if (!g_file_test(source, G_FILE_TEST_EXISTS))
        *error = g_strdup_printf("%s: no such file", source);
    else if (g_str_has_suffix(source, ".c"))
        module = compile_module(source, NULL, &compile, error);
    else if (g_str_has_suffix(source, ".so"))
        module = g_canonicalize_filename(source, NULL);         /* dlopen searches elsewhere for a name without a slash */
    else
        *error = g_strdup_printf("%s: a kernel is a .c or a .so file", source);
    if (!module)
        return false;
    keep(selection, module);
    GPtrArray *catalogue = catalogue_read(session->open, module, error);
    if (!catalogue) {                           /* errors name the source, not the module */
        GString *words = g_string_new(*error);
        g_string_replace(words, module, source, 0);
        g_free(*error);
        *error = g_string_free(words, FALSE);
        return false;
    }
    g_ptr_array_add(selection->catalogues, catalogue);
    return add_programs(selection, catalogue, program, source, error);
}

static gint compare_paths(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The .c files of a folder in which the word PROGRAM occurs, sorted. */
static GPtrArray *kernel_files(const char *folder, char **error)
{
    GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
    GError *bad = NULL;
    GDir *dir = g_dir_open(folder, 0, &bad);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
        if (g_str_has_suffix(name, ".c") && g_file_get_contents(path, &text, NULL, NULL) && strstr(text, "PROGRAM"))
            g_ptr_array_add(files, g_steal_pointer(&path));
    }
    if (dir != NULL)
        g_dir_close(dir);
    g_ptr_array_sort(files, compare_paths);
    if (bad != NULL)
        *error = g_strdup(bad->message);
    else if (files->len == 0)
        *error = g_strdup_printf("%s holds no .c file with a PROGRAM", folder);
    g_clear_error(&bad);
    return files;
}

static bool add_folder(Selection *selection, const Session *session, const char *folder, char **error)
{
    g_autoptr(GPtrArray) files = kernel_files(folder, error);
    bool good = *error == NULL;
    for (guint i = 0; good && i < files->len; i++)
        good = add_file(selection, session, files->pdata[i], error);
    return good;
}

static const GPtrArray *ask_built_in(Selection *selection, const Session *session, const char *name, char **error)
{
    GPtrArray *found = catalogue_built_in(session->open, name, error);
    if (found)
        g_ptr_array_add(selection->catalogues, found);
    return found;
}

/* The program of that name, or else all: a name that is not found may be a folder, or mistyped. */
static const GPtrArray *built_in_of(Selection *selection, const Session *session, const char *name, const GPtrArray **all, char **error)
{
    const GPtrArray *found = *all || !name ? NULL : ask_built_in(selection, session, name, error);
    if (*error || (found && found->len))
        return found;
    if (!*all)
        *all = ask_built_in(selection, session, NULL, error);
    return *all;
}

bool selection_read(Selection *selection, const Session *session, char **error)
{
    const GPtrArray *operands = session->options->operands;
    const GPtrArray *built_in = NULL;
    bool good = true;
    *error = NULL;
    selection->programs = g_array_new(FALSE, FALSE, sizeof(Selected));
    selection->catalogues = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    selection->strings = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; good && i < MAX(operands->len, 1); i++) {
        const char *operand = operands->len ? operands->pdata[i] : NULL;
        if (operand && is_file(operand)) {
            good = (is_folder(operand) ? add_folder : add_file)(selection, session, operand, error);
            continue;
        }
        const GPtrArray *catalogue = built_in_of(selection, session, operand, &built_in, error);
        good = catalogue && add_programs(selection, catalogue, operand, NULL, error);
        if (catalogue && !good && is_folder(operand)) {
            g_clear_pointer(error, g_free);
            good = add_folder(selection, session, operand, error);
        }
    }
    return good;
}

void selection_clear(Selection *selection)
{
    g_array_unref(selection->programs);
    g_ptr_array_unref(selection->catalogues);
    g_ptr_array_unref(selection->strings);
}

static char *known_parameters(const CatalogueEntry *entry)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < entry->parameters->len; i++) {
        const CatalogueParameter *known = &g_array_index(entry->parameters, CatalogueParameter, i);
        g_string_append_printf(text, "%s%s=%" G_GINT64_FORMAT " (%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT ")", i ? ", " : "", known->name,
                               known->value, known->least, known->greatest);
    }
    if (!text->len)
        g_string_append(text, "none");
    return g_string_free(text, FALSE);
}

static bool check_define(const CatalogueEntry *entry, const Define *define, char **error)
{
    const CatalogueParameter *found = NULL;
    for (guint i = 0; i < entry->parameters->len; i++) {
        const CatalogueParameter *known = &g_array_index(entry->parameters, CatalogueParameter, i);
        if (!strcmp(known->name, define->name))
            found = known;
    }
    if (found && define->first >= found->least && define->last <= found->greatest)
        return true;
    char *known = known_parameters(entry);
    *error = found ? g_strdup_printf("-D %s: out of range for %s; its parameters: %s", define->name, entry->name, known)
                   : g_strdup_printf("-D %s: %s has no such parameter; its parameters: %s", define->name, entry->name, known);
    g_free(known);
    return false;
}

/* From the smallest applicable size to 4, or to the size at which a wrong twin shows its fault. */
static void default_sizes(const CatalogueEntry *entry, GArray *sizes)
{
    uint32_t first = entry->devices_min ? entry->devices_min : 2;
    uint32_t last = MAX(MAX(first, 4), entry->expected_faults ? entry->expected_from : 0);
    for (uint32_t n = first; n <= last; n++)
        g_array_append_val(sizes, n);
}

/* The n-th combination of parameter values; the last parameter changes fastest. */
static Override *nth_overrides(CheckPlan *plan, const GPtrArray *defines, uint64_t place)
{
    Override *override = g_new0(Override, defines->len + 1);
    for (guint i = defines->len; i-- > 0; ) {
        const Define *define = defines->pdata[i];
        uint64_t values = (uint64_t)define->last - (uint64_t)define->first + 1;
        override[i] = (Override){define->name, define->first + (int64_t)(place % values)};
        place /= values;
    }
    g_ptr_array_add(plan->overrides, override);
    return override;
}

/* A test looks for faults that the input of a check alone need not have. */
static uint64_t inputs_wanted(const Options *options, const CatalogueEntry *entry)
{
    return options->inputs == 0 && options->command == COMMAND_TEST && entry->tables ? INPUTS_TESTED : options->inputs;
}

static CheckSpec base_spec(const Session *session, const Selected *selected)
{
    const Options *options = session->options;
    return (CheckSpec){
        .open = session->open, .module = selected->entry->module, .program = selected->entry->name, .source = selected->source,
        .cores = options->cores ? options->cores : selected->entry->cores,
        .knobs = options->knobs, .search = options->search, .modes = options->modes,
        .limits = options->limits, .depth = options->depth, .seed = options->seed, .first = options->first,
        .workers = options->workers, .checkpoint = options->checkpoint, .resume = options->resume, .watch = &session->watch,
        .inputs = inputs_wanted(options, selected->entry), .inputs_seed = options->inputs_seed,
        .results = options->results != NULL,
        .recording = options->command == COMMAND_CHECK && options_want_details(options),
    };
}

static bool is_defined(const GPtrArray *defines, const char *name)
{
    for (guint i = 0; i < defines->len; i++)
        if (!strcmp(((const Define *)defines->pdata[i])->name, name))
            return true;
    return false;
}

/* A parameter declared by pl_choose is checked like a range of -D, unless it is part of many inputs. */
static GPtrArray *add_choices(CheckPlan *plan, const CatalogueEntry *entry, const Options *options, uint64_t *combinations)
{
    const GPtrArray *given = options->defines;
    const bool many_inputs = inputs_wanted(options, entry) > 0;
    GPtrArray *defines = g_ptr_array_new();
    for (guint i = 0; i < given->len; i++)
        g_ptr_array_add(defines, given->pdata[i]);
    for (guint i = 0; i < entry->parameters->len; i++) {
        const CatalogueParameter *known = &g_array_index(entry->parameters, CatalogueParameter, i);
        if (!known->choice || many_inputs || is_defined(given, known->name))
            continue;
        Define *define = g_new(Define, 1);
        *define = (Define){known->name, known->least, known->greatest};
        g_ptr_array_add(plan->choices, define);
        g_ptr_array_add(defines, define);
        *combinations = MIN(*combinations * ((uint64_t)known->greatest - (uint64_t)known->least + 1), CHECKS_MAX + 1);
    }
    return defines;
}

/* devices 0: as many as the program was found to run on. */
static void choose_mesh(Mesh *mesh, const CatalogueEntry *entry, uint32_t devices)
{
    Mesh like;
    if (entry->mesh == NULL || !mesh_parse(&like, entry->mesh))
        mesh_line(mesh, devices);
    else
        mesh_spread(mesh, &like, devices ? devices : mesh_devices(&like));
}

static void plan_make(CheckPlan *plan, const Session *session, const Selected *selected, char **error)
{
    const Options *options = session->options;
    uint64_t combinations = 1;
    plan->specs = g_array_new(FALSE, FALSE, sizeof(CheckSpec));
    plan->overrides = g_ptr_array_new_with_free_func(g_free);
    plan->choices = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < options->defines->len; i++) {
        const Define *define = options->defines->pdata[i];
        combinations *= define->last - define->first + 1;
        if (combinations > CHECKS_MAX)
            *error = g_strdup_printf("more than %d combinations of parameters", CHECKS_MAX);
        if (*error || !check_define(selected->entry, define, error))
            return;
    }
    GPtrArray *defines = add_choices(plan, selected->entry, options, &combinations);
    GArray *sizes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (options->devices->len)
        g_array_append_vals(sizes, options->devices->data, options->devices->len);
    else if (options->mesh_given || selected->entry->mesh)
        g_array_append_val(sizes, (uint32_t){0});
    else
        default_sizes(selected->entry, sizes);
    for (guint i = 0; i < sizes->len; i++) {
        for (uint64_t place = 0; place < combinations && combinations <= CHECKS_MAX; place++) {
            CheckSpec spec = base_spec(session, selected);
            spec.override = nth_overrides(plan, defines, place);
            spec.overrides = defines->len;
            if (options->mesh_given)
                spec.mesh = options->mesh;
            else
                choose_mesh(&spec.mesh, selected->entry, g_array_index(sizes, uint32_t, i));
            g_array_append_val(plan->specs, spec);
        }
    }
    if (plan->specs->len == 1)
        g_array_index(plan->specs, CheckSpec, 0).alone = true;
    g_array_unref(sizes);
    g_ptr_array_unref(defines);
    if (combinations > CHECKS_MAX)
        *error = g_strdup_printf("more than %d combinations of parameters: choose some with -D", CHECKS_MAX);
}

static void free_planned(gpointer data)
{
    Planned *planned = data;
    g_array_unref(planned->plan.specs);
    g_ptr_array_unref(planned->plan.overrides);
    g_ptr_array_unref(planned->plan.choices);
    g_free(planned->error);
    g_free(planned);
}

/* A checkpoint belongs to one check. */
static void want_one_check(const Options *options, GPtrArray *all)
{
    guint checks = 0;
    for (guint i = 0; i < all->len; i++)
        checks += ((const Planned *)all->pdata[i])->plan.specs->len;
    const bool given = options->inputs == INPUTS_GIVEN;
    if (checks <= 1 && (given || options->inputs == 0))
        return;
    if (!options->checkpoint && !options->resume && !given)
        return;
    const char *option = options->checkpoint ? "checkpoint" : options->resume ? "resume" : "inputs -";
    g_ptr_array_set_size(all, 1);
    Planned *first = all->pdata[0];
    g_free(first->error);
    first->error = options->inputs && !given ? g_strdup_printf("--%s is for one input: leave out --inputs", option)
        : g_strdup_printf("--%s is for a single check, and these are %u; choose one program, size and set of parameters", option, checks);
}

GPtrArray *selection_plan(const Selection *selection, const Session *session, CheckQueue *queue)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(free_planned);
    for (guint i = 0; i < selection->programs->len; i++) {
        Planned *planned = g_new0(Planned, 1);
        planned->selected = &g_array_index(selection->programs, Selected, i);
        plan_make(&planned->plan, session, planned->selected, &planned->error);
        g_ptr_array_add(all, planned);
    }
    want_one_check(session->options, all);
    for (guint i = 0; i < all->len; i++) {
        const Planned *planned = all->pdata[i];
        for (guint k = 0; planned->error == NULL && k < planned->plan.specs->len; k++)
            check_queue_add(queue, &g_array_index(planned->plan.specs, CheckSpec, k));
    }
    return all;
}
