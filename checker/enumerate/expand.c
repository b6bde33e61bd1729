/* expand.c - the inner loop: each core's transitions that are always possible and the one that a counter guards; a successor is then the
 * key plus a constant.
 */
#include "expand.h"
#include <string.h>
#include "../../model/sane.h"
#include "expand_sane.h"
#include "inspect.h"
#include "livelock.h"
#include "successor.h"
#include "symmetry.h"
#include "transition.h"
#include "worker_row.h"

enum { BATCH = 32, CHECK_EVERY = 1024, DRAIN_EVERY = 256, WAIT_MICROSECONDS = 200 };

#define INLINE static inline __attribute__((always_inline))

/* The table is full: twice as large, unless that is above the limit of memory. */
static void grow_table(Worker *worker)
{
    size_t limit = worker->space->options->limits.memory;
    if ((limit && frontier_bytes(worker->frontier) + table_bytes_grown(&worker->table) > limit + table_bytes(&worker->table))
        || !table_grow(&worker->table))
        frontier_stop(worker->frontier, "memory");
}

/* Makes room for so many more keys. False: there is none, and the search stops. */
static bool make_room(Worker *worker, unsigned count)
{
    Queue *queue = &worker->queue;
    while (worker->frontier->limit == NULL && worker->table.count + count > worker->table.grow_at)
        grow_table(worker);
    while (worker->frontier->limit == NULL && queue->tail + count > queue->room)
        if (!queue_grow(queue))
            frontier_stop(worker->frontier, "memory");
    return worker->frontier->limit == NULL;
}

/* Adds keys to the table, and new ones to the queue. */
INLINE void add_all(Worker *worker, const uint64_t *key, const uint64_t *hash, unsigned count, unsigned words)
{
    const Frontier *frontier = worker->frontier;
    Table *table = &worker->table;
    Queue *queue = &worker->queue;
    if (G_UNLIKELY(table->count + count > table->grow_at || queue->tail + count > queue->room || frontier->limit != NULL)
        && !make_room(worker, count))
        return;
    uint64_t *to = queue->key + queue->tail * words, *from = to;
    for (unsigned i = 0; i < count; i++, key += words) {
        uint64_t print = G_UNLIKELY(frontier->hashed) ? table_unhash(hash[i], 64) : 0;
        if (!(print ? table_add_at(table, &print, 1, hash[i]) : table_add_at(table, key, words, hash[i])))
            continue;
        for (unsigned w = 0; w < words; w++)
            to[w] = key[w];
        to += words;
    }
    queue->tail += (uint64_t)(to - from) / words;
    SANE(queue_assert_sane(queue));
    SANE_NOW_AND_THEN(table->count, table_assert_sane(table));
}

INLINE void empty(Worker *worker, KeyBatch *batch, unsigned words)
{
    add_all(worker, batch->key, batch->hash, batch->used, words);
    batch->used = 0;
}

/* The places of the previous batch's keys were prefetched while this one was filled. */
INLINE void next_batch(Worker *worker, unsigned words)
{
    empty(worker, &worker->before, words);
    KeyBatch full = worker->now;
    worker->now = worker->before;
    worker->before = full;
}

static void send(Worker *worker, unsigned owner)
{
    Chunk *full = g_steal_pointer(&worker->out[owner]);
    Worker *to = &worker->frontier->worker[owner];
    while (worker->space->frozen && g_async_queue_length(to->inbox) > CHUNKS_WAITING_MAX)
        expand_drain(worker);                   /* the owner may be waiting for us */
    g_async_queue_push(to->inbox, full);
}

/* A chunk with room for one more key of that owner; of the own keys none is kept. */
static Chunk *next_chunk(Worker *worker, unsigned owner)
{
    Chunk **out = &worker->out[owner];
    if (*out != NULL && owner != worker->index)
        send(worker, owner);
    if (*out == NULL)
        *out = g_new(Chunk, 1);
    (*out)->keys = 0;
    return *out;
}

INLINE uint64_t scatter(const Worker *worker, const uint64_t *key, unsigned words)
{
    const Layout *layout = &worker->space->layout;
    return G_UNLIKELY(worker->frontier->hashed) ? frontier_scatter(worker->frontier, layout, key) : table_hash(key, words, layout->bits);
}

/* Writes the key to its owner's chunk without a branch, although our own keys do not count there: the owner is hard to predict. */
INLINE bool share(Worker *worker, unsigned owner, const uint64_t *key, uint64_t *kept, unsigned words)
{
    Chunk *chunk = worker->out[owner];
    if (G_UNLIKELY(chunk == NULL || ((size_t)chunk->keys + 1) * words * sizeof *key > CHUNK_KEYS_BYTES))
        chunk = next_chunk(worker, owner);
    uint64_t *to = chunk->key + (size_t)chunk->keys++ * words;
    for (unsigned w = 0; w < words; w++)
        to[w] = kept[w] = key[w];
    return owner == worker->index;
}

/* So many successors were written after those of the batch: prefetches their places, or sends them to their owners. */
INLINE void settle(Worker *worker, unsigned count, unsigned words, bool many)
{
    const StateSpace *space = worker->space;
    const unsigned owner_bits = worker->frontier->owner_bits;
    KeyBatch *batch = &worker->now;
    uint64_t *key = batch->key + (size_t)batch->used * words, *kept = key;
    for (unsigned i = 0; i < count; i++, key += words) {
        if (G_UNLIKELY(space->symmetry != NULL))
            symmetry_canonical(space->symmetry, &space->layout, key);
        uint64_t hash = scatter(worker, key, words);
        bool own = !many || share(worker, (unsigned)(hash >> (64 - owner_bits)), key, kept, words);
        const void *place = table_place(&worker->table, hash, worker->table.shape.words);
        __builtin_prefetch(own ? place : (const void *)key, 1);
        batch->hash[batch->used] = hash;
        batch->used += own, kept += own ? words : 0;
    }
    if (batch->used >= BATCH)
        next_batch(worker, words);
}

void expand_flush(Worker *worker)
{
    empty(worker, &worker->before, worker->space->layout.words);
    empty(worker, &worker->now, worker->space->layout.words);
    for (unsigned owner = 0; owner < worker->frontier->workers; owner++)
        if (worker->out[owner] != NULL && owner != worker->index && worker->out[owner]->keys > 0)
            send(worker, owner);
}

static unsigned block_keys(const Chunk *chunk, unsigned block)
{
    return MIN(chunk->keys - block * BATCH, BATCH);
}

static void take_chunk(Worker *worker, Chunk *chunk)
{
    const unsigned words = worker->space->layout.words, blocks = (chunk->keys + BATCH - 1) / BATCH;
    uint64_t hash[2][BATCH];
    for (unsigned b = 0; b <= blocks; b++) {    /* places of one block are fetched, then the keys of the one before go there */
        const uint64_t *key = chunk->key + (size_t)b * BATCH * words;
        for (unsigned i = 0; b < blocks && i < block_keys(chunk, b); i++) {
            hash[b % 2][i] = scatter(worker, key + i * words, words);
            __builtin_prefetch(table_place(&worker->table, hash[b % 2][i], worker->table.shape.words), 1);
        }
        if (b > 0)
            add_all(worker, key - BATCH * words, hash[(b - 1) % 2], block_keys(chunk, b - 1), words);
    }
    g_free(chunk);
}

void expand_drain(Worker *worker)
{
    for (Chunk *chunk; (chunk = g_async_queue_try_pop(worker->inbox)) != NULL;)
        take_chunk(worker, chunk);
}

void expand_add(Worker *worker, const uint64_t *key)
{
    unsigned words = worker->space->layout.words;
    uint64_t hash = scatter(worker, key, words);
    add_all(worker, key, &hash, 1, words);
}

/* Updates what the inner loop needs. */
static void meet(Worker *worker)
{
    const StateSpace *space = worker->space;
    for (uint32_t c = 0; c < space->cores; c++) {
        const SpaceCore *core = &space->core[c];
        LayoutField field = space->layout.field[c];
        worker->hot[c] = (Hot){.rows = &STORE(WorkerRow, &core->worker_rows, 0), .deltas = &STORE(uint64_t, &core->deltas, 0),
                               .taken = &STORE(int64_t, &core->taken, 0), .columns = core->columns, .shift = field.shift,
                               .word = field.word, .mask = (uint32_t)((1ull << field.bits) - 1)};
    }
}

INLINE int64_t added(const Worker *worker, Addend addend)
{
    const Hot *hot = &worker->hot[addend.core];
    return hot->taken[(size_t)worker->id[addend.core] * hot->columns + addend.column];
}

INLINE bool guard_holds(const Worker *worker, const Others *others, int64_t need)
{
    int64_t sum = added(worker, others->first);
    for (uint32_t i = 0; G_UNLIKELY(i < others->more); i++)
        sum += added(worker, others->addend[i]);
    return sum >= need;
}

INLINE void put(uint64_t *to, const uint64_t *key, unsigned words, const Hot *hot, uint64_t delta)
{
    for (unsigned w = 0; w < words; w++)
        to[w] = key[w];
    to[words == 1 ? 0 : hot->word] += delta;
}

/* All transitions of a core by its row; returns the number possible. A successor is written without a branch and counts if its transition
 * is possible: guards are hard to predict. */
INLINE unsigned take_row(const Worker *worker, const Hot *hot, const Others *others, const uint64_t *key, unsigned words, uint64_t *to)
{
    const WorkerRow *row = hot->row;
    const uint64_t *delta = hot->deltas + row->deltas;
    unsigned always = row->always;
    if (words == 1) {
        to[0] = key[0] + delta[0], to[1] = key[0] + delta[1], to[2] = key[0] + delta[2], to[3] = key[0] + delta[3];
        for (unsigned t = DELTAS_AT_ONCE; G_UNLIKELY(t < always); t++)
            to[t] = key[0] + delta[t];
    } else {
        for (unsigned t = 0; t < always; t++)
            put(to + t * words, key, words, hot, delta[t]);
    }
    put(to + always * words, key, words, hot, delta[always]);
    return always + guard_holds(worker, others + row->others, row->need);
}

static bool all_known(const Worker *worker)
{
    for (unsigned f = 0; f < worker->space->layout.fields; f++)
        if (worker->after[f] == 0)
            return false;
    return true;
}

/* Transitions of a core one by one, some with more than one outcome. False: the outcome of one is not known yet, so the state is left to
 * the one thread. */
static bool take_slowly(const Worker *worker, uint32_t core, unsigned transitions, const uint64_t *key, uint64_t *to, unsigned *taken)
{
    const StateSpace *space = worker->space;
    const unsigned words = space->layout.words;
    const Hot *hot = &worker->hot[core];
    const Transition *transition = space_transition(space, core, hot->row->deltas);
    for (unsigned t = 0; t < transitions; t++) {
        uint64_t *after = to + *taken * words;
        bool possible = transition[t].next ? transition_enabled(space, worker->id, core, &transition[t])
                                     : transition_take_known(space, worker->id, core, hot->row->deltas + t, worker->after);
        if (possible && transition[t].next)
            put(after, key, words, hot, ((uint64_t)transition[t].next - worker->id[core]) << hot->shift);
        else if (possible && all_known(worker))
            layout_pack(&space->layout, worker->after, after);
        else if (possible)
            return false;
        *taken += possible;
    }
    return true;
}

/* The first core whose next step is done at once; cores: none. */
static uint32_t find_local(const StateSpace *space, const uint32_t *id)
{
    for (uint32_t c = 0; c < space->cores; c++) {
        const Component *component = space_component(space, c, id[c]);
        const Transition *transition = space_transition(space, c, component->transitions);
        if (component->transition_count > 0 && transition->local && transition_enabled(space, id, c, transition))
            return c;
    }
    return space->cores;
}

/* Writes all successors. False: the state is left to the one thread. */
INLINE bool take_transitions(const Worker *worker, const uint64_t *key, unsigned words, unsigned flags, uint64_t *to, unsigned *taken)
{
    const StateSpace *space = worker->space;
    const Others *others = &STORE(Others, &space->others, 0);
    const uint32_t alone = G_UNLIKELY(flags & ROW_LOCAL) ? find_local(space, worker->id) : space->cores;
    if (alone < space->cores)
        return take_slowly(worker, alone, 1, key, to, taken);
    for (uint32_t c = 0; c < space->cores; c++) {
        const Hot *hot = &worker->hot[c];
        const WorkerRow *row = hot->row;
        if (G_UNLIKELY(row->flags & ROW_SLOW)) {
            if (!take_slowly(worker, c, row->transitions, key, to, taken))
                return false;
            continue;
        }
        if (G_UNLIKELY(row->flags & ROW_OPEN) && guard_holds(worker, others + row->others, row->need))
            return false;
        *taken += take_row(worker, hot, others, key, words, to + *taken * words);
    }
    return true;
}

static bool races_in_wide_masks(const Worker *worker)
{
    const StateSpace *space = worker->space;
    uint64_t bad = 0;
    for (uint32_t w = 0; w < space->mask_words; w++) {
        uint64_t any = 0;
        for (uint32_t c = 0; c < space->cores; c++) {
            const uint64_t *mask = &STORE(uint64_t, &space->core[c].masks, (size_t)worker->id[c] * 2 * space->mask_words + w);
            bad |= mask[space->mask_words] & any;
            any |= mask[0];
        }
    }
    return bad != 0;
}

/* flags: of all rows; transitions: the most that may be possible */
typedef struct Looked { bool races; unsigned flags, transitions; } Looked;

/* Finds the rows of the current state. Cores race if accesses of one meet rivals of another. */
INLINE Looked look(Worker *worker)
{
    const StateSpace *space = worker->space;
    Looked seen = {.flags = 0};
    uint64_t bad = 0, any = 0;
    for (uint32_t c = 0; c < space->cores; c++) {
        Hot *hot = &worker->hot[c];
        const WorkerRow *row = hot->row = hot->rows + worker->id[c];
        seen.flags |= row->flags, seen.transitions += row->transitions;
        bad |= row->rivals & any;
        any |= row->own;
    }
    seen.races = bad != 0 || (space->mask_words > 1 && races_in_wide_masks(worker));
    return seen;
}

static void defer(Worker *worker, uint64_t what)
{
    if (worker->deferred.tail == worker->deferred.room && !queue_grow(&worker->deferred)) {
        frontier_stop(worker->frontier, "memory");
        return;
    }
    uint64_t *to = worker->deferred.key + worker->deferred.tail++ * worker->deferred.words;
    *(Deferred *)(void *)to = (Deferred){.what = what};
    memcpy(to + sizeof(Deferred) / sizeof *to, worker->id, worker->space->layout.fields * sizeof *worker->id);
}

INLINE void visit(Worker *worker, const uint64_t *key, unsigned words, bool many)
{
    const StateSpace *space = worker->space;
    const Looked seen = look(worker);
    KeyBatch *batch = &worker->now;
    if (G_UNLIKELY(batch->used + seen.transitions + DELTAS_AT_ONCE + 1 > batch->room))
        key_batch_widen(batch, batch->used + seen.transitions + DELTAS_AT_ONCE + 1, words);
    unsigned taken = 0, what = 0;
    if (G_UNLIKELY(seen.races || (seen.flags & ROW_WATCHED && inspect_suspects(space, worker->id))))
        what = DEFER_JUDGE;
    bool done = take_transitions(worker, key, words, seen.flags, batch->key + (size_t)batch->used * words, &taken);
    if (G_UNLIKELY(!done))
        what |= DEFER_EXPAND;
    else if (G_UNLIKELY(taken == 0))
        what |= DEFER_END;
    else if (space->polls && livelock_is_possible(space, worker->id))
        what |= DEFER_POLL;
    if (G_UNLIKELY(what != 0))
        defer(worker, what);
    if (G_UNLIKELY(space->symmetry != NULL))
        worker->covered += symmetry_orbit(space->symmetry, worker->id);
    if (!done)
        return;
    worker->transitions += taken;
    settle(worker, taken, words, many);
    SANE(space_merges(space) ? (void)0 : expand_assert_sane(space, worker->id, taken, seen.races));
}

static inline void unpack(Worker *worker, const uint64_t *key)
{
    const Layout *layout = &worker->space->layout;
    if (layout->words > 1) {
        layout_unpack(layout, key, worker->id);
        return;
    }
    for (unsigned f = 0; f < layout->fields; f++)
        worker->id[f] = (uint32_t)(key[0] >> layout->field[f].shift) & (uint32_t)((1ull << layout->field[f].bits) - 1);
}

static void visit_state(Worker *worker, const uint64_t *key)
{
    unsigned words = worker->space->layout.words;
    bool many = worker->frontier->workers > 1;
    if (words == 1 && !many)
        visit(worker, key, 1, false);
    else if (words == 1)
        visit(worker, key, 1, true);
    else if (words == 2 && !many)
        visit(worker, key, 2, false);
    else
        visit(worker, key, words, many);
}

static bool expand_transition(StateSpace *space, Worker *worker, uint32_t core, uint32_t transition, unsigned *taken)
{
    const unsigned words = space->layout.words;
    if (!successor_take(space, worker->id, core, transition, worker->after))
        return true;
    space->polls |= space->core[core].tree.folds > 0;
    if (space->repack || space->restart)
        return false;
    layout_pack(&space->layout, worker->after, worker->now.key + (size_t)worker->now.used * words);
    settle(worker, 1, words, worker->frontier->workers > 1);
    ++*taken;
    return true;
}

bool expand_state(StateSpace *space, Worker *worker, bool *moved)
{
    unsigned taken = 0;
    const uint32_t alone = space_merges(space) ? find_local(space, worker->id) : space->cores;
    for (uint32_t c = alone < space->cores ? alone : 0; c <= alone && c < space->cores; c++) {
        const Component component = *space_component(space, c, worker->id[c]);
        for (uint32_t t = 0; t < (c == alone ? 1 : component.transition_count); t++)
            if (!expand_transition(space, worker, c, component.transitions + t, &taken))
                return false;
    }
    worker->transitions += taken;
    *moved = taken > 0;
    return true;
}

static void check_limits(Worker *worker)
{
    Frontier *frontier = worker->frontier;
    const EnumerateOptions *options = worker->space->options;
    Progress *progress = options->progress;
    queue_release(&worker->queue);
    double limit = options->limits.seconds;
    if (limit > 0 && (double)(g_get_monotonic_time() - frontier->begun) / 1e6 > limit)
        frontier_stop(frontier, "time");
    if (progress_stop(progress) != NULL)
        frontier_stop(frontier, progress_stop(progress));
    if (worker->index == 0 && progress != NULL)
        progress->done = frontier_states(frontier);
    if (options->limits.memory && frontier_bytes(frontier) > options->limits.memory)
        frontier_stop(frontier, "memory");
}

static void await_others(Worker *worker)
{
    while (g_atomic_int_get(&worker->frontier->busy) > 0) {
        Chunk *chunk = g_async_queue_timeout_pop(worker->inbox, WAIT_MICROSECONDS);
        if (chunk != NULL)
            take_chunk(worker, chunk);
    }
    expand_drain(worker);
}

void expand_level(Worker *worker)
{
    const StateSpace *space = worker->space;
    uint64_t key[LAYOUT_WORDS_MAX];
    meet(worker);
    for (uint64_t since = 1; worker->queue.head < worker->level_end && worker->frontier->limit == NULL; since++) {
        memcpy(key, worker->queue.key + worker->queue.head * space->layout.words, space->layout.words * sizeof *key);
        unpack(worker, key);
        worker->queue.head++;
        visit_state(worker, key);
        if (since % DRAIN_EVERY == 0 && worker->frontier->workers > 1)
            expand_drain(worker);
        if (since % CHECK_EVERY == 0)
            check_limits(worker);
    }
    expand_flush(worker);
    if (worker->frontier->busy > 0) {
        g_atomic_int_add(&worker->frontier->busy, -1);
        await_others(worker);
    }
}
