/* table.c - mappings of keys at a load of at most three quarters, growth in one sequential pass.
 *
 * Mappings of its own, not Stores: a table doubles by moving to a new mapping while it releases the old one piece by piece, so that both
 * are never held in full. The place of a key is the top bits of its scattered value, so a sequential pass moves everything in order.
 *
 * Compact: after J. G. Cleary, "Compact hash tables using bidirectional linear probing", IEEE Transactions on Computers C-33 (1984), with
 * lines in place of single slots, so that the distance of a key from its place is a small number and runs need not be distinguished.
 */
#include "table.h"
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include "../../model/sane.h"

enum { RELEASE_BYTES = 1 << 19 };

static uint64_t *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_HUGEPAGE);          /* only a hint, for speed */
    return at;
}

static unsigned rest_bits(KeyShape shape, unsigned bits)
{
    return shape.bits - shape.skip - (bits - LINE_BITS);
}

/* Would a table of 2^bits slots be compact? */
static bool compact_at(KeyShape shape, unsigned bits)
{
    return shape.words == 1 && bits > LINE_BITS && shape.bits > shape.skip + bits - LINE_BITS && rest_bits(shape, bits) <= REST_BITS_MAX;
}

static size_t bytes_at(KeyShape shape, unsigned bits)
{
    return (compact_at(shape, bits) ? sizeof(uint32_t) : (size_t)shape.words * sizeof(uint64_t)) << bits;
}

size_t table_bytes(const Table *table)
{
    return table->slot ? bytes_at(table->shape, table->bits) : 0;
}

size_t table_bytes_grown(const Table *table)
{
    return bytes_at(table->shape, table->bits + 1);
}

bool table_init(Table *table, KeyShape shape, unsigned bits)
{
    *table = (Table){.shape = shape, .bits = bits, .compact = compact_at(shape, bits), .grow_at = (3ull << bits) / 4};
    table->slot = map(bytes_at(shape, bits));
    return table->slot != NULL;
}

void table_clear(Table *table)
{
    if (table->slot)
        munmap(table->slot, table_bytes(table));
    *table = (Table){0};
}

bool table_empty(Table *table, unsigned bits)
{
    if (bits == table->bits) {
        memset(table->slot, 0, table_bytes(table));
        table->count = 0;
        SANE(table_assert_sane(table));
        return true;
    }
    KeyShape shape = table->shape;
    uint64_t first_bits = table->first_bits;
    table_clear(table);
    bool made = table_init(table, shape, bits);
    table->first_bits = first_bits;
    return made;
}

bool table_has(const Table *table, const uint64_t *key)
{
    unsigned words = table->shape.words;
    uint64_t hash = table_hash(key, words, table->shape.bits);
    if (table->compact) {
        unsigned line_bits = table->bits - LINE_BITS, rest = rest_bits(table->shape, table->bits);
        uint64_t line = hash << table->shape.skip >> (64 - line_bits);
        uint32_t value = (uint32_t)(hash << (table->shape.skip + line_bits) >> (64 - rest)) << FAR_BITS;
        for (;; line = (line + 1) & (((uint64_t)1 << line_bits) - 1)) {
            const uint32_t *slot = table->line + line * LINE_SLOTS;
            value++;
            for (unsigned i = 0; i < LINE_SLOTS; i++)
                if (slot[i] == value)
                    return true;
            if (slot[LINE_SLOTS - 1] == 0 || (value & FAR_MAX) == FAR_MAX)
                return false;
        }
    }
    uint64_t mask = ((uint64_t)1 << table->bits) - 1;
    for (uint64_t at = hash << table->shape.skip >> (64 - table->bits);; at = (at + 1) & mask) {
        const uint64_t *slot = table->slot + at * words;
        if (slot[0] == 0)
            return false;
        if (table_same(slot, key, words))
            return true;
    }
}

/* The scattered key of a slot in use. */
static uint64_t hash_of_slot(const Table *table, uint64_t index)
{
    unsigned line_bits = table->bits - LINE_BITS, rest = rest_bits(table->shape, table->bits);
    uint32_t value = table->line[index];
    uint64_t far = (value & FAR_MAX) - 1, line = (index / LINE_SLOTS - far) & (((uint64_t)1 << line_bits) - 1);
    return (table->first_bits | line << (64 - line_bits) >> table->shape.skip)
        | (uint64_t)(value >> FAR_BITS) << (64 - table->shape.skip - line_bits - rest);
}

uint64_t table_unhash(uint64_t hash, unsigned bits)
{
    const uint64_t unscatter = 0xf1de83e19937733du;         /* its product with SCATTER is 1 */
    uint64_t mask = ~(uint64_t)0 << (64 - bits), at = hash * unscatter;
    return (at ^ (at >> 32 & mask)) >> (64 - bits);
}

static void visit_slots(const Table *table, uint64_t from, uint64_t to, void (*visit)(void *data, const uint64_t *key), void *data)
{
    unsigned words = table->shape.words;
    for (uint64_t at = from; at < to; at++) {
        if (!table->compact) {
            if (table->slot[at * words])
                visit(data, table->slot + at * words);
        } else if (table->line[at]) {
            uint64_t key = table_unhash(hash_of_slot(table, at), table->shape.bits);
            visit(data, &key);
        }
    }
}

void table_each(const Table *table, void (*visit)(void *data, const uint64_t *key), void *data)
{
    visit_slots(table, 0, (uint64_t)1 << table->bits, visit, data);
}

static void move_slots(const Table *table, uint64_t from, uint64_t to, Table *larger)
{
    unsigned words = table->shape.words;
    for (uint64_t at = from; at < to; at++) {
        if (table->compact && table->line[at]) {
            uint64_t hash = hash_of_slot(table, at), key;
            if (!larger->compact)
                key = table_unhash(hash, table->shape.bits);
            table_add_at(larger, &key, 1, hash);
        } else if (!table->compact && table->slot[at * words]) {
            table_add(larger, table->slot + at * words);
        }
    }
}

bool table_grow(Table *table)
{
    Table larger;
    if (!table_init(&larger, table->shape, table->bits + 1))
        return false;
    larger.first_bits = table->first_bits;
    uint64_t slots = (uint64_t)1 << table->bits;
    size_t slot_bytes = table->compact ? sizeof(uint32_t) : sizeof(uint64_t) * table->shape.words;
    uint64_t stride = RELEASE_BYTES / slot_bytes;
    for (uint64_t from = 0; from < slots; from += stride) {
        uint64_t to = MIN(from + stride, slots);
        move_slots(table, from, to, &larger);
        uintptr_t first = (uintptr_t)table->slot + from * slot_bytes, last = (uintptr_t)table->slot + to * slot_bytes;
        first = (first + 4095) & ~(uintptr_t)4095, last &= ~(uintptr_t)4095;
        if (last > first)
            madvise((void *)first, last - first, MADV_DONTNEED);
    }
    g_assert(larger.count == table->count);
    table_clear(table);
    *table = larger;
    SANE(table_assert_sane(table));
    return true;
}

bool table_add_crowded(Table *table, uint64_t hash)
{
    uint64_t key = table_unhash(hash, table->shape.bits);     /* for a table that is wide when it has grown */
    if (!table_grow(table))
        g_error("no memory is left for the table of states");
    return table_add_at(table, &key, 1, hash);
}

/* A search for the key of that slot, which is in use, passes no free slot and no equal key. */
static void assert_wide_slot(const Table *table, uint64_t index)
{
    unsigned words = table->shape.words, skip = table->shape.skip;
    uint64_t mask = ((uint64_t)1 << table->bits) - 1, hash = table_hash(table->slot + index * words, words, table->shape.bits);
    g_assert(skip == 0 || (hash ^ table->first_bits) >> (64 - skip) == 0);
    for (uint64_t at = hash << skip >> (64 - table->bits); at != index; at = (at + 1) & mask)
        g_assert(table->slot[at * words] != 0 && !table_same(table->slot + at * words, table->slot + index * words, words));
}

static void assert_compact_slot(const Table *table, uint64_t index)
{
    uint32_t value = table->line[index], far = value & FAR_MAX;
    uint64_t lines = (uint64_t)1 << (table->bits - LINE_BITS), line = index / LINE_SLOTS;
    g_assert(far > 0);
    for (uint64_t i = line * LINE_SLOTS; i < index; i++)
        g_assert(table->line[i] != 0 && table->line[i] != value);
    for (uint32_t before = 1; before < far; before++) {
        const uint32_t *slot = table->line + ((line - before) & (lines - 1)) * LINE_SLOTS;
        for (unsigned i = 0; i < LINE_SLOTS; i++)
            g_assert(slot[i] != 0 && slot[i] != value - before);
    }
}

void table_assert_sane(const Table *table)
{
    uint64_t used = 0;
    for (uint64_t index = 0; index < (uint64_t)1 << table->bits; index++) {
        if ((table->compact ? table->line[index] : table->slot[index * table->shape.words]) == 0)
            continue;
        used++;
        (table->compact ? assert_compact_slot : assert_wide_slot)(table, index);
    }
    g_assert(used == table->count && used <= table->grow_at && table->grow_at == (3ull << table->bits) / 4);
}
