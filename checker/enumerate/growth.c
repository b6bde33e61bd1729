/* growth.c - transitions and the states in which they were taken, as numbers. */
#include "growth.h"
#include "memory.h"

/* Ids of a state: what each field has so far. */
uint32_t growth_largest_id(const StateSpace *space, unsigned field)
{
    return field < space->cores ? (uint32_t)space->core[field].components.count - 1
        : space->memory ? memory_vectors(space, field - space->cores) : 1;
}

bool growth_ids_fit(const StateSpace *space, const uint32_t *id, unsigned fields)
{
    for (unsigned f = 0; f < fields; f++)
        if (id[f] == 0 || id[f] > growth_largest_id(space, f))
            return false;
    return true;
}

uint32_t growth_ids(const StateSpace *space) { return space->cores + space->program->devices; }

/* Core, transition, and the ids of the state in which it was taken; those of memories are 1 where there are none. */
void growth_note(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t transition)
{
    if (space->growth == NULL)
        return;
    uint32_t one = 1;
    g_array_append_val(space->growth, core);
    g_array_append_val(space->growth, transition);
    for (uint32_t f = 0; f < growth_ids(space); f++)
        g_array_append_val(space->growth, *(f < space->layout.fields ? &id[f] : &one));
}
