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

static bool is_tangled(Explorer *x)
{
    if (x->path.tangles > 0)
        return true;
    Pending pending;
    for (uint32_t agent = world_next_agent(x->world, NONE); agent != NONE; agent = world_next_agent(x->world, agent))
        if (world_pending(x->world, agent, &pending) && world_is_tangled(x->world, agent))
            return true;
    return false;
}

static void note(Explorer *x, bool tangled, const Reversal *reversal)
{
    if (tangled)
        g_array_append_val(x->reversals, *reversal);
    else
        turn_reversal(x, reversal);
}

static void note_races(Explorer *x, bool tangled)
{
    Path *path = &x->path;
    for (uint32_t i = 0; i < path->picks; i++) {
        const Pick *pick = &path->pick[i];
        for (uint32_t r = pick->race; r < pick->race + pick->races; r++)
            if (tangled)
                note(x, true, &(Reversal){ path->race[r].first, pick->agent, pick->stage, NONE, 0, pick->object });
            else
                turn_race(x, i, &path->race[r]);
    }
}

/* A step that waits: of a pick, or of a core that is blocked. */
typedef struct Waiting { uint32_t agent, object, stage, on_object, of_agent; } Waiting;

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
        usage_order(x->usage, path->pick[adds->member[0]].object);
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
        Reversal reversal = { adds->member[first], waiting->agent, waiting->stage, keep_row(x, adds, subset), value, waiting->object };
        const uint64_t *row = &g_array_index(x->rows, uint64_t, reversal.without);
        bool whole = true;                      /* members of the subset must not need those left out */
        for (uint32_t m = 0; m < adds->members; m++)
            for (unsigned w = 0; w < path->words && subset >> m & 1; w++)
                whole &= (path_past(path, adds->member[m])[w] & row[w]) == 0;
        if (whole)
            note(x, tangled, &reversal);
    }
}

static bool turns_off(Explorer *x, const Waiting *waiting, uint32_t pick)
{
    const Pick *at = &x->path.pick[pick];
    return at->manner == MANNER_REST && !is_needed(&x->path, waiting, pick) && world_holds(x->world, waiting->stage, at->before)
        && !world_holds(x->world, waiting->stage, at->after);
}

static bool is_race(const Path *path, const Pick *pick, uint32_t first)
{
    for (uint32_t r = pick->race; r < pick->race + pick->races; r++)
        if (path->race[r].first == first)
            return true;
    return false;
}

void reverse_note(Explorer *x)
{
    Path *path = &x->path;
    const Pick *pick = &path->pick[path->picks - 1];
    if (!pick->blocks)
        return;
    const Waiting waiting = { pick->agent, pick->object, pick->stage, pick->on_object, pick->of_agent };
    for (uint32_t at = pick->on_object; at != 0; at = path->pick[at - 1].on_object)
        if (turns_off(x, &waiting, at - 1) && !is_race(path, pick, at - 1))
            path_add_race(path, at - 1);
}

static void note_adds(Explorer *x, bool tangled, const Waiting *waiting)
{
    const Path *path = &x->path;
    if (x->options->canary == CLASSES_CANARY_NO_ADDS)
        return;
    for (uint32_t at = world_may_turn(x->world, waiting->stage) ? waiting->on_object : 0; at != 0;) {
        Adds adds;
        if (path->pick[at - 1].manner == MANNER_ADD) {
            at = gather_adds(path, waiting, at, &adds);
            note_subsets(x, tangled, waiting, &adds);
        } else {
            at = path->pick[at - 1].on_object;
        }
    }
}

/* Cores that are blocked could have gone on earlier. */
static void note_blocked(Explorer *x, bool tangled)
{
    const Path *path = &x->path;
    Pending pending;
    for (uint32_t core = 0; core < x->program->cores; core++) {
        if (!world_pending(x->world, core, &pending) || pending.enabled)
            continue;
        const Waiting waiting = { core, pending.object, pending.stage, path_last_on(path, pending.object), path_last_of(path, core) };
        note_adds(x, tangled, &waiting);
        for (uint32_t at = waiting.on_object; at != 0; at = path->pick[at - 1].on_object)
            if (turns_off(x, &waiting, at - 1))
                note(x, tangled, &(Reversal){ at - 1, core, pending.stage, NONE, path->pick[at - 1].before, pending.object });
    }
}

static void note_waiting(Explorer *x, bool tangled)
{
    const Path *path = &x->path;
    for (uint32_t i = 0; i < path->picks; i++) {
        const Pick *pick = &path->pick[i];
        if (pick->blocks)
            note_adds(x, tangled, &(Waiting){ pick->agent, pick->object, pick->stage, pick->on_object, pick->of_agent });
    }
    if (x->options->canary != CLASSES_CANARY_NO_BLOCKED)
        note_blocked(x, tangled);
}

void reverse_run(Explorer *x)
{
    g_array_set_size(x->reversals, 0);
    g_array_set_size(x->rows, 0);
    bool tangled = is_tangled(x);
    note_races(x, tangled);
    note_waiting(x, tangled);
    if (tangled && x->options->canary != CLASSES_CANARY_NO_DETOURS)
        detour_run(x);
}
