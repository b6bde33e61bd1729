/* levels.c - breadth first over all states, level by level: the workers' part, then that of the one thread.
 *
 * Which states a level has, and which of them are put off, depends on no order; they are put off in the order of their ids. So whatever is
 * numbered or found first is so for any number of workers.
 */
#include "levels.h"
#include <string.h>
#include "../run/alone.h"
#include "component.h"
#include "expand.h"
#include "findings.h"
#include "frontier.h"
#include "inspect.h"
#include "memory.h"
#include "repack.h"
#include "resume.h"
#include "symmetry.h"
#include "worker_row.h"

enum { TABLE_BITS_FIRST = 14, STATES_FOR_THREADS = 1 << 12 };

static void hire(Walk *walk)
{
    walk->owner_bits = 0;
    while (2u << walk->owner_bits <= walk->options->workers)
        walk->owner_bits++;
    walk->workers = 1u << walk->owner_bits;
    walk->worker = g_new0(Worker, walk->workers);
    for (unsigned i = 0; i < walk->workers; i++)
        worker_init(&walk->worker[i], walk, i);
}

static bool refuse_resume(Walk *walk)
{
    if (walk->limit == NULL)
        walk->outcome->refused = g_strdup(CHECKPOINT_UNFIT);
    return false;
}

static bool begin(Walk *walk)
{
    walk->level = walk->swept = 0;
    progress_begin(walk->options->progress, PROGRESS_STATES, 0);
    if (!repack_first(walk, walk->cores + (walk->memory ? walk->program->devices : 0))) {
        walk_stop(walk, "memory");
        return false;
    }
    walk->hashed = false, walk->rows_due = true;
    if (walk->resumed != NULL && !resume_layout(walk->resumed, walk))
        return refuse_resume(walk);
    walk->hashed |= walk->layout.words > 1 && walk->options->modes & WALK_HASH_COMPACT;
    hire(walk);
    if (walk->symmetry != NULL)
        symmetry_fit(walk->symmetry, &walk->layout);
    for (unsigned i = 0; i < walk->workers; i++) {
        Worker *worker = &walk->worker[i];
        worker_fit(worker);
        queue_init(&worker->queue, walk->layout.words, walk->keeps);
        if (!repack_table_init(walk, &worker->table, &walk->layout, i, TABLE_BITS_FIRST))
            walk_stop(walk, "memory");
        for (unsigned f = 0; f < walk->layout.fields; f++)
            worker->id[f] = 1;
    }
    walk->id = walk->worker[0].id;
    if (walk->resumed != NULL) {
        Stream *stream = g_steal_pointer(&walk->resumed);
        return (walk->limit == NULL && resume_fill(stream, walk)) || refuse_resume(walk);
    }
    uint64_t key[LAYOUT_WORDS_MAX];
    layout_pack(&walk->layout, walk->id, key);
    if (walk->limit == NULL)
        worker_add(&walk->worker[repack_owner(walk, &walk->layout, key)], key);
    return walk->limit == NULL;
}

void levels_clear(Walk *walk)
{
    for (unsigned i = 0; i < walk->workers; i++)
        worker_clear(&walk->worker[i]);
    g_clear_pointer(&walk->worker, g_free);
    walk->workers = 0;
    walk->id = NULL;
    layout_clear(&walk->layout);
}

static void run_worker(void *data, unsigned index)
{
    Walk *walk = data;
    worker_level(&walk->worker[index]);
}

static void run_threads(Walk *walk)
{
    walk->busy = (gint)walk->workers;
    alone_run_threads(walk->workers, run_worker, walk);
}

static void exchange(Walk *walk)
{
    for (unsigned i = 0; i < walk->workers; i++)
        worker_flush(&walk->worker[i]);
    for (unsigned i = 0; i < walk->workers; i++)
        worker_drain(&walk->worker[i]);
}

static void run_workers(Walk *walk, uint64_t states)
{
    if (walk->mask_generation != walk->accesses.generation)
        component_masks(walk);
    worker_rows_refresh(walk);
    walk->frozen = true;
    if (walk->workers > 1 && states >= STATES_FOR_THREADS) {
        run_threads(walk);
    } else {
        for (unsigned i = 0; i < walk->workers; i++)
            worker_level(&walk->worker[i]);
        exchange(walk);
    }
    walk->frozen = false;
}

static const uint32_t *ids_of(const uint64_t *later)
{
    return (const uint32_t *)(const void *)(later + sizeof(Deferred) / sizeof *later);
}

static gint compare_deferred(gconstpointer a, gconstpointer b, gpointer data)
{
    const Walk *walk = data;
    const uint32_t *one = ids_of(*(uint64_t *const *)a), *other = ids_of(*(uint64_t *const *)b);
    for (unsigned f = 0; f < walk->layout.fields; f++)
        if (one[f] != other[f])
            return one[f] < other[f] ? -1 : 1;
    return 0;
}

static void widen(Walk *walk)
{
    exchange(walk);
    repack_wider(walk);
}

/* Takes up the state in hand again until its layout is wide enough. False: the search has to begin anew, or has met a limit. */
static bool expand(Walk *walk, bool *moved)
{
    while (!worker_expand(&walk->worker[0], moved)) {
        if (walk->restart)
            return false;
        widen(walk);
        if (walk->limit != NULL)
            return false;
    }
    return true;
}

/* Polling goes on to what the search has not come to; that may need wider fields. */
static void judge_polls(Walk *walk)
{
    livelock_inspect(walk);
    while (walk->repack && !walk->restart && walk->limit == NULL) {
        widen(walk);
        livelock_inspect(walk);
    }
}

static void judge(Walk *walk, uint64_t what)
{
    if (what & DEFER_JUDGE) {
        inspect_races(walk);
        inspect_state(walk);
    }
    if (what & DEFER_END)
        inspect_end(walk);
    else if (what & DEFER_POLL)
        judge_polls(walk);
}

static bool goes_on(const Walk *walk)
{
    return !walk->done && !walk->raced && !walk->unknown && !walk->restart;
}

/* What a state shows, its rotations show of other cores. */
static void judge_rotations(Walk *walk, const uint32_t *id, uint64_t what)
{
    for (uint32_t at = 1; at < symmetry_order(walk->symmetry) && goes_on(walk); at++) {
        symmetry_rotate(walk->symmetry, at, id, walk->id);
        judge(walk, what);
    }
}

static bool handle(Walk *walk, const uint64_t *entry)
{
    const Deferred *later = (const Deferred *)(const void *)entry;
    uint64_t what = later->what;
    bool moved = true;
    memcpy(walk->id, ids_of(entry), walk->layout.fields * sizeof *walk->id);
    judge(walk, what & DEFER_JUDGE);
    if (what & DEFER_EXPAND) {
        if (!expand(walk, &moved))
            return false;
        what |= !moved ? DEFER_END : walk->polls ? DEFER_POLL : 0;
    }
    judge(walk, what & (DEFER_END | DEFER_POLL));
    if (walk->symmetry != NULL && walk->options->canary != ENUMERATE_CANARY_ONE_ROTATION)
        judge_rotations(walk, ids_of(entry), what);
    return goes_on(walk);
}

/* False: the search is over. */
static bool handle_deferred(Walk *walk)
{
    uint64_t entries = 0, at = 0;
    for (unsigned i = 0; i < walk->workers; i++)
        entries += walk->worker[i].deferred.tail;
    const uint64_t **entry = g_new(const uint64_t *, entries + 1);
    for (unsigned i = 0; i < walk->workers; i++)
        for (uint64_t k = 0; k < walk->worker[i].deferred.tail; k++)
            entry[at++] = walk->worker[i].deferred.key + k * walk->worker[i].deferred.words;
    if (entries > 1)
        g_qsort_with_data(entry, (gint)entries, sizeof *entry, compare_deferred, walk);
    bool more = true;
    for (uint64_t k = 0; k < entries && more; k++)
        more = handle(walk, entry[k]);
    g_free(entry);
    for (unsigned i = 0; i < walk->workers; i++)
        queue_empty(&walk->worker[i].deferred);
    if (!walk->restart)
        exchange(walk);
    return more;
}

/* A level is expanded: what was seen of the next one stays only in the queues, since no state of it is met again later. */
static void sweep(Walk *walk)
{
    for (unsigned i = 0; i < walk->workers; i++) {
        Table *table = &walk->worker[i].table;
        unsigned bits = TABLE_BITS_FIRST;
        while ((3ull << bits) / 4 < table->count + table->count / 4)
            bits++;
        walk->swept += table->count;
        if (!table_empty(table, bits))
            walk_stop(walk, "memory");
    }
}

static void check_limits(Walk *walk)
{
    Progress *progress = walk->options->progress;
    if (progress != NULL)
        progress->level = walk->level;
    progress_set(progress, frontier_states(walk), findings_kinds(walk->findings));
    if (progress_stop(progress) != NULL)
        walk_stop(walk, progress_stop(progress));
    if (walk->options->states_max && frontier_states(walk) > walk->options->states_max)
        walk_stop(walk, "states");
    for (uint32_t core = 0; core < walk->cores; core++)
        if (walk->core[core].components.count > walk->components_max - walk->components_max / 4)
            walk_stop(walk, "memory");
}

/* How many states the level that comes has. */
static uint64_t next_level(Walk *walk)
{
    uint64_t states = 0;
    for (unsigned i = 0; i < walk->workers; i++) {
        Worker *worker = &walk->worker[i];
        worker->level_end = worker->queue.tail;
        if (walk->keeps)
            g_array_append_val(worker->levels, worker->queue.head);
        states += worker->level_end - worker->queue.head;
    }
    return states;
}

void levels_run(Walk *walk)
{
    if (!begin(walk))
        return;
    check_limits(walk);                         /* a resumed search may have come as far already */
    for (uint64_t states; walk->limit == NULL && (states = next_level(walk)) > 0;) {
        run_workers(walk, states);
        if (!handle_deferred(walk))
            return;
        if (walk_sweeps(walk) && walk->uneven)
            return;
        if (walk_sweeps(walk))
            sweep(walk);
        else
            repack_tighter(walk);
        walk->level++;
        bool whole = walk->limit == NULL;       /* of the level nothing is missing */
        check_limits(walk);
        if (whole && walk->options->checkpoint != NULL && (walk->limit != NULL || checkpoint_due(walk->options->checkpoint)))
            resume_write(walk);
    }
}
