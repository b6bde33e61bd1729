/* expand_sane.c - uses transition.c and access.c, which the inner loop mostly avoids. */
#include "expand_sane.h"
#include "state_counter.h"
#include "transition.h"

static uint32_t transitions_enabled(const StateSpace *space, const uint32_t *id)
{
    uint32_t possible = 0;
    for (uint32_t core = 0; core < space->cores; core++) {
        Component component = *space_component(space, core, id[core]);
        for (uint32_t t = 0; t < component.transition_count; t++)
            possible += transition_enabled(space, id, core, space_transition(space, core, component.transitions + t));
    }
    return possible;
}

static bool cores_race(const StateSpace *space, const uint32_t *id, uint32_t one, uint32_t other)
{
    const Component *a = space_component(space, one, id[one]), *b = space_component(space, other, id[other]);
    for (uint32_t i = 0; i < a->next_count; i++)
        for (uint32_t j = 0; j < b->next_count; j++)
            if (accesses_rivals(&space->accesses, STORE(Next, &space->core[one].nexts, a->nexts + i).access,
                                STORE(Next, &space->core[other].nexts, b->nexts + j).access))
                return true;
    return false;
}

void expand_assert_sane(const StateSpace *space, const uint32_t *id, uint64_t transitions, bool races)
{
    bool any = false;
    for (uint32_t one = 0; one < space->cores; one++)
        for (uint32_t other = 0; other < one; other++)
            any |= cores_race(space, id, one, other);
    g_assert(any == races);
    g_assert(transitions_enabled(space, id) == transitions);
    for (uint32_t c = 0; c < space->counters.count; c++)
        g_assert(state_counter_value(space, id, c) >= 0);
}
