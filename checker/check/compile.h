/* compile.h - compiles a user's C file to a module, in a private temporary folder that the process removes at its end.
 *
 * Honours CC, CFLAGS, -I and --cflags. Compiler messages go to standard error. In the temporary folder, a local that is never set is
 * reported as our own one-line error instead.
 *
 * Ownership:   results belong to the caller (g_free); the folder to interrupt.h.
 * Errors:      NULL and one line in *error.
 */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef struct CompileOptions {
    const GPtrArray *include;                   /* of char*: -I */
    const char *cflags;                         /* more flags, as for a shell; NULL: none */
    bool variants;                              /* also make the module's variants, if it has any */
} CompileOptions;

/* Modules of the same file with other initial values for the locals that may be read before they are set. */
typedef struct Variants {
    GPtrArray *modules;                         /* of char*: paths */
    char *locals;                               /* "x (k.c:5), or y (k.c:9)" */
} Variants;

/* output NULL: in the temporary folder. Gives the path of the module. */
char *compile_module(const char *source, const char *output, const CompileOptions *options, char **error);
/* The command that compile_module runs, quoted for a shell. */
char *compile_command(const char *source, const char *output, const CompileOptions *options, char **error);
/* Of a module that this process or a parent compiled with `variants`; NULL: it was not, or no local of it can be read unset. Borrowed. */
const Variants *compile_variants(const char *module);
