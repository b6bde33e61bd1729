/* reverse.c - race reversal: which races of a complete run can be reversed, and where the reversed run begins.
 *
 * A race (q, i) is reversed by leaving out q and all that happens after it, doing the rest, and then i. A step that waits for a condition
 * needs more: at each choice q that disabled it, it could have come before q if its agent gets there without q. Adds commute, so any
 * subset of adds may have come first; those subsets are tried after which the next add would disable the step. If waits on other objects
 * enable steps, alternative.c finds what is possible without q.
 */
#include "explore.h"
#include <string.h>

enum { SUBSET_BITS_MAX = 12 };

static bool is_tainted(Explorer *x)
{
    if (x->path.tainted_choices > 0)
        return true;
    Pending pending;
    for (uint32_t agent = world_next_agent(x->world, NONE); agent != NONE; agent = world_next_agent(x->world, agent))
        if (world_pending(x->world, agent, &pending) && world_is_tainted(x->world, agent))
            return true;
    return false;
}

static void note(Explorer *x, bool tainted, const Reversal *reversal)
{
    if (tainted)
        g_array_append_val(x->reversals, *reversal);
    else
        insertion_reversal(x, reversal);
}

static void note_races(Explorer *x, bool tainted)
{
    Path *path = &x->path;
    for (uint32_t i = 0; i < path->choices; i++) {
        const PathChoice *choice = &path->choice[i];
        for (uint32_t r = choice->race; r < choice->race + choice->races; r++)
            if (tainted)
                note(x, true, &(Reversal){ path->race[r].first, choice->agent, choice->stage, NONE, 0, choice->object });
            else
                insertion_race(x, i, &path->race[r]);
    }
}

/* A waiting step: of a choice, or of a core that is blocked. */
typedef struct Waiting { uint32_t agent, object, stage, on_object, of_agent; } Waiting;

static bool is_needed(const Path *path, const Waiting *waiting, uint32_t choice)
{
    return waiting->of_agent != 0 && (waiting->of_agent - 1 == choice || path_bit(path_past(path, waiting->of_agent - 1), choice));
}

/* Consecutive adds on the object, in the order of the run: could some of them have come without the others? */
typedef struct Adds { uint32_t member[SUBSET_BITS_MAX]; uint32_t members; int64_t value; bool too_many; } Adds;

static uint32_t gather_adds(const Path *path, const Waiting *waiting, uint32_t last, Adds *adds)
{
    *adds = (Adds){ 0 };
    uint32_t at = last;
    for (; at != 0 && path->choice[at - 1].manner == MANNER_ADD; at = path->choice[at - 1].on_object) {
        adds->value = path->choice[at - 1].before;
        if (is_needed(path, waiting, at - 1))
            continue;
        if (adds->members == SUBSET_BITS_MAX)
            adds->too_many = true;
        else
            adds->member[adds->members++] = at - 1;
    }
    for (uint32_t needed = last; needed != at; needed = path->choice[needed - 1].on_object)
        if (is_needed(path, waiting, needed - 1))
            adds->value += path->choice[needed - 1].after - path->choice[needed - 1].before;
    for (uint32_t low = 0; low + 1 < adds->members - low; low++) {
        uint32_t high = adds->members - 1 - low, swapped = adds->member[low];
        adds->member[low] = adds->member[high], adds->member[high] = swapped;
    }
    return at;
}

static int64_t inc_of(const Path *path, uint32_t choice)
{
    return path->choice[choice].after - path->choice[choice].before;
}

/* Among equal adds only their number matters: if no number below all of them enables the step, no subset does. */
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

static void note_subsets(Explorer *x, bool tainted, const Waiting *waiting, const Adds *adds)
{
    const Path *path = &x->path;
    if (adds->too_many) {
        usage_order(x->usage, path->choice[adds->member[0]].object);
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
        bool whole = true;                      /* no member of the subset happens after one that is left out */
        for (uint32_t m = 0; m < adds->members; m++)
            for (unsigned w = 0; w < path->words && subset >> m & 1; w++)
                whole &= (path_past(path, adds->member[m])[w] & row[w]) == 0;
        if (whole)
            note(x, tainted, &reversal);
    }
}

static bool disables(Explorer *x, const Waiting *waiting, uint32_t choice)
{
    const PathChoice *at = &x->path.choice[choice];
    return at->manner == MANNER_REST && !is_needed(&x->path, waiting, choice) && world_holds(x->world, waiting->stage, at->before)
        && !world_holds(x->world, waiting->stage, at->after);
}

static bool is_race(const Path *path, const PathChoice *choice, uint32_t first)
{
    for (uint32_t r = choice->race; r < choice->race + choice->races; r++)
        if (path->race[r].first == first)
            return true;
    return false;
}

void reverse_note(Explorer *x)
{
    Path *path = &x->path;
    const PathChoice *choice = &path->choice[path->choices - 1];
    if (!choice->blocks)
        return;
    const Waiting waiting = { choice->agent, choice->object, choice->stage, choice->on_object, choice->of_agent };
    for (uint32_t at = choice->on_object; at != 0; at = path->choice[at - 1].on_object)
        if (disables(x, &waiting, at - 1) && !is_race(path, choice, at - 1))
            path_add_race(path, at - 1);
}

static void note_adds(Explorer *x, bool tainted, const Waiting *waiting)
{
    const Path *path = &x->path;
    if (x->options->canary == CLASSES_CANARY_NO_ADDS)
        return;
    for (uint32_t at = world_may_disable(x->world, waiting->stage) ? waiting->on_object : 0; at != 0;) {
        Adds adds;
        if (path->choice[at - 1].manner == MANNER_ADD) {
            at = gather_adds(path, waiting, at, &adds);
            note_subsets(x, tainted, waiting, &adds);
        } else {
            at = path->choice[at - 1].on_object;
        }
    }
}

/* Cores that are blocked may have been enabled earlier. */
static void note_blocked(Explorer *x, bool tainted)
{
    const Path *path = &x->path;
    Pending pending;
    for (uint32_t core = 0; core < x->program->cores; core++) {
        if (!world_pending(x->world, core, &pending) || pending.enabled)
            continue;
        const Waiting waiting = { core, pending.object, pending.stage, path_last_on(path, pending.object), path_last_of(path, core) };
        note_adds(x, tainted, &waiting);
        for (uint32_t at = waiting.on_object; at != 0; at = path->choice[at - 1].on_object)
            if (disables(x, &waiting, at - 1))
                note(x, tainted, &(Reversal){ at - 1, core, pending.stage, NONE, path->choice[at - 1].before, pending.object });
    }
}

static void note_waiting(Explorer *x, bool tainted)
{
    const Path *path = &x->path;
    for (uint32_t i = 0; i < path->choices; i++) {
        const PathChoice *choice = &path->choice[i];
        if (choice->blocks)
            note_adds(x, tainted, &(Waiting){ choice->agent, choice->object, choice->stage, choice->on_object, choice->of_agent });
    }
    if (x->options->canary != CLASSES_CANARY_NO_BLOCKED)
        note_blocked(x, tainted);
}

void reverse_run(Explorer *x)
{
    g_array_set_size(x->reversals, 0);
    g_array_set_size(x->rows, 0);
    bool tainted = is_tainted(x);
    note_races(x, tainted);
    note_waiting(x, tainted);
    if (tainted && x->options->canary != CLASSES_CANARY_NO_ALTERNATIVES)
        alternative_run(x);
}
