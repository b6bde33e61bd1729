/* move_log.h - the moves of the current run, in shared memory: they show how a process died.
 *
 * Ownership:   the Store (of LoggedMove) belongs to the caller, who makes it before the fork and resets it before each run.
 */
#pragma once
#include "../facts/finding.h"
#include "execution.h"

typedef struct LoggedMove {
    Move move;
    Place place;                                /* the step that the move does */
} LoggedMove;

void move_log_note(Store *log, Execution *execution, Move move);        /* before the move is done */
/* The moves, and a line for each; the process died in the last one. */
GArray *move_log_moves(const Store *log, const Program *program, GPtrArray *lines);
bool move_log_last(const Store *log, uint32_t core, Place *place);      /* the core's own last step; false: none */
