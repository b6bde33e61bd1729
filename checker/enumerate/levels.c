/* levels.c - breadth-first search over all states, level by level: the workers' part, then that of the one thread.
 *
 * The states of a level, and which of them are deferred, do not depend on any order; deferred ones are taken in the order of their ids. So
 * ids and first findings are the same for any number of workers.
 */
#include "levels.h"
#include <string.h>
#include "../../model/sane.h"
#include "../run/alone.h"
#include "component.h"
#include "expand.h"
#include "inspect.h"
#include "livelock.h"
#include "repack.h"
#include "resume.h"
#include "symmetry.h"
#include "worker_row.h"

enum { TABLE_BITS_FIRST = 14, STATES_FOR_THREADS = 1 << 12 };

static bool refuse_resume(const Frontier *frontier, Findings *findings)
{
    if (frontier->limit == NULL)
        findings->outcome->refused = g_strdup(CHECKPOINT_UNFIT);
    return false;
}

static void open_tables(const StateSpace *space, Frontier *frontier)
{
    for (unsigned i = 0; i < frontier->workers; i++) {
        Worker *worker = &frontier->worker[i];
        worker_fit(worker);
        queue_init(&worker->queue, space->layout.words, frontier->keeps);
        if (!repack_table_init(frontier, &worker->table, &space->layout, i, TABLE_BITS_FIRST))
            frontier_stop(frontier, "memory");
        for (unsigned f = 0; f < space->layout.fields; f++)
            worker->id[f] = 1;
    }
}

static void add_start(const StateSpace *space, Frontier *frontier)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    layout_pack(&space->layout, frontier->worker[0].id, key);
    if (frontier->limit == NULL)
        expand_add(&frontier->worker[frontier_owner(frontier, &space->layout, key)], key);
}

static bool begin(StateSpace *space, Frontier *frontier, Findings *findings, Codec *resumed)
{
    frontier->level = frontier->swept = 0;
    frontier->hashed = false, space->rows_due = true;
    progress_begin(space->options->progress, PROGRESS_STATES, 0);
    if (!repack_first(space, space->cores + (space->memory ? space->program->devices : 0))) {
        frontier_stop(frontier, "memory");
        return false;
    }
    if (resumed != NULL && !resume_layout(resumed, space, frontier))
        return refuse_resume(frontier, findings);
    frontier->hashed |= space->layout.words > 1 && space->options->modes & ENUMERATE_HASH_COMPACT;
    frontier_open(frontier, space);
    if (space->symmetry != NULL)
        symmetry_fit(space->symmetry, &space->layout);
    open_tables(space, frontier);
    findings->state = frontier->worker[0].id;
    if (resumed != NULL)
        return (frontier->limit == NULL && resume_fill(resumed, space, frontier, findings)) || refuse_resume(frontier, findings);
    add_start(space, frontier);
    return frontier->limit == NULL;
}

static void run_worker(void *data, unsigned index)
{
    Frontier *frontier = data;
    expand_level(&frontier->worker[index]);
}

static void run_threads(Frontier *frontier)
{
    frontier->busy = (gint)frontier->workers;
    alone_run_threads(frontier->workers, run_worker, frontier);
}

static void exchange(Frontier *frontier)
{
    for (unsigned i = 0; i < frontier->workers; i++)
        expand_flush(&frontier->worker[i]);
    for (unsigned i = 0; i < frontier->workers; i++)
        expand_drain(&frontier->worker[i]);
}

static void run_workers(StateSpace *space, Frontier *frontier, uint64_t states)
{
    if (space->mask_generation != space->accesses.generation)
        component_masks(space);
    worker_rows_refresh(space);
    space->frozen = true;
    if (frontier->workers > 1 && states >= STATES_FOR_THREADS) {
        run_threads(frontier);
    } else {
        for (unsigned i = 0; i < frontier->workers; i++)
            expand_level(&frontier->worker[i]);
        exchange(frontier);
    }
    space->frozen = false;
}

static const uint32_t *ids_of(const uint64_t *deferred)
{
    return (const uint32_t *)(const void *)(deferred + sizeof(Deferred) / sizeof *deferred);
}

static gint compare_deferred(gconstpointer a, gconstpointer b, gpointer data)
{
    const StateSpace *space = data;
    const uint32_t *one = ids_of(*(uint64_t *const *)a), *other = ids_of(*(uint64_t *const *)b);
    for (unsigned f = 0; f < space->layout.fields; f++)
        if (one[f] != other[f])
            return one[f] < other[f] ? -1 : 1;
    return 0;
}

static void widen(StateSpace *space, Frontier *frontier)
{
    exchange(frontier);
    repack_wider(space, frontier);
}

/* Repeats the current state until the layout is wide enough. False: the search must restart, or has reached a limit. */
static bool expand(StateSpace *space, Frontier *frontier, bool *moved)
{
    while (!expand_state(space, &frontier->worker[0], moved)) {
        if (space->restart)
            return false;
        widen(space, frontier);
        if (frontier->limit != NULL)
            return false;
    }
    return true;
}

/* Polling leads to states that the search has not visited; they may need wider fields. */
static void judge_polls(StateSpace *space, Frontier *frontier, Findings *findings)
{
    livelock_inspect(space, findings);
    while (space->repack && !space->restart && frontier->limit == NULL) {
        widen(space, frontier);
        livelock_inspect(space, findings);
    }
}

static void judge(StateSpace *space, Frontier *frontier, Findings *findings, uint64_t what)
{
    if (what & DEFER_JUDGE) {
        inspect_races(space, findings);
        inspect_state(space, findings);
    }
    if (what & DEFER_END)
        inspect_end(space, findings);
    else if (what & DEFER_POLL)
        judge_polls(space, frontier, findings);
}

static bool goes_on(const StateSpace *space, const Findings *findings)
{
    return symmetry_why(space->symmetry) == NULL && !findings->done && !findings->raced && !space->unknown && !space->restart;
}

/* The rotations of a state show its faults on other cores. */
static void judge_rotations(StateSpace *space, Frontier *frontier, Findings *findings, const uint32_t *id, uint64_t what)
{
    for (uint32_t at = 1; at < symmetry_order(space->symmetry) && goes_on(space, findings); at++) {
        symmetry_rotate(space->symmetry, at, id, frontier->worker[0].id);
        judge(space, frontier, findings, what);
    }
}

static bool handle(StateSpace *space, Frontier *frontier, Findings *findings, const uint64_t *entry)
{
    uint64_t what = ((const Deferred *)(const void *)entry)->what;
    bool moved = true;
    memcpy(frontier->worker[0].id, ids_of(entry), space->layout.fields * sizeof(uint32_t));
    judge(space, frontier, findings, what & DEFER_JUDGE);
    if (what & DEFER_EXPAND) {
        if (!expand(space, frontier, &moved))
            return false;
        what |= !moved ? DEFER_END : space->polls ? DEFER_POLL : 0;
    }
    judge(space, frontier, findings, what & (DEFER_END | DEFER_POLL));
    if (space->symmetry != NULL && space->options->canary != ENUMERATE_CANARY_ONE_ROTATION)
        judge_rotations(space, frontier, findings, ids_of(entry), what);
    return goes_on(space, findings);
}

/* False: the search is over. */
static bool handle_deferred(StateSpace *space, Frontier *frontier, Findings *findings)
{
    uint64_t entries = 0, at = 0;
    for (unsigned i = 0; i < frontier->workers; i++)
        entries += frontier->worker[i].deferred.tail;
    const uint64_t **entry = g_new(const uint64_t *, entries + 1);
    for (unsigned i = 0; i < frontier->workers; i++)
        for (uint64_t k = 0; k < frontier->worker[i].deferred.tail; k++)
            entry[at++] = frontier->worker[i].deferred.key + k * frontier->worker[i].deferred.words;
    if (entries > 1)
        g_qsort_with_data(entry, (gint)entries, sizeof *entry, compare_deferred, space);
    bool more = true;
    for (uint64_t k = 0; k < entries && more; k++)
        more = handle(space, frontier, findings, entry[k]);
    g_free(entry);
    for (unsigned i = 0; i < frontier->workers; i++)
        queue_empty(&frontier->worker[i].deferred);
    if (!space->restart)
        exchange(frontier);
    return more;
}

/* A level is expanded: the next one stays in the queues only, since none of its states is reached again later. */
static void sweep(Frontier *frontier)
{
    for (unsigned i = 0; i < frontier->workers; i++) {
        Table *table = &frontier->worker[i].table;
        unsigned bits = TABLE_BITS_FIRST;
        while ((3ull << bits) / 4 < table->count + table->count / 4)
            bits++;
        frontier->swept += table->count;
        if (!table_empty(table, bits))
            frontier_stop(frontier, "memory");
    }
}

static void check_limits(StateSpace *space, Frontier *frontier, Findings *findings)
{
    Progress *progress = space->options->progress;
    if (progress != NULL)
        progress->level = frontier->level;
    progress_set(progress, frontier_states(frontier), findings_kinds(findings));
    if (progress_stop(progress) != NULL)
        frontier_stop(frontier, progress_stop(progress));
    if (space->options->limits.states && frontier_states(frontier) > space->options->limits.states)
        frontier_stop(frontier, "states");
    for (uint32_t core = 0; core < space->cores; core++)
        if (space->core[core].components.count > space->components_max - space->components_max / 4)
            frontier_stop(frontier, "memory");
}

/* The number of states of the next level. */
static uint64_t next_level(Frontier *frontier)
{
    uint64_t states = 0;
    for (unsigned i = 0; i < frontier->workers; i++) {
        Worker *worker = &frontier->worker[i];
        worker->level_end = worker->queue.tail;
        if (frontier->keeps)
            g_array_append_val(worker->levels, worker->queue.head);
        states += worker->level_end - worker->queue.head;
    }
    return states;
}

void levels_run(StateSpace *space, Frontier *frontier, Findings *findings, Codec *resumed)
{
    Checkpoint *checkpoint = space->options->checkpoint;
    if (!begin(space, frontier, findings, resumed))
        return;
    check_limits(space, frontier, findings);    /* a resumed search may have reached a limit already */
    for (uint64_t states; frontier->limit == NULL && (states = next_level(frontier)) > 0;) {
        findings->level = frontier->level;
        run_workers(space, frontier, states);
        if (!handle_deferred(space, frontier, findings))
            return;
        if (space_sweeps(space) && space->uneven)
            return;
        if (space_sweeps(space))
            sweep(frontier);
        else
            repack_tighter(space, frontier);
        SANE(frontier->limit ? (void)0 : frontier_assert_sane(frontier));
        SANE_NOW_AND_THEN(space->core[0].components.count, components_assert_sane(space));
        frontier->level++;
        bool whole = frontier->limit == NULL;   /* the level is complete */
        check_limits(space, frontier, findings);
        if (whole && checkpoint != NULL && (frontier->limit != NULL || checkpoint_due(checkpoint)))
            resume_write(space, frontier, findings);
    }
}
