/* options.c - parses the command line: the command first, then options and operands in any order. */
#include "options.h"
#include <string.h>
#include "../check/search.h"
#include "../report/suggest.h"

static const OptionSpec *find_long(Command command, const char *name, size_t length)
{
    for (const OptionSpec *spec = option_table; spec->commands; spec++)
        if ((spec->commands & command) && spec->name && strlen(spec->name) == length && !strncmp(spec->name, name, length))
            return spec;
    return NULL;
}

static const OptionSpec *find_letter(Command command, char letter)
{
    for (const OptionSpec *spec = option_table; spec->commands; spec++)
        if ((spec->commands & command) && spec->letter == letter)
            return spec;
    return NULL;
}

static bool apply(Options *options, const OptionSpec *spec, const char *value, char **error)
{
    const char *choices = option_choices(spec);
    if (choices) {
        char **allowed = g_strsplit(choices, "|", -1);
        bool known = g_strv_contains((const char *const *)allowed, value);
        g_strfreev(allowed);
        if (!known) {
            *error = g_strdup_printf("--%s %s: must be one of %s", spec->name, value, choices);
            return false;
        }
    }
    return spec->set(options, value, error);
}

static char *unknown_option(Command command, const char *text)
{
    GPtrArray *names = g_ptr_array_new();
    const char *name = text + strspn(text, "-"), *command_name = "";
    char *bare = g_strndup(name, strcspn(name, "="));
    for (const OptionSpec *spec = option_table; spec->commands; spec++)
        if ((spec->commands & command) && spec->name)
            g_ptr_array_add(names, (char *)spec->name);
    for (const CommandSpec *spec = command_table; spec->name; spec++)
        if (spec->command == command)
            command_name = spec->name;
    const char *near = strlen(bare) > 1 ? suggest_nearest(names, bare) : NULL;
    char *message = near ? g_strdup_printf("unknown option %s of heddle %s; did you mean --%s?", text, command_name, near)
                         : g_strdup_printf("unknown option %s of heddle %s; heddle %s --help lists what there is", text, command_name,
                                           command_name);
    g_free(bare);
    g_ptr_array_unref(names);
    return message;
}

typedef struct Arguments { int at, count; char **text; } Arguments;

/* The argument of an option: attached to it, or the next word. */
static const char *take_value(Arguments *arguments, const char *attached, const char *option, const OptionSpec *spec, char **error)
{
    if (attached)
        return attached;
    if (arguments->at < arguments->count)
        return arguments->text[arguments->at++];
    *error = g_strdup_printf("%s needs %s", option, spec->argument);
    return NULL;
}

static bool parse_long(Options *options, Arguments *arguments, const char *text, char **error)
{
    size_t length = strcspn(text + 2, "=");
    const char *attached = text[2 + length] ? text + 3 + length : NULL;
    const OptionSpec *spec = find_long(options->command, text + 2, length);
    if (!spec) {
        *error = unknown_option(options->command, text);
        return false;
    }
    if (!spec->argument) {
        if (attached)
            *error = g_strdup_printf("--%s takes no value", spec->name);
        return !attached && apply(options, spec, "", error);
    }
    const char *value = take_value(arguments, attached, text, spec, error);
    return value && apply(options, spec, value, error);
}

static bool parse_letters(Options *options, Arguments *arguments, const char *text, char **error)
{
    for (const char *at = text + 1; *at; at++) {
        const OptionSpec *spec = find_letter(options->command, *at);
        if (!spec) {
            *error = unknown_option(options->command, text);
            return false;
        }
        if (spec->argument) {
            char name[] = {'-', *at, 0};
            const char *value = take_value(arguments, at[1] ? at + 1 : NULL, name, spec, error);
            return value && apply(options, spec, value, error);
        }
        if (!apply(options, spec, "", error))
            return false;
    }
    return true;
}

static void options_init(Options *options)
{
    memset(options, 0, sizeof *options);
    options->operands = g_ptr_array_new_with_free_func(g_free);
    options->devices = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    options->defines = g_ptr_array_new();
    options->include = g_ptr_array_new_with_free_func(g_free);
    options->schedules = g_strdup("heddle-schedules");
}

void options_clear(Options *options)
{
    for (guint i = 0; i < options->defines->len; i++) {
        Define *define = g_ptr_array_index(options->defines, i);
        g_free(define->name);
        g_free(define);
    }
    g_ptr_array_unref(options->defines);
    g_ptr_array_unref(options->operands);
    g_ptr_array_unref(options->include);
    g_array_unref(options->devices);
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        g_free(options->report[kind]);
    g_free(options->source);
    g_free(options->source_root);
    g_free(options->baseline);
    g_free(options->checkpoint);
    g_free(options->resume);
    g_free(options->results);
    g_free(options->schedules);
    g_free(options->output);
    g_free(options->cflags);
}

bool options_want_details(const Options *options)
{
    bool reports = false;
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        reports |= options->report[kind] != NULL;
    return reports || !options->quiet;
}

static OptionsResult parse_command(Options *options, const char *word, char **error)
{
    static const struct { const char *word; OptionsResult result; } instead[] = {
        {"--help", OPTIONS_HELP}, {"-h", OPTIONS_HELP}, {"help", OPTIONS_HELP}, {"--version", OPTIONS_VERSION}, {"--man", OPTIONS_MAN},
        {"--completion", OPTIONS_COMPLETION}, {"--schema", OPTIONS_SCHEMA},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(instead); i++)
        if (!strcmp(word, instead[i].word))
            return instead[i].result;
    GPtrArray *names = g_ptr_array_new();
    for (const CommandSpec *spec = command_table; spec->name && !options->command; spec++) {
        if (!strcmp(word, spec->name))
            options->command = spec->command;
        g_ptr_array_add(names, (char *)spec->name);
    }
    if (!options->command) {
        const char *near = suggest_nearest(names, word);
        *error = near ? g_strdup_printf("unknown command %s; did you mean heddle %s?", word, near)
                      : g_strdup_printf("unknown command %s; heddle --help lists the commands", word);
    }
    g_ptr_array_unref(names);
    return *error ? OPTIONS_BAD : OPTIONS_RUN;
}

static bool check_together(const Options *options, char **error)
{
    unsigned count = options->operands->len;
    const char *few = options->command == COMMAND_CHECK ? "heddle check needs a kernel: a built-in name (heddle list shows them) or a file"
                    : options->command == COMMAND_REPLAY ? "heddle replay needs a schedule file"
                    : options->command == COMMAND_COMPILE ? "heddle compile needs a C file"
                    : options->command == COMMAND_INIT ? "heddle init needs the name of a new C file" : NULL;
    bool single = options->command & (COMMAND_REPLAY | COMMAND_COMPILE | COMMAND_EXPLAIN | COMMAND_INIT);
    if (few && count == 0)
        *error = g_strdup(few);
    else if (single && count > 1)
        *error = g_strdup_printf("too many arguments: leave %s out", (char *)g_ptr_array_index(options->operands, 1));
    if (!*error && options->modes && !search_is(options->search, SEARCH_HAS_MODES))
        *error = g_strdup("--sweep, --merge-local, --symmetry and --hash-compact are ways of enumerating: add --search enumerate");
    if (!*error && options->step && options->gdb)
        *error = g_strdup("--step and --gdb exclude each other: choose one");
    unsigned to_output = 0;
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        to_output += !g_strcmp0(options->report[kind], "-");
    if (!*error && to_output > 1)
        *error = g_strdup("only one report can go to standard output");
    for (guint i = 0; !*error && options->mesh_given && i < options->devices->len; i++)
        if (g_array_index(options->devices, uint32_t, i) != mesh_devices(&options->mesh))
            *error = g_strdup_printf("the mesh has %u devices, -n asks for %u; give only one of the two", mesh_devices(&options->mesh),
                                     g_array_index(options->devices, uint32_t, i));
    return !*error;
}

OptionsResult options_parse(Options *options, int argc, char **argv, char **error)
{
    options_init(options);
    *error = NULL;
    if (argc < 2) {
        *error = g_strdup("needs a command; heddle --help lists them");
        return OPTIONS_BAD;
    }
    Arguments arguments = {2, argc, argv};
    OptionsResult result = parse_command(options, argv[1], error);
    bool only_operands = false;
    while (result == OPTIONS_RUN && arguments.at < argc) {
        const char *text = argv[arguments.at++];
        bool good = true;
        if (only_operands || text[0] != '-' || !text[1])
            g_ptr_array_add(options->operands, g_strdup(text));
        else if (!strcmp(text, "--"))
            only_operands = true;
        else if (!strcmp(text, "--help") || !strcmp(text, "-h"))
            return OPTIONS_HELP;
        else
            good = text[1] == '-' ? parse_long(options, &arguments, text, error) : parse_letters(options, &arguments, text, error);
        if (!good)
            result = OPTIONS_BAD;
    }
    if (result == OPTIONS_RUN && !check_together(options, error))
        result = OPTIONS_BAD;
    return result;
}
