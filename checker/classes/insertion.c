/* insertion.c - inserts reversed runs into the wakeup tree of the frame where they begin, unless they are covered there.
 *
 * A run is covered if a step in the frame's sleep set is one of its initials, or if the wakeup tree covers it. Where happens-before alone
 * decides dependence, bits answer without building the sequence, and the answer is cached while the choices that it depends on stand.
 */
#include "explore.h"

/* Keeps the run for the end of the round: the node, then three words per step. */
static void hand_over(Explorer *x, uint32_t node, const Steps *sequence)
{
    uint32_t words = 1 + 3 * sequence->count, *key = g_new(uint32_t, words), *at = key;
    *at++ = node;
    for (uint32_t i = 0; i < sequence->count; i++) {
        const Sleeper *step = &sequence->at[i];
        *at++ = step->agent, *at++ = step->object, *at++ = step->manner;
    }
    GBytes *reversed = g_bytes_new_take(key, words * sizeof *key);
    if (!g_hash_table_contains(x->known, reversed)) {
        g_hash_table_add(x->known, reversed);
        g_ptr_array_add(x->handed, reversed);
    } else {
        g_bytes_unref(reversed);
    }
}

/* No sleeper of the frame covers the sequence. */
static void insert_awake(Explorer *x, uint32_t first, Steps *sequence)
{
    if (first >= x->base) {
        if (x->options->canary == CLASSES_CANARY_ONE_BRANCH && x->frame[first].tree.first != 0)
            return;
        wake_insert(&x->pool, &x->frame[first].tree, sequence);
        return;
    }
    uint32_t node = g_array_index(x->nodes, uint32_t, first), above;
    steps_copy(&x->copy, sequence);
    if (!wake_covers(&x->shared->pool, &shared_node(x->shared, node)->tree, &x->copy, &above))
        hand_over(x, node, sequence);
}

void insertion_add(Explorer *x, uint32_t first, Steps *sequence)
{
    uint32_t count, at;
    const Sleeper *asleep = explore_asleep(x, first, &count);
    for (uint32_t i = 0; i < count; i++)
        if (wake_comes_first(&asleep[i], sequence, &at))
            return;
    insert_awake(x, first, sequence);
}

static void add_choice(Steps *sequence, const PathChoice *choice)
{
    steps_add(sequence, &(Sleeper){ choice->agent, choice->object, choice->manner });
}

static Sleeper step_of(Explorer *x, const Reversal *reversal)
{
    Manner alone = usage_of(x->usage, reversal->object)->ordered ? MANNER_REST : MANNER_ADD;
    Manner manner = reversal->stage == NONE ? alone : world_manner(x->world, reversal->stage, reversal->value);
    return (Sleeper){ reversal->agent, reversal->object, (uint8_t)manner };
}

/* The choices after `first` that do not have it in their past. */
static void add_rest(const Path *path, uint32_t first, Steps *sequence)
{
    for (uint32_t i = first + 1; i < path->choices; i++)
        if (!path_bit(path_past(path, i), first))
            add_choice(sequence, &path->choice[i]);
}

/* The choices after `first` that are not left out and have none that is in their past. */
static void add_rest_without(const Path *path, uint32_t first, const uint64_t *without, Steps *sequence)
{
    for (uint32_t i = first + 1; i < path->choices; i++) {
        const uint64_t *past = path_past(path, i);
        bool gone = path_bit(without, i);
        for (unsigned w = 0; !gone && w < path->words; w++)
            gone = (past[w] & without[w]) != 0;
        if (!gone)
            add_choice(sequence, &path->choice[i]);
    }
}

/* Into x->sequence. */
static void make_sequence(Explorer *x, const Reversal *reversal)
{
    x->sequence.count = 0;
    if (reversal->without == NONE)
        add_rest(&x->path, reversal->first, &x->sequence);
    else
        add_rest_without(&x->path, reversal->first, &g_array_index(x->rows, uint64_t, reversal->without), &x->sequence);
    Sleeper step = step_of(x, reversal);
    steps_add(&x->sequence, &step);
}

void insertion_reversal(Explorer *x, const Reversal *reversal)
{
    make_sequence(x, reversal);
    insertion_add(x, reversal->first, &x->sequence);
}

/* The value of the object at choice i without q and the adds that have q in their past. */
static int64_t value_without(const Path *path, uint32_t i, uint32_t q)
{
    const PathChoice *choice = &path->choice[i], *first = &path->choice[q];
    if (first->manner != MANNER_ADD)
        return first->before;
    int64_t value = choice->before;
    for (uint32_t at = path_group(path, choice->on_object, choice->manner); at != 0; at = path_group_next(path, at))
        if (at - 1 == q || path_bit(path_past(path, at - 1), q))
            value -= path->choice[at - 1].after - path->choice[at - 1].before;
    return value;
}

/* The first choice of the agent after choice q, NONE. */
static uint32_t first_after(const Path *path, uint32_t agent, uint32_t q)
{
    uint32_t found = NONE;
    for (uint32_t at = path_last_of(path, agent); at > q + 1; at = path->choice[at - 1].of_agent)
        found = at - 1;
    return found;
}

/* Can `step` come first in the run without q, followed by `last`, which is choice i? *by: the choice that it is then; NONE: none. */
static bool covers(const Path *path, uint32_t q, uint32_t i, const Sleeper *last, const Sleeper *step, uint32_t *by)
{
    uint32_t own = first_after(path, step->agent, q);
    *by = own;
    if (own == i)
        return !path_disturbs(path, q, last->object, (Manner)last->manner);
    if (own != NONE && path->top[own] < (int32_t)q)
        return true;
    if (own != NONE && !path_bit(path_past(path, own), q))
        return false;
    *by = NONE;
    if (!wake_commute(last, step))
        return false;
    return !path_disturbs(path, q, step->object, (Manner)step->manner);
}

/* By a sleeper, or by a leaf that is the first branch. This holds while the choice *by stands; *by NONE: for this run only. */
static bool is_covered(const Explorer *x, uint32_t i, uint32_t q, const Sleeper *last, uint32_t *by)
{
    uint32_t count;
    const Sleeper *asleep = explore_asleep(x, q, &count);
    for (uint32_t s = 0; s < count; s++)
        if (covers(&x->path, q, i, last, &asleep[s], by))
            return true;
    const WakePool *pool;
    uint32_t node = explore_tree(x, q, &pool)->first;
    return node != 0 && wake_get(pool, node)->below.first == 0 && covers(&x->path, q, i, last, &wake_get(pool, node)->step, by);
}

void insertion_race(Explorer *x, uint32_t i, Race *race)
{
    Path *path = &x->path;
    if (race->state == RACE_NEVER || x->options->canary == CLASSES_CANARY_NO_REVERSALS)
        return;
    if (race->state == RACE_COVERED && race->by < path->choices && path->choice[race->by].serial == race->serial)
        return;
    const PathChoice *choice = &path->choice[i];
    const Reversal reversal = { race->first, choice->agent, choice->stage, NONE, value_without(path, i, race->first), choice->object };
    if (race->state == RACE_NEW && choice->stage != NONE && !world_holds(x->world, choice->stage, reversal.value)) {
        race->state = RACE_NEVER;
        return;
    }
    race->state = RACE_OPEN;
    Sleeper last = step_of(x, &reversal);
    uint32_t by;
    if (!is_covered(x, i, race->first, &last, &by)) {
        make_sequence(x, &reversal);
        insert_awake(x, race->first, &x->sequence);
    } else if (by != NONE) {
        race->state = RACE_COVERED;
        race->by = by, race->serial = path->choice[by].serial;
    }
}
