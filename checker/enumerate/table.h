/* table.h - the set of visited states: keys of one or more words. No Intern: they need no number, and memory decides how many there are.
 *
 * Two forms, chosen by how many bits of a key must be stored:
 *   wide     whole keys in open addressing, linear probing.
 *   compact  an exact quotient table (Cleary 1984): a key of one word is scattered by a bijection; its top bits are the number of a line of
 *            16 slots (one line of a cache), the remaining bits and how many lines too far it lies make a slot of 32 bits. Nothing is lost.
 *
 * Invariants:  between a key's place and its slot no slot is free (so that a line is filled from its start), and none has an equal key.
 * Errors:      table_grow returns false if there is no memory; nothing is lost then.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_SLOTS = 16, LINE_BITS = 4, FAR_BITS = 4, FAR_MAX = (1 << FAR_BITS) - 1, REST_BITS_MAX = 32 - FAR_BITS };
/* The keys of a table. skip: the number of top bits of the scattered value that all its keys share. */
typedef struct KeyShape { unsigned words, bits, skip; } KeyShape;     /* bits: of the first word, the others are used in full */

typedef struct Table {
    union { uint64_t *slot; uint32_t *line; };  /* wide, compact */
    KeyShape shape;
    unsigned bits;                              /* 2^bits slots */
    bool compact;
    uint64_t first_bits;                        /* those top bits of the scattered values */
    uint64_t count, grow_at;                    /* slots in use, and at most: three quarters */
} Table;

bool table_init(Table *table, KeyShape shape, unsigned bits);
void table_clear(Table *table);
uint64_t table_unhash(uint64_t hash, unsigned bits);    /* the key of one word that table_hash scattered so */
size_t table_bytes(const Table *table);
size_t table_bytes_grown(const Table *table);   /* after table_grow */
bool table_empty(Table *table, unsigned bits);  /* clears it and changes its size. False: no memory */
bool table_grow(Table *table);                  /* twice as many slots */
bool table_add_crowded(Table *table, uint64_t hash);    /* no free slot lies near: grows first */
bool table_has(const Table *table, const uint64_t *key);
/* Calls visit with each key, in the table's order. */
void table_each(const Table *table, void (*visit)(void *data, const uint64_t *key), void *data);
void table_assert_sane(const Table *table);
#define SCATTER 0x9e3779b97f4a7c15u             /* odd, so that multiplying by it can be undone */

/* Of a key of one word a bijection: its bits, scattered, at the top of the result. */
static inline uint64_t table_hash(const uint64_t *key, unsigned words, unsigned bits)
{
    if (words == 1) {
        uint64_t mask = ~(uint64_t)0 << (64 - bits), at = key[0] << (64 - bits);
        return (at ^ (at >> 32 & mask)) * SCATTER;
    }
    uint64_t hash = key[0];
    for (unsigned w = 1; w < words; w++)
        hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u ^ key[w];
    return (hash ^ hash >> 32) * SCATTER;
}

static inline bool table_same(const uint64_t *a, const uint64_t *b, unsigned words)
{
    for (unsigned w = 0; w < words; w++)
        if (a[w] != b[w])
            return false;
    return true;
}

/* Where the search for a key begins. */
static inline const void *table_place(const Table *table, uint64_t hash, unsigned words)
{
    uint64_t slot = hash << table->shape.skip >> (64 - table->bits);
    return table->compact ? (const void *)(table->line + (slot & ~(uint64_t)(LINE_SLOTS - 1))) : (const void *)(table->slot + slot * words);
}

typedef uint32_t Quad __attribute__((vector_size(16), aligned(4), may_alias));

/* Looks along lines for what the hash stands for; true: it was added to the first line with a free slot. */
static inline bool table_add_compact(Table *table, uint64_t hash)
{
    unsigned line_bits = table->bits - LINE_BITS, rest_bits = table->shape.bits - table->shape.skip - line_bits;
    uint64_t lines = (uint64_t)1 << line_bits, line = hash << table->shape.skip >> (64 - line_bits);
    uint32_t value = (uint32_t)(hash << (table->shape.skip + line_bits) >> (64 - rest_bits)) << FAR_BITS;
    for (;; line = (line + 1) & (lines - 1)) {
        uint32_t *slot = table->line + line * LINE_SLOTS;
        value++;                                /* 1: in its own line */
        if (__builtin_expect((value & FAR_MAX) == 0, false))
            return table_add_crowded(table, hash);
        const Quad *quad = (const Quad *)(const void *)slot, wanted = {value, value, value, value}, none = {0};
        Quad same = (Quad)((quad[0] == wanted) | (quad[1] == wanted) | (quad[2] == wanted) | (quad[3] == wanted));
        if (same[0] | same[1] | same[2] | same[3])
            return false;
        if (slot[LINE_SLOTS - 1] != 0)
            continue;
        Quad full = (Quad)((quad[0] != none) + (quad[1] != none) + (quad[2] != none) + (quad[3] != none));
        unsigned used = -(full[0] + full[1] + full[2] + full[3]);        /* slots of a line are filled from its start */
        slot[used] = value;
        table->count++;
        return true;
    }
}

/* Adds a key; true: it was new. The caller grows the table when count reaches grow_at. hash: of table_hash. */
static inline bool table_add_at(Table *table, const uint64_t *key, unsigned words, uint64_t hash)
{
    if (words == 1 && table->compact)
        return table_add_compact(table, hash);
    uint64_t mask = ((uint64_t)1 << table->bits) - 1;
    for (uint64_t *slot, at = hash << table->shape.skip >> (64 - table->bits);; at = (at + 1) & mask) {
        slot = table->slot + at * words;
        if (slot[0] == 0) {
            for (unsigned w = 0; w < words; w++)
                slot[w] = key[w];
            table->count++;
            return true;
        }
        if (table_same(slot, key, words))
            return false;
    }
}

static inline bool table_add(Table *table, const uint64_t *key)
{
    return table_add_at(table, key, table->shape.words, table_hash(key, table->shape.words, table->shape.bits));
}
