/* walkthrough.h - a replayed run to walk through in a terminal: where one stands, and what the state is there.
 *
 *     walk_new -> [ walk_to | walk_next_of_device -> walk_step, walk_counts, walk_buffers, walk_waits ]* -> walk_free
 *
 * Position p means: p steps were done, 0 to walk_steps.
 * Ownership:   borrows result and record; texts are appended to the caller's string.
 */
#pragma once
#include "../check/check.h"
#include "source.h"

typedef struct Walk Walk;

Walk *walk_new(const CheckResult *result, const Finding *finding, const Record *record, Source *source);
void walk_free(Walk *walk);
unsigned walk_steps(const Walk *walk);
unsigned walk_position(const Walk *walk);
void walk_to(Walk *walk, unsigned position);    /* beyond the end: the end */
bool walk_next_of_device(Walk *walk, uint32_t device, bool back);               /* false: it does no more; stays */
void walk_step(const Walk *walk, GString *out);                 /* the last step that was done, or what the end is about */
void walk_counts(const Walk *walk, GString *out);               /* semaphores that are not zero */
void walk_buffers(const Walk *walk, GString *out);              /* who wrote what last, newest first */
void walk_waits(const Walk *walk, GString *out);                /* each core's next step, and what it lacks */
