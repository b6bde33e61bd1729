/* expand.h - a worker's inner loop: take a state, look whether anything about it is worth a judge's time, write down its successors.
 *
 * Successors wait in a batch, which gives the memory time to fetch their places in the table, while the next one is filled; those that
 * belong to other workers leave in chunks.
 */
#pragma once
#include "queue.h"
#include "walk.h"

enum { LATER_JUDGE = 1, LATER_EXPAND = 2, LATER_END = 4, LATER_POLL = 8 };
typedef struct Later { uint64_t what; } Later;  /* LATER_*; followed by the state's ids */

enum { CHUNK_KEYS_BYTES = 1 << 14, CHUNKS_WAITING_MAX = 64 };
typedef struct Chunk { uint32_t keys; uint64_t key[CHUNK_KEYS_BYTES / sizeof(uint64_t)]; } Chunk;

typedef struct Batch { uint64_t *key, *hash; unsigned used, room; } Batch;     /* keys, and scattered */

struct Worker {
    Walk *walk;
    unsigned index;
    Table table;
    Queue queue;                                /* states not expanded yet; all, where they are kept */
    GArray *levels;                             /* uint64_t, where they are kept: where each level begins in the queue */
    Queue later;                                /* states of this level for the one thread: Later, and their ids */
    Batch now, before;                          /* being filled; waiting for its places to be fetched */
    struct Hot *hot;                            /* by core: what the inner loop needs of it */
    uint32_t *id, *after;                       /* of the state in hand, of a successor */
    uint64_t transitions;
    uint64_t covered;                           /* with symmetry: states visited, with all their rotations */
    uint64_t level_end;                         /* states of the level in hand end there in the queue */
    GAsyncQueue *inbox;                         /* of Chunk: successors that other workers met */
    Chunk **out;                               /* by worker: such a chunk being filled */
};

void worker_init(Worker *worker, Walk *walk, unsigned index);
void worker_clear(Worker *worker);
/* For the layout and tables as they are now. */
void worker_fit(Worker *worker);
/* All states of the level that are this worker's. */
void worker_level(Worker *worker);
void worker_drain(Worker *worker);              /* takes in all chunks that wait for it */
void worker_flush(Worker *worker);              /* batches into the table, begun chunks to their owners */
void worker_add(Worker *worker, const uint64_t *key);                  /* a successor of no state: the start */
/* The one thread: expands the state in hand, unrolling cores as far as that takes. False: it has to be taken up again in a wider layout. */
bool worker_expand(Worker *worker, bool *moved);
