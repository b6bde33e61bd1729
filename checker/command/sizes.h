/* sizes.h - the verdicts of one program's checks in a line, and what decides where it is right.
 *
 *     sizes_begin -> sizes_add for each check -> sizes_words, sizes_what_decides -> sizes_end
 *
 * Ownership:   borrows specs.
 */
#pragma once
#include "../check/check.h"

typedef struct Sized { const CheckSpec *spec; Verdict verdict; char *faults; } Sized;

GArray *sizes_begin(void);                      /* of Sized; g_array_unref ends it */
void sizes_add(GArray *sizes, const CheckSpec *spec, Verdict verdict, char *faults);           /* takes the faults, "race (2), leftover" */
/* "verified at 2 devices; faulty at 3 to 5 devices: race". g_free */
char *sizes_words(const GArray *sizes);
/* "ring is right for some sizes only: the smallest wrong one here is 3 devices."; or for some values of a parameter. NULL: nothing
 * varied, or the verdict did not. g_free */
char *sizes_what_decides(const GArray *sizes);
