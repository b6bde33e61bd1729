/* output.h - reports for other programs and for looking at: one table of formats, each a document that is whole after every check.
 *
 *     output_open, for each format asked for -> output_add, after each check -> output_close
 *                                            -> a signal: output_commit, of what is there so far
 *
 * Ownership:   an Output owns its document and its file.
 * Errors:      NULL or false and one line in *error.
 */
#pragma once
#include "../check/check.h"

enum { OUTPUT_OF_TEST = 1, OUTPUT_OF_REPLAY = 2 };        /* commands other than check that have the option of a format */

/* All formats: option --x, implementation x_format, which commands have the option, its help. */
#define OUTPUT_FORMATS(FORMAT) \
    FORMAT(JSON, json, OUTPUT_OF_TEST | OUTPUT_OF_REPLAY, "write a JSON report as well; - is standard output") \
    FORMAT(SARIF, sarif, 0, "write the faults as SARIF 2.1.0, for code scanning services") \
    FORMAT(JUNIT, junit, 0, "write the verdicts as JUnit XML, for CI services") \
    FORMAT(MARKDOWN, markdown, 0, "write Markdown for a comment on a pull request or a summary of CI") \
    FORMAT(HTML, html, OUTPUT_OF_REPLAY, "write an HTML page with a timeline of each fault's run") \
    FORMAT(TRACE, trace, OUTPUT_OF_REPLAY, "write the runs as Chrome trace events, for Perfetto") \
    FORMAT(DOT, dot, OUTPUT_OF_REPLAY, "write the order of the steps that matter, for Graphviz")

#define OUTPUT_KIND(kind, name, commands, help) OUTPUT_##kind,
typedef enum OutputKind { OUTPUT_FORMATS(OUTPUT_KIND) OUTPUT_KINDS } OutputKind;
#undef OUTPUT_KIND

typedef struct OutputSettings {
    const char *version;                        /* of heddle */
    const char *source_root;                    /* paths are told relative to it; NULL: the working folder */
    bool baseline;                              /* findings say whether they are known */
    bool accept_bounded;
} OutputSettings;

/* What a format does; `document` is its own. text: valid until the next call. */
typedef struct OutputFormat {
    void *(*begin)(const OutputSettings *settings);
    void (*add)(void *document, const CheckResult *result, const GPtrArray *schedules);       /* schedules: as in text_check */
    void (*add_error)(void *document, const char *message);
    const GString *(*text)(void *document);
    void (*clear)(void *document);
    bool grows;                                 /* add leaves a text that is whole: text costs nothing */
} OutputFormat;

#define OUTPUT_FORMAT(kind, name, commands, help) extern const OutputFormat name##_format;
OUTPUT_FORMATS(OUTPUT_FORMAT)
#undef OUTPUT_FORMAT

typedef struct Output Output;

Output *output_open(OutputKind kind, const char *path, const OutputSettings *settings, char **error);
void output_add(Output *output, const CheckResult *result, const GPtrArray *schedules);         /* not of verdict ERROR */
void output_add_error(Output *output, const char *message);
void output_commit(Output *output);             /* async-signal-safe */
bool output_close(Output *output, bool keep, char **error);      /* writes it if keep; frees */
