/* repack.c - tables and queues are moved key by key to new ones; as a key's owner hangs on its layout, among all workers. */
#include "repack.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "frontier.h"
#include "memory.h"
#include "symmetry.h"

enum { TIGHTEN_BITS_MIN = 18, AHEAD = 32 };     /* smaller tables are small enough; keys on their way into a table */

typedef struct Repack {
    Walk *walk;
    const Layout *to;
    Table *table;
    Queue *queue;
    GArray **levels;
    uint32_t *id;
    uint64_t *ahead, hash[AHEAD], moved;        /* keys whose places are being fetched, and scattered; how many there have been */
} Repack;

uint64_t repack_print(const Layout *layout, const uint64_t *key)
{
    uint32_t id[layout->fields];
    layout_unpack(layout, key, id);
    return MAX(XXH3_64bits(id, sizeof id), 1);
}

unsigned repack_owner(const Walk *walk, const Layout *layout, const uint64_t *key)
{
    return walk->owner_bits ? (unsigned)(repack_scatter(walk, layout, key) >> (64 - walk->owner_bits)) : 0;
}

bool repack_table_init(const Walk *walk, Table *table, const Layout *layout, unsigned owner, unsigned bits)
{
    bool made = table_init(table, walk_shape(walk, layout), bits);
    table->first_bits = walk->owner_bits ? (uint64_t)owner << (64 - walk->owner_bits) : 0;
    return made;
}

static Table *table_of(const Repack *repack, uint64_t hash)
{
    unsigned owner_bits = repack->walk->owner_bits;
    return &repack->table[owner_bits ? hash >> (64 - owner_bits) : 0];
}

static void put_in_place(Repack *repack, uint64_t index)
{
    const uint64_t *key = repack->ahead + index % AHEAD * repack->to->words;
    uint64_t hash = repack->hash[index % AHEAD];
    Table *table = table_of(repack, hash);
    if (table->count >= table->grow_at && !table_grow(table))
        walk_stop(repack->walk, "memory");
    uint64_t print = repack->walk->hashed ? table_unhash(hash, 64) : 0;
    if (repack->walk->limit == NULL)
        table_add_at(table, print ? &print : key, table->shape.words, hash);
}

static void move_to_table(void *data, const uint64_t *key)
{
    Repack *repack = data;
    if (repack->moved >= AHEAD)
        put_in_place(repack, repack->moved - AHEAD);
    uint64_t at = repack->moved++ % AHEAD, *moved = repack->ahead + at * repack->to->words;
    layout_unpack(&repack->walk->layout, key, repack->id);
    layout_pack(repack->to, repack->id, moved);
    repack->hash[at] = repack_scatter(repack->walk, repack->to, moved);
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
    const Walk *walk = repack->walk;
    uint64_t moved[LAYOUT_WORDS_MAX];
    for (uint64_t at = first; at < end; at++) {
        layout_unpack(&walk->layout, from->key + at * walk->layout.words, repack->id);
        layout_pack(repack->to, repack->id, moved);
        Queue *queue = &repack->queue[repack_owner(walk, repack->to, moved)];
        if (queue->tail == queue->room && !queue_grow(queue)) {
            walk_stop(repack->walk, "memory");
            return;
        }
        memcpy(queue->key + queue->tail++ * repack->to->words, moved, repack->to->words * sizeof *moved);
    }
}

/* Those that are kept, each level together. */
static void move_levels(Repack *repack)
{
    Walk *walk = repack->walk;
    for (guint l = 0; l < walk->worker[0].levels->len && walk->limit == NULL; l++) {
        for (unsigned i = 0; i < walk->workers; i++)
            g_array_append_val(repack->levels[i], repack->queue[i].tail);
        for (unsigned i = 0; i < walk->workers; i++) {
            const GArray *starts = walk->worker[i].levels;
            uint64_t end = l + 1 < starts->len ? g_array_index(starts, uint64_t, l + 1) : walk->worker[i].queue.head;
            move_states(repack, &walk->worker[i].queue, g_array_index(starts, uint64_t, l), end);
        }
    }
    for (unsigned i = 0; i < walk->workers; i++)
        repack->queue[i].head = repack->queue[i].tail;
}

static void move_all(Repack *repack, bool tables)
{
    Walk *walk = repack->walk;
    for (unsigned i = 0; i < walk->workers && tables && walk->limit == NULL; i++)
        move_table(repack, &walk->worker[i].table);
    move_levels(repack);
    for (unsigned i = 0; i < walk->workers && walk->limit == NULL; i++)
        move_states(repack, &walk->worker[i].queue, walk->worker[i].queue.head, walk->worker[i].queue.tail);
}

/* What was moved takes the place of what it was moved from. */
static void settle(const Repack *repack, bool tables)
{
    Walk *walk = repack->walk;
    for (unsigned i = 0; i < walk->workers; i++) {
        Worker *worker = &walk->worker[i];
        Table table = worker->table;
        Queue queue = worker->queue;
        GArray *levels = worker->levels;
        worker->queue = repack->queue[i], worker->levels = repack->levels[i];
        repack->queue[i] = queue, repack->levels[i] = levels;
        if (tables)
            worker->table = repack->table[i], repack->table[i] = table;
    }
    layout_clear(&walk->layout);
    walk->layout = *repack->to;
    if (walk->symmetry != NULL)
        symmetry_fit(walk->symmetry, &walk->layout);
    walk->rows_due = true;
    for (unsigned i = 0; i < walk->workers; i++)
        worker_fit(&walk->worker[i]);
}

/* Into tables of at least 2^bits slots. States of the level in hand are all expanded but those put off, so that only what comes next has to
 * be in its place in the queue. */
static void change_layout(Walk *walk, Layout *to, unsigned bits)
{
    Repack repack = {.walk = walk, .to = to, .table = g_new0(Table, walk->workers), .queue = g_new0(Queue, walk->workers),
                     .levels = g_new(GArray *, walk->workers), .id = g_new(uint32_t, walk->layout.fields),
                     .ahead = g_new(uint64_t, AHEAD * to->words)};
    bool tables = !walk->hashed;                /* hashes do not hang on the layout */
    walk->hashed |= to->words > 1 && walk->options->modes & WALK_HASH_COMPACT;
    for (unsigned i = 0; i < walk->workers; i++) {
        queue_init(&repack.queue[i], to->words, walk->worker[i].queue.keep);
        repack.levels[i] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        if (tables && !repack_table_init(walk, &repack.table[i], to, i, MAX(bits, walk->worker[i].table.bits)))
            walk_stop(walk, "memory");
    }
    move_all(&repack, tables);
    if (walk->limit == NULL)
        settle(&repack, tables);
    else
        layout_clear(to);
    for (unsigned i = 0; i < walk->workers; i++) {
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

static uint32_t *largest_ids(const Walk *walk)
{
    uint32_t *largest = g_new(uint32_t, walk->layout.fields);
    for (unsigned f = 0; f < walk->layout.fields; f++)
        largest[f] = f < walk->cores ? (uint32_t)walk->core[f].components.count - 1 : memory_vectors(walk, f - walk->cores);
    return largest;
}

bool repack_first(Walk *walk, unsigned fields)
{
    bool made = layout_init(&walk->layout, fields), fits = true;
    g_autofree uint32_t *largest = largest_ids(walk);
    for (unsigned f = 0; f < fields; f++)
        fits &= layout_fits(&walk->layout, f, largest[f]);
    walk->repack = false;
    return made && (fits || layout_widen(&walk->layout, largest));
}

static bool has_room_for(Walk *walk, unsigned words)
{
    size_t needed = 0, limit = walk->options->memory_max;
    for (unsigned i = 0; i < walk->workers; i++)
        needed += (table_bytes(&walk->worker[i].table) + queue_bytes(&walk->worker[i].queue)) / walk->layout.words * words;
    return limit == 0 || frontier_bytes(walk) + needed <= limit;
}

/* The largest table's bits. */
static unsigned table_bits(const Walk *walk)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < walk->workers; i++)
        bits = MAX(bits, walk->worker[i].table.bits);
    return bits;
}

/* How many bits a key of one word may have for tables of 2^bits slots to be compact. */
static unsigned compact_bits(const Walk *walk, unsigned bits)
{
    return MIN(64, REST_BITS_MAX + walk->owner_bits + bits - LINE_BITS);
}

void repack_wider(Walk *walk)
{
    Layout wider;
    layout_init(&wider, walk->layout.fields);
    uint32_t *largest = largest_ids(walk);
    unsigned bits = table_bits(walk);
    bool fits = bits >= TIGHTEN_BITS_MIN && layout_tighten(&wider, largest, compact_bits(walk, bits));
    if (!fits)
        fits = layout_widen(&wider, largest);
    g_free(largest);
    if (!fits || !has_room_for(walk, wider.words))
        walk_stop(walk, "memory");
    if (walk->limit == NULL)
        change_layout(walk, &wider, 0);
    else
        layout_clear(&wider);
    walk->repack = false;
}

void repack_tighter(Walk *walk)
{
    const Table *table = &walk->worker[0].table;
    unsigned bits = table_bits(walk);
    if (walk->limit != NULL || walk->hashed || walk->layout.words > 1 || table->compact || bits < TIGHTEN_BITS_MIN
        || table->count < table->grow_at - table->grow_at / 4 || walk->layout.bits <= compact_bits(walk, bits + 1))
        return;
    Layout tighter;
    layout_init(&tighter, walk->layout.fields);
    uint32_t *largest = largest_ids(walk);
    bool fits = layout_tighten(&tighter, largest, compact_bits(walk, bits + 1)) && has_room_for(walk, 1);
    g_free(largest);
    if (fits)
        change_layout(walk, &tighter, bits + 1);
    else
        layout_clear(&tighter);
}
