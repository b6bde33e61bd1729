/* component.c - collapse compression by construction: the contribution of a core to states is interned, and states are tuples of ids.
 *
 * A component is made when a transition first leads to it; its counts are those of the previous component plus the effect of the
 * transition. They are a function of node and copies under way, so every path to the component must give the same counts:
 * component_assert_sane computes them again from the tree.
 */
#include "component.h"
#include "../../model/counter.h"
#include "../../model/sane.h"
#include "state_counter.h"
#include <string.h>
#include "row.h"
#include "worker_row.h"

void component_init(StateSpace *space, uint32_t core)
{
    SpaceCore *self = space_core(space, core);
    size_t most = space->components_max;
    reservation_intern(&space->reservation, &self->keys, most, most * 64);
    reservation_store(&space->reservation, &self->components, sizeof(Component), most);
    reservation_store(&space->reservation, &self->transitions, sizeof(Transition), most * 8);
    reservation_store(&space->reservation, &self->nexts, sizeof(Next), most * 8);
    reservation_store(&space->reservation, &self->watches, sizeof(Watch), most * 8);
    reservation_store(&space->reservation, &self->edges, sizeof(Edge), most * 8);
    reservation_store(&space->reservation, &self->taken, sizeof(int64_t), most);
    reservation_store(&space->reservation, &self->column_of, sizeof(uint32_t), 1u << 26);
    reservation_store(&space->reservation, &self->masks, sizeof(uint64_t), most * 2);
    worker_rows_reserve(space, core);
    self->columns = 1;
    uint32_t unused = intern_add(&self->keys, "", 0);
    g_assert(unused == 0);
    store_push(&self->components, 1);
}

/* Writes the key of the component after a transition; returns its length in numbers. */
static size_t key_after(const StateSpace *space, uint32_t core, uint32_t from, const Transition *transition, uint32_t node,
                        uint32_t payload, uint32_t *key)
{
    const SpaceCore *self = space_core(space, core);
    const Component *before = space_component(space, core, from);
    const PendingCopy *pendings = space_pendings(space, core, from);
    uint32_t count = before->pendings;
    PendingCopy *to = (PendingCopy *)(void *)(key + 1);
    key[0] = node;
    for (uint32_t i = 0; i < count; i++)
        to[i] = pendings[i];
    if (transition->pending == TRANSITION_CORE) {
        const TreeNode *at = tree_node(&self->tree, before->node);
        if (transition->step == STEP_COPY_START && at->step.object != NONE)
            to[count++] = (PendingCopy){.step = at->unrolled};
    } else if (transition->step == STEP_WRITE) {
        memmove(to + transition->pending, to + transition->pending + 1, (--count - transition->pending) * sizeof *to);
    } else {
        to[transition->pending].phase |= moment_bit((StepKind)transition->step);
        to[transition->pending].payload |= payload;
    }
    return 1 + count * (sizeof *to / sizeof *key);
}

uint32_t component_known(const StateSpace *space, uint32_t core, uint32_t transition, uint32_t node, uint32_t payload)
{
    const SpaceCore *self = space_core(space, core);
    for (uint32_t e = STORE(Transition, &self->transitions, transition).edges; e;) {
        const Edge *edge = &STORE(Edge, &self->edges, e - 1);
        if (space_component(space, core, edge->into)->node == node && edge->payload == payload)
            return edge->into;
        e = edge->other;
    }
    return 0;
}

static void add_edge(StateSpace *space, uint32_t core, uint32_t from, uint32_t index, uint32_t payload, uint32_t into)
{
    SpaceCore *self = space_core(space, core);
    Transition *transition = &STORE(Transition, &self->transitions, index);
    Component *component = space_component(space, core, into);
    if (component_known(space, core, index, component->node, payload))
        return;
    *(Edge *)store_push(&self->edges, 1) = (Edge){.from = from, .transition = index, .into = into, .payload = payload,
                                                  .older = component->edges, .other = transition->edges};
    component->edges = transition->edges = (uint32_t)self->edges.count;
}

static void count_step(const StateSpace *space, uint32_t core, int64_t *sum, uint32_t semaphore, int64_t inc)
{
    if (semaphore == NONE || inc == 0)
        return;
    uint32_t counter = STORE(uint32_t, &space->counter_of, semaphore) - 1;
    sum[STORE(uint32_t, &space->core[core].column_of, counter) - 1] += inc;
}

/* The counts of a component, from its node and its copies under way alone. */
static void assert_counts(const StateSpace *space, uint32_t core, uint32_t id)
{
    const SpaceCore *self = space_core(space, core);
    const Component *component = space_component(space, core, id);
    const PendingCopy *pendings = space_pendings(space, core, id);
    int64_t *sum = g_new0(int64_t, self->columns + 1);
    for (uint32_t node = component->node; tree_node(&self->tree, node)->parent != NONE;) {
        node = tree_node(&self->tree, node)->parent;
        uint32_t at = tree_node(&self->tree, node)->unrolled;
        const UnrollStep *step = tree_step(&self->tree, at);
        count_step(space, core, sum, step->step.object, counter_adds(&step->step));
        if (step->step.kind != STEP_COPY_START || step->step.object == NONE)
            continue;
        unsigned done = MOMENTS_ALL;
        for (uint32_t i = 0; i < component->pendings; i++)
            if (pendings[i].step == at)
                done = pendings[i].phase;
        for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
            if (done & moment_bit(moment))
                count_step(space, core, sum, moment_semaphore(&step->copy, moment), moment_gives(space->fluid, &step->copy, moment));
    }
    for (uint32_t column = 0; column < self->columns; column++)
        g_assert(sum[column] == STORE(int64_t, &self->taken, (size_t)id * self->columns + column));
    g_free(sum);
}

/* Edges into a component come from existing components, by their transitions. */
static void assert_edges(const SpaceCore *self, uint32_t id)
{
    for (uint32_t e = STORE(Component, &self->components, id).edges; e;) {
        const Edge *edge = &STORE(Edge, &self->edges, e - 1);
        const Component *from = &STORE(Component, &self->components, edge->from);
        g_assert(edge->into == id && edge->from > 0 && edge->from < self->components.count);
        g_assert(edge->transition >= from->transitions && edge->transition < from->transitions + from->transition_count);
        g_assert(edge->older < e);
        e = edge->older;
    }
}

void component_assert_sane(const StateSpace *space, uint32_t core, uint32_t id)
{
    const SpaceCore *self = space_core(space, core);
    const Component *component = space_component(space, core, id), *before = space_component(space, core, id - 1);
    g_assert(id >= 1 && self->components.count == intern_count(&self->keys));
    g_assert(self->taken.count == self->components.count * self->columns);
    g_assert(component->transitions == before->transitions + before->transition_count);
    g_assert(component->nexts == before->nexts + before->next_count);
    g_assert(component->watches == before->watches + before->watch_count);
    g_assert(component->transitions + component->transition_count <= self->transitions.count);
    assert_counts(space, core, id);
    assert_edges(self, id);
}

/* Checks the rows of all cores. */
void components_assert_sane(const StateSpace *space)
{
    for (uint32_t core = 0; core < space->cores; core++)
        for (uint32_t id = 1; id < space->core[core].components.count; id++)
            component_assert_sane(space, core, id);
}

static uint32_t effect_wrote(StateSpace *space, uint32_t core, uint32_t from, const Transition *transition)
{
    uint32_t wrote = space_component(space, core, from)->wrote, object, region;
    if (transition->pending != TRANSITION_CORE && transition->step == STEP_WRITE) {
        const Copy *copy = &tree_step(&space->core[core].tree, space_pendings(space, core, from)[transition->pending].step)->copy;
        object = copy->target, region = copy->target_region;
    } else if (transition->pending == TRANSITION_CORE && (transition->step == STEP_STORE || transition->step == STEP_SWAP)) {
        const Step *step = &space_node(space, core, from)->step;
        object = step->object, region = step->value;
    } else {
        return wrote;
    }
    const Decl *decl = program_decl(space->program, program_object_decl(space->program, object));
    if (!decl->opaque || decl->input)
        return wrote;
    return idsets_with(&space->sets, wrote, accesses_add(&space->accesses, core, object, region, true));
}

static void mask_row(StateSpace *space, uint32_t core, uint32_t id)
{
    SpaceCore *self = space_core(space, core);
    const Component *component = space_component(space, core, id);
    uint64_t *own = store_push(&self->masks, 2 * space->mask_words);
    for (uint32_t i = 0; i < component->next_count; i++)
        accesses_mask(&space->accesses, STORE(Next, &self->nexts, component->nexts + i).access, own, own + space->mask_words);
}

void component_masks(StateSpace *space)
{
    uint32_t words = MAX((space->accesses.bits + 63) / 64, 1);
    bool wider = words != space->mask_words;
    space->mask_words = words;
    space->mask_generation = space->accesses.generation;
    space->rows_due = true;
    for (uint32_t core = 0; core < space->cores; core++) {
        Store *masks = &space_core(space, core)->masks;
        if (wider) {
            reservation_give_up(masks);
            reservation_store(&space->reservation, masks, sizeof(uint64_t), space->components_max * 2 * words);
        } else {
            store_reset(masks);
        }
        for (uint32_t id = 0; id < space_core(space, core)->components.count; id++)
            mask_row(space, core, id);
    }
}

static uint32_t depth_after(const StateSpace *space, uint32_t core, uint32_t from, const Transition *transition)
{
    return space_component(space, core, from)->depth + (transition->kind != TRANSITION_JOIN || transition->need);
}

static void note_stale(SpaceCore *self, uint32_t id)
{
    *(uint32_t *)store_push(&self->stale, 1) = id;
}

/* The row of a new component: counts and writes of the previous one, plus the effect of the transition. */
static void build(StateSpace *space, uint32_t core, uint32_t id, uint32_t from, const Transition *transition)
{
    SpaceCore *self = space_core(space, core);
    size_t bytes;
    const uint32_t *key = intern_get(&self->keys, id, &bytes);
    Component *component = store_push(&self->components, 1);
    component->node = key[0];
    component->pendings = (uint16_t)((bytes - sizeof *key) / sizeof(PendingCopy));
    size_t missing = self->components.count * self->columns - self->taken.count;
    if (missing)
        store_push(&self->taken, missing);
    if (transition != NULL) {
        for (uint32_t c = 0; c < self->columns; c++)
            STORE(int64_t, &self->taken, (size_t)id * self->columns + c) = STORE(int64_t, &self->taken, (size_t)from * self->columns + c);
        int64_t inc;
        uint32_t semaphore = row_effect(space, core, from, transition, &inc);
        if (semaphore != NONE) {
            uint32_t column = STORE(uint32_t, &self->column_of, state_counter_of(space, semaphore)) - 1;
            STORE(int64_t, &self->taken, (size_t)id * self->columns + column) += inc;
        }
        component->wrote = effect_wrote(space, core, from, transition);
        component->depth = depth_after(space, core, from, transition);
    }
    row_build(space, core, id);
    note_stale(self, id);
    if (space->mask_generation == space->accesses.generation)     /* else all masks are due */
        mask_row(space, core, id);
}

uint32_t component_start(StateSpace *space, uint32_t core)
{
    uint32_t key = 0, id = intern_add(&space->core[core].keys, &key, sizeof key);
    g_assert(id == 1);
    build(space, core, id, 0, NULL);
    return id;
}

static void note_next(SpaceCore *self, uint32_t from, uint32_t index, uint32_t next)
{
    Transition *transition = &STORE(Transition, &self->transitions, index);
    if (transition->next == 0)
        note_stale(self, from);
    transition->next = next;
}

uint32_t component_after(StateSpace *space, uint32_t core, uint32_t from, uint32_t index, uint32_t node, uint32_t payload)
{
    SpaceCore *self = space_core(space, core);
    Transition transition = STORE(Transition, &self->transitions, index);
    state_counter_scan(space, core);
    uint32_t pendings = space_component(space, core, from)->pendings + 1;
    uint32_t small[1 + 3 * 64], *key = pendings <= 64 ? small : g_new(uint32_t, 1 + 3 * pendings);
    size_t numbers = key_after(space, core, from, &transition, node, payload, key);
    uint32_t id = intern_add(&self->keys, key, numbers * sizeof *key);
    if (key != small)
        g_free(key);
    if (id == self->components.count)
        build(space, core, id, from, &transition);
    else if (space_component(space, core, id)->depth != depth_after(space, core, from, &transition))
        space->uneven = true;
    add_edge(space, core, from, index, payload, id);
    if (transition.kind == TRANSITION_ALWAYS || transition.kind == TRANSITION_GUARDED)
        note_next(self, from, index, id);
    if (!layout_fits(&space->layout, core, id))
        space->repack = true;
    SANE(component_assert_sane(space, core, id));
    return id;
}

