/* narrative.h - how a fault happens, as a short list of lines: which agent does what, in order, with routine steps folded.
 *
 * Ownership:   results belong to the caller.
 * Errors:      NULL if the finding has no run.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"

#define NARRATIVE_LINES_MAX 25

typedef struct NarrativeStep {
    char *text;
    uint32_t site, event;                       /* event: of the run's timeline, where it begins; NONE: none */
    bool of_fault;                              /* a step of the fault itself */
} NarrativeStep;

GArray *narrative_steps(const CheckResult *result, const Finding *finding);      /* of NarrativeStep, freed with it */
char *narrative_words(const CheckResult *result, const NarrativeStep *step);    /* "device 1 continues (ring.c:11)" */
/* The same as text, each line with its place; at most NARRATIVE_LINES_MAX. Of char*. */
GPtrArray *narrative_lines(const CheckResult *result, const Finding *finding);
