/* lifetimes.c - steps outside the life of what they touch, and copies under way at an exit.
 *
 * What another fault says better is left to it: a step that may come after the end of a semaphore on which something is left over, and the
 * moments of a copy that may still be in flight at an exit.
 */
#include <glib.h>

#include "prover.h"

enum { COUNT_STEPS_MAX = 30000000 };            /* moves of runs after which copies of lines that were found in flight are counted unseen */
enum { FEW = 64 };                              /* so many open questions are cheaper settled one by one */

typedef struct Touch { uint32_t object; bool semaphore, signal; } Touch;

static void add_lifetime(Prover *prover, const Event *x, const Touch *touch, int64_t have)
{
    Tally fault = { .id = FAULT_LIFETIME, .a = *x, .places = 1, .object = touch->object, .is_semaphore = touch->semaphore, .have = have };
    prover_add(prover, &fault);
}

/* x comes after the end, or may. A signal that could come on either side would be left over, so that one which is not comes before or after
 * in every execution: the cheap question is enough. */
static bool outlived(Prover *prover, const Lifespan *life, const Event *x, const Touch *touch)
{
    Event end;
    if (!lifespan_end(prover, life, x->core, &end))
        return false;
    bool cheap = touch->signal && prover->left_over[touch->object] == LEFT_NOTHING;
    return cheap ? order_must(prover->order, &end, x) : !lifespan_over_after(prover, life, x);
}

static void check_touch(Prover *prover, const Event *x, const Lifespan *life, const Touch *touch)
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
        Touch touch = { step->object, counter, step_is_add(step) };
        Lifespan life = counter ? lifespan_of_semaphore(prover, step->object) : lifespan_of_object(prover, step->object);
        check_touch(prover, &x, &life, &touch);
    }
    arena_clear(&scratch);
}

static const Lifespan ALWAYS = { .always = true };

typedef enum Flight { FLIGHT_NO_EXIT, FLIGHT_LANDED, FLIGHT_LATE, FLIGHT_FLIES } Flight;     /* late: started after the exit, always */

/* The copy may still be under way when the device leaves the launch: reported, if it may be. (Taken for in flight or for landed, what
 * follows from it is the same.) */
static Flight check_exit(Prover *prover, const Event *x, const Event *start, const Lifespan *life, uint32_t object)
{
    uint32_t first = life->first_core / prover->index->per_device * prover->index->per_device;
    if (!life->leave || life->leave[first].end == NONE)
        return FLIGHT_NO_EXIT;
    Event exit = index_event(prover->index, first, life->leave[first].end), seen = order_seen_from(prover->order, &exit, x->core);
    Tally fault = { .id = FAULT_IN_FLIGHT, .a = *x, .b = exit, .places = 2, .object = object };
    bool open = order_known(prover->order, x, &seen) == ORDER_OPEN;
    fault.at_most = open && closure_steps(prover->order->closure) > COUNT_STEPS_MAX && prover_has(prover, &fault);
    if (!fault.at_most && order_must(prover->order, x, &seen))
        return FLIGHT_LANDED;
    if (order_must(prover->order, &exit, start))
        return FLIGHT_LATE;
    prover_add(prover, &fault);
    return FLIGHT_FLIES;
}

static bool same_exit(const Prover *prover, const Lifespan *a, const Lifespan *b)
{
    uint32_t per = prover->index->per_device;
    return a->leave == b->leave && a->first_core / per == b->first_core / per;
}

/* What lives until an exit is outlived by copies that start after it; those in flight are reported as such. exempt: those are not. */
static void check_copy_touch(Prover *prover, const Event *x, const Lifespan *life, const Touch *touch, Flight own, bool flies, bool exempt)
{
    if (life->always)
        return;
    if (!lifespan_begun(prover, life, x))
        add_lifetime(prover, x, touch, -1);
    bool covered = touch->signal && prover->left_over[touch->object] == LEFT_REPORTED, outlives = own == FLIGHT_LATE;
    if (exempt)
        outlives |= own == FLIGHT_FLIES;
    else
        outlives &= !flies;
    if (covered || (life->exit && !outlives))
        return;
    if (life->exit || outlived(prover, life, x, touch))
        add_lifetime(prover, x, touch, 1);
}

/* One moment of a copy, which touches a buffer and may signal a semaphore. */
static void check_moment(Prover *prover, uint32_t copy, StepKind kind, uint32_t object, uint32_t semaphore)
{
    const Index *index = prover->index;
    Event x = index_moment(index, copy, kind), start = { x.core, x.position, NONE, STEP_COPY_START };
    Lifespan buffer = lifespan_of_object(prover, object), signal = semaphore == NONE ? ALWAYS : lifespan_of_semaphore(prover, semaphore);
    if (buffer.always && signal.always)
        return;
    Flight by_buffer = check_exit(prover, &x, &start, &buffer, object);
    Flight by_signal = same_exit(prover, &buffer, &signal) ? by_buffer : check_exit(prover, &x, &start, &signal, object);
    bool flies = by_buffer == FLIGHT_FLIES || by_signal == FLIGHT_FLIES;
    bool exempt = program_decl(prover->program, program_object_decl(prover->program, object))->exempt[FAULT_IN_FLIGHT] != 0;
    Touch touch = { object, false, false };
    check_copy_touch(prover, &x, &buffer, &touch, by_buffer, flies, exempt);
    touch = (Touch){ semaphore, true, true };
    check_copy_touch(prover, &x, &signal, &touch, by_signal, flies, exempt);
}

/* A deliberate mistake: the write is held against the exit of its own core. */
static void check_write_at_issuer(Prover *prover, uint32_t copy)
{
    const Copy *c = index_copy(prover->index, copy);
    Event x = index_moment(prover->index, copy, STEP_WRITE), start = { x.core, x.position, NONE, STEP_COPY_START };
    Lifespan source = lifespan_of_object(prover, c->source);
    check_exit(prover, &x, &start, &source, c->source);
}

/* A read that nobody waits for may be over at the exit because its copy's arrival was told back: what the exit knows of the receiver. */
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
