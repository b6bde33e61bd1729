/* hints.c - not faults, but waits that depend on timing: those that different signals can satisfy, and counts above what a wait needs.
 *
 * A wait is ambiguous iff some signal y need not come before it, and can be among the first that are counted: the wait does not come before
 * y, and what must be counted before y is less than the wait needs in total. Then one execution passes the wait without y and another one
 * counts y. The highest count before a wait is computed in counts.c.
 */
#include <glib.h>

#include "prove.h"
#include "prover.h"

enum { SIGNALS_MAX = 256 };                     /* semaphores with more signals are skipped */

static Event last_moment(const Index *index, const Signal *signal)
{
    if (signal->copy_end == NONE)
        return index_event(index, signal->core, signal->position);
    return index_moment(index, signal->copy_end / 2, signal->copy_end & 1 ? STEP_WRITE : STEP_READ);
}

/* The first moment at which it counts, and how much it counts then. */
static Event first_moment(const Index *index, const Signal *signal, int64_t *inc)
{
    uint32_t semaphore = NONE, copy = signal->copy_end / 2;
    StepKind early = signal->copy_end & 1 ? STEP_EARLY_RECEIVE : STEP_EARLY_SEND;
    uint32_t part = signal->copy_end == NONE ? 0 : index_moment_inc(index, copy, early, &semaphore);
    *inc = part > 0 ? part : signal->inc;
    return part > 0 ? index_moment(index, copy, early) : last_moment(index, signal);
}

/* What other signals must have given before this one first counts. */
static int64_t counted_before(Prover *prover, uint32_t semaphore, uint32_t signal)
{
    const Index *index = prover->index;
    int64_t part, sum = 0;
    Event begun = first_moment(index, &index->signal[signal], &part);
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++) {
        if (i == signal)
            continue;
        Event first = first_moment(index, &index->signal[i], &part), last = last_moment(index, &index->signal[i]);
        if (order_must(prover->order, &last, &begun))
            sum += index->signal[i].inc;
        else if (order_must(prover->order, &first, &begun))
            sum += part;
    }
    return sum;
}

static uint32_t site_of(const Prover *prover, const Signal *signal)
{
    return index_step(prover->index, signal->core, signal->position)->site;
}

static void find_rivals(Prover *prover, const Wait *wait, const int64_t *before, Hint *hint)
{
    const Index *index = prover->index;
    Event passed = index_event(index, wait->core, wait->position);
    for (uint32_t i = index->signal_first[wait->semaphore]; i < index->signal_first[wait->semaphore + 1]; i++) {
        const Signal *signal = &index->signal[i];
        int64_t part;
        Event first = first_moment(index, signal, &part);
        if (before[i - index->signal_first[wait->semaphore]] >= wait->total || order_must(prover->order, &first, &passed)
            || order_must(prover->order, &passed, &first))
            continue;
        bool copy = signal->copy_end != NONE;
        const HintSignal rival = { signal->core, copy ? index_copy(index, signal->copy_end / 2)->ordinal : NONE, site_of(prover, signal) };
        if (hint->rivals == 0 || (hint->rivals == 1 && (rival.core != hint->rival[0].core || rival.site != hint->rival[0].site
                                                        || rival.copy != hint->rival[0].copy)))
            hint->rival[hint->rivals++] = rival;
    }
}

static Hint hint_at(const Prover *prover, AdviceId advice, const Wait *wait)
{
    const Step *step = index_step(prover->index, wait->core, wait->position);
    return (Hint){ .advice = advice, .place = { .core = wait->core, .position = wait->position, .copy = NONE, .kind = step->kind,
                                                .site = step->site, .object = wait->semaphore, .region = NONE, .launch = step->launch },
                   .need = step->value };
}

static void look_at_wait(Prover *prover, const Wait *wait, const int64_t *before, int64_t taken, GArray *hints)
{
    Hint ambiguous = hint_at(prover, ADVICE_AMBIGUOUS_WAIT, wait), over = hint_at(prover, ADVICE_OVERSIGNAL, wait);
    Event event = index_event(prover->index, wait->core, wait->position);
    find_rivals(prover, wait, before, &ambiguous);
    if (ambiguous.rivals == 2)
        g_array_append_val(hints, ambiguous);
    over.have = counts_given_before(prover, wait->semaphore, &event) - taken;
    if (over.have > over.need)
        g_array_append_val(hints, over);
}

static void look_at_semaphore(Prover *prover, uint32_t semaphore, GArray *hints)
{
    const Index *index = prover->index;
    uint32_t first = index->signal_first[semaphore], signals = index->signal_first[semaphore + 1] - first;
    int64_t before[SIGNALS_MAX], taken = 0;
    if (index->contended[semaphore] || signals > SIGNALS_MAX)
        return;
    for (uint32_t i = 0; i < signals; i++)
        before[i] = counted_before(prover, semaphore, first + i);
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        if (index->wait[i].taken > 0)
            look_at_wait(prover, &index->wait[i], before, taken, hints);
        taken += index->wait[i].taken;
    }
}

GArray *prove_hints(const Record *record)
{
    static const ProveOptions options = { .canary = PROVE_SOUND };
    GArray *hints = g_array_new(FALSE, FALSE, sizeof(Hint));
    Budget budget = { .bytes_max = 0 };
    Arena arena;
    arena_init(&arena, &budget);
    Prover prover = { .record = record, .program = record->program, .options = &options, .arena = &arena };
    if (setjmp(budget.bail) == 0) {
        prover.index = index_new(record, PROVE_SOUND, false, &arena);
        prover.clocks = clocks_new(prover.index, &arena);
        prover.releases = releases_new(prover.index, prover.clocks, &arena);
        prover.order = order_new(prover.index, prover.clocks, prover.releases, &arena);
        for (uint32_t semaphore = 0; semaphore < prover.index->semaphores; semaphore++)
            look_at_semaphore(&prover, semaphore, hints);
    }
    budget_clear(&budget);
    return hints;
}
