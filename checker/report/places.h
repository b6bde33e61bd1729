/* places.h - the places of a finding for reports that need at least one: its own; for a deadlock, the steps of the stuck cores; for a fault
 * that shows only at the end of the program, the last step of its core.
 *
 * Ownership:   the result belongs to the caller.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"

enum { PLACES_LOOKED_AT = 64 };                 /* for the lines of a name */

GArray *places_shown(const CheckResult *result, const Finding *finding, guint most);    /* of Place, at most so many */
char *places_inside(const CheckResult *result, const Place *place);     /* ", in ring, grid step 0, 1" */
void places_append_grid(GString *words, const CheckResult *result, const Place *place);         /* ", grid step 0, 1", if there is a grid */
char *places_name(const CheckResult *result, const Finding *finding);   /* "race at kernel.c:18 and kernel.c:20" */
/* For "kernel.c:12" at the start of a word, the length of the file's name, and *line; 0: the word names no place. */
size_t places_cited(const char *word, unsigned *line);
const char *places_next_word(const char *at);           /* where a place may begin again */
