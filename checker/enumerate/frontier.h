/* frontier.h - what moves while a search goes on: each worker's states, visited and to come, and successors on their way to others.
 *
 *     level -> each worker, its share of the states: inspect, each transition that is possible -> successor, unless seen -> next level
 *           -> one thread, what needs more than rows (a core that has to be unrolled further, a fault to name), in the order of states
 *
 * Invariants:  1. A state belongs to the worker that the top bits of its scattered key name, and is in that one's table.
 *              2. Between levels nothing is on its way: batches and chunks are empty.
 *              3. While workers run, each changes its own parts only; the frontier's `limit` and `busy` are all they share.
 */
#pragma once
#include "queue.h"
#include "space.h"
#include "table.h"

enum { DEFER_JUDGE = 1, DEFER_EXPAND = 2, DEFER_END = 4, DEFER_POLL = 8 };
typedef struct Deferred { uint64_t what; } Deferred;    /* DEFER_*; followed by the state's ids */

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

typedef struct Frontier Frontier;

typedef struct Worker {
    const StateSpace *space;
    Frontier *frontier;
    unsigned index;
    Table table;                                /* states visited, or hashes of them */
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
} Worker;

struct Frontier {
    Worker *worker;
    unsigned workers, owner_bits;               /* a power of two, and which */
    gint busy;                                  /* how many still have states to expand */
    bool keeps;                                 /* queues keep all states, to find schedules */
    bool hashed;                                /* tables hold hashes of keys (frontier_print), not keys */
    uint64_t level, swept;                      /* in hand; states of levels given up */
    const char *limit;                          /* which limit ended the search */
    int64_t begun;                              /* monotonic microseconds */
    size_t stores_before;                       /* bytes of Stores that are not ours */
};

void frontier_open(Frontier *frontier, const StateSpace *space);       /* makes workers, which have no tables yet */
void frontier_close(Frontier *frontier);
uint64_t frontier_states(const Frontier *frontier);     /* visited so far */
size_t frontier_bytes(const Frontier *frontier);        /* of memory, of the whole search */
/* What stands for a key of that layout where only hashes are kept: the same in every layout; never 0. */
uint64_t frontier_print(const Layout *layout, const uint64_t *key);
unsigned frontier_owner(const Frontier *frontier, const Layout *layout, const uint64_t *key);  /* which worker the key belongs to */
void frontier_assert_sane(const Frontier *frontier);    /* between levels */
void worker_fit(Worker *worker);                /* for the layout and tables as they are now */
void batch_widen(Batch *batch, unsigned room, unsigned words);          /* room for so many keys */

static inline void frontier_stop(Frontier *frontier, const char *limit) { frontier->limit = frontier->limit ? frontier->limit : limit; }
static inline KeyShape frontier_shape(const Frontier *frontier, const Layout *layout)
{
    return (KeyShape){.words = frontier->hashed ? 1 : layout->words, .bits = frontier->hashed ? 64 : layout->bits,
                      .skip = frontier->owner_bits};
}
/* A key's scattered value, whose top bits are its place and its owner. Of a print table_unhash gives it back. */
static inline uint64_t frontier_scatter(const Frontier *frontier, const Layout *layout, const uint64_t *key)
{
    if (!frontier->hashed)
        return table_hash(key, layout->words, layout->bits);
    uint64_t print = frontier_print(layout, key);
    return table_hash(&print, 1, 64);
}
