/* repack.c - tables and queues are moved key by key to new ones; as a key's owner hangs on its layout, among all workers. */
#include "repack.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "expand.h"
#include "memory.h"

enum { TIGHTEN_BITS_MIN = 18, AHEAD = 32 };     /* smaller tables are small enough; keys on their way into a table */

typedef struct Repack {
    Walk *walk;
    const Layout *to;
    Table *table;
    Queue *queue;
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
    uint64_t print = repack->walk->hashed ? repack_print(repack->to, key) : 0;
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

static void move_queue(Repack *repack, const Queue *from)
{
    const Walk *walk = repack->walk;
    uint64_t moved[LAYOUT_WORDS_MAX];
    for (uint64_t at = from->keep ? 0 : from->head; at < from->tail; at++) {
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

/* Into tables of at least 2^bits slots. States of the level in hand are all expanded but those put off, so that only what comes next has to
 * be in its place in the queue. */
static void move_all(Walk *walk, Layout *to, unsigned bits)
{
    Repack repack = {.walk = walk, .to = to, .table = g_new0(Table, walk->workers), .queue = g_new0(Queue, walk->workers),
                     .id = g_new(uint32_t, walk->layout.fields), .ahead = g_new(uint64_t, AHEAD * to->words)};
    bool keep_tables = walk->hashed;            /* hashes do not hang on the layout */
    walk->hashed |= to->words > 1 && walk->options->modes & WALK_HASH_COMPACT;
    for (unsigned i = 0; i < walk->workers; i++) {
        queue_init(&repack.queue[i], to->words, walk->worker[i].queue.keep);
        if (!keep_tables && !repack_table_init(walk, &repack.table[i], to, i, MAX(bits, walk->worker[i].table.bits)))
            walk_stop(walk, "memory");
    }
    for (unsigned i = 0; i < walk->workers && walk->limit == NULL; i++) {
        if (!keep_tables)
            move_table(&repack, &walk->worker[i].table);
        move_queue(&repack, &walk->worker[i].queue);
    }
    bool done = walk->limit == NULL;
    for (unsigned i = 0; i < walk->workers; i++) {
        Worker *worker = &walk->worker[i];
        if (done && worker->queue.keep)
            repack.queue[i].head = worker->queue.head;
        if (!keep_tables)
            table_clear(done ? &worker->table : &repack.table[i]);
        queue_clear(done ? &worker->queue : &repack.queue[i]);
        if (done && !keep_tables)
            worker->table = repack.table[i];
        if (done)
            worker->queue = repack.queue[i];
    }
    g_free(repack.table);
    g_free(repack.queue);
    g_free(repack.id);
    g_free(repack.ahead);
    if (!done) {
        layout_clear(to);
        return;
    }
    layout_clear(&walk->layout);
    walk->layout = *to;
    for (unsigned i = 0; i < walk->workers; i++)
        worker_fit(&walk->worker[i]);
}

static uint32_t *largest_ids(const Walk *walk)
{
    uint32_t *largest = g_new(uint32_t, walk->layout.fields);
    for (unsigned f = 0; f < walk->layout.fields; f++)
        largest[f] = f < walk->cores ? (uint32_t)walk->core[f].components.count - 1 : memory_vectors(walk, f - walk->cores);
    return largest;
}

static bool has_room_for(Walk *walk, unsigned words)
{
    size_t needed = 0, limit = walk->options->memory_max;
    for (unsigned i = 0; i < walk->workers; i++)
        needed += (table_bytes(&walk->worker[i].table) + queue_bytes(&walk->worker[i].queue)) / walk->layout.words * words;
    return limit == 0 || walk_bytes(walk) + needed <= limit;
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
        move_all(walk, &wider, 0);
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
        move_all(walk, &tighter, bits + 1);
    else
        layout_clear(&tighter);
}
