/* options.h - the command line: a table of commands and one of options, for parsing, help, man page and completion.
 *
 * Ownership:   Options owns all it holds; options_clear frees it.
 * Errors:      one line in *error (g_malloc) that says what to write instead.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"
#include "../report/output.h"

#define HEDDLE_VERSION "0.1.0"

typedef enum Command {
    COMMAND_CHECK = 1, COMMAND_TEST = 2, COMMAND_REPLAY = 4, COMMAND_LIST = 8, COMMAND_EXPLAIN = 16, COMMAND_COMPILE = 32,
    COMMAND_INIT = 64, COMMAND_ALL = 127
} Command;

/* One parameter of -D: the values to check in turn. */
typedef struct Define {
    char *name;
    int64_t first, last;
} Define;

typedef enum ColorMode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorMode;

typedef struct Options {
    Command command;
    GPtrArray *operands;                        /* of char* */
    GArray *devices;                            /* of uint32_t, as written with -n; empty: the program's own choice */
    bool mesh_given;
    Mesh mesh;
    uint32_t cores;                             /* 0: as many as the program needs */
    GPtrArray *defines;                         /* of Define* */
    Search search;
    unsigned modes;                             /* of EnumerateMode */
    Knobs knobs;
    Limits limits;
    uint64_t seed, inputs, inputs_seed;         /* inputs: as in CheckSpec */
    unsigned depth;
    unsigned workers;
    bool first, advice, quiet, verbose, story, json_list, names_only;
    ColorMode color;
    char *results, *schedules, *output, *cflags;
    char *report[OUTPUT_KINDS];                 /* where reports go; NULL: not requested */
    char *source, *source_root, *baseline, *checkpoint, *resume;
    bool accept_bounded, step, gdb, in_process;
    GPtrArray *include;                         /* of char* */
} Options;

typedef struct CommandSpec {
    Command command;
    const char *name, *operands, *summary;
} CommandSpec;

typedef struct OptionSpec {
    unsigned commands;                          /* of Command bits */
    char letter;                                /* 0: none */
    const char *name;                           /* NULL: only the letter */
    const char *argument;                       /* its name in help; NULL: a flag */
    const char *choices;                        /* as option_choices, unless a table has them */
    const char *complete;                       /* bash completion of a free argument: "file", "directory" or NULL */
    const char *help;
    bool (*set)(Options *options, const char *value, char **error);
} OptionSpec;

extern const CommandSpec command_table[];       /* ended by a NULL name */
extern const OptionSpec option_table[];         /* ended by commands 0 */
const char *option_choices(const OptionSpec *spec);             /* "a|b|c": the only values; first is the default. NULL: free */
bool option_is_search(const OptionSpec *spec);                  /* its choices are searches, and search_table explains them */

typedef enum OptionsResult {
    OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_MAN, OPTIONS_COMPLETION, OPTIONS_SCHEMA, OPTIONS_BAD
} OptionsResult;

/* Parses argv without the program's name. On HELP, options->command is the command to describe; 0: the general help. */
OptionsResult options_parse(Options *options, int argc, char **argv, char **error);
bool options_want_details(const Options *options);  /* more than verdicts is shown: in the text, or, with --quiet, in a report */
void options_clear(Options *options);
