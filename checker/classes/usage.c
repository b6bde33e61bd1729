/* usage.c - one look at each step when its core is first seen to have it. */
#include "usage.h"
#include <glib.h>

enum { SEMAPHORES_MAX = 1 << 30, WAITERS_MAX = 1 << 26 };

/* The program may have got more semaphores. */
static void fit(Usage *usage)
{
    size_t known = usage->uses.count, now = usage->program->semaphores;
    if (now == known)
        return;
    store_push(&usage->uses, now - known);
    for (size_t s = known; s < now; s++) {
        Use *use = usage_of(usage, (uint32_t)s);
        use->waiter = NONE;
        use->owner = program_semaphore_core(usage->program, (uint32_t)s);
        use->flag = program_decl(usage->program, program_semaphore_decl(usage->program, (uint32_t)s))->semaphore_kind == SEMAPHORE_FLAG;
    }
}

void usage_init(Usage *usage, const Program *program)
{
    *usage = (Usage){ .program = program, .only_looks = true };
    store_init_own(&usage->uses, sizeof(Use), SEMAPHORES_MAX);
    store_init_own(&usage->waiters, sizeof(Waiter), WAITERS_MAX);
    fit(usage);
}

void usage_clear(Usage *usage)
{
    store_clear(&usage->uses);
    store_clear(&usage->waiters);
}

void usage_adopt(Usage *usage)
{
    for (uint32_t s = 0; s < usage->uses.count; s++) {
        Use *use = usage_of(usage, s);
        use->contended = use->to_be_contended, use->ordered = use->to_be_ordered;
    }
    usage->grew = false;
}

static void contend(Usage *usage, uint32_t semaphore)
{
    Use *use = usage_of(usage, semaphore);
    usage->grew |= !use->contended;
    use->to_be_contended = true;
}

void usage_order(Usage *usage, uint32_t semaphore)
{
    Use *use = usage_of(usage, semaphore);
    usage->grew |= !use->ordered;
    use->to_be_ordered = use->to_be_contended = true;
}

static void note_waiter(Usage *usage, Use *use, uint32_t core)
{
    use->several_wait |= use->waiter != NONE && use->waiter != core;
    use->waiter = use->waiter == NONE ? core : use->waiter;
    for (uint32_t at = use->waiters; at != 0; at = STORE(Waiter, &usage->waiters, at - 1).next)
        if (STORE(Waiter, &usage->waiters, at - 1).core == core)
            return;
    *(Waiter *)store_push(&usage->waiters, 1) = (Waiter){ core, use->waiters };
    g_atomic_int_set((gint *)&use->waiters, (gint)usage->waiters.count);       /* other workers walk along the list meanwhile */
}

bool usage_needs_order(const Step *step)
{
    if (step->kind == STEP_FLAG_WAIT)
        return step->extra != COMPARE_GE && step->extra != COMPARE_GT;
    if (step_is_plain_add(step))
        return (int32_t)step->value < 0;
    return step->kind != STEP_SIGNAL && step->kind != STEP_WAIT && step->kind != STEP_WAIT_KEEP;
}

static void note_semaphore(Usage *usage, const Step *step)
{
    Use *use = usage_of(usage, step->object);
    if (step->kind == STEP_WAIT || step->kind == STEP_WAIT_KEEP || step->kind == STEP_FLAG_WAIT)
        note_waiter(usage, use, step->core);
    use->taken |= step->kind == STEP_WAIT;
    use->looked_at |= step->kind == STEP_SEMAPHORE_READ || step->kind == STEP_EXPECT_COUNT;
    use->needs_order |= usage_needs_order(step);
    if (use->needs_order || (use->several_wait && use->taken))
        contend(usage, step->object);
    bool look = step->kind == STEP_SEMAPHORE_READ || step->kind == STEP_EXPECT_COUNT || step->kind == STEP_FLAG_LOAD;
    usage->only_looks &= (look || !usage_needs_order(step)) && !(use->several_wait && use->taken);
    const Decl *decl = program_decl(usage->program, program_semaphore_decl(usage->program, step->object));
    bool meant = (step->kind == STEP_WAIT || step->kind == STEP_WAIT_KEEP) && step->extra != NONE;
    usage->proof |= meant || decl->limit >= 0 || decl->life != LIFE_ALWAYS || decl->semaphore_kind == SEMAPHORE_BARRIER;
}

void usage_note(Usage *usage, const Step *step, const Copy *copy)
{
    fit(usage);
    if (usage_touches(step)) {
        note_semaphore(usage, step);
        return;
    }
    bool join = step_is_join((StepKind)step->kind), empty = step->kind == STEP_COPY_START && copy == NULL;
    usage->proof |= !join && !empty && step->kind != STEP_STOP;
    if (copy == NULL || usage->program->knobs.dma_progress != DMA_PROGRESS_FLUID)
        return;
    if (copy->send_semaphore != NONE && copy->send_count > 2)
        usage_of(usage, copy->send_semaphore)->coarse = true;
    if (copy->receive_count > 2)
        usage_of(usage, copy->receive_semaphore)->coarse = true;
}
