/* option_table.c - the tables, and a setter for each option. Setters check values, so that an error names the option and what it expects.
 */
#include "options.h"
#include <errno.h>
#include <string.h>
#include "../check/search.h"
#include "../report/describe.h"

#define SIZES_MAX 10000
#define CHECKS (COMMAND_CHECK | COMMAND_TEST)
#define COMPILES (COMMAND_CHECK | COMMAND_TEST | COMMAND_REPLAY | COMMAND_LIST | COMMAND_COMPILE)

const CommandSpec command_table[] = {
    {COMMAND_CHECK, "check", "KERNEL...", "decide whether a kernel is right in every order: the main command"},
    {COMMAND_TEST, "test", "[KERNEL...]", "check, and compare each verdict with the declared one (no name: all)"},
    {COMMAND_REPLAY, "replay", "SCHEDULE", "run a saved schedule again"},
    {COMMAND_LIST, "list", "[FILE...]", "list the built-in kernels, or those of a file"},
    {COMMAND_EXPLAIN, "explain", "[WORD]", "explain a fault or a word: its meaning, an example, the usual repairs"},
    {COMMAND_INIT, "init", "FILE.c", "write a new kernel file, with a wrong twin, to begin with"},
    {COMMAND_COMPILE, "compile", "FILE.c", "build a kernel's module, and show the compiler's command"},
    {0, NULL, NULL, NULL},
};

/* The whole text as a number within [least, greatest]. */
static bool read_number(const char *text, size_t length, int64_t least, int64_t greatest, int64_t *value)
{
    char digits[24], *end;
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (!g_ascii_isdigit(digits[0]) && !(digits[0] == '-' && g_ascii_isdigit(digits[1])))
        return false;
    errno = 0;
    *value = g_ascii_strtoll(digits, &end, 10);
    return errno == 0 && *end == 0 && *value >= least && *value <= greatest;
}

/* "8" or "8..64". */
static bool read_range(const char *text, size_t length, int64_t least, int64_t greatest, int64_t *first, int64_t *last)
{
    const char *dots = g_strstr_len(text, length, "..");
    if (!dots) {
        bool good = read_number(text, length, least, greatest, first);
        *last = *first;
        return good;
    }
    size_t head = dots - text;
    return read_number(text, head, least, greatest, first) && read_number(dots + 2, length - head - 2, least, greatest, last)
        && *first <= *last;
}

static bool set_devices(Options *options, const char *value, char **error)
{
    g_array_set_size(options->devices, 0);
    for (const char *at = value; ; at++) {
        size_t length = strcspn(at, ",");
        int64_t first = 0, last = 0;
        if (!read_range(at, length, 1, 1 << 20, &first, &last)) {
            *error = g_strdup_printf("-n %s: not a number of devices; write -n 4, -n 2..8 or -n 2,4,8 (at most %d)", value, 1 << 20);
            return false;
        }
        if (last - first >= SIZES_MAX || options->devices->len + (last - first) >= SIZES_MAX) {
            *error = g_strdup_printf("-n %s: more than %d sizes; check fewer at a time", value, SIZES_MAX);
            return false;
        }
        for (uint32_t n = first; n <= last; n++)
            g_array_append_val(options->devices, n);
        at += length;
        if (!*at)
            return true;
    }
}

static bool set_mesh(Options *options, const char *value, char **error)
{
    options->mesh_given = mesh_parse(&options->mesh, value);
    if (!options->mesh_given)
        *error = g_strdup_printf("--mesh %s: not a mesh; write --mesh x=4,y=2 (names and sizes, at most %d axes and %d devices)", value,
                                 MESH_AXES_MAX, 1 << 20);
    return options->mesh_given;
}

static bool set_cores(Options *options, const char *value, char **error)
{
    int64_t cores = 0;
    if (!read_number(value, strlen(value), 1, CORES_MAX, &cores)) {
        *error = g_strdup_printf("--cores %s: must be a number of cores per device, 1 to %d", value, CORES_MAX);
        return false;
    }
    options->cores = cores;
    return true;
}

static bool set_define(Options *options, const char *value, char **error)
{
    const char *equals = strchr(value, '=');
    int64_t first = 0, last = 0;
    if (!equals || equals == value || !read_range(equals + 1, strlen(equals + 1), INT64_MIN, INT64_MAX, &first, &last)) {
        *error = g_strdup_printf("-D %s: not a parameter; write -D rows=16 or -D rows=8..64", value);
        return false;
    }
    if ((uint64_t)last - (uint64_t)first >= SIZES_MAX) {
        *error = g_strdup_printf("-D %s: more than %d values; check fewer at a time", value, SIZES_MAX);
        return false;
    }
    char *name = g_strndup(value, equals - value);
    Define *define = NULL;
    for (guint i = 0; i < options->defines->len; i++) {
        Define *earlier = g_ptr_array_index(options->defines, i);
        if (!strcmp(earlier->name, name))
            define = earlier;
    }
    if (define) {                               /* as with a compiler's -D, the last one counts */
        g_free(name);
    } else {
        define = g_new0(Define, 1);
        define->name = name;
        g_ptr_array_add(options->defines, define);
    }
    define->first = first;
    define->last = last;
    return true;
}

/* The position of value among "a|b|c"; the parser has checked that it is one of them. */
static unsigned choice(const char *choices, const char *value)
{
    unsigned position = 0;
    size_t length = strlen(value);
    for (const char *at = choices; ; at++, position++) {
        size_t here = strcspn(at, "|");
        if (here == length && !strncmp(at, value, length))
            return position;
        at += here;
        g_assert(*at);
    }
}

#define COLORS "auto|always|never"

#define SETTER(name, body) static bool set_##name(Options *options, const char *value, char **error) \
    { (void)value; (void)error; body; return true; }
#define KEEP(field) (g_free(options->field), options->field = g_strdup(value))

SETTER(search, options->search = choice(search_names(), value))
SETTER(sweep, options->modes |= ENUMERATE_SWEEP)
SETTER(hash_compact, options->modes |= ENUMERATE_HASH_COMPACT)
SETTER(merge_local, options->modes |= ENUMERATE_MERGE_LOCAL)
SETTER(symmetry, options->modes |= ENUMERATE_SYMMETRY)
SETTER(dma_order, options->knobs.dma_order = choice(CHOICES_DMA_ORDER, value))
SETTER(dma_progress, options->knobs.dma_progress = choice(CHOICES_DMA_PROGRESS, value))
SETTER(bounds, options->knobs.bounds = choice(CHOICES_BOUNDS, value))
SETTER(stop_at_bounds, options->knobs.at_bounds = AT_BOUNDS_STOP)
SETTER(scopes, options->knobs.scopes = choice(CHOICES_SCOPES, value))
SETTER(windows, options->knobs.windows = choice(CHOICES_WINDOWS, value))
SETTER(data, options->knobs.data = choice(CHOICES_DATA, value))
SETTER(color, options->color = choice(COLORS, value))
SETTER(first, options->first = true)
SETTER(quiet, options->quiet = true)
SETTER(advice, options->advice = true)
SETTER(verbose, options->verbose = true)
SETTER(story, options->story = true)
SETTER(json_list, options->json_list = true)
SETTER(names_only, options->names_only = true)
#define FORMAT_SETTER(kind, name, commands, help) SETTER(name, KEEP(report[OUTPUT_##kind]))
OUTPUT_FORMATS(FORMAT_SETTER)
SETTER(step, options->step = true)
SETTER(gdb, options->gdb = true)
SETTER(in_process, options->in_process = true)
SETTER(source, KEEP(source))
SETTER(source_root, KEEP(source_root))
SETTER(baseline, KEEP(baseline))
SETTER(checkpoint, KEEP(checkpoint))
SETTER(resume, KEEP(resume))
SETTER(accept, options->accept_bounded = !strcmp(value, "bounded"))
SETTER(results, KEEP(results))
SETTER(schedules, KEEP(schedules))
SETTER(output, KEEP(output))
SETTER(cflags, KEEP(cflags))
SETTER(include, g_ptr_array_add(options->include, g_strdup(value)))

static bool set_states(Options *options, const char *value, char **error)
{
    int64_t states = 0;
    if (!read_number(value, strlen(value), 1, INT64_MAX, &states))
        *error = g_strdup_printf("--states %s: must be a number of states, at least 1", value);
    options->limits.states = states;
    return !*error;
}

static bool set_runs(Options *options, const char *value, char **error)
{
    int64_t runs = 0;
    if (!read_number(value, strlen(value), 1, INT64_MAX, &runs))
        *error = g_strdup_printf("--runs %s: must be a number of runs, at least 1", value);
    options->limits.runs = runs;
    return !*error;
}

static bool set_depth(Options *options, const char *value, char **error)
{
    int64_t depth = 0;
    if (!read_number(value, strlen(value), 1, STRATEGY_DEPTH_MAX, &depth))
        *error = g_strdup_printf("--depth %s: must be a number of ordering constraints, 1 to %d", value, STRATEGY_DEPTH_MAX);
    options->depth = depth;
    return !*error;
}

static bool set_workers(Options *options, const char *value, char **error)
{
    int64_t workers = 0;
    if (!read_number(value, strlen(value), 1, 1024, &workers))
        *error = g_strdup_printf("-j %s: must be a number of workers, 1 to 1024", value);
    options->workers = workers;
    return !*error;
}

static bool set_inputs(Options *options, const char *value, char **error)
{
    int64_t count = 0;
    if (!strcmp(value, "one"))
        options->inputs = 0;
    else if (!strcmp(value, "all"))
        options->inputs = INPUTS_ALL;
    else if (!strcmp(value, "-"))
        options->inputs = INPUTS_GIVEN;
    else if (read_number(value, strlen(value), 1, INT64_MAX, &count))
        options->inputs = count;
    else
        *error = g_strdup_printf("--inputs %s: must be one, all, a number of inputs, 1 or more, or - to read them", value);
    return !*error;
}

static bool set_inputs_seed(Options *options, const char *value, char **error)
{
    int64_t seed = 0;
    if (!read_number(value, strlen(value), 0, INT64_MAX, &seed))
        *error = g_strdup_printf("--inputs-seed %s: must be a whole number, 0 or more", value);
    options->inputs_seed = seed;
    return !*error;
}

static bool set_seed(Options *options, const char *value, char **error)
{
    int64_t seed = 0;
    if (!read_number(value, strlen(value), 0, INT64_MAX, &seed))
        *error = g_strdup_printf("--seed %s: must be a whole number, 0 or more", value);
    options->seed = seed;
    return !*error;
}

/* A positive number, then one of the letters of `units`, which multiplies it by the factor at the same position. */
static bool read_scaled(const char *value, const char *units, const double *factor, double *result)
{
    char *end;
    errno = 0;
    double number = g_ascii_isdigit(value[0]) ? g_ascii_strtod(value, &end) : 0;
    if (errno || number <= 0)
        return false;
    const char *unit = *end ? strchr(units, *end) : units;
    if (!unit || (*end && end[1]))
        return false;
    *result = number * factor[unit - units];
    return *result < 9e18;
}

static bool set_time(Options *options, const char *value, char **error)
{
    static const double factor[] = {1, 60, 3600};
    if (!read_scaled(value, "smh", factor, &options->limits.seconds))
        *error = g_strdup_printf("--time %s: must be a positive number of seconds, or as in 5m or 2h", value);
    return !*error;
}

static bool set_memory(Options *options, const char *value, char **error)
{
    static const double factor[] = {1, 1024, 1048576, 1073741824, 1099511627776};
    double bytes = 0;
    if (!read_scaled(value, "BKMGT", factor, &bytes))
        *error = g_strdup_printf("--memory %s: must be a positive number of bytes, or as in 500M or 2G", value);
    options->limits.memory = bytes;
    return !*error;
}

#define FORMAT_COMMANDS(commands) \
    (COMMAND_CHECK | ((commands) & OUTPUT_OF_TEST ? COMMAND_TEST : 0) | ((commands) & OUTPUT_OF_REPLAY ? COMMAND_REPLAY : 0))
#define FORMAT_OPTION(kind, name, commands, help) {FORMAT_COMMANDS(commands), 0, #name, "FILE", NULL, "file", help, set_##name},

const OptionSpec option_table[] = {
    {CHECKS, 'n', "devices", "N", NULL, NULL, "devices: 4, 2..8 or 2,4,8; several sizes are checked in turn "
     "(default: from the fewest that the program takes to 4, or to where a wrong twin shows its fault)", set_devices},
    {CHECKS, 0, "mesh", "AXES", NULL, NULL, "named axes, such as x=4,y=2 (default: one axis x, or those that the program asks for)",
     set_mesh},
    {CHECKS, 0, "cores", "C", NULL, NULL, "cores per device (default: 1, or what the program needs)", set_cores},
    {CHECKS, 'D', "define", "NAME=VALUE", NULL, NULL, "a parameter of the program, or a range of values as in rows=8..64", set_define},
    {CHECKS, 0, "search", "NAME", NULL, NULL, "how to decide: by proof, by walking every state, or by sampling schedules",
     set_search},
    {CHECKS, 0, "dma-order", "ORDER", CHOICES_DMA_ORDER, NULL, "which copies complete in the order of their starts", set_dma_order},
    {CHECKS, 0, "dma-progress", "PROGRESS", CHOICES_DMA_PROGRESS, NULL, "whether a copy signals bytes as they arrive, or all at its end",
     set_dma_progress},
    {CHECKS, 0, "bounds", "BOUNDS", CHOICES_BOUNDS, NULL, "where a VMEM buffer ends: at its shape or at its tiles' padding", set_bounds},
    {CHECKS, 0, "stop-at-bounds", NULL, NULL, NULL, "a load out of bounds stops its core; by default it is reported, and the core goes on",
     set_stop_at_bounds},
    {CHECKS, 0, "scopes", "SCOPES", CHOICES_SCOPES, NULL, "whether a scope may be named before its device has opened it", set_scopes},
    {CHECKS, 0, "windows", "WINDOWS", CHOICES_WINDOWS, NULL,
     "whether the blocks of windowed arrays are copied while a kernel works on others, or between grid steps only", set_windows},
    {CHECKS, 0, "data", "DATA", CHOICES_DATA, NULL, "compute with real contents, or with regions and counts only", set_data},
    {CHECKS, 0, "states", "N", NULL, NULL, "stop enumerating after the level that exceeds N states (verdict: bounded)", set_states},
    {CHECKS, 0, "sweep", NULL, NULL, NULL, "enumerate, keeping one level of states in memory (not where a core polls)", set_sweep},
    {CHECKS, 0, "hash-compact", NULL, NULL, NULL,
     "enumerate, keeping hashes in place of states; the report says how likely a state was missed (verdict: bounded)", set_hash_compact},
    {CHECKS, 0, "merge-local", NULL, NULL, NULL,
     "enumerate, doing copy starts, signals and waits as soon as they are possible: far fewer states, the same faults", set_merge_local},
    {CHECKS, 0, "symmetry", NULL, NULL, NULL,
     "enumerate one of the states that are rotations of each other (where all devices do the same)", set_symmetry},
    {CHECKS, 0, "runs", "N", NULL, NULL, "how many schedules to sample (random, pct, pos, starve)", set_runs},
    {CHECKS, 0, "depth", "N", NULL, NULL, "PCT bug depth: how many ordering constraints a fault may need (default 3)", set_depth},
    {CHECKS | COMMAND_REPLAY, 0, "time", "SECONDS", NULL, NULL,
     "stop a check after this time, as in 30, 5m or 2h (verdict: bounded)", set_time},
    {CHECKS | COMMAND_REPLAY, 0, "memory", "BYTES", NULL, NULL,
     "stop a check when its processes use this much memory, as in 500M (default: 3/4 of what is free; verdict: bounded)", set_memory},
    {CHECKS, 'j', "workers", "J", NULL, NULL, "workers that share the work (default 1); the report is the same for any number",
     set_workers},
    {COMMAND_CHECK, 0, "checkpoint", "FILE", NULL, "file", "save the progress of a long search in FILE, about once a second",
     set_checkpoint},
    {COMMAND_CHECK, 0, "resume", "FILE", NULL, "file", "resume from FILE, and keep it up to date unless --checkpoint names another",
     set_resume},
    {CHECKS, 0, "inputs", "N", NULL, NULL, "of the values that pl_choose, pl_input_among and pl_table_among leave open: "
     "all, or N of them, chosen by what they show, or -: those of standard input, one a line, each answered by right, wrong, unsure or "
     "refused (default: one, and every value of pl_choose; of a test of tables: 1000)", set_inputs},
    {CHECKS, 0, "inputs-seed", "N", NULL, NULL, "seed of the search over inputs (default 0)", set_inputs_seed},
    {CHECKS, 0, "seed", "N", NULL, NULL, "seed of generated inputs and of sampled schedules (default 0)", set_seed},
    {COMMAND_CHECK, 0, "advice", NULL, NULL, NULL,
     "for a small verified program: which synchronisation is needless, what the rest is for, which waits depend on timing", set_advice},
    {CHECKS, 0, "first", NULL, NULL, NULL, "stop at the first fault (default: report one for each pair of source lines)", set_first},
    OUTPUT_FORMATS(FORMAT_OPTION)
    {COMMAND_REPLAY, 0, "source", "FILE", NULL, "file", "the kernel's file, if it has moved",
     set_source},
    {COMMAND_REPLAY, 0, "step", NULL, NULL, NULL, "step through the run with commands from standard input (h lists them)", set_step},
    {COMMAND_REPLAY, 0, "gdb", NULL, NULL, NULL, "run it in gdb up to the fault (heddle-cores lists, heddle-core N shows a stack)",
     set_gdb},
    {COMMAND_REPLAY, 0, "in-process", NULL, NULL, NULL, "run the kernel in heddle's own process, for debuggers", set_in_process},
    {COMMAND_CHECK, 0, "source-root", "DIR", NULL, "directory", "name files in SARIF and JSON relative to DIR (default: here)",
     set_source_root},
    {COMMAND_CHECK, 0, "accept", "VERDICT", "none|bounded", NULL, "which other verdict exits with 0", set_accept},
    {COMMAND_CHECK, 0, "baseline", "FILE", NULL, "file", "compare with an earlier JSON report: only new faults are errors",
     set_baseline},
    {COMMAND_CHECK, 0, "results", "FILE", NULL, "file", "write the arrays that the run computed, for other programs to compare with",
     set_results},
    {COMMAND_LIST, 0, "json", NULL, NULL, NULL, "print the list as JSON", set_json_list},
    {COMMAND_LIST | COMMAND_EXPLAIN, 0, "names", NULL, NULL, NULL, "names only, one a line", set_names_only},
    {COMMAND_CHECK, 0, "schedules", "DIR", NULL, "directory", "folder for schedules of faults (default heddle-schedules)", set_schedules},
    {COMPILES, 'I', NULL, "DIR", NULL, "directory", "also look for a kernel's headers in DIR", set_include},
    {COMPILES, 0, "cflags", "FLAGS", NULL, NULL, "extra compiler flags for a kernel's file (CC and CFLAGS are obeyed too)", set_cflags},
    {COMMAND_COMPILE, 'o', "output", "FILE", NULL, "file", "the module to write (default: FILE.so in the working folder)", set_output},
    {CHECKS | COMMAND_REPLAY, 'q', "quiet", NULL, NULL, NULL, "verdicts, and the name and lines of each fault", set_quiet},
    {CHECKS, 0, "story", NULL, NULL, NULL, "also tell step by step how each fault happens (replay always does)", set_story},
    {CHECKS | COMMAND_REPLAY | COMMAND_LIST, 'v', "verbose", NULL, NULL, NULL,
     "print all: stories, moves, time, memory, what kernels printed",
     set_verbose},
    {COMMAND_ALL, 0, "color", "WHEN", COLORS, NULL, "colors in the text (auto: on a terminal, unless NO_COLOR is set)", set_color},
    {0, 0, NULL, NULL, NULL, NULL, NULL, NULL},
};

bool option_is_search(const OptionSpec *spec)
{
    return spec->set == set_search;
}

const char *option_choices(const OptionSpec *spec)
{
    return option_is_search(spec) ? search_names() : spec->choices;
}
