/* successor.c - detects that a transition made something new by the growth of Stores. */
#include "successor.h"
#include "growth.h"
#include "symmetry.h"
#include "transition.h"

bool successor_take(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t transition, uint32_t *after)
{
    size_t before = store_bytes_used();
    bool possible = transition_take(space, id, core, transition, after);
    if (store_bytes_used() == before)
        return possible;
    growth_note(space, id, core, transition);
    if (space->symmetry != NULL)
        symmetry_check(space->symmetry, space);
    return possible;
}

void successor_each(StateSpace *space, const uint32_t *id, SuccessorVisit visit, void *data)
{
    uint32_t *after = g_new(uint32_t, space->layout.fields);
    bool more = true;
    for (uint32_t core = 0; more && core < space->cores; core++) {
        Component component = *space_component(space, core, id[core]);
        for (uint32_t t = 0; more && t < component.transition_count; t++)
            if (successor_take(space, id, core, component.transitions + t, after))
                more = visit(data, core, component.transitions + t, after);
    }
    g_free(after);
}
