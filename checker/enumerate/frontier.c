/* frontier.c - makes workers and fits them to a layout. */
#include "frontier.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ROOM_FIRST = 256, LOOKED_AT = 256 };     /* keys of a batch; states that frontier_assert_sane checks */

static void open_worker(Worker *worker, Frontier *frontier, const StateSpace *space, unsigned index)
{
    *worker = (Worker){.space = space, .frontier = frontier, .index = index, .id = g_new0(uint32_t, space->layout.fields),
                       .hot = g_new0(Hot, space->cores), .after = g_new0(uint32_t, space->layout.fields)};
    worker->levels = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    worker->inbox = g_async_queue_new_full(g_free);
    worker->out = g_new0(Chunk *, frontier->workers);
    queue_init(&worker->deferred, (unsigned)(sizeof(Deferred) / sizeof(uint64_t) + (space->layout.fields + 1) / 2), false);
}

void frontier_open(Frontier *frontier, const StateSpace *space)
{
    frontier->owner_bits = 0;
    while (2u << frontier->owner_bits <= space->options->workers)
        frontier->owner_bits++;
    frontier->workers = 1u << frontier->owner_bits;
    frontier->worker = g_new0(Worker, frontier->workers);
    for (unsigned i = 0; i < frontier->workers; i++)
        open_worker(&frontier->worker[i], frontier, space, i);
}

static void free_batch(KeyBatch *batch)
{
    g_free(batch->key);
    g_free(batch->hash);
}

static void close_worker(Worker *worker)
{
    for (unsigned i = 0; i < worker->frontier->workers; i++)
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

void frontier_close(Frontier *frontier)
{
    for (unsigned i = 0; i < frontier->workers; i++)
        close_worker(&frontier->worker[i]);
    g_clear_pointer(&frontier->worker, g_free);
    frontier->workers = 0;
}

void key_batch_widen(KeyBatch *batch, unsigned room, unsigned words)
{
    batch->room = MAX(room, 2 * batch->room);
    batch->key = g_renew(uint64_t, batch->key, (size_t)batch->room * words);
    batch->hash = g_renew(uint64_t, batch->hash, batch->room);
}

void worker_fit(Worker *worker)
{
    g_assert(worker->now.used == 0 && worker->before.used == 0);
    worker->now.room = worker->before.room = 0;
    key_batch_widen(&worker->now, ROOM_FIRST, worker->space->layout.words);
    key_batch_widen(&worker->before, ROOM_FIRST, worker->space->layout.words);
}

size_t frontier_bytes(const Frontier *frontier)
{
    size_t bytes = store_bytes_used() - frontier->stores_before;
    for (unsigned i = 0; i < frontier->workers; i++) {
        const Worker *worker = &frontier->worker[i];
        bytes += table_bytes(&worker->table) + queue_bytes(&worker->queue) + queue_bytes(&worker->deferred);
    }
    return bytes;
}

uint64_t frontier_states(const Frontier *frontier)
{
    uint64_t states = frontier->swept;
    for (unsigned i = 0; i < frontier->workers; i++)
        states += frontier->worker[i].table.count;
    return states;
}

uint64_t frontier_print(const Layout *layout, const uint64_t *key)
{
    uint32_t id[layout->fields];
    layout_unpack(layout, key, id);
    return MAX(XXH3_64bits(id, sizeof id), 1);
}

unsigned frontier_owner(const Frontier *frontier, const Layout *layout, const uint64_t *key)
{
    return frontier->owner_bits ? (unsigned)(frontier_scatter(frontier, layout, key) >> (64 - frontier->owner_bits)) : 0;
}

/* States that come: each is its owner's, and known there, unless what was visited is given up. */
static void assert_queue(const Worker *worker)
{
    const StateSpace *space = worker->space;
    const Queue *queue = &worker->queue;
    for (uint64_t at = queue->head; at < MIN(queue->head + LOOKED_AT, queue->tail); at++) {
        const uint64_t *key = queue->key + at * queue->words;
        uint64_t print = worker->frontier->hashed ? frontier_print(&space->layout, key) : 0;
        g_assert(frontier_owner(worker->frontier, &space->layout, key) == worker->index);
        g_assert(space_sweeps(space) || table_has(&worker->table, print ? &print : key));
    }
}

static void assert_levels(const Worker *worker)
{
    for (guint l = 1; l < worker->levels->len; l++)
        g_assert(g_array_index(worker->levels, uint64_t, l - 1) <= g_array_index(worker->levels, uint64_t, l));
    g_assert(!worker->frontier->keeps || worker->queue.tail == worker->table.count);
}

void frontier_assert_sane(const Frontier *frontier)
{
    g_assert(frontier->workers == 1u << frontier->owner_bits && frontier->busy == 0);
    for (unsigned i = 0; i < frontier->workers; i++) {
        const Worker *worker = &frontier->worker[i];
        g_assert(worker->index == i && worker->now.used == 0 && worker->before.used == 0 && worker->deferred.tail == 0);
        g_assert(g_async_queue_length(worker->inbox) == 0);
        for (unsigned to = 0; to < frontier->workers; to++)
            g_assert(to == i || worker->out[to] == NULL || worker->out[to]->keys == 0);
        queue_assert_sane(&worker->queue);
        assert_queue(worker);
        assert_levels(worker);
    }
}
