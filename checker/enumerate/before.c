/* before.c - edges give the components before a turn; a memory that it changed may have had any value in the place that it wrote. */
#include "before.h"
#include <string.h>
#include "memory.h"
#include "turn.h"

typedef struct Before {
    Walk *walk;
    const uint32_t *id;
    uint32_t *candidate;
    BeforeVisit visit;
    void *data;
} Before;

/* The join's other members step back too: each came from the component that stood at the join. */
static bool undo_join(const Before *before, uint32_t join_id)
{
    Walk *walk = before->walk;
    const Join *join = intern_get(&walk->joins, join_id, NULL);
    for (uint32_t core = join->first; core < join->last; core++) {
        if (!walk_is_member(walk, join, core))
            continue;
        uint32_t from = 0;
        for (uint32_t e = walk_component(walk, core, before->candidate[core])->edges; e && !from;) {
            Edge edge = STORE(Edge, &walk->core[core].edges, e - 1);
            const Turn *turn = &STORE(Turn, &walk->core[core].turns, edge.turn);
            from = turn->how == TURN_JOIN && turn->gauge == join_id ? edge.from : 0;
            e = edge.older;
        }
        if (!from)
            return false;
        before->candidate[core] = from;
    }
    return true;
}

static bool offer_memories(const Before *before, uint32_t core, uint32_t turn, uint32_t device, uint32_t slot)
{
    Walk *walk = before->walk;
    uint32_t field = walk->cores + device, after = before->id[field];
    for (uint32_t vector = 1; vector <= memory_vectors(walk, device); vector++) {
        before->candidate[field] = vector;
        if (memory_same_but(walk, device, vector, after, slot) && !before->visit(before->data, core, turn, before->candidate))
            return false;
    }
    return true;
}

static bool offer(const Before *before, uint32_t core, Edge edge)
{
    Walk *walk = before->walk;
    const Turn turn = STORE(Turn, &walk->core[core].turns, edge.turn);
    uint32_t device, slot;
    if (turn_ends_loop(walk, core, &turn, edge.from, before->id[core]))
        return true;
    memcpy(before->candidate, before->id, walk->layout.fields * sizeof *before->id);
    if (turn.how != TURN_JOIN)
        before->candidate[core] = edge.from;
    else if (!turn.need || !undo_join(before, turn.gauge))
        return true;
    if (turn_writes(walk, core, edge.from, &turn, &device, &slot))
        return offer_memories(before, core, edge.turn, device, slot);
    return before->visit(before->data, core, edge.turn, before->candidate);
}

void before_each(Walk *walk, const uint32_t *id, BeforeVisit visit, void *data)
{
    Before before = {.walk = walk, .id = id, .candidate = g_new(uint32_t, walk->layout.fields), .visit = visit, .data = data};
    bool more = true;
    for (uint32_t core = 0; core < walk->cores && more; core++)
        for (uint32_t e = walk_component(walk, core, id[core])->edges; e && more;) {
            Edge edge = STORE(Edge, &walk->core[core].edges, e - 1);
            more = offer(&before, core, edge);
            e = edge.older;
        }
    g_free(before.candidate);
}
