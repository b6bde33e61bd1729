/* release.c - per semaphore: signals by their clock on the waiter, waits by their slack.
 *
 * At a wait w with threshold T(w) the signals that do not come after it sum up to A(w); slack(w) = A(w) - T(w) of that can be missing. A
 * signal that is not after w and whose last part exceeds the slack is needed by w. The last part is the whole copy, or 1 byte under fluid
 * progress. For each signal the first such wait is found by walking both lists from their ends, keeping a stack of waits with less slack
 * than all nearer ones.
 */
#include "release_inside.h"

#include <glib.h>

static void find_waiters(const Index *index, Releases *releases)
{
    for (uint32_t s = 0; s < index->semaphores; s++) {
        uint32_t first = index->wait_first[s], last = index->wait_first[s + 1];
        releases->waiter[s] = first < last ? index->wait[first].core : NONE;
        for (uint32_t i = first; i < last; i++)
            releases->shared[s] |= index->wait[i].core != index->wait[first].core;
        if (releases->shared[s])
            releases->waiter[s] = NONE;
    }
}

static gint compare_given(gconstpointer left, gconstpointer right)
{
    const SignalGiven *a = left, *b = right;
    return (a->after > b->after) - (a->after < b->after);
}

/* The semaphore's signals in order of their clock on the waiter. False: no copy among them. */
static bool gather_given(Releaser *r, uint32_t semaphore, uint32_t waiter)
{
    const Index *index = r->index;
    bool copies = false, sorted = true;
    r->given.count = 0;
    uint32_t last = 0;
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++) {
        const Signal *signal = &index->signal[i];
        uint32_t after = clocks_at_signal(r->clocks, i, waiter);
        if (after && signal->core == waiter)
            after--;                            /* a signal's own step does not come before it */
        *(SignalGiven *)pile_push(&r->given, 1) = (SignalGiven){ after, signal->inc, signal->copy_end };
        copies |= signal->copy_end != NONE;
        sorted &= after >= last;
        last = after;
    }
    if (copies && !sorted)
        qsort(pile_base(&r->given), r->given.count, sizeof(SignalGiven), compare_given);
    return copies;
}

static void compute_slack(Releaser *r, uint32_t semaphore)
{
    const Index *index = r->index;
    size_t g = 0;
    int64_t sum = 0;
    r->slack.count = 0;
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        const Wait *wait = &index->wait[i];
        for (; g < r->given.count && PILE(SignalGiven, &r->given, g).after <= wait->position; g++)
            sum += PILE(SignalGiven, &r->given, g).inc;
        *(int64_t *)pile_push(&r->slack, 1) = wait->total > 0 ? sum - wait->total : INT64_MAX;
    }
}

uint32_t release_last_part(const Index *index, uint32_t inc)
{
    if (index->canary == PROVE_CANARY_READ_IS_RELEASED)
        return NONE;
    return index_is_fluid(index) && index->canary != PROVE_CANARY_NEED_WHOLE ? 1 : inc;
}

uint32_t release_nearest_short(const Releaser *r, int64_t part)
{
    const uint32_t *wait = pile_base(&r->stack);
    size_t low = 0, high = r->stack.count;      /* slack grows towards the top */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (PILE(int64_t, &r->slack, wait[middle]) < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? wait[low - 1] : NONE;
}

void release_push_wait(Releaser *r, uint32_t wait)
{
    int64_t slack = PILE(int64_t, &r->slack, wait);
    while (r->stack.count > 0 && PILE(int64_t, &r->slack, PILE(uint32_t, &r->stack, r->stack.count - 1)) >= slack)
        r->stack.count--;
    *(uint32_t *)pile_push(&r->stack, 1) = wait;
}

static void release_semaphore(Releaser *r, uint32_t semaphore)
{
    const Index *index = r->index;
    uint32_t waiter = r->releases->waiter[semaphore];
    if (waiter == NONE || index->contended[semaphore] || !gather_given(r, semaphore, waiter))
        return;
    compute_slack(r, semaphore);
    if (index->copy_before) {
        chain_release(r, semaphore);
        return;
    }
    const Wait *wait = &index->wait[index->wait_first[semaphore]];
    uint32_t left = (uint32_t)r->slack.count;
    r->stack.count = 0;
    for (size_t g = r->given.count; g-- > 0;) {
        const SignalGiven given = PILE(SignalGiven, &r->given, g);
        while (left > 0 && wait[left - 1].position >= given.after)
            release_push_wait(r, --left);
        if (given.copy_end == NONE)
            continue;
        uint32_t by = release_nearest_short(r, release_last_part(index, given.inc));
        if (by != NONE)
            r->releases->at[given.copy_end] = wait[by].position + 1;
    }
}

Releases *releases_new(const Index *index, const Clocks *clocks, Arena *arena)
{
    Arena scratch;
    arena_init(&scratch, arena->budget);
    Releases *releases = ARENA_NEW(Releases, arena, 1);
    releases->at = ARENA_NEW(uint32_t, arena, (size_t)index->copies * 2 + 1);
    releases->waiter = ARENA_NEW(uint32_t, arena, index->semaphores + 1);
    releases->shared = ARENA_NEW(uint8_t, arena, index->semaphores + 1);
    for (size_t i = 0; i < (size_t)index->copies * 2; i++)
        releases->at[i] = NONE;
    find_waiters(index, releases);
    Releaser releaser = { .index = index, .clocks = clocks, .releases = releases };
    if (index->copy_before)
        chain_begin(&releaser, arena, &scratch);
    pile_init(&releaser.given, &scratch, sizeof(SignalGiven));
    pile_init(&releaser.stack, &scratch, sizeof(uint32_t));
    pile_init(&releaser.slack, &scratch, sizeof(int64_t));
    for (uint32_t s = 0; s < index->semaphores; s++)
        release_semaphore(&releaser, s);
    if (index->copy_before)
        chain_end(&releaser);
    arena_clear(&scratch);
    return releases;
}
