/* state_counter.h - values of semaphores and flag words in a state: a count is the sum of what each core has added to it.
 *
 * Each step is scanned once for the counters that it adds to, when a core's tree gains it.
 */
#pragma once
#include "space.h"

uint32_t state_counter_of(StateSpace *space, uint32_t semaphore);
uint32_t state_counter_others(StateSpace *space, uint32_t counter, uint32_t core);     /* its sum without that core: id of Others */
void state_counter_scan(StateSpace *space, uint32_t core);     /* steps and nodes that a core's tree gained */

static inline StateCounter *state_counter_get(const StateSpace *space, uint32_t counter)
{
    return &STORE(StateCounter, &space->counters, counter);
}

static inline int64_t state_counter_added(const StateSpace *space, const uint32_t *id, Addend addend)
{
    const SpaceCore *core = &space->core[addend.core];
    return STORE(int64_t, &core->taken, (size_t)id[addend.core] * core->columns + addend.column);
}

/* The sum that all cores but one have added to a counter. */
static inline int64_t state_counter_of_others(const StateSpace *space, const uint32_t *id, uint32_t others)
{
    const Others *at = &STORE(Others, &space->others, others);
    int64_t sum = state_counter_added(space, id, at->first);
    for (uint32_t i = 0; i < at->more; i++)
        sum += state_counter_added(space, id, at->addend[i]);
    return sum;
}

/* The value of a counter in a state. */
static inline int64_t state_counter_value(const StateSpace *space, const uint32_t *id, uint32_t counter)
{
    const StateCounter *at = &STORE(StateCounter, &space->counters, counter);
    int64_t sum = 0;
    for (uint32_t i = 0; i < at->addends; i++)
        sum += state_counter_added(space, id, at->addend[i]);
    return sum;
}
