/* worker_row.c - at the start of a level builds the rows of components that are new or have new transitions, or all rows. */
#include "worker_row.h"

void worker_rows_reserve(StateSpace *space, uint32_t core)
{
    SpaceCore *self = space_core(space, core);
    reservation_store(&space->reservation, &self->worker_rows, sizeof(WorkerRow), space->components_max);
    reservation_store(&space->reservation, &self->deltas, sizeof(uint64_t), space->components_max * 8 + DELTAS_AT_ONCE);
    reservation_store(&space->reservation, &self->stale, sizeof(uint32_t), space->components_max * 8);
}

static void build(StateSpace *space, uint32_t core, uint32_t id)
{
    const SpaceCore *self = space_core(space, core);
    const Component *component = space_component(space, core, id);
    const uint64_t *masks = &STORE(uint64_t, &self->masks, (size_t)id * 2 * space->mask_words);
    const unsigned shift = space->layout.field[core].shift;
    WorkerRow *row = &STORE(WorkerRow, &self->worker_rows, id);
    *row = (WorkerRow){.own = masks[0], .rivals = masks[space->mask_words], .need = INT64_MAX, .deltas = component->transitions,
                   .transitions = component->transition_count, .flags = component->watch_count ? ROW_WATCHED : 0};
    uint64_t *delta = &STORE(uint64_t, &self->deltas, component->transitions), guarded = 0;
    for (uint32_t t = 0; t < component->transition_count; t++) {
        const Transition *transition = &STORE(Transition, &self->transitions, component->transitions + t);
        uint64_t step = ((uint64_t)transition->next - id) << shift;
        if (transition->local)
            row->flags |= ROW_LOCAL;
        if (transition->kind == TRANSITION_ALWAYS && transition->next)
            delta[row->always++] = step;
        else if (transition->kind == TRANSITION_GUARDED)
            guarded = step, row->need = transition->need, row->others = transition->others, row->flags |= transition->next ? 0 : ROW_OPEN;
        else if (transition->kind != TRANSITION_JOIN || transition->need)
            row->flags |= ROW_SLOW;
    }
    if (row->need != INT64_MAX)
        delta[row->always] = guarded;
}

void worker_rows_refresh(StateSpace *space)
{
    for (uint32_t core = 0; core < space->cores; core++) {
        SpaceCore *self = space_core(space, core);
        store_push(&self->worker_rows, self->components.count - self->worker_rows.count);
        store_push(&self->deltas, self->transitions.count + DELTAS_AT_ONCE - self->deltas.count);
        for (uint32_t id = 1; space->rows_due && id < self->components.count; id++)
            build(space, core, id);
        for (uint32_t i = 0; !space->rows_due && i < self->stale.count; i++)
            build(space, core, STORE(uint32_t, &self->stale, i));
        store_reset(&self->stale);
    }
    space->rows_due = false;
}
