/* worker_row.c - built when a level begins: those of components that are new or whose transitions have become known, or all. */
#include "worker_row.h"

void worker_rows_reserve(Walk *walk, uint32_t core)
{
    WalkCore *self = walk_core(walk, core);
    reservation_store(&walk->reservation, &self->worker_rows, sizeof(WorkerRow), walk->components_max);
    reservation_store(&walk->reservation, &self->deltas, sizeof(uint64_t), walk->components_max * 8 + DELTAS_AT_ONCE);
    reservation_store(&walk->reservation, &self->stale, sizeof(uint32_t), walk->components_max * 8);
}

static void build(Walk *walk, uint32_t core, uint32_t id)
{
    const WalkCore *self = walk_core(walk, core);
    const Component *component = walk_component(walk, core, id);
    const uint64_t *masks = &STORE(uint64_t, &self->masks, (size_t)id * 2 * walk->mask_words);
    const unsigned shift = walk->layout.field[core].shift;
    WorkerRow *row = &STORE(WorkerRow, &self->worker_rows, id);
    *row = (WorkerRow){.own = masks[0], .rivals = masks[walk->mask_words], .need = INT64_MAX, .deltas = component->transitions,
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

void worker_rows_refresh(Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        WalkCore *self = walk_core(walk, core);
        store_push(&self->worker_rows, self->components.count - self->worker_rows.count);
        store_push(&self->deltas, self->transitions.count + DELTAS_AT_ONCE - self->deltas.count);
        for (uint32_t id = 1; walk->rows_due && id < self->components.count; id++)
            build(walk, core, id);
        for (uint32_t i = 0; !walk->rows_due && i < self->stale.count; i++)
            build(walk, core, STORE(uint32_t, &self->stale, i));
        store_reset(&self->stale);
    }
    walk->rows_due = false;
}
