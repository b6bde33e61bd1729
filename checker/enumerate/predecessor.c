/* predecessor.c - edges give the components before a transition; the slot of a memory that it wrote may have had any value. */
#include "predecessor.h"
#include <string.h>
#include "memory.h"
#include "transition.h"

typedef struct Predecessor {
    StateSpace *space;
    const uint32_t *id;
    uint32_t *candidate;
    PredecessorVisit visit;
    void *data;
} Predecessor;

/* The join's other members step back too: each came from the component that stood at the join. */
static bool undo_join(const Predecessor *search, uint32_t join_id)
{
    StateSpace *space = search->space;
    const Join *join = intern_get(&space->joins, join_id, NULL);
    for (uint32_t core = join->first; core < join->last; core++) {
        if (!join_has(space->program, join, core))
            continue;
        uint32_t from = 0;
        for (uint32_t e = space_component(space, core, search->candidate[core])->edges; e && !from;) {
            Edge edge = STORE(Edge, &space->core[core].edges, e - 1);
            const Transition *transition = space_transition(space, core, edge.transition);
            from = transition->kind == TRANSITION_JOIN && transition->counter == join_id ? edge.from : 0;
            e = edge.older;
        }
        if (!from)
            return false;
        search->candidate[core] = from;
    }
    return true;
}

static bool offer_memories(const Predecessor *search, uint32_t core, uint32_t transition, uint32_t device, uint32_t slot)
{
    StateSpace *space = search->space;
    uint32_t field = space->cores + device, after = search->id[field];
    for (uint32_t vector = 1; vector <= memory_vectors(space, device); vector++) {
        search->candidate[field] = vector;
        if (memory_same_but(space, device, vector, after, slot) && !search->visit(search->data, core, transition, search->candidate))
            return false;
    }
    return true;
}

static bool offer(const Predecessor *search, uint32_t core, Edge edge)
{
    StateSpace *space = search->space;
    const Transition transition = *space_transition(space, core, edge.transition);
    uint32_t device, slot;
    if (transition_ends_loop(space, core, &transition, edge.from, search->id[core]))
        return true;
    memcpy(search->candidate, search->id, space->layout.fields * sizeof *search->id);
    if (transition.kind != TRANSITION_JOIN)
        search->candidate[core] = edge.from;
    else if (!transition.need || !undo_join(search, transition.counter))
        return true;
    if (transition_writes(space, core, edge.from, &transition, &device, &slot))
        return offer_memories(search, core, edge.transition, device, slot);
    return search->visit(search->data, core, edge.transition, search->candidate);
}

void predecessor_each(StateSpace *space, const uint32_t *id, PredecessorVisit visit, void *data)
{
    Predecessor search = {.space = space, .id = id, .candidate = g_new(uint32_t, space->layout.fields), .visit = visit, .data = data};
    bool more = true;
    for (uint32_t core = 0; core < space->cores && more; core++)
        for (uint32_t e = space_component(space, core, id[core])->edges; e && more;) {
            Edge edge = STORE(Edge, &space->core[core].edges, e - 1);
            more = offer(&search, core, edge);
            e = edge.older;
        }
    g_free(search.candidate);
}
