/* successor.c - one successor after the other, by the one thread: what is new is made, and noted for a checkpoint. */
#include "stream.h"
#include "symmetry.h"
#include "transition.h"

bool walk_take(Walk *walk, const uint32_t *id, uint32_t core, uint32_t transition, uint32_t *after)
{
    size_t before = store_bytes_used();
    bool possible = transition_take(walk, id, core, transition, after);
    if (store_bytes_used() == before)
        return possible;
    growth_note(walk, id, core, transition);
    if (walk->symmetry != NULL && !symmetry_check(walk->symmetry, walk))
        walk->done = true;
    return possible;
}

void walk_each(Walk *walk, const uint32_t *id, bool (*visit)(void *data, uint32_t core, uint32_t transition, const uint32_t *after),
               void *data)
{
    uint32_t *after = g_new(uint32_t, walk->layout.fields);
    bool more = true;
    for (uint32_t core = 0; more && core < walk->cores; core++) {
        Component component = *walk_component(walk, core, id[core]);
        for (uint32_t t = 0; more && t < component.transition_count; t++)
            if (walk_take(walk, id, core, component.transitions + t, after))
                more = visit(data, core, component.transitions + t, after);
    }
    g_free(after);
}
