/* direct.c - debug builds: what the inner loop derived from rows, once more from the plain reading of each transition and access. */
#include "inspect.h"
#include "state_counter.h"
#include "transition.h"

#ifdef HEDDLE_DEBUG
static uint32_t transitions_enabled(const Walk *walk, const uint32_t *id)
{
    uint32_t possible = 0;
    for (uint32_t core = 0; core < walk->cores; core++) {
        Component component = *walk_component(walk, core, id[core]);
        for (uint32_t t = 0; t < component.transition_count; t++)
            possible += transition_enabled(walk, id, core, &STORE(Transition, &walk->core[core].transitions, component.transitions + t));
    }
    return possible;
}

static bool cores_race(const Walk *walk, const uint32_t *id, uint32_t one, uint32_t other)
{
    const Component *a = walk_component(walk, one, id[one]), *b = walk_component(walk, other, id[other]);
    for (uint32_t i = 0; i < a->next_count; i++)
        for (uint32_t j = 0; j < b->next_count; j++)
            if (accesses_rivals(&walk->accesses, STORE(Next, &walk->core[one].nexts, a->nexts + i).access,
                                STORE(Next, &walk->core[other].nexts, b->nexts + j).access))
                return true;
    return false;
}

void direct_check(Walk *walk, const uint32_t *id, uint64_t transitions_taken, bool races)
{
    bool any = false;
    for (uint32_t one = 0; one < walk->cores; one++)
        for (uint32_t other = 0; other < one; other++)
            any |= cores_race(walk, id, one, other);
    g_assert(any == races);
    g_assert(transitions_enabled(walk, id) == transitions_taken);
    for (uint32_t g = 0; g < walk->counters.count; g++)
        g_assert(state_counter_value(walk, id, g) >= 0);
}
#endif
