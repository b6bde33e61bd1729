/* catalogue.h - which programs a module offers.
 *
 * Ownership:   entries are copies (strings too); build is not callable in the parent for a user's module.
 * Errors:      NULL and *error: the module could not be loaded.
 */
#pragma once
#include "check.h"

typedef struct CatalogueEntry {
    char *name, *summary, *group, *source;
    uint32_t expected_faults, expected_from;    /* after building it at a small applicable size */
    uint32_t devices_min;                       /* smallest applicable number of devices in 1..16, 0: none */
    uint32_t cores;                             /* a device, with which it is applicable: 1, or 2 if it must be */
    char *mesh;                                 /* a mesh of several axes if it needs one, else NULL */
    GArray *parameters;                         /* of CatalogueParameter */
} CatalogueEntry;
typedef struct CatalogueParameter {
    char *name;
    int64_t value, least, greatest;
    gboolean choice;                            /* by pl_choose: all values are checked */
} CatalogueParameter;
GPtrArray *catalogue_read(ProgramModuleOpen open, const char *module, char **error);
/* Only the programs of that name: no other one is built. */
GPtrArray *catalogue_find(ProgramModuleOpen open, const char *module, const char *name, char **error);
