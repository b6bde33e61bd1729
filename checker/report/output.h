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

typedef enum OutputKind { OUTPUT_SARIF, OUTPUT_JUNIT, OUTPUT_HTML, OUTPUT_TRACE, OUTPUT_DOT, OUTPUT_KINDS } OutputKind;

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
} OutputFormat;

extern const OutputFormat sarif_format, junit_format, html_format, trace_format, dot_format;

typedef struct Output Output;

Output *output_open(OutputKind kind, const char *path, const OutputSettings *settings, char **error);
void output_add(Output *output, const CheckResult *result, const GPtrArray *schedules);         /* not of verdict ERROR */
void output_add_error(Output *output, const char *message);
void output_commit(Output *output);             /* async-signal-safe */
bool output_close(Output *output, bool keep, char **error);      /* writes it if keep; frees */
