/* expand.h - a worker's inner loop: take a state, look whether anything about it is worth a judge's time, write down its successors.
 *
 * Successors wait in a batch, which gives the memory time to fetch their places in the table, while the next one is filled; those that
 * belong to other workers leave in chunks.
 */
#pragma once
#include "frontier.h"

/* All states of the level that are this worker's. */
void expand_level(Worker *worker);
void expand_drain(Worker *worker);              /* takes in all chunks that wait for it */
void expand_flush(Worker *worker);              /* batches into the table, begun chunks to their owners */
void expand_add(Worker *worker, const uint64_t *key);  /* a successor of no state: the start */
/* The one thread: expands the state in hand, unrolling cores as far as that takes. False: it has to be taken up again in a wider layout. */
bool expand_state(StateSpace *space, Worker *worker, bool *moved);
