/* frontier.h - the moving part of a search: each worker's visited states and frontier, and successors in transit between workers.
 *
 *     level -> each worker, its share of the states: inspect, each possible transition -> successor, unless visited -> next level
 *           -> one thread, what needs more than rows (a core to unroll further, a fault to name), in the order of states
 *
 * Invariants:  1. A state belongs to the worker that the top bits of its scattered key name, and is in that worker's table.
 *              2. Between levels nothing is in transit: batches and chunks are empty.
 *              3. While workers run, each changes its own parts only; they share the frontier's `limit` and `busy` alone.
 */
#pragma once
#include "queue.h"
#include "space.h"
#include "table.h"

enum { DEFER_JUDGE = 1, DEFER_EXPAND = 2, DEFER_END = 4, DEFER_POLL = 8 };
typedef struct Deferred { uint64_t what; } Deferred;    /* DEFER_*; followed by the state's ids */

enum { CHUNK_KEYS_BYTES = 1 << 14, CHUNKS_WAITING_MAX = 64 };
typedef struct Chunk { uint32_t keys; uint64_t key[CHUNK_KEYS_BYTES / sizeof(uint64_t)]; } Chunk;

typedef struct KeyBatch { uint64_t *key, *hash; unsigned used, room; } KeyBatch;        /* keys, and scattered */

typedef struct Hot {                            /* of one core; row: of its component in the current state */
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
    KeyBatch now, before;                       /* being filled; waiting for its prefetches */
    Hot *hot;                                   /* by core: what the inner loop needs */
    uint32_t *id, *after;                       /* of the current state, of a successor */
    uint64_t transitions;
    uint64_t covered;                           /* with symmetry: states visited, with all their rotations */
    uint64_t level_end;                         /* end of the current level's states in the queue */
    GAsyncQueue *inbox;                         /* of Chunk: successors from other workers */
    Chunk **out;                                /* by worker: the chunk being filled */
} Worker;

struct Frontier {
    Worker *worker;
    unsigned workers, owner_bits;               /* a power of two, and which */
    gint busy;                                  /* workers that still have states to expand */
    bool keeps;                                 /* queues keep all states, to find schedules */
    bool hashed;                                /* tables hold hashes of keys (frontier_print), not keys */
    uint64_t level, swept;                      /* current; states of discarded levels */
    const char *limit;                          /* that ended the search; NULL: none */
    int64_t begun;                              /* monotonic microseconds */
    size_t stores_before;                       /* bytes of Stores that are not ours */
};

void frontier_open(Frontier *frontier, const StateSpace *space);       /* makes workers, which have no tables yet */
void frontier_close(Frontier *frontier);
uint64_t frontier_states(const Frontier *frontier);     /* visited so far */
size_t frontier_bytes(const Frontier *frontier);        /* of memory, of the whole search */
/* The hash kept for a key with --hash-compact: the same in every layout; never 0. */
uint64_t frontier_print(const Layout *layout, const uint64_t *key);
unsigned frontier_owner(const Frontier *frontier, const Layout *layout, const uint64_t *key);  /* which worker the key belongs to */
void frontier_assert_sane(const Frontier *frontier);    /* between levels */
void worker_fit(Worker *worker);                /* for the layout and tables as they are now */
void key_batch_widen(KeyBatch *batch, unsigned room, unsigned words);   /* room for so many keys */

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
