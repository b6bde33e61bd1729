/* expand.c - the inner loop knows two kinds of turns, those always possible and those that a gauge guards; a successor is then the key
 * plus a constant.
 */
#include "expand.h"
#include <string.h>
#include "found.h"
#include "judge.h"
#include "repack.h"
#include "symmetry.h"

enum { RING = 128, AHEAD = 32, CHECK_EVERY = 1024, DRAIN_EVERY = 256, WAIT_MICROSECONDS = 200 };

typedef struct Hot {                            /* of one core; row, turn to last: of the component in hand */
    const Component *components;
    const Turn *turns, *turn, *last;
    const int64_t *taken, *row;
    const uint64_t *masks;
} Hot;

void worker_init(Worker *worker, Walk *walk, unsigned index)
{
    *worker = (Worker){.walk = walk, .index = index, .id = g_new0(uint32_t, walk->layout.fields), .hot = g_new0(Hot, walk->cores)};
    worker->ring_hash = g_new(uint64_t, RING);
    worker->levels = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    worker->inbox = g_async_queue_new_full(g_free);
    worker->out = g_new0(Chunk *, walk->workers);
    worker->hot_generation = walk->rows_generation - 1;
    queue_init(&worker->later, (unsigned)(sizeof(Later) / sizeof(uint64_t) + (walk->layout.fields + 1) / 2), false);
}

void worker_clear(Worker *worker)
{
    for (unsigned i = 0; i < worker->walk->workers; i++)
        g_free(worker->out[i]);
    g_free(worker->out);
    g_async_queue_unref(worker->inbox);
    table_clear(&worker->table);
    queue_clear(&worker->queue);
    queue_clear(&worker->later);
    g_free(worker->ring);
    g_free(worker->ring_hash);
    g_array_unref(worker->levels);
    g_free(worker->hot);
    g_free(worker->id);
}

void worker_fit(Worker *worker)
{
    g_assert(worker->ring_head == worker->ring_used);
    worker->ring = g_renew(uint64_t, worker->ring, RING * worker->walk->layout.words);
}

static inline uint64_t *ring_at(const Worker *worker, unsigned index, unsigned words)
{
    return worker->ring + (size_t)(index % RING) * words;
}

/* The table is full: twice as large, unless that is above the limit of memory. */
static void grow_table(Worker *worker)
{
    size_t limit = worker->walk->options->memory_max;
    if ((limit && walk_bytes(worker->walk) + table_bytes_grown(&worker->table) > limit + table_bytes(&worker->table))
        || !table_grow(&worker->table))
        walk_stop(worker->walk, "memory");
}

static bool make_room(Queue *queue)
{
    return queue->tail < queue->room || queue_grow(queue);
}

/* A key goes into the table, and into the queue if it is new. */
static inline __attribute__((always_inline)) void add(Worker *worker, const uint64_t *key, unsigned words, uint64_t hash)
{
    Walk *walk = worker->walk;
    if (G_UNLIKELY(worker->table.count >= worker->table.grow_at))
        grow_table(worker);
    uint64_t print = G_UNLIKELY(walk->hashed) ? table_unhash(hash, 64) : 0;
    if (G_UNLIKELY(walk->limit != NULL)
        || !(print ? table_add_at(&worker->table, &print, 1, hash) : table_add_at(&worker->table, key, words, hash)))
        return;
    if (G_UNLIKELY(!make_room(&worker->queue))) {
        walk_stop(walk, "memory");
        return;
    }
    uint64_t *to = worker->queue.key + worker->queue.tail++ * words;
    for (unsigned w = 0; w < words; w++)
        to[w] = key[w];
}

/* The oldest successor of the ring. */
static inline __attribute__((always_inline)) void ring_out(Worker *worker, unsigned words)
{
    unsigned index = worker->ring_head++;
    add(worker, ring_at(worker, index, words), words, worker->ring_hash[index % RING]);
}

static void send(Worker *worker, unsigned owner)
{
    Chunk *full = g_steal_pointer(&worker->out[owner]);
    Worker *to = &worker->walk->worker[owner];
    while (worker->walk->frozen && g_async_queue_length(to->inbox) > CHUNKS_WAITING_MAX)
        worker_drain(worker);                   /* it may be waiting for us to do so */
    g_async_queue_push(to->inbox, full);
}

static void hand_over(Worker *worker, unsigned owner, const uint64_t *key, unsigned words)
{
    Chunk **out = &worker->out[owner];
    if (*out == NULL) {
        *out = g_new(Chunk, 1);
        (*out)->keys = 0;
    }
    memcpy((*out)->key + (size_t)(*out)->keys++ * words, key, words * sizeof *key);
    if (((size_t)(*out)->keys + 1) * words * sizeof *key > CHUNK_KEYS_BYTES)
        send(worker, owner);
}

static inline __attribute__((always_inline)) uint64_t scatter(const Walk *walk, const uint64_t *key, unsigned words)
{
    return G_UNLIKELY(walk->hashed) ? repack_scatter(walk, &walk->layout, key) : table_hash(key, words, walk->layout.bits);
}

/* Entries from `first` on are new: their places are fetched while AHEAD others go first; for each one in, one comes out. */
static inline __attribute__((always_inline)) void ring_turn(Worker *worker, unsigned *first, unsigned words, bool many)
{
    const Walk *walk = worker->walk;
    unsigned used = worker->ring_used, kept = *first;
    for (unsigned i = *first; i != used; i++) {
        uint64_t *key = ring_at(worker, i, words);
        if (G_UNLIKELY(walk->symmetry != NULL))
            symmetry_canonical(walk->symmetry, &walk->layout, key);
        uint64_t hash = scatter(walk, key, words);
        if (many && hash >> (64 - walk->owner_bits) != worker->index) {
            hand_over(worker, (unsigned)(hash >> (64 - walk->owner_bits)), key, words);
            continue;
        }
        if (many && kept != i)
            memcpy(ring_at(worker, kept, words), key, words * sizeof *key);
        worker->ring_hash[kept % RING] = hash;
        __builtin_prefetch(table_place(&worker->table, hash, worker->table.shape.words), 1);
        if (G_LIKELY(kept - worker->ring_head >= AHEAD))
            ring_out(worker, words);
        kept++;
    }
    worker->ring_used = *first = kept;
}

void worker_flush(Worker *worker)
{
    while (worker->ring_head != worker->ring_used)
        ring_out(worker, worker->walk->layout.words);
    for (unsigned owner = 0; owner < worker->walk->workers; owner++)
        if (worker->out[owner] != NULL)
            send(worker, owner);
}

static void take_chunk(Worker *worker, Chunk *chunk)
{
    const unsigned words = worker->walk->layout.words;
    uint64_t hash[AHEAD];
    for (uint32_t i = 0; i < chunk->keys + AHEAD; i++) {
        if (i >= AHEAD)
            add(worker, chunk->key + (size_t)(i - AHEAD) * words, words, hash[i % AHEAD]);
        if (i >= chunk->keys)
            continue;
        hash[i % AHEAD] = scatter(worker->walk, chunk->key + (size_t)i * words, words);
        __builtin_prefetch(table_place(&worker->table, hash[i % AHEAD], worker->table.shape.words), 1);
    }
    g_free(chunk);
}

void worker_drain(Worker *worker)
{
    for (Chunk *chunk; (chunk = g_async_queue_try_pop(worker->inbox)) != NULL;)
        take_chunk(worker, chunk);
}

void worker_add(Worker *worker, const uint64_t *key)
{
    unsigned words = worker->walk->layout.words;
    add(worker, key, words, scatter(worker->walk, key, words));
}

static void refresh(Worker *worker)
{
    Walk *walk = worker->walk;
    if (walk->mask_generation != walk->accesses.generation)
        component_masks(walk);
    worker->hot_generation = walk->rows_generation;
    for (uint32_t c = 0; c < walk->cores; c++) {
        const WalkCore *core = &walk->core[c];
        Hot *hot = &worker->hot[c];
        *hot = (Hot){.components = &STORE(Component, &core->components, 0), .turns = &STORE(Turn, &core->turns, 0),
                     .taken = &STORE(int64_t, &core->taken, 0), .masks = &STORE(uint64_t, &core->masks, 0)};
        const Component *component = &hot->components[worker->id[c]];
        hot->row = hot->taken + component->row;
        hot->turn = hot->turns + component->turns, hot->last = hot->turn + component->turn_count;
    }
}

/* A turn with more than one outcome, or whose outcome is not known yet. False: the state has to be taken up again, by the one thread or in
 * a wider layout. */
static bool take_slowly(Worker *worker, uint32_t core, uint32_t turn)
{
    Walk *walk = worker->walk;
    if (walk->frozen)
        return !turn_possible(walk, worker->id, core, &STORE(Turn, &walk->core[core].turns, turn));
    if (!walk_take(walk, worker->id, core, turn, walk->after))
        return true;
    walk->polls |= walk->core[core].tree.folds > 0;
    if (walk->repack || walk->restart)
        return false;
    if (worker->hot_generation != walk->rows_generation)
        refresh(worker);
    layout_pack(&walk->layout, walk->after, ring_at(worker, worker->ring_used++, walk->layout.words));
    return true;
}

static inline __attribute__((always_inline)) int64_t count_others(const Hot *hot, const Others *others)
{
    int64_t sum = hot[others->first.core].row[others->first.column];
    for (uint32_t i = 0; G_UNLIKELY(i < others->more); i++)
        sum += hot[others->feeder[i].core].row[others->feeder[i].column];
    return sum;
}

/* The first core whose next step is done at once; cores: none. */
static uint32_t find_local(const Worker *worker)
{
    const Walk *walk = worker->walk;
    const Others *others = &STORE(Others, &walk->others, 0);
    for (uint32_t c = 0; c < walk->cores; c++) {
        const Turn *turn = worker->hot[c].turn;
        if (turn < worker->hot[c].last && turn->local && count_others(worker->hot, others + turn->others) >= turn->need)
            return c;
    }
    return walk->cores;
}

/* A successor is written down in any case, and counts if its turn was possible: guards are hard to predict for a processor. */
static inline __attribute__((always_inline)) bool take_turns(Worker *worker, const uint64_t *key, unsigned words, bool many, bool *moved)
{
    const Walk *walk = worker->walk;
    const Hot *hots = worker->hot;
    const Others *others = &STORE(Others, &walk->others, 0);
    unsigned first = worker->ring_used;
    uint64_t taken = 0;
    uint32_t alone = walk->merges ? find_local(worker) : walk->cores;
    for (uint32_t c = alone < walk->cores ? alone : 0; c <= alone && c < walk->cores; c++) {
        const Hot *hot = &hots[c];
        const uint32_t id = worker->id[c];
        const Turn *turn = hot->turn, *last = c == alone ? turn + 1 : hot->last;
        const LayoutField field = walk->layout.field[c];
        for (; turn < last; turn++) {
            if (G_UNLIKELY(worker->ring_used - worker->ring_head >= RING)) {
                taken += worker->ring_used - first;
                ring_turn(worker, &first, words, many);
            }
            bool possible = count_others(hots, others + turn->others) >= turn->need;
            if (G_UNLIKELY(turn->next == 0)) {
                if ((turn->how == TURN_GUARDED && !possible) || take_slowly(worker, c, (uint32_t)(turn - hot->turns)))
                    continue;
                worker->ring_used = first;      /* these come again */
                return false;
            }
            uint64_t *entry = ring_at(worker, worker->ring_used, words);
            for (unsigned w = 0; w < words; w++)
                entry[w] = key[w];
            entry[words == 1 ? 0 : field.word] += ((uint64_t)turn->next - id) << field.shift;
            worker->ring_used += possible;
        }
    }
    taken += worker->ring_used - first;
    worker->transitions += taken;
    *moved = taken > 0;
    ring_turn(worker, &first, words, many);
    return true;
}

static bool races_in_wide_masks(const Worker *worker)
{
    const Walk *walk = worker->walk;
    uint64_t bad = 0;
    for (uint32_t w = 0; w < walk->mask_words; w++) {
        uint64_t any = 0;
        for (uint32_t c = 0; c < walk->cores; c++) {
            const uint64_t *mask = worker->hot[c].masks + (size_t)worker->id[c] * 2 * walk->mask_words + w;
            bad |= mask[walk->mask_words] & any;
            any |= mask[0];
        }
    }
    return bad != 0;
}

typedef struct Look { bool races, suspect; } Look;

/* Takes the rows of the state in hand. Races between cores show where accesses of one meet the rivals of another's. */
static inline __attribute__((always_inline)) Look look(Worker *worker)
{
    const Walk *walk = worker->walk;
    uint32_t watched = 0;
    uint64_t bad = 0, any = 0;
    for (uint32_t c = 0; c < walk->cores; c++) {
        Hot *hot = &worker->hot[c];
        const Component *component = &hot->components[worker->id[c]];
        hot->row = hot->taken + component->row;
        hot->turn = hot->turns + component->turns, hot->last = hot->turn + component->turn_count;
        watched |= component->watch_count;
        bad |= component->rivals & any;
        any |= component->own;
    }
    return (Look){.races = bad != 0 || (walk->mask_words > 1 && races_in_wide_masks(worker)),
                  .suspect = watched && judge_suspects(walk, worker->id)};
}

static void put_off(Worker *worker, uint64_t what)
{
    if (!make_room(&worker->later)) {
        walk_stop(worker->walk, "memory");
        return;
    }
    uint64_t *to = worker->later.key + worker->later.tail++ * worker->later.words;
    *(Later *)(void *)to = (Later){.what = what};
    memcpy(to + sizeof(Later) / sizeof *to, worker->id, worker->walk->layout.fields * sizeof *worker->id);
}

static inline __attribute__((always_inline)) void visit(Worker *worker, const uint64_t *key, unsigned words, bool many)
{
    bool moved = true;
    Look seen = look(worker);
#ifdef HEDDLE_DEBUG
    uint64_t before = worker->transitions;
#endif
    uint64_t what = seen.races || seen.suspect ? LATER_JUDGE : 0;
    bool done = take_turns(worker, key, words, many, &moved);
    if (!done)
        what |= LATER_EXPAND;
    else if (!moved)
        what |= LATER_END;
    else if (worker->walk->polls)
        what |= LATER_POLL;
    if (G_UNLIKELY(what != 0))
        put_off(worker, what);
    if (G_UNLIKELY(worker->walk->symmetry != NULL))
        worker->covered += symmetry_orbit(worker->walk->symmetry, worker->id);
#ifdef HEDDLE_DEBUG
    if (done && !worker->walk->merges)
        direct_check(worker->walk, worker->id, worker->transitions - before, seen.races);
#endif
}

static inline void unpack(Worker *worker, const uint64_t *key)
{
    const Layout *layout = &worker->walk->layout;
    if (layout->words > 1) {
        layout_unpack(layout, key, worker->id);
        return;
    }
    for (unsigned f = 0; f < layout->fields; f++)
        worker->id[f] = (uint32_t)(key[0] >> layout->field[f].shift) & (uint32_t)((1ull << layout->field[f].bits) - 1);
}

static void visit_state(Worker *worker, const uint64_t *key)
{
    unsigned words = worker->walk->layout.words;
    bool many = worker->walk->workers > 1;
    if (words == 1 && !many)
        visit(worker, key, 1, false);
    else if (words == 1)
        visit(worker, key, 1, true);
    else if (words == 2 && !many)
        visit(worker, key, 2, false);
    else
        visit(worker, key, words, many);
}

bool worker_expand(Worker *worker, const uint64_t *key, bool *moved)
{
    if (worker->hot_generation != worker->walk->rows_generation || worker->walk->mask_generation != worker->walk->accesses.generation)
        refresh(worker);
    look(worker);
    return take_turns(worker, key, worker->walk->layout.words, worker->walk->workers > 1, moved);
}

static void check_limits(Worker *worker)
{
    Walk *walk = worker->walk;
    queue_release(&worker->queue);
    double limit = walk->options->seconds_max;
    if (limit > 0 && (double)(g_get_monotonic_time() - walk->begun) / 1e6 > limit)
        walk_stop(walk, "time");
    if (progress_stop(walk->options->progress) != NULL)
        walk_stop(walk, progress_stop(walk->options->progress));
    if (worker->index == 0)
        progress_set(walk->options->progress, walk_states(walk), found_kinds(walk->found));
    if (walk->options->memory_max && walk_bytes(walk) > walk->options->memory_max)
        walk_stop(walk, "memory");
}

static void await_others(Worker *worker)
{
    while (g_atomic_int_get(&worker->walk->busy) > 0) {
        Chunk *chunk = g_async_queue_timeout_pop(worker->inbox, WAIT_MICROSECONDS);
        if (chunk != NULL)
            take_chunk(worker, chunk);
    }
    worker_drain(worker);
}

void worker_level(Worker *worker)
{
    Walk *walk = worker->walk;
    uint64_t key[LAYOUT_WORDS_MAX];
    if (worker->hot_generation != walk->rows_generation)
        refresh(worker);
    for (uint64_t since = 1; worker->queue.head < worker->level_end && walk->limit == NULL; since++) {
        memcpy(key, worker->queue.key + worker->queue.head * walk->layout.words, walk->layout.words * sizeof *key);
        unpack(worker, key);
        worker->queue.head++;
        visit_state(worker, key);
        if (since % DRAIN_EVERY == 0 && walk->workers > 1)
            worker_drain(worker);
        if (since % CHECK_EVERY == 0)
            check_limits(worker);
    }
    worker_flush(worker);
    if (walk->busy > 0) {
        g_atomic_int_add(&walk->busy, -1);
        await_others(worker);
    }
}
