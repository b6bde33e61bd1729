/* repack.c - moves tables and queues key by key to new ones, across workers, since the owner of a key depends on its layout. */
#include "repack.h"
#include <string.h>
#include "growth.h"
#include "symmetry.h"

enum { TIGHTEN_BITS_MIN = 18, AHEAD = 32 };     /* smaller tables are not tightened; keys on their way into a table */

typedef struct Repack {
    StateSpace *space;
    Frontier *frontier;
    const Layout *to;
    Table *table;
    Queue *queue;
    GArray **levels;
    uint32_t *id;
    uint64_t *ahead, hash[AHEAD], moved;        /* keys being prefetched, and scattered; their number so far */
} Repack;

bool repack_table_init(const Frontier *frontier, Table *table, const Layout *layout, unsigned owner, unsigned bits)
{
    bool made = table_init(table, frontier_shape(frontier, layout), bits);
    table->first_bits = frontier->owner_bits ? (uint64_t)owner << (64 - frontier->owner_bits) : 0;
    return made;
}

static Table *table_of(const Repack *repack, uint64_t hash)
{
    unsigned owner_bits = repack->frontier->owner_bits;
    return &repack->table[owner_bits ? hash >> (64 - owner_bits) : 0];
}

static void put_in_place(Repack *repack, uint64_t index)
{
    const uint64_t *key = repack->ahead + index % AHEAD * repack->to->words;
    uint64_t hash = repack->hash[index % AHEAD];
    Table *table = table_of(repack, hash);
    if (table->count >= table->grow_at && !table_grow(table))
        frontier_stop(repack->frontier, "memory");
    uint64_t print = repack->frontier->hashed ? table_unhash(hash, 64) : 0;
    if (repack->frontier->limit == NULL)
        table_add_at(table, print ? &print : key, table->shape.words, hash);
}

static void move_to_table(void *data, const uint64_t *key)
{
    Repack *repack = data;
    if (repack->moved >= AHEAD)
        put_in_place(repack, repack->moved - AHEAD);
    uint64_t at = repack->moved++ % AHEAD, *moved = repack->ahead + at * repack->to->words;
    layout_unpack(&repack->space->layout, key, repack->id);
    layout_pack(repack->to, repack->id, moved);
    repack->hash[at] = frontier_scatter(repack->frontier, repack->to, moved);
    const Table *table = table_of(repack, repack->hash[at]);
    __builtin_prefetch(table_place(table, repack->hash[at], table->shape.words), 1);
}

static void move_table(Repack *repack, const Table *from)
{
    repack->moved = 0;
    table_each(from, move_to_table, repack);
    for (uint64_t index = repack->moved - MIN(repack->moved, AHEAD); index < repack->moved; index++)
        put_in_place(repack, index);
}

static void move_states(Repack *repack, const Queue *from, uint64_t first, uint64_t end)
{
    const StateSpace *space = repack->space;
    uint64_t moved[LAYOUT_WORDS_MAX];
    for (uint64_t at = first; at < end; at++) {
        layout_unpack(&space->layout, from->key + at * space->layout.words, repack->id);
        layout_pack(repack->to, repack->id, moved);
        Queue *queue = &repack->queue[frontier_owner(repack->frontier, repack->to, moved)];
        if (queue->tail == queue->room && !queue_grow(queue)) {
            frontier_stop(repack->frontier, "memory");
            return;
        }
        memcpy(queue->key + queue->tail++ * repack->to->words, moved, repack->to->words * sizeof *moved);
    }
}

/* Moves the kept states, level by level. */
static void move_levels(Repack *repack)
{
    Frontier *frontier = repack->frontier;
    for (guint l = 0; l < frontier->worker[0].levels->len && frontier->limit == NULL; l++) {
        for (unsigned i = 0; i < frontier->workers; i++)
            g_array_append_val(repack->levels[i], repack->queue[i].tail);
        for (unsigned i = 0; i < frontier->workers; i++) {
            const GArray *starts = frontier->worker[i].levels;
            uint64_t end = l + 1 < starts->len ? g_array_index(starts, uint64_t, l + 1) : frontier->worker[i].queue.head;
            move_states(repack, &frontier->worker[i].queue, g_array_index(starts, uint64_t, l), end);
        }
    }
    for (unsigned i = 0; i < frontier->workers; i++)
        repack->queue[i].head = repack->queue[i].tail;
}

static void move_all(Repack *repack, bool tables)
{
    Frontier *frontier = repack->frontier;
    for (unsigned i = 0; i < frontier->workers && tables && frontier->limit == NULL; i++)
        move_table(repack, &frontier->worker[i].table);
    move_levels(repack);
    for (unsigned i = 0; i < frontier->workers && frontier->limit == NULL; i++)
        move_states(repack, &frontier->worker[i].queue, frontier->worker[i].queue.head, frontier->worker[i].queue.tail);
}

/* Replaces the old tables and queues by the new ones. */
static void settle(const Repack *repack, bool tables)
{
    StateSpace *space = repack->space;
    Frontier *frontier = repack->frontier;
    for (unsigned i = 0; i < frontier->workers; i++) {
        Worker *worker = &frontier->worker[i];
        Table table = worker->table;
        Queue queue = worker->queue;
        GArray *levels = worker->levels;
        worker->queue = repack->queue[i], worker->levels = repack->levels[i];
        repack->queue[i] = queue, repack->levels[i] = levels;
        if (tables)
            worker->table = repack->table[i], repack->table[i] = table;
    }
    layout_clear(&space->layout);
    space->layout = *repack->to;
    if (space->symmetry != NULL)
        symmetry_fit(space->symmetry, &space->layout);
    space->rows_due = true;
    for (unsigned i = 0; i < frontier->workers; i++)
        worker_fit(&frontier->worker[i]);
}

/* Into tables of at least 2^bits slots. All states of the current level except the deferred ones are expanded, so only those of the next
 * level must be in place in the queue. */
static void change_layout(StateSpace *space, Frontier *frontier, Layout *to, unsigned bits)
{
    Repack repack = {.space = space, .frontier = frontier, .to = to, .table = g_new0(Table, frontier->workers),
                     .queue = g_new0(Queue, frontier->workers), .levels = g_new(GArray *, frontier->workers),
                     .id = g_new(uint32_t, space->layout.fields), .ahead = g_new(uint64_t, AHEAD * to->words)};
    bool tables = !frontier->hashed;            /* hashes do not depend on the layout */
    frontier->hashed |= to->words > 1 && space->options->modes & ENUMERATE_HASH_COMPACT;
    for (unsigned i = 0; i < frontier->workers; i++) {
        queue_init(&repack.queue[i], to->words, frontier->worker[i].queue.keep);
        repack.levels[i] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        if (tables && !repack_table_init(frontier, &repack.table[i], to, i, MAX(bits, frontier->worker[i].table.bits)))
            frontier_stop(frontier, "memory");
    }
    move_all(&repack, tables);
    if (frontier->limit == NULL)
        settle(&repack, tables);
    else
        layout_clear(to);
    for (unsigned i = 0; i < frontier->workers; i++) {
        table_clear(&repack.table[i]);
        queue_clear(&repack.queue[i]);
        g_array_unref(repack.levels[i]);
    }
    g_free(repack.table);
    g_free(repack.queue);
    g_free(repack.levels);
    g_free(repack.id);
    g_free(repack.ahead);
}

static uint32_t *largest_ids(const StateSpace *space, unsigned fields)
{
    uint32_t *largest = g_new(uint32_t, fields);
    for (unsigned f = 0; f < fields; f++)
        largest[f] = growth_largest_id(space, f);
    return largest;
}

bool repack_first(StateSpace *space, unsigned fields)
{
    bool made = layout_init(&space->layout, fields), fits = true;
    g_autofree uint32_t *largest = largest_ids(space, space->layout.fields);
    for (unsigned f = 0; f < fields; f++)
        fits &= layout_fits(&space->layout, f, largest[f]);
    space->repack = false;
    return made && (fits || layout_widen(&space->layout, largest));
}

static bool has_room_for(const StateSpace *space, const Frontier *frontier, unsigned words)
{
    size_t needed = 0, limit = space->options->limits.memory;
    for (unsigned i = 0; i < frontier->workers; i++)
        needed += (table_bytes(&frontier->worker[i].table) + queue_bytes(&frontier->worker[i].queue)) / space->layout.words * words;
    return limit == 0 || frontier_bytes(frontier) + needed <= limit;
}

/* The largest table's bits. */
static unsigned table_bits(const Frontier *frontier)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < frontier->workers; i++)
        bits = MAX(bits, frontier->worker[i].table.bits);
    return bits;
}

/* The maximal number of bits of a key of one word for tables of 2^bits slots to be compact. */
static unsigned compact_bits(const Frontier *frontier, unsigned bits)
{
    return MIN(64, REST_BITS_MAX + frontier->owner_bits + bits - LINE_BITS);
}

void repack_wider(StateSpace *space, Frontier *frontier)
{
    Layout wider;
    layout_init(&wider, space->layout.fields);
    uint32_t *largest = largest_ids(space, space->layout.fields);
    unsigned bits = table_bits(frontier);
    bool fits = bits >= TIGHTEN_BITS_MIN && layout_tighten(&wider, largest, compact_bits(frontier, bits));
    if (!fits)
        fits = layout_widen(&wider, largest);
    g_free(largest);
    if (!fits || !has_room_for(space, frontier, wider.words))
        frontier_stop(frontier, "memory");
    if (frontier->limit == NULL)
        change_layout(space, frontier, &wider, 0);
    else
        layout_clear(&wider);
    space->repack = false;
}

void repack_tighter(StateSpace *space, Frontier *frontier)
{
    const Table *table = &frontier->worker[0].table;
    unsigned bits = table_bits(frontier);
    if (frontier->limit != NULL || frontier->hashed || space->layout.words > 1 || table->compact || bits < TIGHTEN_BITS_MIN
        || table->count < table->grow_at - table->grow_at / 4 || space->layout.bits <= compact_bits(frontier, bits + 1))
        return;
    Layout tighter;
    layout_init(&tighter, space->layout.fields);
    uint32_t *largest = largest_ids(space, space->layout.fields);
    bool fits = layout_tighten(&tighter, largest, compact_bits(frontier, bits + 1)) && has_room_for(space, frontier, 1);
    g_free(largest);
    if (fits)
        change_layout(space, frontier, &tighter, bits + 1);
    else
        layout_clear(&tighter);
}
