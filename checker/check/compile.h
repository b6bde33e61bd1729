/* compile.h - a user's C file to a module, on the spot, in a private temporary folder that is gone when the process is.
 *
 * Honours CC, CFLAGS, -I and --cflags. The compiler's own words go to standard error, but for a local that was never set, which is
 * one line of ours where the module is for our own use.
 *
 * Ownership:   results belong to the caller (g_free); the folder to interrupt.h.
 * Errors:      NULL and one line in *error.
 */
#pragma once
#include <glib.h>

typedef struct CompileOptions {
    const GPtrArray *include;                   /* of char*: -I */
    const char *cflags;                         /* more flags, as for a shell; NULL: none */
} CompileOptions;

/* output NULL: in the temporary folder. Gives the path of the module. */
char *compile_module(const char *source, const char *output, const CompileOptions *options, char **error);
/* The command that compile_module runs, as one would type it. */
char *compile_command(const char *source, const char *output, const CompileOptions *options, char **error);
