/* queue.c - a mapping that doubles where it lies or moves whole; what was read is given back from its start. */
#include "queue.h"
#include <glib.h>
#include <sys/mman.h>
#include "../../model/sane.h"

enum { RELEASE_BYTES = 1 << 19, ROOM_MIN = 1 << 12, PAGE_KEYS = 4096 / sizeof(uint64_t) };      /* PAGE_KEYS keys of w words: w pages */

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
    uint64_t room = queue->room ? queue->room * 2 : ROOM_MIN;
    void *at = queue->key ? mremap(queue->key, bytes_of(queue, queue->room), bytes_of(queue, room), MREMAP_MAYMOVE)
                          : mmap(NULL, bytes_of(queue, room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    queue->key = at;
    queue->room = room;
    SANE(queue_assert_sane(queue));
    return true;
}

void queue_release(Queue *queue)
{
    uint64_t upto = queue->head / PAGE_KEYS * PAGE_KEYS;
    if (queue->keep || bytes_of(queue, upto - queue->freed) < RELEASE_BYTES)
        return;
    madvise(queue->key + queue->freed * queue->words, bytes_of(queue, upto - queue->freed), MADV_DONTNEED);
    queue->freed = upto;
    SANE(queue_assert_sane(queue));
}

void queue_empty(Queue *queue)
{
    g_assert(queue->freed == 0);
    queue->head = queue->tail = 0;
}

void queue_assert_sane(const Queue *queue)
{
    g_assert(queue->freed <= queue->head && queue->head <= queue->tail && queue->tail <= queue->room);
    g_assert(queue->freed % PAGE_KEYS == 0 && (!queue->keep || queue->freed == 0));
}
