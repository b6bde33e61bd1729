/* lane.c - built when a level begins: those of components that are new or whose turns have become known, or all. */
#include "lane.h"

void lanes_reserve(Walk *walk, uint32_t core)
{
    WalkCore *self = walk_core(walk, core);
    reservation_store(&walk->reservation, &self->lanes, sizeof(Lane), walk->components_max);
    reservation_store(&walk->reservation, &self->deltas, sizeof(uint64_t), walk->components_max * 8 + DELTAS_AT_ONCE);
    reservation_store(&walk->reservation, &self->stale, sizeof(uint32_t), walk->components_max * 8);
}

static void build(Walk *walk, uint32_t core, uint32_t id)
{
    const WalkCore *self = walk_core(walk, core);
    const Component *component = walk_component(walk, core, id);
    const uint64_t *masks = &STORE(uint64_t, &self->masks, (size_t)id * 2 * walk->mask_words);
    const unsigned shift = walk->layout.field[core].shift;
    Lane *lane = &STORE(Lane, &self->lanes, id);
    *lane = (Lane){.own = masks[0], .rivals = masks[walk->mask_words], .need = INT64_MAX, .deltas = component->turns,
                   .turns = component->turn_count, .flags = component->watch_count ? LANE_WATCHED : 0};
    uint64_t *delta = &STORE(uint64_t, &self->deltas, component->turns), guarded = 0;
    for (uint32_t t = 0; t < component->turn_count; t++) {
        const Turn *turn = &STORE(Turn, &self->turns, component->turns + t);
        uint64_t step = ((uint64_t)turn->next - id) << shift;
        if (turn->local)
            lane->flags |= LANE_LOCAL;
        if (turn->how == TURN_ALWAYS && turn->next)
            delta[lane->always++] = step;
        else if (turn->how == TURN_GUARDED)
            guarded = step, lane->need = turn->need, lane->others = turn->others, lane->flags |= turn->next ? 0 : LANE_OPEN;
        else if (turn->how != TURN_JOIN || turn->need)
            lane->flags |= LANE_SLOW;
    }
    if (lane->need != INT64_MAX)
        delta[lane->always] = guarded;
}

void lanes_refresh(Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        WalkCore *self = walk_core(walk, core);
        store_push(&self->lanes, self->components.count - self->lanes.count);
        store_push(&self->deltas, self->turns.count + DELTAS_AT_ONCE - self->deltas.count);
        for (uint32_t id = 1; walk->lanes_due && id < self->components.count; id++)
            build(walk, core, id);
        for (uint32_t i = 0; !walk->lanes_due && i < self->stale.count; i++)
            build(walk, core, STORE(uint32_t, &self->stale, i));
        store_reset(&self->stale);
    }
    walk->lanes_due = false;
}
