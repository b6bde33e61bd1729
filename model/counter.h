/* counter.h - semaphores and flag words: when a step is enabled, and the value after it.
 *
 * Source: semantics.md section 2. Flag words are 32-bit integers and wrap around; counts of semaphores do not. All searches use this;
 * tests/support/brute is an independent second implementation.
 */
#pragma once
#include <glib.h>
#include "step.h"

/* Is the step enabled at this value? Only waits may not be. */
static inline bool counter_permits(const Step *step, int64_t value)
{
    if (step_is_semaphore_wait(step->kind))
        return value >= (int64_t)step->value;
    return step->kind != STEP_FLAG_WAIT || compare_holds((Compare)step->extra, value, (int32_t)step->value);
}

/* Does a FLAG_CAS that finds this value swap? */
static inline bool counter_swaps(const Step *step, int64_t value) { return value == (int32_t)step->extra; }

/* What the step adds to a semaphore, whatever the count; 0 for flag words and other steps. */
static inline int64_t counter_adds(const Step *step)
{
    return step->kind == STEP_SIGNAL ? (int64_t)step->value : step->kind == STEP_WAIT ? -(int64_t)step->value : 0;
}

/* The value after an enabled step. */
static inline int64_t counter_after(const Step *step, int64_t value)
{
    switch ((StepKind)step->kind) {
    case STEP_SIGNAL: case STEP_WAIT:
        return value + counter_adds(step);
    case STEP_FLAG_STORE:
        return (int32_t)step->value;
    case STEP_FLAG_ADD:
        return (int32_t)(value + (int32_t)step->value);
    case STEP_FLAG_CAS:
        return counter_swaps(step, value) ? (int32_t)step->value : value;
    case STEP_WAIT_KEEP: case STEP_SEMAPHORE_READ: case STEP_EXPECT_COUNT: case STEP_FLAG_LOAD: case STEP_FLAG_WAIT:
    STEP_CASES_OFF_COUNTERS:
        return value;
    case STEP_KIND_COUNT:
        break;
    }
    g_assert_not_reached();
}

/* Can the step change a flag word? */
static inline bool counter_writes_flag(uint8_t kind) { return kind == STEP_FLAG_STORE || kind == STEP_FLAG_ADD || kind == STEP_FLAG_CAS; }

/* Does it write a flag word that has this value? */
static inline bool counter_writes(const Step *step, int64_t value)
{
    return counter_writes_flag(step->kind) && (step->kind != STEP_FLAG_CAS || counter_swaps(step, value));
}
