/* narrative.h - how a fault comes about, as a short list of lines: who does what, in order, with what is routine folded.
 *
 * Ownership:   results belong to the caller.
 * Errors:      NULL when the finding has no run to tell of.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"

#define TELLING_LINES_MAX 25

typedef struct TellingStep { char *text; uint32_t site; bool of_fault; } TellingStep;     /* site NONE: nowhere; of_fault: its own step */
/* The same with sites apart. */
GArray *narrative_steps(const CheckResult *result, const Finding *finding);      /* of TellingStep, freed with it */
GPtrArray *narrative_lines(const CheckResult *result, const Finding *finding);   /* of char*, at most TELLING_LINES_MAX */
