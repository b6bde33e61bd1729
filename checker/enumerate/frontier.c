/* frontier.c - makes workers, and fits them to a layout. */
#include "frontier.h"

enum { ROOM_FIRST = 256 };                      /* keys of a batch */

void worker_init(Worker *worker, Walk *walk, unsigned index)
{
    *worker = (Worker){.walk = walk, .index = index, .id = g_new0(uint32_t, walk->layout.fields), .hot = g_new0(Hot, walk->cores),
                       .after = g_new0(uint32_t, walk->layout.fields)};
    worker->levels = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    worker->inbox = g_async_queue_new_full(g_free);
    worker->out = g_new0(Chunk *, walk->workers);
    queue_init(&worker->deferred, (unsigned)(sizeof(Deferred) / sizeof(uint64_t) + (walk->layout.fields + 1) / 2), false);
}

static void free_batch(Batch *batch)
{
    g_free(batch->key);
    g_free(batch->hash);
}

void worker_clear(Worker *worker)
{
    for (unsigned i = 0; i < worker->walk->workers; i++)
        g_free(worker->out[i]);
    g_free(worker->out);
    g_async_queue_unref(worker->inbox);
    table_clear(&worker->table);
    queue_clear(&worker->queue);
    queue_clear(&worker->deferred);
    free_batch(&worker->now);
    free_batch(&worker->before);
    g_array_unref(worker->levels);
    g_free(worker->hot);
    g_free(worker->id);
    g_free(worker->after);
}

void batch_widen(Batch *batch, unsigned room, unsigned words)
{
    batch->room = MAX(room, 2 * batch->room);
    batch->key = g_renew(uint64_t, batch->key, (size_t)batch->room * words);
    batch->hash = g_renew(uint64_t, batch->hash, batch->room);
}

void worker_fit(Worker *worker)
{
    g_assert(worker->now.used == 0 && worker->before.used == 0);
    worker->now.room = worker->before.room = 0;
    batch_widen(&worker->now, ROOM_FIRST, worker->walk->layout.words);
    batch_widen(&worker->before, ROOM_FIRST, worker->walk->layout.words);
}

size_t frontier_bytes(const Walk *walk)
{
    size_t bytes = store_bytes_used() - walk->stores_before;
    for (unsigned i = 0; i < walk->workers; i++) {
        const Worker *worker = &walk->worker[i];
        bytes += table_bytes(&worker->table) + queue_bytes(&worker->queue) + queue_bytes(&worker->deferred);
    }
    return bytes;
}

uint64_t frontier_states(const Walk *walk)
{
    uint64_t states = walk->swept;
    for (unsigned i = 0; i < walk->workers; i++)
        states += walk->worker[i].table.count;
    return states;
}
