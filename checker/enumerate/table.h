/* table.h - the set of visited states: keys of one or more words in open addressing, and the queue of those not yet expanded.
 *
 * Own mappings, not Stores: a table doubles by moving to a new mapping while the old one is given back piece by piece, so that growing
 * never holds both in full. The slot of a key is the top bits of its scattered value, hence a sequential pass moves everything in order.
 *
 * Errors:      table_grow and queue_push return false when the memory cannot be had; nothing is lost then.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Table {
    uint64_t *slot;
    unsigned words, bits;                       /* words a key; 2^bits slots */
    uint64_t count, grow_at;
} Table;

bool table_init(Table *table, unsigned words, unsigned bits);
void table_clear(Table *table);
size_t table_bytes(const Table *table);
bool table_grow(Table *table);                  /* twice as many slots */
bool table_has(const Table *table, const uint64_t *key);
/* Adds a key of `words` words; true: it was new. The caller grows the table when count reaches grow_at. */
static inline bool table_add(Table *table, const uint64_t *key, unsigned words);

/* First in, first out; with `keep` all keys stay and can be read by index. */
typedef struct Queue {
    uint64_t *key;
    unsigned words;
    bool keep;
    uint64_t head, tail, room, freed;           /* in keys; those before `freed` were given back */
} Queue;

void queue_init(Queue *queue, unsigned words, bool keep);
void queue_clear(Queue *queue);
size_t queue_bytes(const Queue *queue);
bool queue_grow(Queue *queue);                  /* call when tail == room */
void queue_release(Queue *queue);               /* gives back what lies before head, unless kept */

static inline uint64_t table_slot(const Table *table, const uint64_t *key, unsigned words)
{
    uint64_t hash = key[0];
    for (unsigned w = 1; w < words; w++)
        hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u ^ key[w];
    return ((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u) >> (64 - table->bits);
}

static inline bool table_same(const uint64_t *a, const uint64_t *b, unsigned words)
{
    for (unsigned w = 0; w < words; w++)
        if (a[w] != b[w])
            return false;
    return true;
}

static inline bool table_add_at(Table *table, const uint64_t *key, unsigned words, uint64_t at)
{
    uint64_t mask = ((uint64_t)1 << table->bits) - 1;
    for (uint64_t *slot;; at = (at + 1) & mask) {
        slot = table->slot + at * words;
        if (slot[0] == 0)
            break;
        if (table_same(slot, key, words))
            return false;
    }
    for (unsigned w = 0; w < words; w++)
        table->slot[at * words + w] = key[w];
    table->count++;
    return true;
}

static inline bool table_add(Table *table, const uint64_t *key, unsigned words)
{
    return table_add_at(table, key, words, table_slot(table, key, words));
}
