/* past.c - each node's past is that of the node before, and the step between. */
#include "past.h"

void pasts_init(Pasts *pasts, Reservation *reservation, size_t nodes_max)
{
    reservation_store(reservation, &pasts->all, sizeof(Past), nodes_max);
    reservation_store(reservation, &pasts->opens, 1, 1u << 26);
}

static Past past_after(Past past, const Step *step, IdSets *sets)
{
    past.copies += step->kind == STEP_COPY_START && step->object != NONE;
    if (step->kind == STEP_ENTER)
        past.entered = step->object + 1;
    if (step->kind == STEP_EXIT)
        past.exited = step->object + 1;
    if (step->kind == STEP_ALLOC || step->kind == STEP_FREE)
        past.marks = idsets_with(sets, past.marks, step->kind == STEP_ALLOC ? PAST_OPENED(step->object) : PAST_CLOSED(step->object));
    return past;
}

void pasts_add(Pasts *pasts, const Tree *tree, IdSets *sets)
{
    while (pasts->all.count < tree->nodes.count) {
        uint32_t parent = tree_node(tree, (uint32_t)pasts->all.count)->parent;
        Past *past = store_push(&pasts->all, 1);
        if (parent != NONE)
            *past = past_after(*pasts_of(pasts, parent), &tree_node(tree, parent)->step, sets);
    }
}

bool pasts_note_open(Pasts *pasts, uint32_t decl)
{
    bool fresh = !pasts_opens(pasts, decl);
    if (decl >= pasts->opens.count)
        store_push(&pasts->opens, decl + 1 - pasts->opens.count);
    STORE(uint8_t, &pasts->opens, decl) = 1;
    return fresh;
}

bool pasts_opens(const Pasts *pasts, uint32_t decl)
{
    return decl < pasts->opens.count && STORE(uint8_t, &pasts->opens, decl);
}
