/* blackbox.h - what a run has done so far, in shared memory: all that is left to tell how a process came to its death.
 *
 * Ownership:   the Store (of Noted) is the caller's, made before the fork; store_reset before each run.
 */
#pragma once
#include "../facts/finding.h"
#include "execution.h"

typedef struct Noted {
    Move move;
    Place place;                                /* what the move was to do */
} Noted;

void blackbox_note(Store *box, Execution *execution, Move move);                /* before the move is done */
/* The moves, and a line for each; the last one is the one that was not survived. */
GArray *blackbox_moves(const Store *box, const Program *program, GPtrArray *lines);
bool blackbox_last(const Store *box, uint32_t core, Place *place);              /* the core's own last step; false: it did none */
