/* turn.c - turned runs: whether a sequence of steps is known to be covered at the frame where it begins, and keeping it there if not.
 *
 * A sequence is covered if some step that sleeps at the frame can come first in it. Else it goes down the wakeup tree along steps that can
 * come first in what is left of it, to a leaf, which covers it, or to a node where it becomes a new branch. Where order alone decides what
 * depends on what, bits answer without making the sequence, and the answer is kept for as long as the picks stand that it rests on.
 */
#include "explore.h"

/* Can the step come first in the sequence, without changing it otherwise? *at: where it is now, G_MAXUINT: nowhere. */
static bool comes_first(const Sleeper *step, const GArray *sequence, guint *at)
{
    *at = G_MAXUINT;
    for (guint i = 0; i < sequence->len; i++) {
        const Sleeper *other = &g_array_index(sequence, Sleeper, i);
        if (other->agent == step->agent) {
            *at = i;
            return true;
        }
        if (other->object == step->object && !manner_commutes(other->manner, step->manner))
            return false;
    }
    return true;
}

static void add_to_tree(Explorer *x, WakeTree *tree, GArray *sequence)
{
    uint32_t above = 0, node = tree->first;
    while (node != 0) {
        guint at;
        if (!comes_first(&wake_get(&x->pool, node)->step, sequence, &at)) {
            node = wake_get(&x->pool, node)->beside;
            continue;
        }
        if (at != G_MAXUINT)
            g_array_remove_index(sequence, at);
        above = node;
        node = wake_get(&x->pool, node)->below.first;
        if (node == 0 || sequence->len == 0)
            return;
    }
    wake_add(&x->pool, tree, above, &g_array_index(sequence, Sleeper, 0), sequence->len);
}

void turn_insert(Explorer *x, uint32_t first, GArray *sequence)
{
    Frame *frame = &x->frame[first];
    guint at;
    for (uint32_t i = frame->sleep; i < explore_sleep_end(x, first); i++)
        if (comes_first(&x->sleep[i], sequence, &at))
            return;
    add_to_tree(x, &frame->tree, sequence);
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
    const Frame *frame = &x->frame[q];
    for (uint32_t s = frame->sleep; s < explore_sleep_end(x, q); s++)
        if (covers(&x->path, q, i, last, &x->sleep[s], by))
            return true;
    uint32_t node = frame->tree.first;
    return node != 0 && wake_get(&x->pool, node)->below.first == 0 && covers(&x->path, q, i, last, &wake_get(&x->pool, node)->step, by);
}

void turn_race(Explorer *x, uint32_t i, Race *race)
{
    Path *path = &x->path;
    if (race->state == RACE_NEVER)
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
        add_to_tree(x, &x->frame[race->first].tree, x->sequence);
    } else if (by != NONE) {
        race->state = RACE_COVERED;
        race->by = by, race->serial = path->pick[by].serial;
    }
}
