/* turn.c - is a turn possible in a state, and which state follows: the plain reading of every kind of step, all but the fastest path. */
#include "turn.h"
#include "../../model/counter.h"
#include "component.h"
#include "memory.h"
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

static int64_t flag_value(const Walk *walk, const uint32_t *id, const Gauge *gauge)
{
    return memory_get(walk, gauge->device, id[walk->cores + gauge->device], gauge->slot);
}

bool turn_possible(const Walk *walk, const uint32_t *id, uint32_t core, const Turn *turn)
{
    switch ((TurnHow)turn->how) {
    case TURN_GUARDED:
        return walk_count_others(walk, id, turn->others) >= turn->need;
    case TURN_FLAG: {
        const Step *step = &step_at(walk, core, id[core])->step;
        return !step_blocks(step->kind) || counter_permits(step, flag_value(walk, id, walk_gauge(walk, turn->gauge)));
    }
    case TURN_JOIN:
        return turn->need && all_at_join(walk, id, turn->gauge);
    case TURN_ALWAYS: case TURN_COUNT: case TURN_DATA:
        return true;
    }
    g_assert_not_reached();
}

/* The component after a turn of `from`: the core's own step, which saw `seen`, or a moment of one of its copies, with what that carries. */
static uint32_t make(Walk *walk, uint32_t core, uint32_t from, uint32_t turn, int64_t seen, uint32_t payload)
{
    WalkCore *self = walk_core(walk, core);
    uint32_t node = walk_component(walk, core, from)->node;
    if (STORE(Turn, &self->turns, turn).pending == TURN_CORE)
        node = walk->frozen ? tree_known(&self->tree, node, seen) : tree_after(&self->tree, node, seen);
    return walk->frozen ? component_known(walk, core, turn, node, payload) : component_after(walk, core, from, turn, node, payload);
}

/* What is new for a core is made for all that rotations turn it into: components have the same id there. */
static void go_on(Walk *walk, uint32_t core, uint32_t turn, int64_t seen, uint32_t *out)
{
    const WalkCore *self = walk_core(walk, core);
    size_t edges = self->edges.count, nodes = self->tree.nodes.count;
    uint32_t from = out[core], offset = turn - walk_component(walk, core, from)->turns;
    out[core] = make(walk, core, from, turn, seen, 0);
    bool fresh = self->edges.count != edges || self->tree.nodes.count != nodes;
    if (walk->symmetry == NULL || !fresh || symmetry_why(walk->symmetry) != NULL)
        return;
    for (uint32_t c = symmetry_next_core(walk->symmetry, core); c != core; c = symmetry_next_core(walk->symmetry, c))
        make(walk, c, from, walk_component(walk, c, from)->turns + offset, seen, 0);
}

static void take_join(Walk *walk, const Turn *turn, uint32_t *out)
{
    const Join *join = intern_get(&walk->joins, turn->gauge, NULL);
    for (uint32_t core = join->first; core < join->last; core++)
        if (walk_is_member(walk, join, core))
            go_on(walk, core, walk_component(walk, core, out[core])->turns, TREE_HELD, out);
}

static void take_flag(Walk *walk, uint32_t core, uint32_t turn_index, const Turn *turn, uint32_t *out)
{
    const Step step = step_at(walk, core, out[core])->step;
    const Gauge gauge = *walk_gauge(walk, turn->gauge);
    int64_t before = flag_value(walk, out, &gauge), after = counter_after(&step, before);
    if (step.kind == STEP_FLAG_CAS && errs(walk, ENUMERATE_CANARY_SWAP_IS_BLIND))
        after = (int32_t)step.value;
    bool observes = walk_node(walk, core, out[core])->observes;
    int64_t seen = errs(walk, ENUMERATE_CANARY_FLAG_IS_FIRST) ? memory_get(walk, gauge.device, 1, gauge.slot) : before;
    go_on(walk, core, turn_index, observes ? seen : TREE_HELD, out);
    uint32_t field = walk->cores + gauge.device;
    out[field] = memory_with(walk, gauge.device, out[field], gauge.slot, after);
}

static void take_count(Walk *walk, const uint32_t *id, uint32_t core, uint32_t turn_index, const Turn *turn, uint32_t *out)
{
    const Step *step = &step_at(walk, core, id[core])->step;
    const Gauge *gauge = walk_gauge(walk, turn->gauge);
    int64_t count = gauge->flag ? flag_value(walk, id, gauge) : walk_count(walk, id, turn->gauge);
    if (!gauge->flag && errs(walk, ENUMERATE_CANARY_LOOK_SEES_OWN))
        count -= walk_count_others(walk, id, walk_others_of(walk, turn->gauge, core));
    if (step->kind == STEP_EXPECT_COUNT)
        count = count == (int64_t)step->value || errs(walk, ENUMERATE_CANARY_EXPECTED_HOLDS) ? TREE_HELD : TREE_FAILED;
    go_on(walk, core, turn_index, count, out);
}

static void take_data(Walk *walk, uint32_t core, uint32_t turn_index, const Turn *turn, uint32_t *out)
{
    if (turn->pending != TURN_CORE) {
        Pending pending = component_pendings(walk, core, out[core])[turn->pending];
        const Copy *copy = &tree_step(&walk->core[core].tree, pending.step)->copy;
        uint32_t payload = 0;
        if (turn->step == STEP_READ)
            payload = contents_copy_read(walk, out, copy);
        else
            contents_copy_write(walk, out, copy, pending.payload);
        out[core] = make(walk, core, out[core], turn_index, TREE_HELD, payload);
        return;
    }
    const UnrollStep *step = step_at(walk, core, out[core]);
    int64_t seen = walk_node(walk, core, out[core])->observes ? contents_load(walk, out, step) : TREE_HELD;
    if (step->step.kind != STEP_LOAD)
        contents_store(walk, out, step);
    go_on(walk, core, turn_index, seen, out);
}

bool turn_take(Walk *walk, const uint32_t *id, uint32_t core, uint32_t turn_index, uint32_t *out)
{
    const Turn turn = STORE(Turn, &walk->core[core].turns, turn_index);
    if (!turn_possible(walk, id, core, &turn))
        return false;
    memcpy(out, id, walk->layout.fields * sizeof *out);
    switch ((TurnHow)turn.how) {
    case TURN_ALWAYS: case TURN_GUARDED:
        if (turn.next)
            out[core] = turn.next;
        else
            go_on(walk, core, turn_index, TREE_HELD, out);
        break;
    case TURN_COUNT:
        take_count(walk, id, core, turn_index, &turn, out);
        break;
    case TURN_FLAG:
        take_flag(walk, core, turn_index, &turn, out);
        break;
    case TURN_DATA:
        take_data(walk, core, turn_index, &turn, out);
        break;
    case TURN_JOIN:
        take_join(walk, &turn, out);
        break;
    }
    return true;
}

Move turn_move(const Walk *walk, uint32_t core, uint32_t component, const Turn *turn)
{
    Move move = {.core = core, .copy = NONE};
    if (turn->pending == TURN_CORE)
        return move;
    move.copy = tree_step(&walk->core[core].tree, component_pendings(walk, core, component)[turn->pending].step)->copy.ordinal;
    move.moment = turn->step;
    return move;
}

bool turn_writes(const Walk *walk, uint32_t core, uint32_t component, const Turn *turn, uint32_t *device, uint32_t *slot)
{
    uint32_t object;
    StepKind kind = (StepKind)turn->step;
    if (turn->how == TURN_FLAG && counter_writes_flag(turn->step)) {
        const Gauge *gauge = walk_gauge(walk, turn->gauge);
        *device = gauge->device, *slot = gauge->slot;
        return true;
    }
    if (turn->how != TURN_DATA || (kind != STEP_STORE && kind != STEP_SWAP && kind != STEP_WRITE))
        return false;
    if (turn->pending == TURN_CORE)
        object = step_at(walk, core, component)->step.object;
    else
        object = tree_step(&walk->core[core].tree, component_pendings(walk, core, component)[turn->pending].step)->copy.target;
    *device = program_object_device(walk->program, object), *slot = memory_object_slot((Walk *)walk, object);
    return true;
}

bool turn_ends_loop(const Walk *walk, uint32_t core, const Turn *turn, uint32_t from, uint32_t to)
{
    return turn->pending == TURN_CORE && walk_node(walk, core, from)->position >= walk_node(walk, core, to)->position;
}
