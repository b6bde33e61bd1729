/* brute_judge.c - what is wrong in one state, and the list of it all in the end. */
#include <string.h>
#include "../../checker/facts/finding.h"
#include "brute_inside.h"

typedef struct BruteFault {                     /* interned: padding is cleared */
    uint32_t id;
    BruteEvent event, other;                    /* moment 0: none */
    int8_t thing, sign;                         /* sign: of a lifetime, -1 not begun, +1 ended */
    uint8_t counter;                            /* of a semaphore, plus 1; 0: a buffer, or nothing */
    uint8_t launch;                             /* of a leftover at an exit, or in flight at one, plus 1 */
} BruteFault;

static const BruteEvent NOBODY = { 0, 0, 0, 0 };

static void see(Brute *b, BruteFault fault)
{
    BruteFault key;
    memset(&key, 0, sizeof key);
    key.id = fault.id, key.event = fault.event, key.other = fault.other, key.thing = fault.thing, key.sign = fault.sign;
    key.counter = fault.counter, key.launch = fault.launch;
    intern_add(&b->seen, &key, sizeof key);
}

static const RandomThing *thing_of(const Brute *b, const RandomPlace *place)
{
    return &b->random->thing[place->thing];
}

static bool is_shared(const RandomThing *thing)
{
    return thing->space == SPACE_HBM || thing->space == SPACE_ANY;
}

static uint32_t device_of(const Brute *b, uint32_t core)
{
    return core / b->random->cores_per_device;
}

static bool is_past(const Brute *b, const BruteState *state, uint32_t core, const BruteStep *step)
{
    return &b->step[core][state->at[core]] > step;              /* joins and scopes are not jumped over */
}

/* The step of a core that enters or leaves a launch; NULL: it does not take part. */
static const BruteStep *find_join(const Brute *b, uint32_t core, BruteStepKind kind, unsigned launch)
{
    for (unsigned i = 0; i < b->steps[core]; i++)
        if (b->step[core][i].kind == kind && b->step[core][i].launch == launch)
            return &b->step[core][i];
    return NULL;
}

static const BruteStep *find_scope(const Brute *b, uint32_t core, RandomKind kind, int thing)
{
    for (unsigned i = 0; i < b->steps[core]; i++)
        if (b->step[core][i].kind == BRUTE_OPERATION && b->step[core][i].op->kind == kind && b->step[core][i].op->at.thing == thing)
            return &b->step[core][i];
    return NULL;
}

static unsigned only_launch(const RandomThing *thing)
{
    return (unsigned)__builtin_ctz(thing->launches);
}

/* First and last launch of a thing on a device. */
static bool launches_on(const Brute *b, const RandomThing *thing, uint32_t device, unsigned *first, unsigned *last)
{
    bool any = false;
    *first = *last = 0;
    for (unsigned l = 0; l < b->random->launches; l++)
        if ((thing->launches >> l & 1) && (b->random->devices_of[l] >> device & 1)) {
            *first = any ? *first : l;
            *last = l;
            any = true;
        }
    return any;
}

static bool device_did(const Brute *b, const BruteState *state, uint32_t device, BruteStepKind kind, unsigned launch)
{
    uint32_t core = device * b->random->cores_per_device;
    const BruteStep *join = find_join(b, core, kind, launch);
    return join != NULL && is_past(b, state, core, join);
}

static int launches_now(const Brute *b, const BruteState *state, const RandomThing *thing, uint32_t device)
{
    unsigned first, last;
    if (!launches_on(b, thing, device, &first, &last))
        return -1;
    return device_did(b, state, device, BRUTE_EXIT, last) ? 1 : device_did(b, state, device, BRUTE_ENTER, first) ? 0 : -1;
}

/* A scope that others may name early, but that its own core (or device) never opens: it has no other end than the exit. */
static bool never_opens(const Brute *b, const RandomPlace *place)
{
    uint32_t per = b->random->cores_per_device, first = device_of(b, place->core) * per;
    bool opens = b->random->knobs.scopes != SCOPES_STATIC;
    for (uint32_t core = first; core < first + per; core++)
        if (is_shared(thing_of(b, place)) || core == place->core)
            opens |= find_scope(b, core, OP_OPEN, place->thing) != NULL;
    return !opens;
}

static int scope_now(const Brute *b, const BruteState *state, const RandomPlace *place, uint32_t by)
{
    const RandomThing *thing = thing_of(b, place);
    uint32_t device = device_of(b, place->core), per = b->random->cores_per_device;
    unsigned opened = 0, closed = 0, members = 0;
    for (uint32_t core = device * per; core < (device + 1) * per; core++) {
        const BruteStep *open = find_scope(b, core, OP_OPEN, place->thing), *close = find_scope(b, core, OP_CLOSE, place->thing);
        if (open == NULL || (!is_shared(thing) && core != place->core))
            continue;
        members++;
        opened += is_past(b, state, core, open);
        closed += close != NULL && is_past(b, state, core, close);
    }
    if (opened > 0)
        return closed == members ? 1 : 0;
    bool own = is_shared(thing) ? device_of(b, by) == device : by == place->core;
    if (own || b->random->knobs.scopes != SCOPES_STATIC || !device_did(b, state, device, BRUTE_ENTER, only_launch(thing)))
        return -1;
    return members == 0 && device_did(b, state, device, BRUTE_EXIT, only_launch(thing)) ? 1 : 0;
}

/* For a step of core `by`: -1: before its lifetime, 0: within, +1: after. */
static int life_now(const Brute *b, const BruteState *state, const RandomPlace *place, uint32_t by)
{
    const RandomThing *thing = thing_of(b, place);
    if (b->random->bare || (thing->space == SPACE_SEMAPHORE && (thing->kind == SEMAPHORE_BARRIER || thing->kind == SEMAPHORE_FLAG)))
        return 0;
    return thing->scoped ? scope_now(b, state, place, by) : launches_now(b, state, thing, device_of(b, place->core));
}

static uint8_t counter_id(const Brute *b, const RandomPlace *place)
{
    if (thing_of(b, place)->space != SPACE_SEMAPHORE)
        return 0;
    return (uint8_t)(b->counter[place->thing][place->core][place->start] + 1);
}

static void judge_life(Brute *b, const BruteState *state, const RandomPlace *place, BruteEvent event)
{
    if (place->thing < 0)
        return;
    int now = life_now(b, state, place, event.core);
    if (now != 0)
        see(b, (BruteFault){ .id = FAULT_LIFETIME, .event = event, .thing = place->thing, .sign = (int8_t)now,
                             .counter = counter_id(b, place) });
}

void brute_add_next(Brute *b, BruteEvent event, const RandomPlace *place, bool write)
{
    g_assert(b->nexts < BRUTE_NEXTS_MAX);
    b->next[b->nexts++] = (BruteNext){ event, place, write };
}

static bool same_object(const Brute *b, const RandomPlace *one, const RandomPlace *other)
{
    if (one->thing != other->thing)
        return false;
    return is_shared(thing_of(b, one)) ? device_of(b, one->core) == device_of(b, other->core) : one->core == other->core;
}

static bool touch(const Brute *b, const RandomPlace *one, const RandomPlace *other)
{
    bool any = false;
    for (unsigned i = 0; i < one->count; i++)
        for (unsigned j = 0; j < other->count; j++)
            any |= random_is_inside(b->random, one, i) && one->start + i * one->stride == other->start + j * other->stride;
    return any && same_object(b, one, other);
}

/* Was the copy's write (or read) done? Copies that are not under way any more are complete. */
static bool moment_done(const BruteState *state, uint32_t core, uint32_t step, char moment)
{
    for (unsigned i = 0; i < state->flights; i++)
        if (state->flight[i].core == core && state->flight[i].step == step)
            return moment == 'R' && state->flight[i].read;
    return true;
}

static bool was_written(const Brute *b, const BruteState *state, const RandomPlace *place)
{
    for (uint32_t core = 0; core < b->random->cores; core++)
        for (unsigned i = 0; i < state->at[core]; i++) {
            const BruteStep *step = &b->step[core][i];
            if (step->kind != BRUTE_OPERATION || !brute_did(state, core, i))
                continue;
            bool writes = step->op->kind == OP_STORE || step->op->kind == OP_SWAP
                || (step->op->kind == OP_COPY && moment_done(state, core, i, 'W'));
            if (writes && touch(b, place, &step->op->at))
                return true;
        }
    return false;
}

static void judge_next(Brute *b, const BruteState *state, const BruteNext *next)
{
    const BruteStep *step = &b->step[next->event.core][next->event.step];
    judge_life(b, state, next->place, next->event);
    if (next->event.moment == 'R')
        judge_life(b, state, &step->op->send, next->event);
    if (next->event.moment == 'W')
        judge_life(b, state, &step->op->receive, next->event);
    bool loads = next->event.moment == 'c' && (step->op->kind == OP_LOAD || step->op->kind == OP_SWAP);
    if (loads && !thing_of(b, next->place)->input && !was_written(b, state, next->place))
        see(b, (BruteFault){ .id = FAULT_UNINITIALISED, .event = next->event, .thing = next->place->thing });
}

static bool comes_first(BruteEvent one, BruteEvent other)
{
    return memcmp(&one, &other, sizeof one) < 0;
}

void brute_judge_nexts(Brute *b, const BruteState *state)
{
    for (unsigned i = 0; i < b->nexts; i++) {
        judge_next(b, state, &b->next[i]);
        for (unsigned j = 0; j < i; j++) {
            const BruteNext *one = &b->next[i], *other = &b->next[j];
            if (!(one->write || other->write) || !touch(b, one->place, other->place))
                continue;
            bool order = comes_first(one->event, other->event);
            see(b, (BruteFault){ .id = FAULT_RACE, .event = order ? one->event : other->event, .other = order ? other->event : one->event,
                                 .thing = one->place->thing });
        }
    }
}

/* Does the life end when the device leaves the launch, at the latest? */
static bool ends_with(const Brute *b, const RandomPlace *place, uint32_t device, unsigned launch)
{
    if (place->thing < 0 || device_of(b, place->core) != device)
        return false;
    const RandomThing *thing = thing_of(b, place);
    unsigned first, last;
    if (thing->space == SPACE_SEMAPHORE && (thing->kind == SEMAPHORE_BARRIER || thing->kind == SEMAPHORE_FLAG))
        return false;
    if (thing->scoped)
        return only_launch(thing) == launch;
    return launches_on(b, thing, device, &first, &last) && last == launch;
}

static void judge_exit(Brute *b, const BruteState *state, uint32_t device, unsigned launch)
{
    uint32_t core = device * b->random->cores_per_device;
    BruteEvent leave = brute_event(state, 'c', core, state->at[core]);
    for (unsigned i = 0; i < b->counters; i++) {
        const RandomPlace *place = &b->counted[i];
        bool ends_here = !thing_of(b, place)->scoped || never_opens(b, place);
        if (state->count[i] > 0 && ends_here && ends_with(b, place, device, launch))
            see(b, (BruteFault){ .id = FAULT_LEFTOVER, .event = leave, .thing = place->thing, .counter = (uint8_t)(i + 1) });
    }
    for (unsigned i = 0; i < state->flights; i++) {
        const BruteFlight *flight = &state->flight[i];
        const RandomOp *op = b->step[flight->core][flight->step].op;
        BruteEvent read = brute_event(state, 'R', flight->core, flight->step), write = brute_event(state, 'W', flight->core, flight->step);
        if (!flight->read && device_of(b, flight->core) == device
            && (ends_with(b, &op->source, device, launch) || ends_with(b, &op->send, device, launch)))
            see(b, (BruteFault){ .id = FAULT_IN_FLIGHT, .event = read, .other = leave, .thing = op->source.thing });
        if (ends_with(b, &op->at, device, launch) || ends_with(b, &op->receive, device, launch))
            see(b, (BruteFault){ .id = FAULT_IN_FLIGHT, .event = write, .other = leave, .thing = op->at.thing });
    }
}

static void judge_close(Brute *b, const BruteState *state, uint32_t core, const RandomOp *op)
{
    BruteEvent close = brute_event(state, 'c', core, state->at[core]);
    for (unsigned i = 0; i < b->counters; i++)
        if (state->count[i] > 0 && b->counted[i].thing == op->at.thing && b->counted[i].core == core)
            see(b, (BruteFault){ .id = FAULT_LEFTOVER, .event = close, .thing = op->at.thing, .counter = (uint8_t)(i + 1) });
}

/* The wait may pass before the copy that it is meant for is complete. */
static void judge_meant(Brute *b, const BruteState *state, uint32_t core, const RandomOp *wait)
{
    unsigned start = 0;
    while (b->step[core][start].kind != BRUTE_OPERATION || b->step[core][start].op != &b->random->op[core][wait->value])
        start++;
    const RandomOp *copy = b->step[core][start].op;
    char moment = copy->remote && memcmp(&copy->send, &wait->at, sizeof copy->send) == 0 ? 'R' : 'W';
    if (copy->at.count > 0 && brute_did(state, core, start) && !moment_done(state, core, start, moment))
        see(b, (BruteFault){ .id = FAULT_MISMATCH, .event = brute_event(state, 'c', core, state->at[core]),
                             .other = brute_event(state, moment, core, start), .thing = wait->at.thing });
}

static bool loads_outside(const RandomProgram *random, const RandomOp *op)
{
    bool loads = op->kind == OP_LOAD || op->kind == OP_STEER;
    return loads && op->at.count > 0 && !random_is_inside(random, &op->at, op->at.count - 1u);
}

bool brute_stops(const Brute *b, const RandomOp *op)
{
    return op->kind == OP_STOP || (b->random->knobs.at_bounds == AT_BOUNDS_STOP && loads_outside(b->random, op));
}

void brute_judge_core(Brute *b, const BruteState *state, uint32_t core)
{
    const BruteStep *step = &b->step[core][state->at[core]];
    if (step->kind == BRUTE_EXIT && !state->stopped)
        judge_exit(b, state, device_of(b, core), step->launch);
    if (step->kind != BRUTE_OPERATION)
        return;
    const RandomOp *op = step->op;
    BruteEvent event = brute_event(state, 'c', core, state->at[core]);
    if (op->kind == OP_SIGNAL || op->kind == OP_WAIT || op->kind == OP_WAIT_KEEP || op->kind == OP_WAIT_MEANT || op->kind == OP_LOOK
        || op->kind == OP_EXPECT_COUNT)
        judge_life(b, state, &op->at, event);
    if (op->kind == OP_STOP || loads_outside(b->random, op))
        see(b, (BruteFault){ .id = FAULT_OUT_OF_BOUNDS, .event = event, .thing = -1 });
    if (op->kind == OP_EXPECT_COUNT && brute_count(b, state, &op->at) != op->value)
        see(b, (BruteFault){ .id = FAULT_ASSERT, .event = event, .thing = -1 });
    if (op->kind == OP_CLOSE && !state->stopped)
        judge_close(b, state, core, op);
    if (op->kind == OP_WAIT_MEANT)
        judge_meant(b, state, core, op);
}

void brute_see_counts(Brute *b, const BruteState *state, const BruteState *after, BruteEvent event)
{
    for (unsigned i = 0; i < b->counters; i++) {
        int limit = thing_of(b, &b->counted[i])->limit;
        if (after->count[i] > state->count[i] && limit >= 0 && after->count[i] > limit)
            see(b, (BruteFault){ .id = FAULT_OVERFLOW, .event = event, .thing = b->counted[i].thing, .counter = (uint8_t)(i + 1) });
    }
}

void brute_judge_end(Brute *b, const BruteState *state)
{
    uint32_t position[RANDOM_CORES_MAX];
    g_autofree int64_t *count = g_new0(int64_t, b->program->semaphores + 1);
    bool finished = true;
    for (uint32_t core = 0; core < b->random->cores; core++) {
        position[core] = state->at[core] - (unsigned)__builtin_popcountll(state->skipped[core]);
        finished &= state->at[core] == b->steps[core] && !(state->stopped >> core & 1);
    }
    for (unsigned i = 0; i < b->counters; i++) {
        if (state->count[i] == 0)
            continue;
        uint32_t decl = random_decl(b->random, b->program, b->counted[i].thing);
        const Decl *d = program_decl(b->program, decl);
        count[d->first_semaphore + b->counted[i].core * d->elements + b->counted[i].start] = state->count[i];
        if (finished && d->semaphore_kind == SEMAPHORE_BARRIER)
            see(b, (BruteFault){ .id = FAULT_LEFTOVER, .event = NOBODY, .thing = b->counted[i].thing, .counter = (uint8_t)(i + 1) });
    }
    uint64_t hash = outcome_end_state(position, b->random->cores, count, b->program->semaphores);
    g_array_append_val(b->result->end_states, hash);
    if (!finished && !state->stopped)
        see(b, (BruteFault){ .id = FAULT_DEADLOCK, .thing = -1 });
}

/* ---- the list in the end ---- */

static const BruteFault *fault_at(const Brute *b, uint32_t i)
{
    return intern_get(&b->seen, i, NULL);
}

static bool same_event(BruteEvent one, BruteEvent other)
{
    return one.moment == other.moment && one.core == other.core && one.step == other.step;
}

/* It is not reported, and says nothing. */
static bool is_exempt(const Brute *b, const BruteFault *fault)
{
    return fault->thing >= 0 && (b->random->thing[fault->thing].exempt >> fault->id & 1);
}

/* "Which of several": a copy in flight and a count left over say more than the end of the life they miss, a race more than an unwritten
 * place. */
static bool is_covered(const Brute *b, const BruteFault *fault)
{
    for (uint32_t i = 0; i < intern_count(&b->seen); i++) {
        const BruteFault *other = fault_at(b, i);
        bool late = fault->id == FAULT_LIFETIME && fault->sign > 0;
        if (is_exempt(b, other))
            continue;
        if (late && other->id == FAULT_LEFTOVER && fault->counter && other->counter == fault->counter)
            return true;
        if (late && other->id == FAULT_IN_FLIGHT && same_event(other->event, fault->event) && !b->random->thing[fault->thing].scoped)
            return true;
        if (fault->id == FAULT_UNINITIALISED && other->id == FAULT_RACE
            && (same_event(other->event, fault->event) || same_event(other->other, fault->event)))
            return true;
    }
    return false;
}

static uint32_t line_of(const Brute *b, BruteEvent event)
{
    if (event.moment == 0)
        return 0;
    const BruteStep *step = &b->step[event.core][event.step];
    if (step->kind != BRUTE_OPERATION)
        return RANDOM_LINE_LAUNCH + step->launch;
    return random_line(event.core, (uint32_t)(step->op - b->random->op[event.core]));
}

char *brute_line(FaultId id, uint32_t line, uint32_t other, const char *thing, uint64_t count)
{
    uint32_t low = other != 0 && other < line ? other : line, high = low == line ? other : line;
    if (id != FAULT_RACE)
        return g_strdup_printf("%s %u %u %s", fault_name(id), low, high, thing);
    return g_strdup_printf("%s %u %u %s x%u", fault_name(id), low, high, thing, (unsigned)count);
}

typedef struct Merged { FaultId id; uint32_t low, high; int thing; uint64_t count; } Merged;

static void merge(GArray *all, Merged one)
{
    for (guint i = 0; i < all->len; i++) {
        Merged *m = &g_array_index(all, Merged, i);
        if (m->id == one.id && m->low == one.low && m->high == one.high && m->thing == one.thing) {
            m->count++;
            return;
        }
    }
    g_array_append_val(all, one);
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static gint compare_hashes(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void brute_settle(Brute *b)
{
    g_autoptr(GArray) merged = g_array_new(FALSE, FALSE, sizeof(Merged));
    for (uint32_t i = 0; i < intern_count(&b->seen); i++) {
        const BruteFault *fault = fault_at(b, i);
        uint32_t one = line_of(b, fault->event), other = line_of(b, fault->other);
        bool swap = other != 0 && other < one;
        if (!is_covered(b, fault))
            merge(merged, (Merged){ fault->id, swap ? other : one, swap ? one : other, fault->thing, 1 });
    }
    for (guint i = 0; i < merged->len; i++) {
        const Merged *m = &g_array_index(merged, Merged, i);
        char name[8] = "-";
        if (m->thing >= 0)
            random_thing_name(b->random, m->thing, name);
        g_ptr_array_add(b->result->faults, brute_line(m->id, m->low, m->high, name, m->count));
    }
    g_ptr_array_sort(b->result->faults, compare_lines);
    GArray *ends = b->result->end_states;
    g_array_sort(ends, compare_hashes);
    for (guint i = ends->len; i-- > 1;)          /* cores that saw other things may end alike */
        if (g_array_index(ends, uint64_t, i) == g_array_index(ends, uint64_t, i - 1))
            g_array_remove_index(ends, i);
}
