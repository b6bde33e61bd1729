/* offer.h - what a module of kernels offers: its programs, how to build one, and the operations of its kernels.
 *
 * kernels/ implements ProgramModuleOpen, main passes it to checker/, which sees nothing else of kernels.
 */
#pragma once
#include "program.h"

typedef struct ProgramEntry {
    const char *name, *summary, *group, *source;        /* group: "collectives", "cases", ... by source: path as given to the compiler */
    const void *self;
    void (*build)(Program *program, const struct ProgramEntry *entry);
} ProgramEntry;
/* An operation of its kernels, whether executed or not. */
typedef struct ProgramStep { const char *file, *function; unsigned line, counter; } ProgramStep;
typedef struct ProgramModule {
    const ProgramEntry *entry;
    size_t entries;
    const ProgramStep *step;
    size_t steps;
    void *handle;
} ProgramModule;
/* path NULL: the kernels linked into this executable. On failure NULL and one line in *error (g_malloc). Files may be opened only in a
 * forked child. */
typedef ProgramModule *(*ProgramModuleOpen)(const char *path, char **error);
