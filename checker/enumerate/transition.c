/* transition.c - is a transition possible in a state, and which state follows: the plain reading of every kind of step, all but the
 * fastest path. */
#include "transition.h"
#include "../../model/counter.h"
#include "component.h"
#include "memory.h"
#include "state_counter.h"
#include "symmetry.h"
#include <string.h>

bool walk_is_member(const Walk *walk, const Join *join, uint32_t core)
{
    if (core < join->first || core >= join->last)
        return false;
    return join->kind != STEP_ENTER || program_launch_on_device(walk->program, join->object, core / walk->program->cores_per_device);
}

static const UnrollStep *step_at(const Walk *walk, uint32_t core, uint32_t id)
{
    return tree_step(&walk->core[core].tree, walk_node(walk, core, id)->step);
}

static bool all_at_join(const Walk *walk, const uint32_t *id, uint32_t join_id)
{
    const Join *join = intern_get(&walk->joins, join_id, NULL);
    for (uint32_t core = join->first; core < join->last; core++)
        if (walk_is_member(walk, join, core) && walk_component(walk, core, id[core])->join != join_id + 1)
            return false;
    return true;
}

static bool errs(const Walk *walk, EnumerateCanary canary)
{
    return G_UNLIKELY(walk->options->canary == canary);
}

static int64_t flag_value(const Walk *walk, const uint32_t *id, const StateCounter *counter)
{
    return memory_get(walk, counter->device, id[walk->cores + counter->device], counter->slot);
}

bool transition_enabled(const Walk *walk, const uint32_t *id, uint32_t core, const Transition *transition)
{
    switch ((TransitionKind)transition->kind) {
    case TRANSITION_GUARDED:
        return state_counter_of_others(walk, id, transition->others) >= transition->need;
    case TRANSITION_FLAG: {
        const Step *step = &step_at(walk, core, id[core])->step;
        return !step_blocks(step->kind) || counter_permits(step, flag_value(walk, id, state_counter_get(walk, transition->counter)));
    }
    case TRANSITION_JOIN:
        return transition->need && all_at_join(walk, id, transition->counter);
    case TRANSITION_ALWAYS: case TRANSITION_COUNT: case TRANSITION_DATA:
        return true;
    }
    g_assert_not_reached();
}

/* The component after a transition of `from`: the core's own step, which saw `seen`, or a moment of one of its copies, with what that
 * carries. */
static uint32_t make(Walk *walk, uint32_t core, uint32_t from, uint32_t transition, int64_t seen, uint32_t payload)
{
    WalkCore *self = walk_core(walk, core);
    uint32_t node = walk_component(walk, core, from)->node;
    if (STORE(Transition, &self->transitions, transition).pending == TRANSITION_CORE)
        node = walk->frozen ? tree_known(&self->tree, node, seen) : tree_after(&self->tree, node, seen);
    return walk->frozen ? component_known(walk, core, transition, node, payload)
                        : component_after(walk, core, from, transition, node, payload);
}

/* What is new for a core is made for all that rotations turn it into: components have the same id there. */
static void go_on(Walk *walk, uint32_t core, uint32_t transition, int64_t seen, uint32_t *out)
{
    const WalkCore *self = walk_core(walk, core);
    size_t edges = self->edges.count, nodes = self->tree.nodes.count;
    uint32_t from = out[core], offset = transition - walk_component(walk, core, from)->transitions;
    out[core] = make(walk, core, from, transition, seen, 0);
    bool fresh = self->edges.count != edges || self->tree.nodes.count != nodes;
    if (walk->symmetry == NULL || !fresh || symmetry_why(walk->symmetry) != NULL)
        return;
    for (uint32_t c = symmetry_next_core(walk->symmetry, core); c != core; c = symmetry_next_core(walk->symmetry, c))
        make(walk, c, from, walk_component(walk, c, from)->transitions + offset, seen, 0);
}

static void take_join(Walk *walk, const Transition *transition, uint32_t *out)
{
    const Join *join = intern_get(&walk->joins, transition->counter, NULL);
    for (uint32_t core = join->first; core < join->last; core++)
        if (walk_is_member(walk, join, core))
            go_on(walk, core, walk_component(walk, core, out[core])->transitions, TREE_HELD, out);
}

static void take_flag(Walk *walk, uint32_t core, uint32_t index, const Transition *transition, uint32_t *out)
{
    const Step step = step_at(walk, core, out[core])->step;
    const StateCounter counter = *state_counter_get(walk, transition->counter);
    int64_t before = flag_value(walk, out, &counter), after = counter_after(&step, before);
    if (step.kind == STEP_FLAG_CAS && errs(walk, ENUMERATE_CANARY_SWAP_IS_BLIND))
        after = (int32_t)step.value;
    bool observes = walk_node(walk, core, out[core])->observes;
    int64_t seen = errs(walk, ENUMERATE_CANARY_FLAG_IS_FIRST) ? memory_get(walk, counter.device, 1, counter.slot) : before;
    go_on(walk, core, index, observes ? seen : TREE_HELD, out);
    uint32_t field = walk->cores + counter.device;
    out[field] = memory_with(walk, counter.device, out[field], counter.slot, after);
}

static void take_count(Walk *walk, const uint32_t *id, uint32_t core, uint32_t index, const Transition *transition, uint32_t *out)
{
    const Step *step = &step_at(walk, core, id[core])->step;
    const StateCounter *counter = state_counter_get(walk, transition->counter);
    int64_t count = counter->flag ? flag_value(walk, id, counter) : state_counter_value(walk, id, transition->counter);
    if (!counter->flag && errs(walk, ENUMERATE_CANARY_LOOK_SEES_OWN))
        count -= state_counter_of_others(walk, id, state_counter_others(walk, transition->counter, core));
    if (step->kind == STEP_EXPECT_COUNT)
        count = count == (int64_t)step->value || errs(walk, ENUMERATE_CANARY_EXPECTED_HOLDS) ? TREE_HELD : TREE_FAILED;
    go_on(walk, core, index, count, out);
}

static void take_data(Walk *walk, uint32_t core, uint32_t index, const Transition *transition, uint32_t *out)
{
    if (transition->pending != TRANSITION_CORE) {
        Pending pending = component_pendings(walk, core, out[core])[transition->pending];
        const Copy *copy = &tree_step(&walk->core[core].tree, pending.step)->copy;
        uint32_t payload = 0;
        if (transition->step == STEP_READ)
            payload = contents_copy_read(walk, out, copy);
        else
            contents_copy_write(walk, out, copy, pending.payload);
        out[core] = make(walk, core, out[core], index, TREE_HELD, payload);
        return;
    }
    const UnrollStep *step = step_at(walk, core, out[core]);
    int64_t seen = walk_node(walk, core, out[core])->observes ? contents_load(walk, out, step) : TREE_HELD;
    if (step->step.kind != STEP_LOAD)
        contents_store(walk, out, step);
    go_on(walk, core, index, seen, out);
}

bool transition_take(Walk *walk, const uint32_t *id, uint32_t core, uint32_t index, uint32_t *out)
{
    const Transition transition = STORE(Transition, &walk->core[core].transitions, index);
    if (!transition_enabled(walk, id, core, &transition))
        return false;
    memcpy(out, id, walk->layout.fields * sizeof *out);
    switch ((TransitionKind)transition.kind) {
    case TRANSITION_ALWAYS: case TRANSITION_GUARDED:
        if (transition.next)
            out[core] = transition.next;
        else
            go_on(walk, core, index, TREE_HELD, out);
        break;
    case TRANSITION_COUNT:
        take_count(walk, id, core, index, &transition, out);
        break;
    case TRANSITION_FLAG:
        take_flag(walk, core, index, &transition, out);
        break;
    case TRANSITION_DATA:
        take_data(walk, core, index, &transition, out);
        break;
    case TRANSITION_JOIN:
        take_join(walk, &transition, out);
        break;
    }
    return true;
}

Move transition_move(const Walk *walk, uint32_t core, uint32_t component, const Transition *transition)
{
    Move move = {.core = core, .copy = NONE};
    if (transition->pending == TRANSITION_CORE)
        return move;
    move.copy = tree_step(&walk->core[core].tree, component_pendings(walk, core, component)[transition->pending].step)->copy.ordinal;
    move.moment = transition->step;
    return move;
}

bool transition_writes(const Walk *walk, uint32_t core, uint32_t component, const Transition *transition, uint32_t *device, uint32_t *slot)
{
    uint32_t object;
    StepKind kind = (StepKind)transition->step;
    if (transition->kind == TRANSITION_FLAG && counter_writes_flag(transition->step)) {
        const StateCounter *counter = state_counter_get(walk, transition->counter);
        *device = counter->device, *slot = counter->slot;
        return true;
    }
    if (transition->kind != TRANSITION_DATA || (kind != STEP_STORE && kind != STEP_SWAP && kind != STEP_WRITE))
        return false;
    if (transition->pending == TRANSITION_CORE)
        object = step_at(walk, core, component)->step.object;
    else
        object = tree_step(&walk->core[core].tree, component_pendings(walk, core, component)[transition->pending].step)->copy.target;
    *device = program_object_device(walk->program, object), *slot = memory_object_slot((Walk *)walk, object);
    return true;
}

bool transition_ends_loop(const Walk *walk, uint32_t core, const Transition *transition, uint32_t from, uint32_t to)
{
    return transition->pending == TRANSITION_CORE && walk_node(walk, core, from)->position >= walk_node(walk, core, to)->position;
}
