/* usage.c - examines each step once, when the tree gains it. */
#include "usage.h"
#include <glib.h>

enum { SEMAPHORES_MAX = 1 << 30, WAITERS_MAX = 1 << 26, SITES_MAX = 1 << 28 };

/* The program may have gained semaphores. */
static void fit(Usage *usage)
{
    size_t known = usage->uses.count, now = usage->program->semaphores;
    if (now == known)
        return;
    store_push(&usage->uses, now - known);
    for (size_t s = known; s < now; s++) {
        Use *use = usage_of(usage, (uint32_t)s);
        use->contention.waiter = NONE;
        use->owner = program_semaphore_core(usage->program, (uint32_t)s);
        use->flag = program_decl(usage->program, program_semaphore_decl(usage->program, (uint32_t)s))->semaphore_kind == SEMAPHORE_FLAG;
    }
}

void usage_init(Usage *usage, const Program *program)
{
    *usage = (Usage){ .program = program, .only_looks = true };
    store_init_own(&usage->uses, sizeof(Use), SEMAPHORES_MAX);
    store_init_own(&usage->waiters, sizeof(Waiter), WAITERS_MAX);
    store_init_own(&usage->polling, sizeof(uint8_t), SITES_MAX);
    fit(usage);
}

void usage_clear(Usage *usage)
{
    store_clear(&usage->uses);
    store_clear(&usage->waiters);
    store_clear(&usage->polling);
}

void usage_adopt(Usage *usage)
{
    for (uint32_t s = 0; s < usage->uses.count; s++) {
        Use *use = usage_of(usage, s);
        use->contended = use->to_be_contended, use->ordered = use->to_be_ordered;
    }
    for (size_t site = 0; site < usage->polling.count; site++)
        if (STORE(uint8_t, &usage->polling, site) == POLLING_TO_BE)
            STORE(uint8_t, &usage->polling, site) = POLLING_YES;
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
    for (uint32_t at = use->waiters; at != 0; at = STORE(Waiter, &usage->waiters, at - 1).next)
        if (STORE(Waiter, &usage->waiters, at - 1).core == core)
            return;
    *(Waiter *)store_push(&usage->waiters, 1) = (Waiter){ core, use->waiters };
    g_atomic_int_set((gint *)&use->waiters, (gint)usage->waiters.count);        /* other workers read the list meanwhile */
}

static void note_semaphore(Usage *usage, const Step *step)
{
    Use *use = usage_of(usage, step->object);
    if (step_is_wait(step->kind))
        note_waiter(usage, use, step->core);
    contention_note(&use->contention, step);
    const Decl *decl = program_decl(usage->program, program_semaphore_decl(usage->program, step->object));
    bool apart_from_looks = contention_apart_from_looks(&use->contention, decl->initial);
    if (apart_from_looks || use->contention.looked_at)
        contend(usage, step->object);
    usage->only_looks &= !apart_from_looks;
    bool meant = (step_is_semaphore_wait(step->kind)) && step->extra != NONE;
    usage->proof |= meant || decl->limit >= 0 || decl->life != LIFE_ALWAYS || decl->semaphore_kind == SEMAPHORE_BARRIER;
}

void usage_note(Usage *usage, const Step *step, const Copy *copy)
{
    fit(usage);
    if (step_on_counter(step->kind)) {
        note_semaphore(usage, step);
        return;
    }
    bool join = step_is_join(step->kind), empty = step->kind == STEP_COPY_START && copy == NULL;
    usage->proof |= !join && !empty && step->kind != STEP_STOP;
    if (copy == NULL || usage->program->knobs.dma_progress != DMA_PROGRESS_FLUID)
        return;
    if (copy->send_semaphore != NONE && copy->send_count > 2)
        usage_of(usage, copy->send_semaphore)->coarse = true;
    if (copy->receive_count > 2)
        usage_of(usage, copy->receive_semaphore)->coarse = true;
}

/* Runs explored before did not ask whether something disables this look: the search restarts. */
void usage_note_poll(Usage *usage, uint32_t site)
{
    if (site >= usage->polling.count)
        store_push(&usage->polling, site + 1 - usage->polling.count);
    uint8_t *polling = &STORE(uint8_t, &usage->polling, site);
    if (*polling != POLLING_YES)
        *polling = POLLING_TO_BE, usage->grew = true;
}
