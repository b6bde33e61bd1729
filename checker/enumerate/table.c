/* table.c - mappings for keys: linear probing at a load of at most three quarters, growth in one sequential pass. */
#include "table.h"
#include <glib.h>
#include <string.h>
#include <sys/mman.h>

enum { RELEASE_BYTES = 1 << 19, QUEUE_ROOM_MIN = 1 << 12 };

static uint64_t *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_HUGEPAGE);          /* a wish: without it the search is slower, nothing else */
    return at;
}

size_t table_bytes(const Table *table)
{
    return ((size_t)table->words * sizeof(uint64_t)) << table->bits;
}

bool table_init(Table *table, unsigned words, unsigned bits)
{
    *table = (Table){.words = words, .bits = bits, .grow_at = (3ull << bits) / 4};
    table->slot = map(table_bytes(table));
    return table->slot != NULL;
}

void table_clear(Table *table)
{
    if (table->slot)
        munmap(table->slot, table_bytes(table));
    *table = (Table){0};
}

bool table_has(const Table *table, const uint64_t *key)
{
    uint64_t mask = ((uint64_t)1 << table->bits) - 1;
    for (uint64_t at = table_slot(table, key, table->words);; at = (at + 1) & mask) {
        const uint64_t *slot = table->slot + at * table->words;
        if (slot[0] == 0)
            return false;
        if (table_same(slot, key, table->words))
            return true;
    }
}

bool table_grow(Table *table)
{
    Table larger;
    if (!table_init(&larger, table->words, table->bits + 1))
        return false;
    uint64_t slots = (uint64_t)1 << table->bits, stride = RELEASE_BYTES / (sizeof(uint64_t) * table->words);
    for (uint64_t from = 0; from < slots; from += stride) {
        uint64_t to = MIN(from + stride, slots);
        for (uint64_t at = from; at < to; at++) {
            const uint64_t *slot = table->slot + at * table->words;
            if (slot[0])
                table_add(&larger, slot, table->words);
        }
        uintptr_t first = (uintptr_t)(table->slot + from * table->words), last = (uintptr_t)(table->slot + to * table->words);
        first = (first + 4095) & ~(uintptr_t)4095, last &= ~(uintptr_t)4095;
        if (last > first)
            madvise((void *)first, last - first, MADV_DONTNEED);
    }
    g_assert(larger.count == table->count);
    table_clear(table);
    *table = larger;
    return true;
}

void queue_init(Queue *queue, unsigned words, bool keep)
{
    *queue = (Queue){.words = words, .keep = keep};
}

static size_t bytes_of(const Queue *queue, uint64_t keys)
{
    return (size_t)keys * queue->words * sizeof(uint64_t);
}

void queue_clear(Queue *queue)
{
    if (queue->key)
        munmap(queue->key, bytes_of(queue, queue->room));
    *queue = (Queue){0};
}

size_t queue_bytes(const Queue *queue)
{
    return bytes_of(queue, queue->tail - queue->freed);
}

bool queue_grow(Queue *queue)
{
    uint64_t room = queue->room ? queue->room * 2 : QUEUE_ROOM_MIN;
    void *at = queue->key ? mremap(queue->key, bytes_of(queue, queue->room), bytes_of(queue, room), MREMAP_MAYMOVE)
                          : mmap(NULL, bytes_of(queue, room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    queue->key = at;
    queue->room = room;
    return true;
}

void queue_release(Queue *queue)
{
    uint64_t page_keys = 4096 / sizeof(uint64_t);           /* that many keys of w words fill w pages */
    uint64_t upto = queue->head / page_keys * page_keys;
    if (queue->keep || bytes_of(queue, upto - queue->freed) < RELEASE_BYTES)
        return;
    madvise(queue->key + queue->freed * queue->words, bytes_of(queue, upto - queue->freed), MADV_DONTNEED);
    queue->freed = upto;
}
