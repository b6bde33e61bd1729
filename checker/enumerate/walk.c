/* walk.c - breadth first over all states. The inner loop knows two kinds of turns, those always possible and those that a gauge guards; a
 * successor is then the key plus a constant. Successors pass through a short ring that gives the memory time to fetch their slots.
 */
#include "walk.h"
#include <string.h>
#include "found.h"
#include "judge.h"
#include "memory.h"

enum { RING = 128, AHEAD = 32, TABLE_BITS_FIRST = 14, CHECK_EVERY = 1024 };

typedef struct Hot {                            /* of one core; row, turn to last: of the component in hand */
    const Component *components;
    const Turn *turns, *turn, *last;
    const int64_t *taken, *row;
    const uint64_t *masks;
} Hot;

static void stop(Walk *walk, const char *limit)
{
    if (walk->limit == NULL)
        walk->limit = limit;
}

static size_t bytes_used(const Walk *walk)
{
    return table_bytes(&walk->table) + queue_bytes(&walk->queue) + queue_bytes(&walk->parents) + store_bytes_used() - walk->stores_before;
}

static inline uint64_t *ring_at(const Walk *walk, unsigned index, unsigned words)
{
    return walk->ring + (size_t)(index % RING) * words;
}

/* The table is full: twice as large, unless that is above the limit of memory. */
static void grow_table(Walk *walk)
{
    size_t limit = walk->options->memory_max;
    if ((limit && bytes_used(walk) + table_bytes(&walk->table) > limit) || !table_grow(&walk->table))
        stop(walk, "memory");
    unsigned words = walk->layout.words;
    for (unsigned i = walk->ring_head; i != walk->ring_used; i++)
        walk->ring_slot[i % RING] = table_slot(&walk->table, ring_at(walk, i, words), words);
}

static bool make_room(Queue *queue)
{
    return queue->tail < queue->room || queue_grow(queue);
}

/* The oldest successor of the ring goes into the table, and into the queue if it is new. */
static inline __attribute__((always_inline)) void ring_out(Walk *walk, unsigned words)
{
    if (G_UNLIKELY(walk->table.count >= walk->table.grow_at))
        grow_table(walk);
    unsigned index = walk->ring_head++;
    const uint64_t *key = ring_at(walk, index, words);
    if (G_UNLIKELY(walk->limit != NULL) || !table_add_at(&walk->table, key, words, walk->ring_slot[index % RING]))
        return;
    if (G_UNLIKELY(!make_room(&walk->queue) || (walk->logged && !make_room(&walk->parents)))) {
        stop(walk, "memory");
        return;
    }
    uint64_t *to = walk->queue.key + walk->queue.tail++ * words;
    for (unsigned w = 0; w < words; w++)
        to[w] = key[w];
    if (walk->logged)
        walk->parents.key[walk->parents.tail++] = walk->ring_parent[index % RING];
}

static void ring_flush(Walk *walk)
{
    while (walk->ring_head != walk->ring_used)
        ring_out(walk, walk->layout.words);
}

/* Entries from `first` on are new: their slots are fetched while AHEAD others go first; for each one in, one comes out. */
static inline __attribute__((always_inline)) void ring_turn(Walk *walk, unsigned *first, unsigned words)
{
    const bool logged = walk->logged;
    unsigned used = walk->ring_used;
    for (unsigned i = *first; i != used; i++) {
        uint64_t slot = table_slot(&walk->table, ring_at(walk, i, words), words);
        walk->ring_slot[i % RING] = slot;
        __builtin_prefetch(walk->table.slot + slot * words, 1);
        if (logged)
            walk->ring_parent[i % RING] = walk->state_index;
        if (G_LIKELY(i - walk->ring_head >= AHEAD))
            ring_out(walk, words);
    }
    *first = used;
}

static void refresh(Walk *walk)
{
    if (walk->mask_generation != walk->accesses.generation)
        component_masks(walk);
    walk->bases_moved = false;
    for (uint32_t c = 0; c < walk->cores; c++) {
        const WalkCore *core = &walk->core[c];
        Hot *hot = &walk->hot[c];
        *hot = (Hot){.components = &STORE(Component, &core->components, 0), .turns = &STORE(Turn, &core->turns, 0),
                     .taken = &STORE(int64_t, &core->taken, 0), .masks = &STORE(uint64_t, &core->masks, 0)};
        const Component *component = &hot->components[walk->id[c]];
        hot->row = hot->taken + component->row;
        hot->turn = hot->turns + component->turns, hot->last = hot->turn + component->turn_count;
    }
}

/* A turn with more than one outcome, or whose outcome is not known yet. False: the state has to be taken up again in a wider layout. */
static bool take_slowly(Walk *walk, uint32_t core, uint32_t turn)
{
    if (!turn_take(walk, walk->id, core, turn, walk->after))
        return true;
    walk->polls |= walk->core[core].tree.folds > 0;
    if (walk->repack || walk->restart)
        return false;
    if (walk->bases_moved)
        refresh(walk);
    layout_pack(&walk->layout, walk->after, ring_at(walk, walk->ring_used++, walk->layout.words));
    return true;
}

static inline __attribute__((always_inline)) int64_t count_others(const Hot *hot, const Others *others)
{
    int64_t sum = hot[others->first.core].row[others->first.column];
    for (uint32_t i = 0; G_UNLIKELY(i < others->more); i++)
        sum += hot[others->feeder[i].core].row[others->feeder[i].column];
    return sum;
}

/* A successor is written down in any case, and counts if its turn was possible: guards are hard to predict for a processor. */
static inline __attribute__((always_inline)) bool take_turns(Walk *walk, const uint64_t *key, unsigned words, bool *moved)
{
    const Hot *hots = walk->hot;
    const Others *others = &STORE(Others, &walk->others, 0);
    unsigned first = walk->ring_used, begin = first;
    for (uint32_t c = 0; c < walk->cores; c++) {
        const Hot *hot = &hots[c];
        const uint32_t id = walk->id[c];
        const Turn *turn = hot->turn, *last = hot->last;
        const LayoutField field = walk->layout.field[c];
        for (; turn < last; turn++) {
            if (G_UNLIKELY(walk->ring_used - walk->ring_head >= RING))
                ring_turn(walk, &first, words);
            bool possible = count_others(hots, others + turn->others) >= turn->need;
            if (G_UNLIKELY(turn->next == 0)) {
                if ((turn->how == TURN_GUARDED && !possible) || take_slowly(walk, c, (uint32_t)(turn - hot->turns)))
                    continue;
                walk->ring_used = first;        /* these come again */
                return false;
            }
            uint64_t *entry = ring_at(walk, walk->ring_used, words);
            for (unsigned w = 0; w < words; w++)
                entry[w] = key[w];
            entry[words == 1 ? 0 : field.word] += ((uint64_t)turn->next - id) << field.shift;
            walk->ring_used += possible;
        }
    }
    walk->transitions += walk->ring_used - begin;
    *moved = walk->ring_used != begin;
    ring_turn(walk, &first, words);
    return true;
}

static bool races_in_wide_masks(const Walk *walk)
{
    uint64_t bad = 0;
    for (uint32_t w = 0; w < walk->mask_words; w++) {
        uint64_t any = 0;
        for (uint32_t c = 0; c < walk->cores; c++) {
            const uint64_t *mask = walk->hot[c].masks + (size_t)walk->id[c] * 2 * walk->mask_words + w;
            bad |= mask[walk->mask_words] & any;
            any |= mask[0];
        }
    }
    return bad != 0;
}

/* Takes the rows of the state in hand, and judges it. Races between cores show where accesses of one meet the rivals of another's. */
static inline __attribute__((always_inline)) bool judge(Walk *walk)
{
    if (G_UNLIKELY(walk->bases_moved || walk->mask_generation != walk->accesses.generation))
        refresh(walk);
    uint32_t watched = 0;
    uint64_t bad = 0, any = 0;
    for (uint32_t c = 0; c < walk->cores; c++) {
        Hot *hot = &walk->hot[c];
        const Component *component = &hot->components[walk->id[c]];
        hot->row = hot->taken + component->row;
        hot->turn = hot->turns + component->turns, hot->last = hot->turn + component->turn_count;
        watched |= component->watch_count;
        bad |= component->rivals & any;
        any |= component->own;
    }
    bool races = bad != 0 || (walk->mask_words > 1 && races_in_wide_masks(walk));
    if (G_UNLIKELY(races))
        judge_races(walk);
    if (watched)
        judge_state(walk);
    return races;
}

static inline __attribute__((always_inline)) bool expand(Walk *walk, const uint64_t *key, unsigned words)
{
    bool moved = false, races = judge(walk);
    uint64_t before = walk->transitions;
    if (!take_turns(walk, key, words, &moved))
        return false;
#ifdef HEDDLE_DEBUG
    direct_check(walk, walk->transitions - before, races);
#else
    (void)races, (void)before;
#endif
    if (!moved)
        judge_end(walk);
    else if (walk->polls)
        judge_spin(walk);
    return true;
}

static bool expand_state(Walk *walk, const uint64_t *key)
{
    switch (walk->layout.words) {
    case 1: return expand(walk, key, 1);
    case 2: return expand(walk, key, 2);
    case 3: return expand(walk, key, 3);
    default: return expand(walk, key, walk->layout.words);
    }
}

static void repack_queue(Walk *walk, const Layout *wider)
{
    Queue moved;
    queue_init(&moved, wider->words, walk->queue.keep);
    uint64_t skipped = walk->queue.keep ? 0 : walk->queue.head;
    uint32_t *id = g_new(uint32_t, walk->layout.fields);
    for (uint64_t at = skipped; at < walk->queue.tail; at++) {
        if (!make_room(&moved))
            stop(walk, "memory");
        if (walk->limit)
            break;
        layout_unpack(&walk->layout, walk->queue.key + at * walk->layout.words, id);
        layout_pack(wider, id, moved.key + moved.tail++ * wider->words);
    }
    moved.head = walk->queue.head - skipped;
    g_free(id);
    queue_clear(&walk->queue);
    walk->queue = moved;
}

static void repack_table(Walk *walk, const Layout *wider)
{
    Table moved;
    uint64_t key[LAYOUT_WORDS_MAX];
    uint32_t *id = g_new(uint32_t, walk->layout.fields);
    if (!table_init(&moved, wider->words, walk->table.bits)) {
        stop(walk, "memory");
        moved = (Table){0};
    }
    for (uint64_t at = 0; walk->limit == NULL && at >> walk->table.bits == 0; at++) {
        const uint64_t *slot = walk->table.slot + at * walk->layout.words;
        if (slot[0] == 0)
            continue;
        layout_unpack(&walk->layout, slot, id);
        layout_pack(wider, id, key);
        table_add(&moved, key, wider->words);
    }
    g_free(id);
    table_clear(&walk->table);
    walk->table = moved;
}

/* Fields outgrown: all keys are written anew, in wider fields. */
static void repack(Walk *walk)
{
    ring_flush(walk);
    Layout wider;
    layout_init(&wider, walk->layout.fields);
    uint32_t *largest = g_new(uint32_t, walk->layout.fields);
    for (unsigned f = 0; f < walk->layout.fields; f++)
        largest[f] = f < walk->cores ? (uint32_t)walk->core[f].components.count : memory_vectors(walk, f - walk->cores);
    bool fits = layout_widen(&wider, largest);
    g_free(largest);
    size_t needed = (table_bytes(&walk->table) + queue_bytes(&walk->queue)) / walk->layout.words * wider.words;
    if (!fits || (walk->options->memory_max && bytes_used(walk) + needed > walk->options->memory_max))
        stop(walk, "memory");
    if (walk->limit == NULL)
        repack_queue(walk, &wider);
    if (walk->limit == NULL)
        repack_table(walk, &wider);
    if (walk->limit == NULL) {
        layout_clear(&walk->layout);
        walk->layout = wider;
        walk->ring = g_renew(uint64_t, walk->ring, RING * wider.words);
    } else {
        layout_clear(&wider);
    }
    walk->repack = false;
}

static void check_limits(Walk *walk)
{
    const EnumerateOptions *options = walk->options;
    queue_release(&walk->queue);
    if (options->seconds_max > 0 && (double)(g_get_monotonic_time() - walk->begun) / 1e6 > options->seconds_max)
        stop(walk, "time");
    if (options->memory_max && bytes_used(walk) > options->memory_max)
        stop(walk, "memory");
    for (uint32_t core = 0; core < walk->cores; core++)
        if (walk->core[core].components.count > walk->components_max - walk->components_max / 4)
            stop(walk, "memory");
}

static bool begin(Walk *walk)
{
    walk->transitions = walk->state_index = walk->ring_used = walk->ring_head = 0;
    if (!layout_init(&walk->layout, walk->cores + (walk->memory ? walk->program->devices : 0))) {
        stop(walk, "memory");
        return false;
    }
    walk->ring = g_renew(uint64_t, walk->ring, RING * walk->layout.words);
    walk->ring_slot = g_renew(uint64_t, walk->ring_slot, RING);
    walk->ring_parent = g_renew(uint64_t, walk->ring_parent, RING);
    walk->hot = g_renew(Hot, walk->hot, walk->cores);
    walk->bases_moved = true;
    queue_init(&walk->queue, walk->layout.words, walk->logged);
    queue_init(&walk->parents, 1, walk->logged);
    if (!table_init(&walk->table, walk->layout.words, TABLE_BITS_FIRST))
        stop(walk, "memory");
    for (unsigned f = 0; f < walk->layout.fields; f++)
        walk->id[f] = 1;
    if (walk->limit == NULL) {
        layout_pack(&walk->layout, walk->id, ring_at(walk, walk->ring_used++, walk->layout.words));
        unsigned first = 0;
        ring_turn(walk, &first, walk->layout.words);
        ring_flush(walk);
    }
    return walk->limit == NULL;
}

static inline void unpack(Walk *walk, const uint64_t *key)
{
    if (walk->layout.words > 1) {
        layout_unpack(&walk->layout, key, walk->id);
        return;
    }
    const LayoutField *field = walk->layout.field;
    for (unsigned f = 0; f < walk->layout.fields; f++)
        walk->id[f] = (uint32_t)(key[0] >> field[f].shift) & (uint32_t)((1ull << field[f].bits) - 1);
}

void walk_run(Walk *walk)
{
    if (!begin(walk))
        return;
    uint64_t key[LAYOUT_WORDS_MAX];
    for (uint64_t since = 0; walk->limit == NULL && !walk->done && !walk->raced && !walk->unknown; since++) {
        if (walk->queue.head == walk->queue.tail)
            ring_flush(walk);
        if (walk->queue.head == walk->queue.tail)
            break;
        memcpy(key, walk->queue.key + walk->queue.head * walk->layout.words, walk->layout.words * sizeof *key);
        unpack(walk, key);
        walk->state_index = walk->queue.head;
        if (walk->options->states_max && walk->table.count > walk->options->states_max)
            stop(walk, "states");
        while (walk->limit == NULL && !expand_state(walk, key)) {
            if (walk->restart)
                return;
            repack(walk);
            layout_pack(&walk->layout, walk->id, key);
        }
        walk->queue.head++;
        if (since % CHECK_EVERY == 0)
            check_limits(walk);
    }
}

void walk_each(Walk *walk, const uint32_t *id, bool (*visit)(void *data, uint32_t core, uint32_t turn, const uint32_t *after), void *data)
{
    uint32_t *after = g_new(uint32_t, walk->layout.fields);
    bool more = true;
    for (uint32_t core = 0; more && core < walk->cores; core++) {
        Component component = *walk_component(walk, core, id[core]);
        for (uint32_t t = 0; more && t < component.turn_count; t++)
            if (turn_take(walk, id, core, component.turns + t, after))
                more = visit(data, core, component.turns + t, after);
    }
    g_free(after);
}
