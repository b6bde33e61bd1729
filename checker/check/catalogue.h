/* catalogue.h - the programs of a module, and the built-in ones: those linked into this executable and those of its installed modules.
 *
 * Ownership:   entries are copies (strings too); build is not callable in the parent.
 * Errors:      NULL and *error: a module could not be loaded.
 */
#pragma once
#include "check.h"

typedef struct CatalogueEntry {
    char *name, *summary, *group, *source;
    char *module;                               /* path; NULL: linked into this executable */
    uint32_t expected_faults, expected_from;    /* after building it at a small applicable size */
    uint32_t devices_min;                       /* smallest applicable number of devices in 1..16, 0: none */
    uint32_t cores;                             /* per device, where it is applicable: 1, or 2 if it must be */
    char *mesh;                                 /* a mesh of several axes if it needs one, else NULL */
    GArray *parameters;                         /* of CatalogueParameter */
    gboolean tables;                            /* it has inputs with a domain */
} CatalogueEntry;
typedef struct CatalogueParameter {
    char *name;
    int64_t value, least, greatest;
    gboolean choice;                            /* declared by pl_choose: all values are checked */
} CatalogueParameter;
/* The programs of a user's module; NULL: those linked into this executable. */
GPtrArray *catalogue_read(ProgramModuleOpen open, const char *module, char **error);
/* Sorted by source. name: builds only programs of that name; NULL: all. */
GPtrArray *catalogue_built_in(ProgramModuleOpen open, const char *name, char **error);
/* Why built-in programs are missing: one line, g_malloc; NULL: none are. */
char *catalogue_missing(void);
