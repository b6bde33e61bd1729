/* lifetimes.c - steps outside the life of the object they touch, and copies in flight at an exit.
 *
 * Not reported here is what another fault explains better: a step that may come after the end of a semaphore with a leftover, and the
 * moments of a copy that may be in flight at an exit.
 */
#include <glib.h>

#include "prover.h"

enum { COUNT_STEPS_MAX = 30000000 };            /* after so many moves more copies of a line found in flight are counted unchecked */
enum { FEW = 64 };                              /* up to so many open questions are settled one by one */

typedef struct LifeTouch { uint32_t object; bool semaphore, signal; } LifeTouch;

static void add_lifetime(Prover *prover, const Event *x, const LifeTouch *touch, int64_t have)
{
    FaultTally fault = { .id = FAULT_LIFETIME, .a = *x, .places = 1, .object = touch->object, .is_semaphore = touch->semaphore,
                         .have = have };
    prover_add(prover, &fault);
}

/* Does x come after the end in some execution? A signal that may come on either side would be a leftover; so without a leftover it comes
 * before in every execution, or after in every one, and the cheap query decides. */
static bool outlived(Prover *prover, const Lifespan *life, const Event *x, const LifeTouch *touch)
{
    Event end;
    if (!lifespan_end(prover, life, x->core, &end))
        return false;
    bool cheap = touch->signal && prover->left_over[touch->object] == LEFT_NOTHING;
    return cheap ? order_must(prover->order, &end, x) : !lifespan_over_after(prover, life, x);
}

static void check_touch(Prover *prover, const Event *x, const Lifespan *life, const LifeTouch *touch)
{
    if (life->always)
        return;
    if (!lifespan_begun(prover, life, x))
        add_lifetime(prover, x, touch, -1);
    bool covered = touch->semaphore && prover->left_over[touch->object] == LEFT_REPORTED;
    if (!covered && outlived(prover, life, x, touch))
        add_lifetime(prover, x, touch, 1);
}

static void check_steps(Prover *prover)
{
    const Record *record = prover->record;
    Arena scratch;
    arena_init(&scratch, prover->arena->budget);
    uint32_t *next = ARENA_NEW(uint32_t, &scratch, prover->index->cores);
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (moment_is(step->kind))
            continue;
        uint32_t position = next[step->core]++;
        bool memory = step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP;
        bool counter = step_on_counter(step->kind);
        if (!memory && !counter)
            continue;
        Event x = { step->core, position, NONE, step->kind };
        LifeTouch touch = { step->object, counter, step_is_add(step) };
        Lifespan life = counter ? lifespan_of_semaphore(prover, step->object) : lifespan_of_object(prover, step->object);
        check_touch(prover, &x, &life, &touch);
    }
    arena_clear(&scratch);
}

static const Lifespan ALWAYS = { .always = true };

typedef enum AtExit { AT_EXIT_NONE, AT_EXIT_DONE, AT_EXIT_LATE, AT_EXIT_IN_FLIGHT } AtExit;  /* late: started after the exit, always */

/* Can the copy be in flight when the device leaves the launch? Then that is reported. (What follows is the same for in flight and done.) */
static AtExit check_exit(Prover *prover, const Event *x, const Event *start, const Lifespan *life, uint32_t object)
{
    uint32_t first = life->first_core / prover->index->per_device * prover->index->per_device;
    if (!life->leave || life->leave[first].end == NONE)
        return AT_EXIT_NONE;
    Event exit = index_event(prover->index, first, life->leave[first].end), seen = order_seen_from(prover->order, &exit, x->core);
    FaultTally fault = { .id = FAULT_IN_FLIGHT, .a = *x, .b = exit, .places = 2, .object = object };
    bool open = order_known(prover->order, x, &seen) == ORDER_OPEN;
    fault.at_most = open && closure_steps(prover->order->closure) > COUNT_STEPS_MAX && prover_has(prover, &fault);
    if (!fault.at_most && order_must(prover->order, x, &seen))
        return AT_EXIT_DONE;
    if (order_must(prover->order, &exit, start))
        return AT_EXIT_LATE;
    prover_add(prover, &fault);
    return AT_EXIT_IN_FLIGHT;
}

static bool same_exit(const Prover *prover, const Lifespan *a, const Lifespan *b)
{
    uint32_t per = prover->index->per_device;
    return a->leave == b->leave && a->first_core / per == b->first_core / per;
}

/* Copies that start after the exit at which an object ends outlive it; copies in flight there are reported as such, unless exempt. */
static void check_copy_touch(Prover *prover, const Event *x, const Lifespan *life, const LifeTouch *touch, AtExit own, bool in_flight,
                             bool exempt)
{
    if (life->always)
        return;
    if (!lifespan_begun(prover, life, x))
        add_lifetime(prover, x, touch, -1);
    bool covered = touch->signal && prover->left_over[touch->object] == LEFT_REPORTED, outlives = own == AT_EXIT_LATE;
    if (exempt)
        outlives |= own == AT_EXIT_IN_FLIGHT;
    else
        outlives &= !in_flight;
    if (covered || (life->exit && !outlives))
        return;
    if (life->exit || outlived(prover, life, x, touch))
        add_lifetime(prover, x, touch, 1);
}

/* Checks one moment of a copy, which touches a buffer and may signal a semaphore. */
static void check_moment(Prover *prover, uint32_t copy, StepKind kind, uint32_t object, uint32_t semaphore)
{
    const Index *index = prover->index;
    Event x = index_moment(index, copy, kind), start = { x.core, x.position, NONE, STEP_COPY_START };
    Lifespan buffer = lifespan_of_object(prover, object), signal = semaphore == NONE ? ALWAYS : lifespan_of_semaphore(prover, semaphore);
    if (buffer.always && signal.always)
        return;
    AtExit by_buffer = check_exit(prover, &x, &start, &buffer, object);
    AtExit by_signal = same_exit(prover, &buffer, &signal) ? by_buffer : check_exit(prover, &x, &start, &signal, object);
    bool in_flight = by_buffer == AT_EXIT_IN_FLIGHT || by_signal == AT_EXIT_IN_FLIGHT;
    bool exempt = program_decl(prover->program, program_object_decl(prover->program, object))->exempt[FAULT_IN_FLIGHT] != 0;
    LifeTouch touch = { object, false, false };
    check_copy_touch(prover, &x, &buffer, &touch, by_buffer, in_flight, exempt);
    touch = (LifeTouch){ semaphore, true, true };
    check_copy_touch(prover, &x, &signal, &touch, by_signal, in_flight, exempt);
}

/* A canary: the write is compared with the exit of its issuer. */
static void check_write_at_issuer(Prover *prover, uint32_t copy)
{
    const Copy *c = index_copy(prover->index, copy);
    Event x = index_moment(prover->index, copy, STEP_WRITE), start = { x.core, x.position, NONE, STEP_COPY_START };
    Lifespan source = lifespan_of_object(prover, c->source);
    check_exit(prover, &x, &start, &source, c->source);
}

/* A read without a wait may still be done at the exit, if the receiver has acknowledged the copy's arrival: asks for the receiver's entry
 * in the clock of the exit. */
static void learn_arrivals(Prover *prover)
{
    const Index *index = prover->index;
    Arena scratch;
    arena_init(&scratch, prover->arena->budget);
    Pile asked;
    pile_init(&asked, &scratch, sizeof(Asked));
    for (uint32_t copy = 0; index->per_device == 1 && copy < index->copies; copy++) {
        const Copy *c = index_copy(index, copy);
        uint32_t first = c->core / index->per_device * index->per_device, at = prover->releases->at[copy * 2 + 1];
        Lifespan life = lifespan_of_object(prover, c->source);
        if (life.always || !life.leave || life.leave[first].end == NONE || at == NONE)
            continue;
        Event x = index_moment(index, copy, STEP_READ), exit = index_event(index, first, life.leave[first].end);
        Event seen = order_seen_from(prover->order, &exit, x.core);
        if (order_known(prover->order, &x, &seen) == ORDER_OPEN)
            *(Asked *)pile_push(&asked, 1) = (Asked){ index_slot(index, seen.core, seen.position),
                                                      releases_core(prover->releases, c->receive_semaphore, copy * 2 + 1) };
    }
    if (asked.count > FEW)
        clocks_learn(prover->clocks, pile_base(&asked), asked.count, prover->arena);
    arena_clear(&scratch);
}

void lives_check(Prover *prover)
{
    if (prover->program->bare)
        return;
    check_steps(prover);
    learn_arrivals(prover);
    for (uint32_t copy = 0; copy < prover->index->copies; copy++) {
        const Copy *c = index_copy(prover->index, copy);
        check_moment(prover, copy, STEP_READ, c->source, c->send_semaphore);
        if (prover->index->canary == PROVE_CANARY_IN_FLIGHT_ISSUER)
            check_write_at_issuer(prover, copy);
        else
            check_moment(prover, copy, STEP_WRITE, c->target, c->receive_semaphore);
    }
}
