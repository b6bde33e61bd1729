/* expand.h - a worker's inner loop: takes a state, checks whether it may show a fault, and writes its successors.
 *
 * Successors wait in a batch while the next one is filled: time to prefetch their places in the table. Those that belong to other workers
 * leave in chunks.
 */
#pragma once
#include "frontier.h"

/* All states of the level that are this worker's. */
void expand_level(Worker *worker);
void expand_drain(Worker *worker);              /* receives all waiting chunks */
void expand_flush(Worker *worker);              /* batches into the table, begun chunks to their owners */
void expand_add(Worker *worker, const uint64_t *key);   /* the start, which succeeds no state */
/* The one thread: expands the current state, unrolling cores as needed. False: to be repeated in a wider layout. */
bool expand_state(StateSpace *space, Worker *worker, bool *moved);
