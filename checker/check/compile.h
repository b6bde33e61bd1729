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
#include <stdbool.h>

typedef struct CompileOptions {
    const GPtrArray *include;                   /* of char*: -I */
    const char *cflags;                         /* more flags, as for a shell; NULL: none */
    bool twins;                                 /* of a module for our own use: its twins are made where it has any */
} CompileOptions;

/* Modules of the same file that differ from it, and from each other, in what its locals hold that may be read before they are set. */
typedef struct Twins {
    GPtrArray *modules;                         /* of char*: paths */
    char *locals;                               /* "x (k.c:5), or y (k.c:9)" */
} Twins;

/* output NULL: in the temporary folder. Gives the path of the module. */
char *compile_module(const char *source, const char *output, const CompileOptions *options, char **error);
/* The command that compile_module runs, as one would type it. */
char *compile_command(const char *source, const char *output, const CompileOptions *options, char **error);
/* Of a module that was compiled with `twins` in this process or one above it; NULL: it was not, or it reads no local that it may not have
 * set. Borrowed. */
const Twins *compile_twins(const char *module);
