/* transition.c - is a transition possible in a state, and which state follows: the plain reading of every kind of step, all but the
 * fastest path. */
#include "transition.h"
#include "../../model/counter.h"
#include "component.h"
#include "contents.h"
#include "memory.h"
#include "state_counter.h"
#include "symmetry.h"
#include <string.h>

static const UnrollStep *step_at(const StateSpace *space, uint32_t core, uint32_t id)
{
    return tree_step(&space->core[core].tree, space_node(space, core, id)->unrolled);
}

static bool all_at_join(const StateSpace *space, const uint32_t *id, uint32_t join_id)
{
    const Join *join = intern_get(&space->joins, join_id, NULL);
    for (uint32_t core = join->first; core < join->last; core++)
        if (join_has(space->program, join, core) && space_component(space, core, id[core])->join != join_id + 1)
            return false;
    return true;
}

static bool errs(const StateSpace *space, EnumerateCanary canary)
{
    return G_UNLIKELY(space->options->canary == canary);
}

static int64_t flag_value(const StateSpace *space, const uint32_t *id, const StateCounter *counter)
{
    return memory_get(space, counter->device, id[space->cores + counter->device], counter->slot);
}

bool transition_enabled(const StateSpace *space, const uint32_t *id, uint32_t core, const Transition *transition)
{
    switch ((TransitionKind)transition->kind) {
    case TRANSITION_GUARDED:
        return state_counter_of_others(space, id, transition->others) >= transition->need;
    case TRANSITION_FLAG: {
        const Step *step = &step_at(space, core, id[core])->step;
        return !step_blocks(step->kind) || counter_permits(step, flag_value(space, id, state_counter_get(space, transition->counter)));
    }
    case TRANSITION_JOIN:
        return transition->need && all_at_join(space, id, transition->counter);
    case TRANSITION_ALWAYS: case TRANSITION_COUNT: case TRANSITION_DATA:
        return true;
    }
    g_assert_not_reached();
}

/* The component after a transition of `from`: the core's own step, which observed `seen`, or a moment of one of its copies, with its
 * payload. */
static uint32_t make(StateSpace *space, uint32_t core, uint32_t from, uint32_t transition, int64_t seen, uint32_t payload)
{
    SpaceCore *self = space_core(space, core);
    uint32_t node = space_component(space, core, from)->node;
    if (STORE(Transition, &self->transitions, transition).pending == TRANSITION_CORE)
        node = space->frozen ? tree_known(&self->tree, node, seen) : tree_after(&self->tree, node, seen);
    return space->frozen ? component_known(space, core, transition, node, payload)
                        : component_after(space, core, from, transition, node, payload);
}

/* Makes a new component for all cores of the orbit, so that it has the same id on each. */
static void go_on(StateSpace *space, uint32_t core, uint32_t transition, int64_t seen, uint32_t *out)
{
    const SpaceCore *self = space_core(space, core);
    size_t edges = self->edges.count, nodes = self->tree.nodes.count;
    uint32_t from = out[core], offset = transition - space_component(space, core, from)->transitions;
    out[core] = make(space, core, from, transition, seen, 0);
    bool fresh = self->edges.count != edges || self->tree.nodes.count != nodes;
    if (space->symmetry == NULL || !fresh || symmetry_why(space->symmetry) != NULL)
        return;
    for (uint32_t c = symmetry_next_core(space->symmetry, core); c != core; c = symmetry_next_core(space->symmetry, c))
        make(space, c, from, space_component(space, c, from)->transitions + offset, seen, 0);
}

static void take_join(StateSpace *space, const Transition *transition, uint32_t *out)
{
    const Join *join = intern_get(&space->joins, transition->counter, NULL);
    for (uint32_t core = join->first; core < join->last; core++)
        if (join_has(space->program, join, core))
            go_on(space, core, space_component(space, core, out[core])->transitions, TREE_HELD, out);
}

static void take_flag(StateSpace *space, uint32_t core, uint32_t index, const Transition *transition, uint32_t *out)
{
    const Step step = step_at(space, core, out[core])->step;
    const StateCounter counter = *state_counter_get(space, transition->counter);
    int64_t before = flag_value(space, out, &counter), after = counter_after(&step, before);
    if (step.kind == STEP_FLAG_CAS && errs(space, ENUMERATE_CANARY_SWAP_IS_BLIND))
        after = (int32_t)step.value;
    bool observes = space_node(space, core, out[core])->observes;
    int64_t seen = errs(space, ENUMERATE_CANARY_FLAG_IS_FIRST) ? memory_get(space, counter.device, 1, counter.slot) : before;
    go_on(space, core, index, observes ? seen : TREE_HELD, out);
    uint32_t field = space->cores + counter.device;
    out[field] = memory_with(space, counter.device, out[field], counter.slot, after);
}

static void take_count(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t index, const Transition *transition, uint32_t *out)
{
    const Step *step = &step_at(space, core, id[core])->step;
    const StateCounter *counter = state_counter_get(space, transition->counter);
    int64_t count = counter->flag ? flag_value(space, id, counter) : state_counter_value(space, id, transition->counter);
    if (!counter->flag && errs(space, ENUMERATE_CANARY_LOOK_SEES_OWN))
        count -= state_counter_of_others(space, id, state_counter_others(space, transition->counter, core));
    if (step->kind == STEP_EXPECT_COUNT)
        count = count == (int64_t)step->value || errs(space, ENUMERATE_CANARY_EXPECTED_HOLDS) ? TREE_HELD : TREE_FAILED;
    go_on(space, core, index, count, out);
}

static void take_data(StateSpace *space, uint32_t core, uint32_t index, const Transition *transition, uint32_t *out)
{
    if (transition->pending != TRANSITION_CORE) {
        PendingCopy pending = space_pendings(space, core, out[core])[transition->pending];
        const Copy *copy = &tree_step(&space->core[core].tree, pending.step)->copy;
        uint32_t payload = 0;
        if (transition->step == STEP_READ)
            payload = contents_copy_read(space, out, copy);
        else
            contents_copy_write(space, out, copy, pending.payload);
        out[core] = make(space, core, out[core], index, TREE_HELD, payload);
        return;
    }
    const UnrollStep *step = step_at(space, core, out[core]);
    int64_t seen = space_node(space, core, out[core])->observes ? contents_load(space, out, step) : TREE_HELD;
    if (step->step.kind != STEP_LOAD)
        contents_store(space, out, step);
    go_on(space, core, index, seen, out);
}

bool transition_take(StateSpace *space, const uint32_t *id, uint32_t core, uint32_t index, uint32_t *out)
{
    const Transition transition = *space_transition(space, core, index);
    if (!transition_enabled(space, id, core, &transition))
        return false;
    memcpy(out, id, space->layout.fields * sizeof *out);
    switch ((TransitionKind)transition.kind) {
    case TRANSITION_ALWAYS: case TRANSITION_GUARDED:
        if (transition.next)
            out[core] = transition.next;
        else
            go_on(space, core, index, TREE_HELD, out);
        break;
    case TRANSITION_COUNT:
        take_count(space, id, core, index, &transition, out);
        break;
    case TRANSITION_FLAG:
        take_flag(space, core, index, &transition, out);
        break;
    case TRANSITION_DATA:
        take_data(space, core, index, &transition, out);
        break;
    case TRANSITION_JOIN:
        take_join(space, &transition, out);
        break;
    }
    return true;
}

bool transition_take_known(const StateSpace *space, const uint32_t *id, uint32_t core, uint32_t index, uint32_t *out)
{
    g_assert(space->frozen);
    return transition_take((StateSpace *)space, id, core, index, out);  /* that is what `frozen` means */
}

Move transition_move(const StateSpace *space, uint32_t core, uint32_t component, const Transition *transition)
{
    Move move = {.core = core, .copy = NONE};
    if (transition->pending == TRANSITION_CORE)
        return move;
    move.copy = tree_step(&space->core[core].tree, space_pendings(space, core, component)[transition->pending].step)->copy.ordinal;
    move.moment = transition->step;
    return move;
}

bool transition_writes(const StateSpace *space, uint32_t core, uint32_t component, const Transition *transition, uint32_t *device,
                       uint32_t *slot)
{
    uint32_t object;
    StepKind kind = (StepKind)transition->step;
    if (transition->kind == TRANSITION_FLAG && counter_writes_flag(transition->step)) {
        const StateCounter *counter = state_counter_get(space, transition->counter);
        *device = counter->device, *slot = counter->slot;
        return true;
    }
    if (transition->kind != TRANSITION_DATA || (kind != STEP_STORE && kind != STEP_SWAP && kind != STEP_WRITE))
        return false;
    if (transition->pending == TRANSITION_CORE)
        object = step_at(space, core, component)->step.object;
    else
        object = tree_step(&space->core[core].tree, space_pendings(space, core, component)[transition->pending].step)->copy.target;
    *device = program_object_device(space->program, object), *slot = memory_object_slot((StateSpace *)space, object);
    return true;
}

bool transition_ends_loop(const StateSpace *space, uint32_t core, const Transition *transition, uint32_t from, uint32_t to)
{
    return transition->pending == TRANSITION_CORE && space_node(space, core, from)->position >= space_node(space, core, to)->position;
}
