/* brute.c - depth first over all states; a state is the position of each core, all counts, and the copies in flight with what they have
 * signalled.
 *
 * What exists, what is enabled and what is in flight follows from the state. Which of several equal faults to report is decided at the end.
 */
#include "brute.h"
#include <string.h>
#include "../../checker/facts/finding.h"
#include "brute_inside.h"

static const RandomThing *thing_of(const Brute *b, const RandomPlace *place)
{
    return &b->random->thing[place->thing];
}

static uint32_t device_of(const Brute *b, uint32_t core)
{
    return core / b->random->cores_per_device;
}

static const BruteStep *next_step(const Brute *b, const BruteState *state, uint32_t core)
{
    bool goes_on = state->at[core] < b->steps[core] && !(state->stopped >> core & 1);
    return goes_on ? &b->step[core][state->at[core]] : NULL;
}

/* A word is on core 0 of its device. */
static unsigned counter(const Brute *b, const RandomPlace *place)
{
    bool word = thing_of(b, place)->kind == SEMAPHORE_FLAG;
    return b->counter[place->thing][word ? place->core - place->core % b->random->cores_per_device : place->core][place->start];
}

unsigned brute_count(const Brute *b, const BruteState *state, const RandomPlace *place)
{
    return state->count[counter(b, place)];
}

bool brute_did(const BruteState *state, uint32_t core, unsigned step)
{
    return step < state->at[core] && !(state->skipped[core] >> step & 1);
}

static unsigned credit(const Brute *b, const RandomPlace *place, unsigned bytes)
{
    if (place->thing < 0 || bytes == 0)
        return 0;
    return thing_of(b, place)->kind == SEMAPHORE_DMA ? bytes : 1;
}

/* ---- what moves ---- */

static bool is_member(const Brute *b, const BruteStep *join, uint32_t core, uint32_t asking)
{
    if (join->kind == BRUTE_OPERATION)
        return device_of(b, core) == device_of(b, asking);
    if (!(b->random->devices_of[join->launch] >> device_of(b, core) & 1))
        return false;
    bool all = join->kind == BRUTE_ENTER && program_launch(b->program, join->launch)->entry_barrier;
    return all || device_of(b, core) == device_of(b, asking);
}

static bool is_join(const BruteStep *step)
{
    return step->kind != BRUTE_OPERATION || step->op->kind == OP_CORE_BARRIER;
}

/* Core barriers need no number: each is passed by all cores of a device, so those who wait have passed equally many. */
static bool same_join(const BruteStep *a, const BruteStep *b)
{
    return is_join(a) && is_join(b) && a->kind == b->kind && (a->kind == BRUTE_OPERATION || a->launch == b->launch);
}

/* A join is the move of its first member. */
static bool join_possible(const Brute *b, const BruteState *state, uint32_t core, const BruteStep *step)
{
    for (uint32_t c = 0; c < b->random->cores; c++) {
        if (!is_member(b, step, c, core))
            continue;
        const BruteStep *other = next_step(b, state, c);
        if (c < core || other == NULL || !same_join(step, other))
            return false;
    }
    return true;
}

static unsigned wait_need(const Brute *b, uint32_t core, const RandomOp *op)
{
    return op->kind == OP_WAIT_MEANT ? b->random->op[core][op->value].at.count : op->value;
}

static bool is_wait(const RandomOp *op)
{
    return op->kind == OP_WAIT || op->kind == OP_WAIT_KEEP || op->kind == OP_WAIT_MEANT;
}

static bool compares(uint8_t compare, unsigned count, unsigned value)
{
    switch ((Compare)compare) {
    case COMPARE_EQ:
        return count == value;
    case COMPARE_NE:
        return count != value;
    case COMPARE_GT:
        return count > value;
    case COMPARE_GE:
        return count >= value;
    case COMPARE_LT:
        return count < value;
    case COMPARE_LE:
        return count <= value;
    }
    g_assert_not_reached();
}

static bool core_possible(const Brute *b, const BruteState *state, uint32_t core)
{
    const BruteStep *step = next_step(b, state, core);
    if (step == NULL)
        return false;
    if (is_join(step))
        return join_possible(b, state, core, step);
    if (step->op->kind == OP_FLAG_WAIT)
        return compares(step->op->compare, brute_count(b, state, &step->op->at), step->op->value);
    return !is_wait(step->op) || brute_count(b, state, &step->op->at) >= wait_need(b, core, step->op);
}

static const RandomOp *copy_op(const Brute *b, const BruteFlight *flight)
{
    return b->step[flight->core][flight->step].op;
}

static uint32_t copy_target_device(const Brute *b, const RandomOp *op)
{
    return device_of(b, op->remote ? op->receive.core : op->at.core);
}

/* Flights stand by core, in order of start. */
static bool held_back(const Brute *b, const BruteState *state, unsigned index, bool read)
{
    DmaOrder order = b->random->knobs.dma_order;
    const BruteFlight *flight = &state->flight[index];
    for (unsigned i = 0; i < index; i++) {
        const BruteFlight *earlier = &state->flight[i];
        if (earlier->core != flight->core)
            continue;
        if (order == DMA_ORDER_ISSUE_ORDER && !(read && earlier->read))
            return true;
        const RandomOp *one = copy_op(b, earlier), *other = copy_op(b, flight);
        if (order == DMA_ORDER_LINK_FIFO && !read && one->remote && other->remote
            && copy_target_device(b, one) == copy_target_device(b, other))
            return true;
    }
    return false;
}

static int compare_flights(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(BruteFlight));
}

static void normalise(BruteState *state)
{
    memset(&state->flight[state->flights], 0, sizeof state->flight - state->flights * sizeof *state->flight);
    qsort(state->flight, state->flights, sizeof *state->flight, compare_flights);
}

/* Observed values decide the core's next operation. */
static void look(BruteState *after, uint32_t core, unsigned seen, bool jumps, unsigned skip)
{
    after->seen[core] = (after->seen[core] + seen + 1) * 0x9e3779b97f4a7c15;
    for (unsigned i = 0; jumps && i < skip; i++)
        after->skipped[core] |= (uint64_t)1 << ++after->at[core];
}

static void do_word(const Brute *b, BruteState *after, uint32_t core, const RandomOp *op)
{
    uint8_t *word = &after->count[counter(b, &op->at)], old = *word;
    if (op->kind == OP_FLAG_STORE)
        *word = op->value;
    else if (op->kind == OP_FLAG_ADD || op->kind == OP_FLAG_FETCH)
        *word += op->value - op->less;
    else if (op->kind == OP_FLAG_SWAP && old + op->less == op->value)
        *word = op->value;
    if (op->kind == OP_FLAG_FETCH || op->kind == OP_FLAG_LOOK)
        look(after, core, old, old >= op->value, op->skip);
    if (op->kind == OP_FLAG_SWAP)
        look(after, core, old, old + op->less != op->value, op->skip);
}

static void do_operation(const Brute *b, BruteState *after, uint32_t core, const RandomOp *op)
{
    unsigned count = op->at.thing >= 0 && thing_of(b, &op->at)->space == SPACE_SEMAPHORE ? brute_count(b, after, &op->at) : 0;
    if (brute_stops(b, op) || (op->kind == OP_EXPECT_COUNT && count != op->value))
        after->stopped |= (uint8_t)(1 << core);
    else if (op->kind == OP_LOOK)
        look(after, core, count, count >= op->value, op->skip);
    else if (op->kind >= OP_FLAG_STORE && op->kind <= OP_FLAG_SWAP)
        do_word(b, after, core, op);
    else if (op->kind == OP_SIGNAL)
        after->count[counter(b, &op->at)] += op->value;
    else if (is_wait(op) && op->kind != OP_WAIT_KEEP)
        after->count[counter(b, &op->at)] -= (uint8_t)wait_need(b, core, op);
    else if (op->kind == OP_COPY && op->at.count > 0) {
        g_assert(after->flights < BRUTE_FLIGHTS_MAX);
        after->flight[after->flights++] = (BruteFlight){ .core = (uint8_t)core, .step = after->at[core] };
    }
}

static void do_core(const Brute *b, BruteState *after, uint32_t core)
{
    const BruteStep *step = next_step(b, after, core);
    if (!is_join(step)) {
        do_operation(b, after, core, step->op);
        after->at[core]++;
        return;
    }
    for (uint32_t c = 0; c < b->random->cores; c++)
        if (is_member(b, step, c, core))
            after->at[c]++;
}

BruteEvent brute_event(const BruteState *state, char moment, uint32_t core, unsigned step)
{
    uint64_t skipped = state->skipped[core] & (((uint64_t)1 << step) - 1);
    return (BruteEvent){ moment, (uint8_t)core, (uint8_t)step, (uint8_t)(step - (unsigned)__builtin_popcountll(skipped)) };
}

static BruteEvent core_event(const BruteState *state, uint32_t core)
{
    return brute_event(state, 'c', core, state->at[core]);
}

static bool is_coarse(const Brute *b, const BruteState *state)
{
    bool coarse = true;
    for (unsigned i = 0; i < state->flights; i++) {
        const BruteFlight *flight = &state->flight[i];
        const RandomOp *op = copy_op(b, flight);
        coarse &= flight->sent == 0 || flight->sent + 1u == credit(b, &op->send, op->at.count);
        coarse &= flight->received == 0 || flight->received + 1u == credit(b, &op->receive, op->at.count);
    }
    return coarse;
}

static void visit(Brute *b, const BruteState *state, const BruteState *after, BruteEvent event)
{
    BruteState next = *after;
    normalise(&next);
    b->result->transitions++;
    size_t before = intern_count(&b->states);
    uint32_t id = intern_add(&b->states, &next, sizeof next);
    if (id == before) {
        g_array_append_val(b->stack, id);
        b->result->states += is_coarse(b, &next);
    }
    brute_see_counts(b, state, &next, event);
}

static void move_flight(Brute *b, const BruteState *state, unsigned index)
{
    const BruteFlight *flight = &state->flight[index];
    const RandomOp *op = copy_op(b, flight);
    unsigned sends = credit(b, &op->send, op->at.count), receives = credit(b, &op->receive, op->at.count);
    bool fluid = b->random->knobs.dma_progress == DMA_PROGRESS_FLUID, held = held_back(b, state, index, false);
    BruteEvent read = brute_event(state, 'R', flight->core, flight->step), write = brute_event(state, 'W', flight->core, flight->step);
    if (fluid && !flight->read && flight->sent + 1u < sends) {
        BruteState after = *state;
        after.flight[index].sent++, after.count[counter(b, &op->send)]++;
        visit(b, state, &after, read);
    }
    if (fluid && !held && flight->received + 1u < receives) {
        BruteState after = *state;
        after.flight[index].received++, after.count[counter(b, &op->receive)]++;
        visit(b, state, &after, write);
    }
    BruteState after = *state;
    if (!flight->read && !held_back(b, state, index, true)) {
        after.flight[index].read = 1, after.flight[index].sent = 0;
        if (sends)
            after.count[counter(b, &op->send)] += (uint8_t)(sends - flight->sent);
        brute_add_next(b, read, &op->source, false);
        visit(b, state, &after, read);
    } else if (flight->read && !held) {
        after.count[counter(b, &op->receive)] += (uint8_t)(receives - flight->received);
        memmove(&after.flight[index], &after.flight[index + 1], (after.flights - index - 1u) * sizeof *after.flight);
        after.flights--;
        brute_add_next(b, write, &op->at, true);
        visit(b, state, &after, write);
    }
}

static void expand(Brute *b, const BruteState *state)
{
    b->nexts = 0;
    bool moved = false;
    for (uint32_t core = 0; core < b->random->cores; core++) {
        if (!core_possible(b, state, core))
            continue;
        moved = true;
        const BruteStep *step = next_step(b, state, core);
        uint8_t kind = step->kind == BRUTE_OPERATION ? step->op->kind : OP_CORE_BARRIER;
        bool memory = kind == OP_LOAD || kind == OP_STORE || kind == OP_SWAP;
        if (memory && !brute_stops(b, step->op) && random_is_inside(b->random, &step->op->at, 0))
            brute_add_next(b, core_event(state, core), &step->op->at, kind != OP_LOAD);
        brute_judge_core(b, state, core);
        BruteState after = *state;
        do_core(b, &after, core);
        visit(b, state, &after, core_event(state, core));
    }
    for (unsigned i = 0; i < state->flights; i++)
        move_flight(b, state, i);
    brute_judge_nexts(b, state);
    if (!moved && state->flights == 0)
        brute_judge_end(b, state);
}

/* ---- setting up ---- */

static void add_step(Brute *b, uint32_t core, BruteStepKind kind, const RandomOp *op, unsigned launch)
{
    b->step[core][b->steps[core]++] = (BruteStep){ .kind = kind, .op = op, .launch = launch };
}

static void list_steps(Brute *b, uint32_t core)
{
    const RandomProgram *random = b->random;
    for (unsigned l = 0; l < random->launches; l++) {
        if (!(random->devices_of[l] >> device_of(b, core) & 1))
            continue;
        if (!random->bare)
            add_step(b, core, BRUTE_ENTER, NULL, l);
        for (unsigned i = 0; i < random->ops[core]; i++) {
            const RandomOp *op = &random->op[core][i];
            bool runs = op->launch == l && (!random->host[l] || core % random->cores_per_device == 0);
            if (runs)
                add_step(b, core, BRUTE_OPERATION, op, l);
        }
        if (!random->bare)
            add_step(b, core, BRUTE_EXIT, NULL, l);
    }
}

static void number_counters(Brute *b)
{
    for (unsigned t = 0; t < b->random->things; t++)
        for (unsigned c = 0; b->random->thing[t].space == SPACE_SEMAPHORE && c < b->random->cores; c++)
            for (unsigned e = 0; e < b->random->thing[t].elements; e++) {
                g_assert(b->counters < BRUTE_COUNTERS_MAX);
                b->counted[b->counters] = (RandomPlace){ .thing = (int8_t)t, .core = (uint8_t)c, .start = (uint8_t)e };
                b->counter[t][c][e] = (uint8_t)b->counters++;
            }
}

bool brute_can(const RandomProgram *random)
{
    unsigned counters = 0;
    for (unsigned t = 0; t < random->things; t++)
        if (random->thing[t].space == SPACE_SEMAPHORE)
            counters += random->thing[t].elements * (unsigned)random->cores;
    for (unsigned c = 0; c < random->cores; c++) {
        unsigned copies = 0;
        for (unsigned i = 0; i < random->ops[c]; i++)
            copies += random->op[c][i].kind == OP_COPY;
        if (copies > BRUTE_FLIGHTS_MAX / random->cores)
            return false;
    }
    return counters <= BRUTE_COUNTERS_MAX && !random_polls(random) && !(random->features & RANDOM_DATA);
}

BruteResult *brute_run(const RandomProgram *random, const Program *program, uint64_t states_max)
{
    g_assert(brute_can(random));
    Brute *b = g_new0(Brute, 1);
    b->random = random, b->program = program;
    intern_init(&b->states, states_max + 1000000, (states_max + 1000000) * sizeof(BruteState));
    intern_init(&b->seen, 1 << 20, (size_t)1 << 26);
    b->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t core = 0; core < random->cores; core++)
        list_steps(b, core);
    number_counters(b);
    BruteResult *result = b->result = g_new0(BruteResult, 1);
    result->faults = g_ptr_array_new_with_free_func(g_free);
    result->end_states = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    const BruteState start = { 0 };
    uint32_t id = intern_add(&b->states, &start, sizeof start);
    g_array_append_val(b->stack, id);
    result->states = 1;
    while (b->stack->len > 0 && intern_count(&b->states) <= states_max) {
        const BruteState state = *(const BruteState *)intern_get(&b->states, g_array_index(b->stack, uint32_t, b->stack->len - 1), NULL);
        g_array_set_size(b->stack, b->stack->len - 1);
        expand(b, &state);
    }
    result->complete = b->stack->len == 0;
    brute_settle(b);
    intern_clear(&b->states);
    intern_clear(&b->seen);
    g_array_free(b->stack, TRUE);
    g_free(b);
    return result;
}

void brute_free(BruteResult *result)
{
    if (result == NULL)
        return;
    g_ptr_array_free(result->faults, TRUE);
    g_array_free(result->end_states, TRUE);
    g_free(result);
}
