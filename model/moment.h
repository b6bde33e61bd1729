/* moment.h - the moments of an asynchronous copy: which ones it has, what each needs, signals, and is held back by.
 *
 *     start ---> EARLY_SEND? -> READ ---+-> WRITE         EARLY_* exist under fluid progress only, for a count above 1:
 *         \--> EARLY_RECEIVE? ----------+                 they signal all but one of the count, the completion signals the last one.
 *
 * Source: semantics.md section 2. All searches use this; tests/support/brute is an independent second implementation.
 */
#pragma once
#include "knobs.h"
#include "step.h"
#include "store.h"

enum { MOMENT_COUNT = 4 };

static inline bool moment_is(uint8_t kind) { return kind >= STEP_EARLY_SEND && kind <= STEP_WRITE; }
static inline bool step_has_region(uint8_t kind) { return step_on_memory(kind) || moment_is(kind); }
/* Sets of moments: a bit each. */
static inline unsigned moment_bit(StepKind moment) { return 1u << (moment - STEP_EARLY_SEND); }
enum { MOMENTS_ALL = (1 << MOMENT_COUNT) - 1 };

/* Read and early send happen at the source and signal the send semaphore; the other two at the target, the receive semaphore. */
static inline bool moment_at_source(StepKind moment) { return moment == STEP_EARLY_SEND || moment == STEP_READ; }
static inline bool moment_is_early(StepKind moment) { return moment == STEP_EARLY_SEND || moment == STEP_EARLY_RECEIVE; }
static inline bool moment_is_fluid(const Knobs *knobs) { return knobs->dma_progress == DMA_PROGRESS_FLUID; }

static inline uint32_t moment_semaphore(const Copy *copy, StepKind moment)
{
    return moment_at_source(moment) ? copy->send_semaphore : copy->receive_semaphore;
}

/* How much of a count the early moment signals; 0: there is none. */
static inline uint32_t moment_early_part(bool fluid, uint32_t count) { return fluid && count > 1 ? count - 1 : 0; }

/* What the moment adds to its semaphore; 0 if the copy has no such moment, or the moment no semaphore. */
static inline uint32_t moment_gives(bool fluid, const Copy *copy, StepKind moment)
{
    if (moment_semaphore(copy, moment) == NONE)
        return 0;
    uint32_t count = moment_at_source(moment) ? copy->send_count : copy->receive_count, early = moment_early_part(fluid, count);
    return moment_is_early(moment) ? early : count - early;
}

static inline bool moment_exists(bool fluid, const Copy *copy, StepKind moment)
{
    return !moment_is_early(moment) || moment_gives(fluid, copy, moment) > 0;
}

/* Which moments the copy has. */
static inline unsigned moments_of(bool fluid, const Copy *copy)
{
    unsigned all = 0;
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
        all |= moment_exists(fluid, copy, moment) ? moment_bit(moment) : 0;
    return all;
}

/* Which moments of the same copy, among those that it has, must be done first. */
static inline unsigned moment_needs(StepKind moment)
{
    static const uint8_t needs[MOMENT_COUNT] = {
        [STEP_READ - STEP_EARLY_SEND] = 1 << (STEP_EARLY_SEND - STEP_EARLY_SEND),
        [STEP_WRITE - STEP_EARLY_SEND] = 1 << (STEP_READ - STEP_EARLY_SEND) | 1 << (STEP_EARLY_RECEIVE - STEP_EARLY_SEND),
    };
    return needs[moment - STEP_EARLY_SEND];
}

/* Which moment of each earlier copy of the chain must be done first under this DMA order; 0: none. */
static inline unsigned moment_chained(DmaOrder order, StepKind moment)
{
    if (order == DMA_ORDER_UNORDERED || moment == STEP_EARLY_SEND)
        return 0;
    if (moment == STEP_READ)
        return order == DMA_ORDER_ISSUE_ORDER ? 1u << (STEP_READ - STEP_EARLY_SEND) : 0;
    return 1u << (STEP_WRITE - STEP_EARLY_SEND);
}

/* Are two copies of one issuing core in one chain? */
static inline bool moment_share_chain(DmaOrder order, const Copy *earlier, const Copy *later)
{
    return order == DMA_ORDER_ISSUE_ORDER
        || (order == DMA_ORDER_LINK_FIFO && earlier->remote && later->remote && earlier->target_device == later->target_device);
}

/* Does an earlier copy of the same issuing core, with the moments `done`, hold this moment back? */
static inline bool moment_held_back(DmaOrder order, const Copy *earlier, unsigned done, const Copy *later, StepKind moment)
{
    return (moment_chained(order, moment) & ~done) != 0 && moment_share_chain(order, earlier, later);
}
