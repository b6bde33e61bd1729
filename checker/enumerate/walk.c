/* walk.c - breadth first over all states. The inner loop knows two kinds of turns, those always possible and those that a gauge guards; a
 * successor is then the key plus a constant. Successors pass through a short ring that gives the memory time to fetch their slots.
 */
#include "walk.h"
#include <string.h>
#include "found.h"
#include "judge.h"
#include "memory.h"

enum { RING = 64, TABLE_BITS_FIRST = 14, CHECK_EVERY = 1024 };

static void stop(Walk *walk, const char *limit)
{
    if (walk->limit == NULL)
        walk->limit = limit;
}

static size_t bytes_used(const Walk *walk)
{
    return table_bytes(&walk->table) + queue_bytes(&walk->queue) + queue_bytes(&walk->parents) + store_bytes_used() - walk->stores_before;
}

/* The table is full: twice as large, unless that is above the limit of memory. */
static void grow_table(Walk *walk)
{
    size_t limit = walk->options->memory_max;
    if ((limit && bytes_used(walk) + table_bytes(&walk->table) > limit) || !table_grow(&walk->table))
        stop(walk, "memory");
}

static bool make_room(Queue *queue)
{
    return queue->tail < queue->room || queue_grow(queue);
}

/* The oldest successor of the ring goes into the table, and into the queue if it is new. */
static inline __attribute__((always_inline)) void ring_out(Walk *walk, unsigned words)
{
    const uint64_t *entry = walk->ring + (size_t)(walk->ring_head % RING) * (words + 1);
    walk->ring_head++;
    if (G_UNLIKELY(walk->table.count >= walk->table.grow_at))
        grow_table(walk);
    if (G_UNLIKELY(walk->limit != NULL) || !table_add(&walk->table, entry, words))
        return;
    if (G_UNLIKELY(!make_room(&walk->queue) || (walk->logged && !make_room(&walk->parents)))) {
        stop(walk, "memory");
        return;
    }
    memcpy(walk->queue.key + walk->queue.tail++ * words, entry, words * sizeof *entry);
    if (walk->logged)
        walk->parents.key[walk->parents.tail++] = entry[words];
}

static inline __attribute__((always_inline)) void ring_in(Walk *walk, const uint64_t *key, unsigned words)
{
    if (walk->ring_used - walk->ring_head == RING)
        ring_out(walk, words);
    uint64_t *entry = walk->ring + (size_t)(walk->ring_used++ % RING) * (words + 1);
    for (unsigned w = 0; w < words; w++)
        entry[w] = key[w];
    entry[words] = walk->state_index;
    __builtin_prefetch(walk->table.slot + table_slot(&walk->table, key, words) * words, 1);
}

static void ring_flush(Walk *walk)
{
    while (walk->ring_head != walk->ring_used)
        ring_out(walk, walk->layout.words);
}

/* A turn with more than one outcome, or whose outcome is not known yet. False: the state has to be taken up again in a wider layout. */
static bool take_slowly(Walk *walk, uint32_t core, uint32_t turn, bool *moved)
{
    if (!turn_take(walk, walk->id, core, turn, walk->after))
        return true;
    *moved = true;
    if (walk->repack || walk->restart)
        return false;
    walk->transitions++;
    uint64_t key[LAYOUT_WORDS_MAX];
    layout_pack(&walk->layout, walk->after, key);
    ring_in(walk, key, walk->layout.words);
    return true;
}

static inline __attribute__((always_inline)) bool take_turns(Walk *walk, const uint64_t *key, unsigned words, bool *moved)
{
    const uint32_t *id = walk->id;
    for (uint32_t c = 0; c < walk->cores; c++) {
        const WalkCore *core = &walk->core[c];
        const Component *component = &STORE(Component, &core->components, id[c]);
        uint32_t last = component->turns + component->turn_count;
        const LayoutField field = walk->layout.field[c];
        for (uint32_t t = component->turns; t < last; t++) {
            const Turn *turn = &STORE(Turn, &core->turns, t);
            if (turn->how == TURN_GUARDED && walk_count(walk, id, turn->gauge) < turn->need)
                continue;
            if (G_UNLIKELY(turn->next == 0)) {
                if (!take_slowly(walk, c, t, moved))
                    return false;
                continue;
            }
            uint64_t after[LAYOUT_WORDS_MAX];
            for (unsigned w = 0; w < words; w++)
                after[w] = key[w];
            after[words == 1 ? 0 : field.word] += ((uint64_t)turn->next - id[c]) << field.shift;
            walk->transitions++;
            *moved = true;
            ring_in(walk, after, words);
        }
    }
    return true;
}

/* Races between cores show where the accesses of one meet the rivals of another. */
static inline __attribute__((always_inline)) void judge(Walk *walk)
{
    if (G_UNLIKELY(walk->mask_generation != walk->accesses.generation))
        component_masks(walk);
    uint32_t words = walk->mask_words, watched = 0;
    uint64_t bad = 0;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t any = 0;
        for (uint32_t c = 0; c < walk->cores; c++) {
            const uint64_t *mask = &STORE(uint64_t, &walk->core[c].masks, (size_t)walk->id[c] * 2 * words + w);
            bad |= mask[words] & any;
            any |= mask[0];
        }
    }
    for (uint32_t c = 0; c < walk->cores; c++)
        watched |= walk_component(walk, c, walk->id[c])->watch_count;
    if (G_UNLIKELY(bad))
        judge_races(walk);
    if (watched)
        judge_state(walk);
}

static inline __attribute__((always_inline)) bool expand(Walk *walk, const uint64_t *key, unsigned words)
{
    bool moved = false;
    uint64_t transitions = walk->transitions;
    judge(walk);
    if (!take_turns(walk, key, words, &moved)) {
        walk->transitions = transitions;        /* it is taken up again from its first turn */
        return false;
    }
    if (!moved)
        judge_end(walk);
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
        walk->ring = g_renew(uint64_t, walk->ring, RING * (wider.words + 1));
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
    walk->ring = g_renew(uint64_t, walk->ring, RING * (walk->layout.words + 1));
    queue_init(&walk->queue, walk->layout.words, walk->logged);
    queue_init(&walk->parents, 1, walk->logged);
    if (!table_init(&walk->table, walk->layout.words, TABLE_BITS_FIRST))
        stop(walk, "memory");
    for (unsigned f = 0; f < walk->layout.fields; f++)
        walk->id[f] = 1;
    uint64_t key[LAYOUT_WORDS_MAX];
    layout_pack(&walk->layout, walk->id, key);
    ring_in(walk, key, walk->layout.words);
    ring_flush(walk);
    return walk->limit == NULL;
}

void walk_run(Walk *walk)
{
    if (!begin(walk))
        return;
    uint64_t key[LAYOUT_WORDS_MAX];
    for (uint64_t since = 0; walk->limit == NULL && !walk->done; since++) {
        if (walk->queue.head == walk->queue.tail)
            ring_flush(walk);
        if (walk->queue.head == walk->queue.tail)
            break;
        memcpy(key, walk->queue.key + walk->queue.head * walk->layout.words, walk->layout.words * sizeof *key);
        layout_unpack(&walk->layout, key, walk->id);
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
