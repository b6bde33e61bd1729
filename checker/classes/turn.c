/* turn.c - turned runs: whether a sequence of steps is known to be covered at the frame where it begins, and keeping it there if not.
 *
 * A sequence is covered if some step that sleeps at the frame can come first in it, or if the frame's wakeup tree covers it. Where order
 * alone decides what depends on what, bits answer without making the sequence, and the answer is kept for as long as the picks stand that
 * it rests on.
 */
#include "units.h"

/* Kept for the end of the round: the node, then three words a step. */
static void hand_over(Explorer *x, uint32_t node, const GArray *sequence)
{
    uint32_t words = 1 + 3 * sequence->len, *key = g_new(uint32_t, words), *at = key;
    *at++ = node;
    for (guint i = 0; i < sequence->len; i++) {
        const Sleeper *step = &g_array_index(sequence, Sleeper, i);
        *at++ = step->agent, *at++ = step->object, *at++ = step->manner;
    }
    GBytes *turned = g_bytes_new_take(key, words * sizeof *key);
    if (!g_hash_table_contains(x->known, turned)) {
        g_hash_table_add(x->known, turned);
        g_ptr_array_add(x->handed, turned);
    } else {
        g_bytes_unref(turned);
    }
}

/* Nothing that sleeps at the frame covers it. */
static void insert_awake(Explorer *x, uint32_t first, GArray *sequence)
{
    if (first >= x->base) {
        if (x->options->canary == CLASSES_CANARY_ONE_BRANCH && x->frame[first].tree.first != 0)
            return;
        wake_insert(&x->pool, &x->frame[first].tree, sequence);
        return;
    }
    uint32_t node = g_array_index(x->nodes, uint32_t, first), above;
    g_array_set_size(x->copy, 0);
    g_array_append_vals(x->copy, sequence->data, sequence->len);
    if (!wake_covers(&x->units->pool, &units_node(x->units, node)->tree, x->copy, &above))
        hand_over(x, node, sequence);
}

void turn_insert(Explorer *x, uint32_t first, GArray *sequence)
{
    guint at;
    uint32_t count;
    const Sleeper *asleep = explore_asleep(x, first, &count);
    for (uint32_t i = 0; i < count; i++)
        if (wake_comes_first(&asleep[i], sequence, &at))
            return;
    insert_awake(x, first, sequence);
}

static void add_pick(GArray *sequence, const Pick *pick)
{
    Sleeper step = { pick->agent, pick->object, pick->manner };
    g_array_append_val(sequence, step);
}

static Sleeper step_of(Explorer *x, const Reversal *reversal)
{
    Manner manner = reversal->stage == NONE ? MANNER_ADD : world_manner(x->world, reversal->stage, reversal->value);
    return (Sleeper){ reversal->agent, reversal->object, (uint8_t)manner };
}

/* Into x->sequence. */
static void make_sequence(Explorer *x, const Reversal *reversal)
{
    const Path *path = &x->path;
    const uint64_t *without = reversal->without == NONE ? NULL : &g_array_index(x->rows, uint64_t, reversal->without);
    g_array_set_size(x->sequence, 0);
    for (uint32_t i = reversal->first + 1; i < path->picks; i++) {
        const uint64_t *past = path_past(path, i);
        bool gone = without == NULL ? path_bit(past, reversal->first) : path_bit(without, i);
        for (unsigned w = 0; without != NULL && !gone && w < path->words; w++)
            gone = (past[w] & without[w]) != 0;
        if (!gone)
            add_pick(x->sequence, &path->pick[i]);
    }
    Sleeper step = step_of(x, reversal);
    g_array_append_val(x->sequence, step);
}

void turn_reversal(Explorer *x, const Reversal *reversal)
{
    make_sequence(x, reversal);
    turn_insert(x, reversal->first, x->sequence);
}

/* What the object shows to pick i if q, and of the adds before it those that come after q, are left out. */
static int64_t value_without(const Path *path, uint32_t i, uint32_t q)
{
    const Pick *pick = &path->pick[i], *first = &path->pick[q];
    if (first->manner != MANNER_ADD)
        return first->before;
    int64_t value = pick->before;
    for (uint32_t at = path_group(path, pick->on_object, pick->manner); at != 0; at = path_group_next(path, at))
        if (at - 1 == q || path_bit(path_past(path, at - 1), q))
            value -= path->pick[at - 1].after - path->pick[at - 1].before;
    return value;
}

/* The first pick of the agent after pick q, NONE. */
static uint32_t first_after(const Path *path, uint32_t agent, uint32_t q)
{
    uint32_t found = NONE;
    for (uint32_t at = path_last_of(path, agent); at > q + 1; at = path->pick[at - 1].of_agent)
        found = at - 1;
    return found;
}

/* Of what is left without q: does nothing on the object disturb the step? */
static bool is_undisturbed(const Path *path, uint32_t q, const Sleeper *step)
{
    for (uint32_t at = path_last_on(path, step->object); at > q + 1; at = path->pick[at - 1].on_object)
        if (!path_bit(path_past(path, at - 1), q) && !manner_commutes(path->pick[at - 1].manner, step->manner))
            return false;
    return true;
}

/* Can `step` come first in what is left without q, with `last`, which is pick i, behind it? *by: the pick that it is then, NONE: none. */
static bool covers(const Path *path, uint32_t q, uint32_t i, const Sleeper *last, const Sleeper *step, uint32_t *by)
{
    uint32_t own = first_after(path, step->agent, q);
    *by = own;
    if (own == i)
        return is_undisturbed(path, q, last);
    if (own != NONE && path->top[own] < (int32_t)q)
        return true;
    if (own != NONE && !path_bit(path_past(path, own), q))
        return false;
    *by = NONE;
    if (last->object == step->object && !manner_commutes(last->manner, step->manner))
        return false;
    return is_undisturbed(path, q, step);
}

/* By a sleeper, or by a leaf that is the first branch: that stays so as long as the pick *by stands; *by NONE: for this run only. */
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

void turn_race(Explorer *x, uint32_t i, Race *race)
{
    Path *path = &x->path;
    if (race->state == RACE_NEVER || x->options->canary == CLASSES_CANARY_NO_TURNS)
        return;
    if (race->state == RACE_COVERED && race->by < path->picks && path->pick[race->by].serial == race->serial)
        return;
    const Pick *pick = &path->pick[i];
    const Reversal reversal = { race->first, pick->agent, pick->stage, NONE, value_without(path, i, race->first), pick->object };
    if (race->state == RACE_NEW && !world_holds(x->world, pick->stage, reversal.value)) {
        race->state = RACE_NEVER;
        return;
    }
    race->state = RACE_OPEN;
    Sleeper last = step_of(x, &reversal);
    uint32_t by;
    if (!is_covered(x, i, race->first, &last, &by)) {
        make_sequence(x, &reversal);
        insert_awake(x, race->first, x->sequence);
    } else if (by != NONE) {
        race->state = RACE_COVERED;
        race->by = by, race->serial = path->pick[by].serial;
    }
}
