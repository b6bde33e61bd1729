/* reverse.c - which races of a complete run can be turned round, and where the turned run begins.
 *
 * A race (q, i) is turned round by leaving out q and all that comes after it by order, doing the rest, and then i. A step that waits for a
 * condition needs more: at each pick q that turned its condition off, it could have come before q if it got that far without q. Adds
 * commute, so that among adds any subset of them may have been there; those subsets are tried for which the next add would turn the step
 * off. Where waits on other objects enable steps, detour.c finds out what can be done without q.
 */
#include "explore.h"
#include <string.h>

enum { SUBSET_BITS_MAX = 12 };

/* Can the step come first in the sequence, without changing it otherwise? */
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

void reverse_insert(Explorer *x, uint32_t first, GArray *sequence)
{
    Frame *frame = &g_array_index(x->frames, Frame, first);
    guint end = g_array_index(x->frames, Frame, first + 1).sleep, at;
    for (guint i = frame->sleep; i < end; i++)
        if (comes_first(&g_array_index(x->sleep, Sleeper, i), sequence, &at))
            return;
    WakeTree tree = frame->tree;
    for (uint32_t inside = 0, node = tree.child;;) {
        while (node != 0 && !comes_first(&x->pool.wake[node - 1].step, sequence, &at))
            node = x->pool.wake[node - 1].next;
        if (node == 0) {
            wake_add(&x->pool, &tree, &g_array_index(sequence, Sleeper, 0), sequence->len);
            if (inside != 0)
                wake_put_tree(&x->pool, inside, tree);
            else
                g_array_index(x->frames, Frame, first).tree = tree;
            return;
        }
        if (at != G_MAXUINT)
            g_array_remove_index(sequence, at);
        if (x->pool.wake[node - 1].child == 0 || sequence->len == 0)
            return;
        inside = node;
        tree = wake_tree(&x->pool, node);
        node = tree.child;
    }
}

static void add_pick(GArray *sequence, const Pick *pick)
{
    Sleeper step = { pick->agent, pick->object, pick->manner };
    g_array_append_val(sequence, step);
}

/* Order alone decides what depends on what: turns the reversal into a sequence and tries it. */
static void turn(Explorer *x, const Reversal *reversal)
{
    const Path *path = &x->path;
    const uint64_t *without = reversal->without == NONE ? NULL : &g_array_index(x->rows, uint64_t, reversal->without);
    GArray *sequence = x->sequence;
    g_array_set_size(sequence, 0);
    for (uint32_t i = reversal->first + 1; i < path->picks; i++) {
        const uint64_t *past = path_past(path, i);
        bool gone = without == NULL ? path_bit(past, reversal->first) : path_bit(without, i);
        for (unsigned w = 0; without != NULL && !gone && w < path->words; w++)
            gone = (past[w] & without[w]) != 0;
        if (!gone)
            add_pick(sequence, &path->pick[i]);
    }
    Sleeper step = { reversal->agent, 0, MANNER_ADD };
    if (reversal->stage != NONE) {
        step.object = course_stage(&x->course, reversal->stage)->step.object;
        step.manner = (uint8_t)world_manner(x->world, reversal->stage, reversal->value);
    } else {
        step.object = path->pick[reversal->pick].object, step.manner = path->pick[reversal->pick].manner;
    }
    g_array_append_val(sequence, step);
    reverse_insert(x, reversal->first, sequence);
}

static bool is_tangled(Explorer *x)
{
    if (x->path.tangles > 0)
        return true;
    Pending pending;
    for (uint32_t agent = world_next_agent(x->world, NONE); agent != NONE; agent = world_next_agent(x->world, agent))
        if (world_pending(x->world, agent, &pending) && (pending.stage == NONE || x->world->tangled[agent]))
            return true;
    return false;
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

static void note(Explorer *x, bool tangled, const Reversal *reversal)
{
    if (tangled)
        g_array_append_val(x->reversals, *reversal);
    else if (reversal->stage == NONE || world_holds(x->world, reversal->stage, reversal->value))
        turn(x, reversal);
}

static void note_races(Explorer *x, bool tangled)
{
    const Path *path = &x->path;
    for (uint32_t i = 0; i < path->picks; i++) {
        const Pick *pick = &path->pick[i];
        for (uint32_t r = 0; r < pick->races; r++) {
            uint32_t q = g_array_index(path->races, uint32_t, pick->race + r);
            Reversal reversal = { q, pick->agent, pick->stage, NONE, pick->stage == NONE ? 0 : value_without(path, i, q), i };
            note(x, tangled, &reversal);
        }
    }
}

/* A step that waits: of a pick, or of a core that is blocked. */
typedef struct Waiting { uint32_t agent, stage, pick, on_object, of_agent; } Waiting;

static bool is_needed(const Path *path, const Waiting *waiting, uint32_t pick)
{
    return waiting->of_agent != 0 && (waiting->of_agent - 1 == pick || path_bit(path_past(path, waiting->of_agent - 1), pick));
}

/* Adds that stand together on the object, in the order of the run: may some of them have been there without the others? */
typedef struct Adds { uint32_t member[SUBSET_BITS_MAX]; uint32_t members; int64_t value; bool too_many; } Adds;

static uint32_t gather_adds(const Path *path, const Waiting *waiting, uint32_t last, Adds *adds)
{
    *adds = (Adds){ 0 };
    uint32_t at = last;
    for (; at != 0 && path->pick[at - 1].manner == MANNER_ADD; at = path->pick[at - 1].on_object) {
        adds->value = path->pick[at - 1].before;
        if (is_needed(path, waiting, at - 1))
            continue;
        if (adds->members == SUBSET_BITS_MAX)
            adds->too_many = true;
        else
            adds->member[adds->members++] = at - 1;
    }
    for (uint32_t needed = last; needed != at; needed = path->pick[needed - 1].on_object)
        if (is_needed(path, waiting, needed - 1))
            adds->value += path->pick[needed - 1].after - path->pick[needed - 1].before;
    for (uint32_t low = 0; low + 1 < adds->members - low; low++) {
        uint32_t high = adds->members - 1 - low, swapped = adds->member[low];
        adds->member[low] = adds->member[high], adds->member[high] = swapped;
    }
    return at;
}

static int64_t inc_of(const Path *path, uint32_t pick)
{
    return path->pick[pick].after - path->pick[pick].before;
}

/* Among equal adds only their number counts: if no number short of all lets the step go, no subset does. */
static bool some_number_holds(Explorer *x, const Waiting *waiting, const Adds *adds)
{
    const Path *path = &x->path;
    for (uint32_t m = 1; m < adds->members; m++)
        if (inc_of(path, adds->member[m]) != inc_of(path, adds->member[0]))
            return true;
    int64_t inc = inc_of(path, adds->member[0]);
    for (uint32_t number = 0; number < adds->members; number++)
        if (world_holds(x->world, waiting->stage, adds->value + number * inc)
            && !world_holds(x->world, waiting->stage, adds->value + (number + 1) * inc))
            return true;
    return false;
}

static uint32_t keep_row(Explorer *x, const Adds *adds, uint32_t subset)
{
    guint at = x->rows->len;
    g_array_set_size(x->rows, at + x->path.words);
    uint64_t *row = &g_array_index(x->rows, uint64_t, at);
    memset(row, 0, x->path.words * sizeof *row);
    for (uint32_t m = 0; m < adds->members; m++)
        if (!(subset >> m & 1))
            path_set(row, adds->member[m]);
    return at;
}

static void note_subsets(Explorer *x, bool tangled, const Waiting *waiting, const Adds *adds)
{
    const Path *path = &x->path;
    if (adds->too_many) {
        usage_order(&x->usage, path->pick[adds->member[0]].object);
        return;
    }
    if (adds->members == 0 || !some_number_holds(x, waiting, adds))
        return;
    for (uint32_t subset = 0; subset + 1 < UINT32_C(1) << adds->members; subset++) {
        int64_t value = adds->value;
        for (uint32_t m = 0; m < adds->members; m++)
            value += subset >> m & 1 ? inc_of(path, adds->member[m]) : 0;
        uint32_t first = (uint32_t)__builtin_ctz(~subset);
        if (!world_holds(x->world, waiting->stage, value)
            || world_holds(x->world, waiting->stage, value + inc_of(path, adds->member[first])))
            continue;
        Reversal reversal = { adds->member[first], waiting->agent, waiting->stage, keep_row(x, adds, subset), value, waiting->pick };
        const uint64_t *row = &g_array_index(x->rows, uint64_t, reversal.without);
        bool whole = true;                      /* members of the subset must not need those left out */
        for (uint32_t m = 0; m < adds->members; m++)
            for (unsigned w = 0; w < path->words && subset >> m & 1; w++)
                whole &= (path_past(path, adds->member[m])[w] & row[w]) == 0;
        if (whole)
            note(x, tangled, &reversal);
    }
}

/* Everything on the object before the step that turned it off. */
static void note_turns(Explorer *x, bool tangled, const Waiting *waiting)
{
    const Path *path = &x->path;
    bool may_turn = world_may_turn(x->world, waiting->stage);
    for (uint32_t at = waiting->on_object; at != 0;) {
        const Pick *pick = &path->pick[at - 1];
        if (pick->manner == MANNER_ADD && may_turn) {
            Adds adds;
            at = gather_adds(path, waiting, at, &adds);
            note_subsets(x, tangled, waiting, &adds);
            continue;
        }
        if (pick->manner == MANNER_REST && !is_needed(path, waiting, at - 1) && world_holds(x->world, waiting->stage, pick->before)
            && !world_holds(x->world, waiting->stage, pick->after)) {
            Reversal reversal = { at - 1, waiting->agent, waiting->stage, NONE, pick->before, waiting->pick };
            note(x, tangled, &reversal);
        }
        at = pick->on_object;
    }
}

static bool may_block(const Explorer *x, uint32_t stage)
{
    const Stage *at = course_stage(&x->course, stage);
    return step_blocks((StepKind)at->step.kind) || course_polls(&x->course, at);
}

static void note_waiting(Explorer *x, bool tangled)
{
    const Path *path = &x->path;
    for (uint32_t i = 0; i < path->picks; i++) {
        const Pick *pick = &path->pick[i];
        if (pick->stage != NONE && may_block(x, pick->stage))
            note_turns(x, tangled, &(Waiting){ pick->agent, pick->stage, i, pick->on_object, pick->of_agent });
    }
    Pending pending;
    for (uint32_t core = 0; core < x->program->cores; core++)
        if (world_pending(x->world, core, &pending) && !pending.enabled)
            note_turns(x, tangled, &(Waiting){ core, pending.stage, NONE, path_last_on(path, pending.object), path_last_of(path, core) });
}

void reverse_run(Explorer *x)
{
    g_array_set_size(x->reversals, 0);
    g_array_set_size(x->rows, 0);
    bool tangled = is_tangled(x);
    note_races(x, tangled);
    note_waiting(x, tangled);
    if (tangled)
        detour_run(x);
}
