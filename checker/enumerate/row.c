/* row.c - builds a row once, when its component is made. */
#include "row.h"
#include <string.h>
#include "../../model/counter.h"
#include "lives.h"
#include "persistent.h"
#include "state_counter.h"

uint32_t row_effect(const StateSpace *space, uint32_t core, uint32_t id, const Transition *transition, int64_t *inc)
{
    if (transition->pending == TRANSITION_CORE) {
        const Step *step = &space_node(space, core, id)->step;
        *inc = counter_adds(step);
        return *inc ? step->object : NONE;
    }
    const Copy *copy = &tree_step(&space->core[core].tree, space_pendings(space, core, id)[transition->pending].step)->copy;
    *inc = moment_gives(space->fluid, copy, (StepKind)transition->step);
    return moment_semaphore(copy, (StepKind)transition->step);
}

typedef struct RowBuilder {                     /* the component being built */
    StateSpace *space;
    SpaceCore *self;
    Component *component;
    const TreeNode *node;
    uint32_t core, id;
} RowBuilder;

static uint32_t event_of(StateSpace *space, const Place *place)
{
    Place key;
    memset(&key, 0, sizeof key);                /* padding is part of an interned key */
    key.core = place->core, key.position = place->position, key.copy = place->copy, key.kind = place->kind;
    key.site = place->site, key.object = place->object, key.region = place->region, key.launch = place->launch;
    key.label = place->label, key.described = place->described;
    return intern_add(&space->events, &key, sizeof key);
}

static uint32_t step_event(const RowBuilder *b, const Step *step)
{
    bool memory = step_on_memory(step->kind);
    return event_of(b->space, &(Place){.core = b->core, .position = b->node->position, .copy = NONE, .kind = step->kind,
                                      .site = step->site, .launch = step->launch, .region = memory ? step->value : NONE,
                                      .object = memory || step_on_counter(step->kind) ? step->object : NONE});
}

uint32_t row_moment_event(StateSpace *space, uint32_t core, const UnrollStep *start, StepKind moment)
{
    const Copy *copy = &start->copy;
    bool source = moment_at_source(moment);
    return event_of(space, &(Place){.core = core, .position = copy->position, .copy = copy->ordinal, .kind = (uint8_t)moment,
                                   .site = start->step.site, .object = source ? copy->source : copy->target,
                                   .region = source ? copy->source_region : copy->target_region, .launch = start->step.launch,
                                   .label = copy->label, .described = copy->described});
}

static uint32_t add_transition(const RowBuilder *b, Transition transition)
{
    Transition *to = store_push(&b->self->transitions, 1);
    *to = transition;
    b->component->transition_count++;
    return (uint32_t)(b->self->transitions.count - 1);
}

static Watch *add_watch(const RowBuilder *b, WatchKind kind, uint32_t transition, uint32_t event)
{
    Watch *watch = store_push(&b->self->watches, 1);
    *watch = (Watch){.kind = (uint8_t)kind, .transition = transition, .event = event};
    b->component->watch_count++;
    return watch;
}

static void watch_life(const RowBuilder *b, uint32_t transition, uint32_t event, bool is_semaphore, uint32_t object)
{
    if (object == NONE)
        return;
    uint32_t life = is_semaphore ? lives_of_semaphore(b->space, object) : lives_of_object(b->space, object);
    if (lives_depend_on_own_core(b->space, life, b->core)) {
        b->space->lone[b->core] = b->id;        /* only this core's id will be read */
        if (lives_now(b->space, b->space->lone, life, b->core) == 0)
            return;
    }
    Watch *watch = add_watch(b, WATCH_LIFE, transition, event);
    watch->what = life, watch->is_semaphore = is_semaphore, watch->value = object;
}

static void watch_limit(const RowBuilder *b, uint32_t index)
{
    const Transition *transition = &STORE(Transition, &b->self->transitions, index);
    int64_t inc;
    uint32_t semaphore = row_effect(b->space, b->core, b->id, transition, &inc);
    if (semaphore == NONE || inc <= 0)
        return;
    uint32_t counter = state_counter_of(b->space, semaphore);
    if (state_counter_get(b->space, counter)->limit < 0)
        return;
    Watch *watch = add_watch(b, WATCH_LIMIT, index, transition->event);
    watch->what = counter, watch->value = inc;
}

static void add_next(const RowBuilder *b, uint32_t event, uint32_t object, uint32_t region, bool write)
{
    Next *next = store_push(&b->self->nexts, 1);
    *next = (Next){.access = accesses_add(&b->space->accesses, b->core, object, region, write), .event = event};
    b->component->next_count++;
}

static bool is_opaque(const RowBuilder *b, uint32_t object)
{
    return program_decl(b->space->program, program_object_decl(b->space->program, object))->opaque;
}

/* A load from an opaque buffer may come before any write, unless it loads nothing; a write by this core itself rules that out. */
static void watch_load(const RowBuilder *b, uint32_t transition, uint32_t event, const Step *step)
{
    const Decl *decl = program_decl(b->space->program, program_object_decl(b->space->program, step->object));
    bool nothing = step->value == 0 && b->space->options->canary != ENUMERATE_CANARY_NOTHING_IS_UNWRITTEN;
    if (!decl->opaque || decl->input || nothing)
        return;
    uint32_t access = accesses_add(&b->space->accesses, b->core, step->object, step->value, step->kind == STEP_SWAP);
    uint32_t count;
    const uint32_t *wrote = idsets_items(&b->space->sets, b->component->wrote, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses_overlap(&b->space->accesses, wrote[i], access))
            return;
    add_watch(b, WATCH_LOAD, transition, event)->what = access;
}

/* The start of the copy that an annotated wait is meant for, among the steps known so far; NULL: not among them. */
static const UnrollStep *find_copy(const RowBuilder *b, uint32_t ordinal)
{
    const Tree *tree = &b->self->tree;
    for (size_t i = 0; i < tree->steps.count; i++) {
        const UnrollStep *step = tree_step(tree, (uint32_t)i);
        if (step->step.kind == STEP_COPY_START && step->step.object == ordinal)
            return step;
    }
    return NULL;
}

static void watch_mismatch(const RowBuilder *b, uint32_t transition, uint32_t event, const Step *wait)
{
    if (wait->extra == NONE)
        return;
    const PendingCopy *pendings = space_pendings(b->space, b->core, b->id);
    const UnrollStep *start = NULL;
    uint32_t phase = 0;
    for (uint32_t i = 0; i < b->component->pendings; i++)
        if (tree_step(&b->self->tree, pendings[i].step)->step.object == wait->extra)
            start = tree_step(&b->self->tree, pendings[i].step), phase = pendings[i].phase;
    if (start == NULL && wait->extra < pasts_of(&b->self->pasts, b->component->node)->copies)
        return;                                 /* complete */
    if (start == NULL)
        start = find_copy(b, wait->extra);
    if (start == NULL) {                        /* never started */
        Watch *watch = add_watch(b, WATCH_MISMATCH, transition, event);
        watch->what = NONE, watch->value = wait->object;
        return;
    }
    bool for_send = start->copy.send_semaphore == wait->object;
    if (for_send && (phase & moment_bit(STEP_READ)))
        return;
    Watch *watch = add_watch(b, WATCH_MISMATCH, transition, event);
    watch->what = row_moment_event(b->space, b->core, start, for_send ? STEP_READ : STEP_WRITE), watch->value = wait->object;
}

static bool is_alone(const RowBuilder *b, const Step *step)
{
    const Join join = join_of(b->space->program, step);
    return join.last - join.first == 1;
}

static uint32_t add_join(const RowBuilder *b, const Step *step)
{
    const Join join = join_of(b->space->program, step);
    return intern_add(&b->space->joins, &join, sizeof join);
}

static TransitionKind kind_of(const RowBuilder *b, const Step *step)
{
    if (step_has(step->kind, STEP_ON_FLAG))
        return TRANSITION_FLAG;
    if (step_is_semaphore_wait(step->kind))
        return step->value ? TRANSITION_GUARDED : TRANSITION_ALWAYS;
    if (step_on_counter(step->kind))
        return step_is_conflict(step->kind) ? TRANSITION_COUNT : TRANSITION_ALWAYS;
    if (step_on_memory(step->kind))
        return b->space->contents && (b->node->observes || !is_opaque(b, step->object)) ? TRANSITION_DATA : TRANSITION_ALWAYS;
    return step_is_join(step->kind) && !is_alone(b, step) ? TRANSITION_JOIN : TRANSITION_ALWAYS;
}

static void watch_step(const RowBuilder *b, uint32_t transition, uint32_t event, const UnrollStep *from)
{
    const Step *step = &from->step;
    StepKind kind = (StepKind)step->kind;
    if (step_on_counter(kind))
        watch_life(b, transition, event, true, step->object);
    if (step_on_memory(kind))
        watch_life(b, transition, event, false, step->object);
    if (kind == STEP_LOAD || kind == STEP_SWAP)
        watch_load(b, transition, event, step);
    if (kind == STEP_EXIT)
        add_watch(b, WATCH_EXIT, transition, event)->what = step->object;
    if (kind == STEP_FREE && program_decl(b->space->program, step->object)->space == SPACE_SEMAPHORE && !b->space->program->bare)
        add_watch(b, WATCH_FREE, transition, event)->what = step->object;
    if (step_is_semaphore_wait(kind))
        watch_mismatch(b, transition, event, step);
    if (kind == STEP_EXPECT_COUNT)
        add_watch(b, WATCH_EXPECT, transition, event);
    watch_limit(b, transition);
}

/* The component determines what the core itself has added: the rest must come from others. */
static void guard(const RowBuilder *b, Transition *transition, int64_t need)
{
    const Store *columns = &b->self->column_of;
    uint32_t column = transition->counter < columns->count ? STORE(uint32_t, columns, transition->counter) : 0;
    transition->others = state_counter_others(b->space, transition->counter, b->core);
    transition->need = need - (column ? STORE(int64_t, &b->self->taken, (size_t)b->id * b->self->columns + column - 1) : 0);
}

static bool is_first_member(const RowBuilder *b, uint32_t join_id)
{
    const Join *join = intern_get(&b->space->joins, join_id, NULL);
    for (uint32_t core = join->first; core < b->core; core++)
        if (join_has(b->space->program, join, core))
            return false;
    return true;
}

static void add_core_transition(const RowBuilder *b)
{
    if (b->node->unrolled == NONE)
        return;
    const UnrollStep *from = tree_step(&b->self->tree, b->node->unrolled);
    const Step *step = &from->step;
    TransitionKind kind = kind_of(b, step);
    Transition transition = {.kind = (uint8_t)kind, .step = step->kind, .pending = TRANSITION_CORE, .event = step_event(b, step)};
    if (kind == TRANSITION_GUARDED || kind == TRANSITION_COUNT || kind == TRANSITION_FLAG)
        transition.counter = state_counter_of(b->space, step->object);
    if (kind == TRANSITION_GUARDED)
        guard(b, &transition, step->value);
    if (kind == TRANSITION_ALWAYS)
        transition.need = INT64_MIN;
    if (kind == TRANSITION_JOIN) {
        transition.counter = add_join(b, step);
        b->component->join = transition.counter + 1;
        transition.need = is_first_member(b, transition.counter);
    }
    uint32_t index = add_transition(b, transition);
    if (from->raised != NULL || from->fault != FAULT_COUNT)
        add_watch(b, WATCH_FAULT, index, transition.event);
    if (step->kind == STEP_STOP && from->fault == FAULT_COUNT)
        b->space->unknown = true;               /* not a fault of the kernel: misuse of the API, or a look at data outside the state */
    if (kind == TRANSITION_JOIN && !transition.need)
        return;
    if (step_on_memory(step->kind))
        add_next(b, transition.event, step->object, step->value, step->kind != STEP_LOAD);
    uint32_t before = b->component->watch_count;
    watch_step(b, index, transition.event, from);
    bool life_watched = b->component->watch_count > before && step_on_counter(step->kind)
        && STORE(Watch, &b->self->watches, b->component->watches + before).kind == WATCH_LIFE;
    STORE(Transition, &b->self->transitions, index).local = (kind == TRANSITION_ALWAYS || kind == TRANSITION_GUARDED)
        && persistent_step(b->space, step, life_watched);
}

/* Does an earlier copy of the core hold this one back? Copies are in order of start. */
static bool held_back(const RowBuilder *b, const PendingCopy *pendings, uint32_t index, StepKind moment)
{
    DmaOrder order = b->space->program->knobs.dma_order;
    const Copy *copy = &tree_step(&b->self->tree, pendings[index].step)->copy;
    for (uint32_t i = 0; i < index; i++)
        if (moment_held_back(order, &tree_step(&b->self->tree, pendings[i].step)->copy, pendings[i].phase, copy, moment))
            return true;
    return false;
}

static void add_moment(const RowBuilder *b, uint32_t pending, const UnrollStep *start, StepKind moment)
{
    const Copy *copy = &start->copy;
    bool read = moment == STEP_READ, write = moment == STEP_WRITE;
    uint32_t object = read ? copy->source : copy->target;
    bool data = (read || write) && b->space->contents && !is_opaque(b, object);
    uint32_t transition = add_transition(b, (Transition){.kind = data ? TRANSITION_DATA : TRANSITION_ALWAYS, .step = (uint8_t)moment,
                                                         .pending = (uint16_t)pending, .need = INT64_MIN,
                                                         .event = row_moment_event(b->space, b->core, start, moment)});
    uint32_t event = STORE(Transition, &b->self->transitions, transition).event;
    watch_limit(b, transition);
    if (!read && !write)
        return;                                 /* early bytes: the completion misses the same lives, and no other step need come between */
    add_next(b, event, object, read ? copy->source_region : copy->target_region, write);
    watch_life(b, transition, event, false, object);
    watch_life(b, transition, event, true, read ? copy->send_semaphore : copy->receive_semaphore);
}

static void add_copy_transitions(const RowBuilder *b)
{
    const PendingCopy *pendings = space_pendings(b->space, b->core, b->id);
    for (uint32_t i = 0; i < b->component->pendings; i++) {
        const UnrollStep *start = tree_step(&b->self->tree, pendings[i].step);
        unsigned left = moments_of(b->space->fluid, &start->copy) & ~pendings[i].phase;
        for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
            if ((left & moment_bit(moment)) && !(left & moment_needs(moment)) && !held_back(b, pendings, i, moment))
                add_moment(b, i, start, moment);
    }
}

/* Accesses of one core and its copies that are next together. */
static void watch_own_pairs(const RowBuilder *b)
{
    for (uint32_t i = 0; i < b->component->next_count; i++)
        for (uint32_t j = 0; j < i; j++) {
            Next one = STORE(Next, &b->self->nexts, b->component->nexts + j), other = STORE(Next, &b->self->nexts, b->component->nexts + i);
            if (accesses_rivals(&b->space->accesses, one.access, other.access))
                add_watch(b, WATCH_PAIR, NONE, one.event)->what = other.event;
        }
}

void row_build(StateSpace *space, uint32_t core, uint32_t id)
{
    RowBuilder b = {.space = space, .self = space_core(space, core), .component = space_component(space, core, id), .core = core, .id = id};
    b.node = tree_node(&b.self->tree, b.component->node);
    b.component->transitions = (uint32_t)b.self->transitions.count;
    b.component->nexts = (uint32_t)b.self->nexts.count;
    b.component->watches = (uint32_t)b.self->watches.count;
    add_core_transition(&b);
    add_copy_transitions(&b);
    watch_own_pairs(&b);
}
