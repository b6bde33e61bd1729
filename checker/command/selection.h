/* selection.h - turns the KERNELs of a command line into programs, and sizes and parameters into checks.
 *
 * Ownership:   Selection owns its programs; a CheckPlan's specs point into it and into the options.
 * Errors:      one line in *error: an unknown name (with the nearest known one), a file that cannot be read, compiled or loaded, a
 *              parameter that the program does not declare or that is out of range.
 */
#pragma once
#include "../check/catalogue.h"
#include "../check/check_queue.h"
#include "../check/compile.h"
#include "session.h"

typedef struct Selected {
    const CatalogueEntry *entry;
    const char *source;                         /* a user's file; NULL: built in */
} Selected;

typedef struct Selection {
    GArray *programs;                           /* of Selected */
    GPtrArray *catalogues, *strings;            /* what they point to */
} Selection;

/* All operands; without any, all built-in programs. */
bool selection_read(Selection *selection, const Session *session, char **error);
void selection_clear(Selection *selection);
CompileOptions selection_compile_options(const Options *options);

typedef struct CheckPlan {
    GArray *specs;                              /* of CheckSpec, in the order of checking */
    GPtrArray *overrides;                       /* blocks of Override */
    GPtrArray *choices;                         /* of Define, by pl_choose */
} CheckPlan;

/* The checks of one program. */
typedef struct Planned {
    const Selected *selected;
    CheckPlan plan;
    char *error;                                /* why there are none; NULL: there are */
} Planned;

/* One Planned for each program, in order; their checks are added to the queue in that order. */
GPtrArray *selection_plan(const Selection *selection, const Session *session, CheckQueue *queue);
