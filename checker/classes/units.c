/* units.c - rounds: threads run the units; then one thread adds up, hands over, divides. */
#include "units.h"
#include "../../model/sane.h"
#include "../run/alone.h"
#include "../run/child.h"
#include <string.h>

enum { UNITS_MAX = 16, BUDGET_FIRST = 1000, BUDGET = 250 };
static const uint64_t CONTENTS_BYTES_MAX = UINT64_C(1) << 30;   /* of all units together, roughly */

Units *units_new(UnrollSource *source, const ClassesOptions *options)
{
    Units *units = g_new0(Units, 1);
    shared_init(&units->shared, source, options);
    units->live = g_ptr_array_new_with_free_func((GDestroyNotify)explore_free);
    units->idle = g_ptr_array_new_with_free_func((GDestroyNotify)explore_free);
    totals_init(&units->totals);
    units->shared.first = &units->totals.result;
    return units;
}

void units_forget(Units *units)
{
    g_ptr_array_set_size(units->live, 0);
    g_ptr_array_set_size(units->idle, 0);
    for (guint i = 0; i < units->shared.nodes->len; i++)
        if (shared_node(&units->shared, i)->sleep != NULL)
            shared_free_node(shared_node(&units->shared, i));
    g_array_set_size(units->shared.nodes, 0);
    g_free(units->shapes.at);
    units->shapes = (Shapes){ 0 };
    wake_pool_clear(&units->shared.pool);
    totals_clear(&units->totals);
    totals_init(&units->totals);
    units->rounds = 0;
    units->cut = false;
}

void units_free(Units *units)
{
    units_forget(units);
    g_ptr_array_unref(units->live);
    g_ptr_array_unref(units->idle);
    totals_clear(&units->totals);
    shared_clear(&units->shared);
    g_free(units);
}

/* The agent's branch of a node is done. A node with nothing left to do closes its own branch of its parent. */
static void close_branch(Units *units, uint32_t id, uint32_t agent, uint64_t classes)
{
    while (id != NONE) {
        Node *node = shared_node(&units->shared, id);
        for (guint i = 0; i < node->open->len; i++)
            if (g_array_index(node->open, Sleeper, i).agent == agent) {
                g_array_remove_index(node->open, i);
                break;
            }
        node->classes += classes;
        if (node->open->len > 0 || node->tree.first != 0)
            return;
        id = node->parent, agent = node->agent, classes = node->classes;
        shared_free_node(node);
    }
}

static void hand_over(Units *units, Explorer *x)
{
    Steps *sequence = &x->sequence;
    for (guint i = 0; i < x->handed->len; i++) {
        size_t bytes;
        const uint32_t *key = g_bytes_get_data(g_ptr_array_index(x->handed, i), &bytes);
        Node *node = shared_node(&units->shared, key[0]);
        sequence->count = 0;
        for (const uint32_t *at = key + 1; at < key + bytes / sizeof *key; at += 3)
            steps_add(sequence, &(Sleeper){ .agent = at[0], .object = at[1], .manner = (uint8_t)at[2] });
        bool covered = false;
        uint32_t where;
        for (guint s = 0; s < node->sleep->len && !covered; s++)
            covered = wake_comes_first(&g_array_index(node->sleep, Sleeper, s), sequence, &where);
        if (!covered)
            wake_insert(&units->shared.pool, &node->tree, sequence);
    }
    g_hash_table_remove_all(x->known);
    g_ptr_array_set_size(x->handed, 0);
}

static bool has_agent(const GArray *sleepers, uint32_t agent)
{
    for (guint i = 0; i < sleepers->len; i++)
        if (g_array_index(sleepers, Sleeper, i).agent == agent)
            return true;
    return false;
}

bool units_are_chained(const Units *units, const GArray *nodes, const GArray *agents)
{
    uint32_t before = NONE;
    for (guint i = 0; i < nodes->len; i++) {
        uint32_t id = g_array_index(nodes, uint32_t, i);
        const Node *node = id < units->shared.nodes->len ? shared_node(&units->shared, id) : NULL;
        if (node == NULL || node->sleep == NULL || node->depth != i || node->parent != before
            || (i > 0 && node->agent != g_array_index(agents, uint32_t, i - 1)))
            return false;
        before = id;
    }
    return before == NONE || has_agent(shared_node(&units->shared, before)->open, g_array_index(agents, uint32_t, nodes->len - 1));
}

/* Its place fits its parent, something is left to do, and its open branches have begun. */
static bool node_fits(const Units *units, const Node *node)
{
    const Node *parent = node->parent < units->shared.nodes->len ? shared_node(&units->shared, node->parent) : NULL;
    bool placed = node->parent == NONE ? node->depth == 0
        : parent != NULL && parent->sleep != NULL && node->depth == parent->depth + 1 && has_agent(parent->open, node->agent);
    for (guint i = 0; i < node->open->len; i++)
        placed &= has_agent(node->sleep, g_array_index(node->open, Sleeper, i).agent);
    return placed && node->begun > 0 && node->begun <= node->sleep->len && (node->open->len > 0 || node->tree.first != 0);
}

bool units_fit(const Units *units)
{
    uint64_t open = 0, below = 0, classes = 0;
    guint nodes = 0, starts = 0;
    for (guint i = 0; i < units->shared.nodes->len; i++) {
        const Node *node = shared_node(&units->shared, i);
        if (node->sleep == NULL)
            continue;
        if (!node_fits(units, node))
            return false;
        open += node->open->len, below += node->parent != NONE, starts += node->parent == NONE;
        nodes++;
    }
    for (guint i = 0; i < units->live->len; i++) {
        const Explorer *x = units->live->pdata[i];
        below += x->base > 0, starts += x->base == 0, classes += x->classes;
    }
    return open == below && starts <= 1 && (nodes == 0) == (open == 0) && (units->live->len > 0) == (starts == 1 || units->rounds == 0)
        && (units->rounds == 0) == (units->totals.runs + units->totals.redundant == 0) && classes <= units->totals.runs;
}

Explorer *units_add(Units *units)
{
    Explorer *x = units->idle->len > 0 ? g_ptr_array_steal_index(units->idle, units->idle->len - 1) : explore_new(&units->shared);
    x->classes = 0;
    g_ptr_array_add(units->live, x);
    return x;
}

static bool has_branch(const Units *units, const Node *node, uint32_t *before)
{
    return node->sleep != NULL
        && wake_find_apart(&units->shared.pool, &node->tree, (const Sleeper *)(const void *)node->open->data, node->open->len, before);
}

/* At the node nearest to the start that has a branch to begin. */
static bool begin_branch(Units *units)
{
    uint32_t best = NONE, before;
    for (guint i = 0; i < units->shared.nodes->len; i++)
        if ((best == NONE || shared_node(&units->shared, i)->depth < shared_node(&units->shared, best)->depth)
            && has_branch(units, shared_node(&units->shared, i), &before))
            best = i;
    if (best == NONE)
        return false;
    Node *node = shared_node(&units->shared, best);
    Sleeper step;
    WakeTree rest;
    has_branch(units, node, &before);
    wake_take_after(&units->shared.pool, &node->tree, before, &step, &rest);
    explore_begin_below(units_add(units), best, &step, rest);
    g_array_append_val(node->sleep, step);
    g_array_append_val(node->open, step);
    node->begun++;
    return true;
}

/* Chooses the unit with a frame to share nearest to the start. */
static bool share(Units *units)
{
    Explorer *best = NULL;
    uint32_t frame = NONE;
    for (guint i = 0; i < units->live->len; i++) {
        uint32_t can = explore_can_share(units->live->pdata[i]);
        if (can < frame)
            frame = can, best = units->live->pdata[i];
    }
    if (best != NULL)
        explore_share(best, frame);
    return best != NULL;
}

/* Each unit has contents of its own: bytes, whether written, origins; twice, for its shadow world. */
static guint units_most(const Units *units)
{
    guint most = units->shared.options->units ? units->shared.options->units : UNITS_MAX;
    uint64_t bytes = 0;
    for (uint32_t object = 0; units->shared.options->contents && object < units->shared.program->objects; object++) {
        const Decl *decl = program_decl(units->shared.program, program_object_decl(units->shared.program, object));
        bytes += decl->space == SPACE_SEMAPHORE || decl->opaque ? 0 : 8 * (uint64_t)decl->bytes;
    }
    return (guint)CLAMP(CONTENTS_BYTES_MAX / MAX(bytes, 1), 1, most);
}

static void divide(Units *units)
{
    guint most = units_most(units);
    if (units->shared.program->sites_in_order == 0)
        units->shared.program->sites_in_order = (uint32_t)units->shared.program->sites.count;
    while (units->live->len < most && (begin_branch(units) || share(units)))
        ;
}

static void work(Round *round)
{
    for (guint i; (i = (guint)g_atomic_int_add(&round->next, 1)) < round->live->len;)
        explore_run(round->live->pdata[i], round->budget + (i < round->extra));
}

static void work_on_thread(void *round, unsigned index)
{
    ThreadStack *stack = index > 0 ? child_begin_thread() : NULL;
    work(round);
    child_end_thread(stack);
}

Round units_plan_round(const Units *units)
{
    const ClassesOptions *options = units->shared.options;
    uint64_t budget = options->budget ? options->budget : BUDGET, first = options->budget ? options->budget : BUDGET_FIRST;
    Round round = { .live = units->live, .budget = units->rounds == 0 ? first : budget };
    uint64_t left = options->limits.runs != 0 ? options->limits.runs - units->totals.runs : UINT64_MAX;
    if (left < units->live->len * round.budget)
        round.cut = true, round.budget = left / units->live->len, round.extra = left % units->live->len;
    return round;
}

static void run_threads(Units *units, Round *round)
{
    alone_run_threads(MIN(MAX(units->shared.options->workers, 1), units->live->len), work_on_thread, round);
    units->rounds++;
}

static void gather_shape(Units *units, Explorer *x)
{
    shapes_fit(&units->shapes, x->shapes.depths);
    for (uint32_t d = 0; d < x->shapes.depths; d++)
        for (uint32_t i = 0; i < SHAPE_BRANCHES; i++)
            units->shapes.at[d].classes[i] += x->shapes.at[d].classes[i], x->shapes.at[d].classes[i] = 0;
}

/* With `first`, units after the one that is done do not count, so that the finding does not depend on the number of workers. */
static void gather(Units *units)
{
    for (guint i = 0; i < units->live->len && !units->totals.done; i++) {
        Explorer *x = units->live->pdata[i];
        totals_add(&units->totals, x);
        hand_over(units, x);
        gather_shape(units, x);
    }
    for (guint i = 0; i < units->live->len;) {
        Explorer *x = units->live->pdata[i];
        if (x->frames > x->base) {
            i++;
            continue;
        }
        if (x->base > 0)
            close_branch(units, g_array_index(x->nodes, uint32_t, x->base - 1), x->path.choice[x->base - 1].agent, x->classes);
        explore_end(x);
        g_ptr_array_add(units->idle, g_ptr_array_steal_index(units->live, i));
    }
}

static void tell_progress(const Units *units)
{
    Progress *progress = units->shared.options->progress;
    if (progress == NULL)
        return;
    progress_set(progress, units->totals.runs, units->totals.outcome->findings->len);
    Estimate estimate = units_estimate(units);
    progress->total = estimate.all, progress->total_least = estimate.least, progress->total_most = estimate.most;
}

void units_run_round(Units *units, Round *round)
{
    units->cut |= round->cut;
    units->shared.alone = units->live->len == 1;
    run_threads(units, round);
    gather(units);
    tell_progress(units);
    divide(units);
    SANE(units_assert_sane(units));
}

static void assert_node_sane(const Units *units, const Node *node)
{
    const WakePool *pool = &units->shared.pool;
    for (guint i = 0; i < node->open->len; i++)
        g_assert(has_agent(node->sleep, g_array_index(node->open, Sleeper, i).agent));
    for (guint i = 0; i < node->sleep->len; i++)
        for (uint32_t branch = node->tree.first; branch != 0; branch = wake_get(pool, branch)->beside)
            g_assert(wake_keeps_out(pool, branch, &g_array_index(node->sleep, Sleeper, i)));
    wake_assert_sane(pool, &node->tree);
}

/* In the first frame of its own: what slept at its node when its branch began, where they commute, and nothing that is not done. */
static void assert_unit_sane(const Units *units, const Explorer *x)
{
    const Node *node = shared_node(&units->shared, g_array_index(x->nodes, uint32_t, x->base - 1));
    uint32_t own = x->path.choice[x->base - 1].agent, count, k = 0;
    const Sleeper *asleep = explore_asleep(x, x->base, &count), *above = (const Sleeper *)(const void *)node->sleep->data;
    count -= x->frame[x->base].tried - (x->base + 1 < x->frames);       /* what was tried there sleeps behind them */
    while (k < node->sleep->len && above[k].agent != own)
        k++;
    g_assert(k < node->sleep->len && has_agent(node->open, own));
    for (guint i = 0; i < k; i++) {
        bool sleeps = false;
        for (uint32_t s = 0; s < count; s++)
            sleeps |= asleep[s].agent == above[i].agent;
        g_assert(sleeps || !wake_commute(&above[i], &above[k]));
        g_assert(!sleeps || !has_agent(node->open, above[i].agent));
    }
}

void units_assert_sane(const Units *units)
{
    for (guint i = 0; i < units->shared.nodes->len; i++)
        if (shared_node(&units->shared, i)->sleep != NULL)
            assert_node_sane(units, shared_node(&units->shared, i));
    for (guint i = 0; i < units->live->len; i++) {
        const Explorer *x = units->live->pdata[i];
        if (x->base > 0)
            assert_unit_sane(units, x);
    }
}
