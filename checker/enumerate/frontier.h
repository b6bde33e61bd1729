/* frontier.h - what moves while a search goes on: each worker's states, those to come, and successors on their way to others. */
#pragma once
#include "queue.h"
#include "walk.h"

enum { DEFER_JUDGE = 1, DEFER_EXPAND = 2, DEFER_END = 4, DEFER_POLL = 8 };
typedef struct Deferred { uint64_t what; } Deferred;  /* DEFER_*; followed by the state's ids */

enum { CHUNK_KEYS_BYTES = 1 << 14, CHUNKS_WAITING_MAX = 64 };
typedef struct Chunk { uint32_t keys; uint64_t key[CHUNK_KEYS_BYTES / sizeof(uint64_t)]; } Chunk;

typedef struct Batch { uint64_t *key, *hash; unsigned used, room; } Batch;     /* keys, and scattered */

typedef struct Hot {                            /* of one core; row: of its component in the state in hand */
    const struct WorkerRow *rows, *row;
    const uint64_t *deltas;
    const int64_t *taken;
    uint32_t columns, mask;                     /* mask, shift, word: of its field in a key */
    uint8_t shift, word;
} Hot;

struct Worker {
    Walk *walk;
    unsigned index;
    Table table;
    Queue queue;                                /* states not expanded yet; all, where they are kept */
    GArray *levels;                             /* uint64_t, where they are kept: where each level begins in the queue */
    Queue deferred;                             /* states of this level for the one thread: Deferred, and their ids */
    Batch now, before;                          /* being filled; waiting for its places to be fetched */
    Hot *hot;                                   /* by core: what the inner loop needs of it */
    uint32_t *id, *after;                       /* of the state in hand, of a successor */
    uint64_t transitions;
    uint64_t covered;                           /* with symmetry: states visited, with all their rotations */
    uint64_t level_end;                         /* states of the level in hand end there in the queue */
    GAsyncQueue *inbox;                         /* of Chunk: successors that other workers met */
    Chunk **out;                                /* by worker: such a chunk being filled */
};

uint64_t frontier_states(const Walk *walk);     /* visited so far */
size_t frontier_bytes(const Walk *walk);        /* of memory, of the whole search */
void worker_init(Worker *worker, Walk *walk, unsigned index);
void worker_clear(Worker *worker);
void worker_fit(Worker *worker);                /* for the layout and tables as they are now */
void batch_widen(Batch *batch, unsigned room, unsigned words);          /* room for so many keys */
