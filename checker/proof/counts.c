/* counts.c - what a semaphore can hold: at the end of its life, at most, and when a wait meant for one copy passes.
 *
 * Signals that need not come after the end F of a life can all be there at F; what was taken before F is the same in every execution. So
 * the count at F can be as large as their difference, and the fault is there iff that is above zero. In the same way the highest count ever
 * is reached just before some wait that takes, with every signal that does not need that wait. A core that stops itself changes nothing
 * here: its stop is the last step it does, so whatever is reached can be reached before it.
 */
#include <glib.h>

#include "prover.h"

static Event wait_event(const Index *index, const Wait *wait)
{
    return index_event(index, wait->core, wait->position);
}

int64_t counts_taken_before(Prover *prover, uint32_t semaphore, const Event *end)
{
    const Index *index = prover->index;
    int64_t sum = 0;
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        const Wait *wait = &index->wait[i];
        Event event = wait_event(index, wait), seen = order_seen_from(prover->order, end, wait->core);
        if (wait->taken > 0 && (wait->core == seen.core ? wait->position < seen.position : order_must(prover->order, &event, &seen)))
            sum += wait->taken;
    }
    return sum;
}

int64_t counts_given_before(Prover *prover, uint32_t semaphore, const Event *event)
{
    const Index *index = prover->index;
    if (prover->order->chosen) {                /* clocks see only part of the order */
        Closure *closure = order_closure(prover->order);
        closure_bar(closure, event);
        closure_run(closure, NULL);
        return closure_given(closure, semaphore);
    }
    int64_t sum = 0;
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++)
        if (clocks_at_signal(prover->clocks, i, event->core) <= event->position)
            sum += index->signal[i].inc;
    return sum;
}

static void add_leftover(Prover *prover, uint32_t semaphore, const Event *end, int64_t have)
{
    FaultTally fault = { .id = FAULT_LEFTOVER, .places = end ? 1 : 0, .object = semaphore, .is_semaphore = true, .have = have };
    if (end)
        fault.a = *end;
    const Decl *decl = program_decl(prover->program, program_semaphore_decl(prover->program, semaphore));
    bool exempt = decl->exempt[FAULT_LEFTOVER] != 0 && prover->options->canary != PROVE_CANARY_EXEMPT_STANDS;
    prover->left_over[semaphore] = exempt ? LEFT_EXEMPT : LEFT_REPORTED;
    prover_add(prover, &fault);
}

static void check_leftover(Prover *prover, uint32_t semaphore, const Decl *decl, uint32_t owner)
{
    const Index *index = prover->index;
    Event end;
    if (decl->semaphore_kind == SEMAPHORE_BARRIER && decl->life == LIFE_ALWAYS) {
        if (!index->blocked && !index->running && !index->stopped && index->final_count[semaphore] > 0)
            add_leftover(prover, semaphore, NULL, index->final_count[semaphore]);
        return;
    }
    Lifespan life = lifespan_of_semaphore(prover, semaphore);
    if (!lifespan_end(prover, &life, owner, &end))
        return;
    int64_t taken = counts_taken_before(prover, semaphore, &end);
    if (index_given(index, semaphore) <= taken)
        return;
    int64_t most = index->canary == PROVE_CANARY_LEFTOVER_AT_END ? index->final_count[semaphore]
        : counts_given_before(prover, semaphore, &end) - taken;
    if (most > 0)
        add_leftover(prover, semaphore, &end, most);
}

static void check_leftovers(Prover *prover)
{
    const Index *index = prover->index;
    if (prover->program->bare)
        return;
    for (uint32_t id = 0; id < prover->program->decls.count; id++) {
        const Decl *decl = program_decl(prover->program, id);
        bool counts = decl->first_semaphore != NONE && decl->semaphore_kind != SEMAPHORE_FLAG;
        for (uint32_t i = 0; counts && i < decl->elements * index->cores; i++) {
            uint32_t semaphore = decl->first_semaphore + i;
            if (index->signal_first[semaphore] < index->signal_first[semaphore + 1])
                check_leftover(prover, semaphore, decl, i / decl->elements);
        }
    }
}

static int64_t highest_count(Prover *prover, uint32_t semaphore)
{
    const Index *index = prover->index;
    int64_t taken = 0, highest = 0;
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        const Wait *wait = &index->wait[i];
        if (wait->taken == 0)
            continue;
        Event event = wait_event(index, wait);
        if (index->canary != PROVE_CANARY_OVERFLOW_AT_END)
            highest = MAX(highest, counts_given_before(prover, semaphore, &event) - taken);
        taken += wait->taken;
    }
    return MAX(highest, index_given(index, semaphore) - taken);
}

int64_t counts_after(Prover *prover, uint32_t semaphore, const Event *x, const Wait *bar, uint32_t inc)
{
    const Index *index = prover->index;
    Closure *closure = order_closure(prover->order);
    closure_bar(closure, x);
    if (bar) {
        Event event = wait_event(index, bar);
        closure_bar(closure, &event);
    }
    closure_run(closure, NULL);
    if (!closure_next(closure, x))
        return 0;
    int64_t count = closure_given(closure, semaphore) + inc;
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        Event event = wait_event(index, &index->wait[i]);
        if (closure_done(closure, &event))
            count -= index->wait[i].taken;
    }
    return count;
}

static void check_signal(Prover *prover, uint32_t semaphore, const Event *x, uint32_t inc, int64_t limit)
{
    const Index *index = prover->index;
    int64_t highest = inc ? counts_after(prover, semaphore, x, NULL, inc) : 0;
    for (uint32_t i = index->wait_first[semaphore]; inc && i < index->wait_first[semaphore + 1]; i++)
        if (index->wait[i].taken > 0)
            highest = MAX(highest, counts_after(prover, semaphore, x, &index->wait[i], inc));
    if (highest <= limit)
        return;
    FaultTally fault = { .id = FAULT_OVERFLOW, .a = *x, .places = 1, .object = semaphore, .is_semaphore = true,
                         .have = highest, .need = limit };
    prover_add(prover, &fault);
}

static void check_overflow(Prover *prover, uint32_t semaphore, int64_t limit)
{
    const Index *index = prover->index;
    if (highest_count(prover, semaphore) <= limit)
        return;
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++) {
        const Signal *signal = &index->signal[i];
        if (signal->copy_end == NONE) {
            Event event = index_event(index, signal->core, signal->position);
            check_signal(prover, semaphore, &event, signal->inc, limit);
            continue;
        }
        const StepKind early = signal->copy_end & 1 ? STEP_EARLY_RECEIVE : STEP_EARLY_SEND;
        const StepKind last = signal->copy_end & 1 ? STEP_WRITE : STEP_READ;
        uint32_t ignored, copy = signal->copy_end / 2;
        Event event = index_moment(index, copy, early);
        check_signal(prover, semaphore, &event, index_moment_inc(index, copy, early, &ignored), limit);
        event = index_moment(index, copy, last);
        check_signal(prover, semaphore, &event, index_moment_inc(index, copy, last, &ignored), limit);
    }
}

static void check_overflows(Prover *prover)
{
    for (uint32_t id = 0; id < prover->program->decls.count; id++) {
        const Decl *decl = program_decl(prover->program, id);
        bool counts = decl->limit >= 0 && decl->first_semaphore != NONE && decl->semaphore_kind != SEMAPHORE_FLAG;
        for (uint32_t i = 0; counts && i < decl->elements * prover->index->cores; i++)
            if (prover->index->signal_first[decl->first_semaphore + i] < prover->index->signal_first[decl->first_semaphore + i + 1])
                check_overflow(prover, decl->first_semaphore + i, decl->limit);
    }
}

/* The copy with that ordinal on the core; NONE: it was never started. */
static uint32_t find_copy(const Index *index, uint32_t core, uint32_t ordinal)
{
    for (uint32_t position = 0; position < index_length(index, core); position++) {
        const Step *step = index_step(index, core, position);
        if (step->kind == STEP_COPY_START && step->object != NONE && index_copy(index, step->object)->ordinal == ordinal)
            return step->object;
    }
    return NONE;
}

static void check_mismatch(Prover *prover, const Event *wait, const Step *step)
{
    const Index *index = prover->index;
    uint32_t copy = find_copy(index, wait->core, step->extra);
    StepKind last = copy != NONE && index_copy(index, copy)->send_semaphore == step->object ? STEP_READ : STEP_WRITE;
    FaultTally fault = { .id = FAULT_MISMATCH, .a = *wait, .places = 1, .object = step->object, .is_semaphore = true };
    if (copy != NONE) {
        fault.b = index_moment(index, copy, last);
        fault.places = 2;
        if (order_must(prover->order, &fault.b, wait))
            return;
    }
    prover_add(prover, &fault);
}

static void check_mismatches(Prover *prover)
{
    const Index *index = prover->index;
    for (uint32_t core = 0; index->meant && core < index->cores; core++)
        for (uint32_t position = 0; position < index_length(index, core); position++) {
            const Step *step = index_step(index, core, position);
            if (step->kind != STEP_WAIT || step->extra == NONE)
                continue;
            Event wait = { core, position, NONE, step->kind };
            check_mismatch(prover, &wait, step);
        }
}

void counts_check(Prover *prover)
{
    check_leftovers(prover);
    check_overflows(prover);
    check_mismatches(prover);
}
