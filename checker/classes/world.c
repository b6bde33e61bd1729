/* world.c - cores' own steps: what is free of conflict at once, the rest when somebody chooses it; each logged so that it can be undone. */
#include "world.h"
#include "../../model/counter.h"
#include <string.h>

enum { RECENT = 256 };
typedef struct Recent { int64_t seen; uint32_t stage, after; } Recent;

World *world_new(Shared *shared)
{
    World *world = g_new0(World, 1);
    const Program *program = shared->program;
    world->program = program, world->shared = shared, world->tree = &shared->unrolled, world->usage = &shared->usage;
    world->data = world->tree->contents ? data_new(shared->program, shared->tiles) : NULL;
    world->stage = g_new0(uint32_t, program->cores);
    world->last = g_new0(uint32_t, program->cores);
    world->doze = g_new0(uint32_t, program->cores);
    world->tangled = g_new0(uint8_t, program->cores);
    world->pending = g_new0(uint64_t, program->cores / 64 + 1);
    world->recent = g_new(Recent, RECENT);
    for (unsigned i = 0; i < RECENT; i++)
        world->recent[i].stage = NONE;
    world->queue = g_new0(uint32_t, program->cores + 1);
    world->queued = g_new0(uint8_t, program->cores);
    world->flights = g_array_new(FALSE, FALSE, sizeof(Flight));
    world->watches = g_array_new(FALSE, FALSE, sizeof(Watch));
    return world;
}

void world_free(World *world)
{
    data_free(world->data);
    g_free(world->stage);
    g_free(world->last);
    g_free(world->doze);
    g_free(world->tangled);
    g_free(world->pending);
    g_free(world->recent);
    g_free(world->queue);
    g_free(world->queued);
    g_free(world->value);
    g_free(world->version);
    g_free(world->others);
    g_free(world->deed);
    g_free(world->flight_of);
    g_array_free(world->flights, TRUE);
    g_array_free(world->watches, TRUE);
    g_free(world);
}

/* Steps seen for the first time may name semaphores that did not exist before. */
static void fit(World *world)
{
    g_mutex_lock(&world->shared->lock);
    uint32_t now = world->program->semaphores;
    world->value = g_renew(int64_t, world->value, now + 1);
    world->version = g_renew(uint32_t, world->version, now + 1);
    world->others = g_renew(int64_t, world->others, now + 1);
    for (uint32_t s = world->semaphores; s < now; s++) {
        const Decl *decl = program_decl(world->program, program_semaphore_decl(world->program, s));
        world->value[s] = decl->semaphore_kind == SEMAPHORE_FLAG ? decl->initial : 0;
        world->version[s] = 0;
        world->others[s] = 0;
    }
    world->semaphores = now;
    g_mutex_unlock(&world->shared->lock);
}

int64_t world_value(World *world, uint32_t object)
{
    if (G_UNLIKELY(object >= world->semaphores))
        fit(world);
    return world->value[object];
}

static void queue_core(World *world, uint32_t core)
{
    if (world->queued[core])
        return;
    world->queued[core] = 1;
    world->queue[world->tail] = core;
    world->tail = world->tail == world->program->cores ? 0 : world->tail + 1;
}

Deed *world_log(World *world, uint32_t core, StepKind kind, uint32_t stage)
{
    if (G_UNLIKELY(world->deeds == world->deeds_max)) {
        world->deeds_max = MAX(world->deeds_max * 2, 256);
        world->deed = g_renew(Deed, world->deed, world->deeds_max);
    }
    Deed *deed = &world->deed[world->deeds++];
    deed->core = core, deed->kind = (uint8_t)kind, deed->stage = stage, deed->object = NONE;
    deed->bumped = deed->foreign = false;
    deed->watches = world->watches->len;
    deed->written = world->data ? data_mark(world->data) : 0;
    return deed;
}

static void change_value(World *world, Deed *deed, uint32_t object, int64_t value)
{
    deed->object = object, deed->before = world_value(world, object);
    world->value[object] = value;
    if (usage_of(world->usage, object)->contended) {
        world->version[object]++;
        deed->bumped = true;
    }
}

void world_add(World *world, Deed *deed, uint32_t object, int64_t inc, bool own)
{
    const Use *use = usage_of(world->usage, object);
    change_value(world, deed, object, world_value(world, object) + inc);
    deed->foreign = world->begun && !own;
    world->others[object] += deed->foreign ? inc : 0;
    for (uint32_t at = use->contended ? 0 : use->waiters; at != 0; at = STORE(Waiter, &world->usage->waiters, at - 1).next)
        queue_core(world, STORE(Waiter, &world->usage->waiters, at - 1).core);
}

/* The core came back to an earlier stage: it sleeps there until one of the things that it saw on the way changes. */
static void doze(World *world, uint32_t core, uint32_t stage)
{
    uint32_t list = 0;
    for (uint32_t at = world->last[core]; at != 0; at = world->deed[at - 1].older) {
        const Deed *deed = &world->deed[at - 1];
        const Step *step = &tree_node(world->tree, deed->stage)->step;
        bool load = step->kind == STEP_LOAD || step->kind == STEP_SWAP;
        if (step_on_counter(step->kind) || (load && world->data != NULL)) {
            Watch watch = { load ? NONE : step->object, (uint32_t)deed->before, list };
            g_array_append_val(world->watches, watch);
            list = world->watches->len;
        }
        if (deed->stage == stage)
            break;
    }
    world->doze[core] = list;
}

static bool changed_since(const World *world, uint32_t list)
{
    for (; list != 0; list = g_array_index(world->watches, Watch, list - 1).next) {
        const Watch *watch = &g_array_index(world->watches, Watch, list - 1);
        if ((watch->object == NONE ? data_mark(world->data) : world->version[watch->object]) != watch->version)
            return true;
    }
    return false;
}

/* Lists of outcomes may be long. */
static uint32_t stage_after(World *world, uint32_t stage, int64_t seen)
{
    if (!tree_node(world->tree, stage)->observes)
        return tree_after(world->tree, stage, seen);
    Recent *recent = &world->recent[(stage * 5 + (uint32_t)seen) % RECENT];
    if (recent->stage != stage || recent->seen != seen)
        *recent = (Recent){ seen, stage, tree_after(world->tree, stage, seen) };
    return recent->after;
}

static bool is_pending(const World *world, uint32_t core)
{
    return world->pending[core / 64] >> core % 64 & 1;
}

static void set_pending(World *world, uint32_t core, bool pending)
{
    world->pending[core / 64] = (world->pending[core / 64] & ~(UINT64_C(1) << core % 64)) | (uint64_t)pending << core % 64;
}

static void stand_at(World *world, uint32_t core, uint32_t stage)
{
    const TreeNode *at = tree_node(world->tree, stage);
    world->stage[core] = stage;
    bool counter = at->end == TREE_GOES_ON && step_on_counter(at->step.kind);
    set_pending(world, core, counter && usage_of(world->usage, at->step.object)->contended);
}

/* Logs the core's step and moves it on. */
static Deed *step_on(World *world, uint32_t core, int64_t seen)
{
    uint32_t stage = world->stage[core];
    const TreeNode *at = tree_node(world->tree, stage);
    Deed *deed = world_log(world, core, (StepKind)at->step.kind, stage);
    deed->older = world->last[core], deed->doze = world->doze[core], deed->tangled = world->tangled[core];
    deed->pending = is_pending(world, core);
    world->last[core] = (uint32_t)world->deeds;
    world->doze[core] = 0;
    stand_at(world, core, stage_after(world, stage, seen));
    return deed;
}

/* After its deed is complete: did the step close a loop? */
static void note_loop(World *world, uint32_t core, uint32_t from)
{
    if (tree_node(world->tree, world->stage[core])->position <= tree_node(world->tree, from)->position) {
        doze(world, core, world->stage[core]);
        world->tangled[core] = 1;
    }
}

static bool is_member(const World *world, uint32_t core, const Step *join)
{
    uint32_t device = core / world->program->cores_per_device;
    return join->kind == STEP_CORE_BARRIER || program_launch_on_device(world->program, join->object, device);
}

static bool do_join(World *world, uint32_t core)
{
    const Step join = tree_node(world->tree, world->stage[core])->step;
    uint32_t per = world->program->cores_per_device, first = core / per * per, last = first + per, members = 0;
    if (join.kind == STEP_ENTER && program_launch(world->program, join.object)->entry_barrier)
        first = 0, last = world->program->cores;
    for (uint32_t c = first; c < last; c++) {
        const TreeNode *other = tree_node(world->tree, world->stage[c]);
        if (!is_member(world, c, &join))
            continue;
        if (other->end != TREE_GOES_ON || other->step.kind != join.kind || other->step.object != join.object)
            return false;
        members++;
    }
    for (uint32_t c = first; c < last; c++)
        if (is_member(world, c, &join)) {
            step_on(world, c, 0);
            world->tangled[c] |= world->begun && members > 1;
            if (c != core)
                queue_core(world, c);
        }
    return true;
}

/* An access where contents are computed. */
static void do_data(World *world, uint32_t core)
{
    uint32_t stage = world->stage[core];
    const UnrollStep *step = tree_unrolled(world->tree, stage);
    bool observes = tree_node(world->tree, stage)->observes;
    uint32_t mark = data_mark(world->data), tile = observes ? data_load(world->data, step) : 0;
    if (step->step.kind != STEP_LOAD)
        data_store(world->data, step);
    Deed *deed = step_on(world, core, tile);
    deed->written = mark;
    deed->before = (int64_t)mark;
    note_loop(world, core, stage);
}

/* A step on an object without conflicts. False: not possible now. */
static bool do_free_object(World *world, uint32_t core)
{
    const Step *step = &tree_node(world->tree, world->stage[core])->step;
    int64_t value = world_value(world, step->object);
    bool blocks = step_blocks(step->kind);
    if (blocks && !world_holds(world, world->stage[core], value))
        return false;
    bool own = usage_of(world->usage, step->object)->owner == core;
    bool alone = own && blocks && world_holds(world, world->stage[core], value - world->others[step->object]);
    Deed *deed = step_on(world, core, 0);
    deed->before = 0;
    if (step->kind == STEP_WAIT && step->value > 0)
        change_value(world, deed, step->object, value - step->value);
    else if (step->kind == STEP_SIGNAL)
        world_add(world, deed, step->object, step->value, own);
    else if (step->kind == STEP_FLAG_ADD)
        world_add(world, deed, step->object, (int32_t)step->value, own);
    world->tangled[core] |= blocks && !alone && world->begun;
    return true;
}

/* One step of the core, if it is possible and free of conflict. */
static bool act(World *world, uint32_t core)
{
    uint32_t stage = world->stage[core];
    const TreeNode *at = tree_node(world->tree, stage);
    if (at->end != TREE_GOES_ON || (world->doze[core] != 0 && !changed_since(world, world->doze[core])))
        return false;
    const Step *step = &at->step;
    if (step_on_counter(step->kind))                    /* what is only to be contended waits for the next search */
        return !usage_of(world->usage, step->object)->contended && !usage_needs_order(step) && do_free_object(world, core);
    if (step_is_join(step->kind))
        return do_join(world, core);
    if (step->kind == STEP_COPY_START && step->object != NONE) {
        step_on(world, core, 0);
        flight_start(world, core, stage);
    } else if (world->data != NULL && (step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP)) {
        do_data(world, core);
    } else {
        step_on(world, core, 0);
        note_loop(world, core, stage);
    }
    return true;
}

/* Cores that poll memory are not told of each write: they are asked again when nothing else moves. */
static void wake_readers(World *world)
{
    for (uint32_t c = 0; world->data != NULL && c < world->program->cores; c++) {
        const TreeNode *at = tree_node(world->tree, world->stage[c]);
        if (world->doze[c] != 0 && at->end == TREE_GOES_ON && !step_on_counter(at->step.kind) && changed_since(world, world->doze[c]))
            queue_core(world, c);
    }
}

static void settle(World *world)
{
    do {
        while (world->head != world->tail) {
            uint32_t core = world->queue[world->head];
            world->head = world->head == world->program->cores ? 0 : world->head + 1;
            world->queued[core] = 0;
            while (act(world, core))
                ;
        }
        if (world->flights_changed)
            flight_run(world);
        if (world->head == world->tail)
            wake_readers(world);
    } while (world->head != world->tail);
}

void world_begin(World *world)
{
    g_assert(world->deeds == 0);
    fit(world);
    world->begun = false;
    for (uint32_t c = 0; c < world->program->cores; c++) {
        stand_at(world, c, world->shared->start[c]);
        world->last[c] = world->doze[c] = 0;
        world->tangled[c] = 0;
        queue_core(world, c);
    }
    settle(world);
    world->begun = true;
}

bool world_holds(World *world, uint32_t stage, int64_t value)
{
    const TreeNode *at = tree_node(world->tree, stage);
    const Step *step = &at->step;
    if (step_is_wait(step->kind))
        return counter_permits(step, value);
    bool look = step_learns(step) && dependence_manner(step, value) == MANNER_LOOK;
    return !look || world->tree->source->same == NULL || stage_after(world, stage, value) != stage;
}

static bool is_poll(const World *world, const TreeNode *at)
{
    return at->observes && usage_polls(world->usage, at->step.site);
}

bool world_may_turn(const World *world, uint32_t stage)
{
    const TreeNode *at = tree_node(world->tree, stage);
    return at->step.kind == STEP_FLAG_WAIT || is_poll(world, at);
}

bool world_may_block(const World *world, uint32_t stage)
{
    const TreeNode *at = tree_node(world->tree, stage);
    return step_blocks(at->step.kind) || is_poll(world, at);
}

Manner world_manner(const World *world, uint32_t stage, int64_t value)
{
    const Step *step = &tree_node(world->tree, stage)->step;
    Manner manner = dependence_manner(step, value);
    return manner == MANNER_ADD && usage_of(world->usage, step->object)->ordered ? MANNER_REST : manner;
}

bool world_knows(const World *world, uint32_t agent)
{
    return agent < world->program->cores + 4 * (uint64_t)numbers_copies(&world->shared->numbers);
}

bool world_pending(World *world, uint32_t agent, Pending *pending)
{
    if (agent >= world->program->cores)
        return flight_pending(world, agent, pending);
    if (!is_pending(world, agent))
        return false;
    pending->stage = world->stage[agent];
    pending->object = tree_node(world->tree, pending->stage)->step.object;
    pending->value = world_value(world, pending->object);
    pending->manner = (uint8_t)world_manner(world, pending->stage, pending->value);
    pending->enabled = (world->doze[agent] == 0 || changed_since(world, world->doze[agent]))
        && world_holds(world, pending->stage, pending->value);
    return true;
}

bool world_is_tangled(const World *world, uint32_t agent)
{
    return agent < world->program->cores ? world->tangled[agent] : flight_of_agent(world, agent)->tangled;
}

bool world_polls(World *world, uint32_t core)
{
    const TreeNode *at = tree_node(world->tree, world->stage[core]);
    return at->end == TREE_GOES_ON && (world->doze[core] != 0 || (is_pending(world, core) && !step_blocks(at->step.kind)));
}

uint32_t world_next_agent(World *world, uint32_t agent)
{
    uint32_t cores = world->program->cores;
    if (agent != NONE && agent >= cores)
        return flight_next(world, agent);
    uint32_t next = agent + 1;                  /* NONE + 1 is 0 */
    for (uint64_t mask = ~UINT64_C(0) << next % 64; next < cores; next = (next / 64 + 1) * 64, mask = ~UINT64_C(0)) {
        uint64_t left = world->pending[next / 64] & mask;
        if (left != 0)
            return next / 64 * 64 + (uint32_t)__builtin_ctzll(left);
    }
    return flight_next(world, NONE);
}

/* A word must stay within 32 bits for adds to commute. */
static int64_t add_to_word(World *world, uint32_t object, int64_t value, int32_t inc)
{
    int64_t sum = value + inc;
    if (sum != (int32_t)sum)
        usage_order(world->usage, object);
    return (int32_t)sum;
}

static int64_t outcome_of(const Step *step, int64_t value)
{
    if (step->kind == STEP_EXPECT_COUNT)
        return value == (int32_t)step->value ? TREE_HELD : TREE_FAILED;
    return step_learns(step) ? value : 0;
}

static void do_core(World *world, uint32_t core)
{
    uint32_t stage = world->stage[core];
    const Step *step = &tree_node(world->tree, stage)->step;
    int64_t value = world_value(world, step->object);
    Deed *deed = step_on(world, core, outcome_of(step, value));
    deed->before = world->version[step->object];
    switch ((StepKind)step->kind) {
    case STEP_SIGNAL:
        change_value(world, deed, step->object, value + step->value);
        break;
    case STEP_WAIT:
        if (step->value > 0)
            change_value(world, deed, step->object, value - step->value);
        break;
    case STEP_FLAG_STORE:
        change_value(world, deed, step->object, (int32_t)step->value);
        break;
    case STEP_FLAG_ADD:
        change_value(world, deed, step->object, add_to_word(world, step->object, value, (int32_t)step->value));
        break;
    case STEP_FLAG_CAS:
        if (value == (int32_t)step->extra)
            change_value(world, deed, step->object, (int32_t)step->value);
        break;
    case STEP_WAIT_KEEP: case STEP_SEMAPHORE_READ: case STEP_EXPECT_COUNT: case STEP_FLAG_LOAD: case STEP_FLAG_WAIT:
        break;
    case STEP_LOAD: case STEP_STORE: case STEP_SWAP: case STEP_COPY_START: case STEP_ALLOC: case STEP_FREE: case STEP_ENTER: case STEP_EXIT:
    case STEP_CORE_BARRIER: case STEP_STOP: case STEP_EARLY_SEND: case STEP_READ: case STEP_EARLY_RECEIVE: case STEP_WRITE:
    case STEP_KIND_COUNT:
        g_assert_not_reached();
    }
    note_loop(world, core, stage);
    queue_core(world, core);
}

void world_do(World *world, uint32_t agent)
{
    if (agent < world->program->cores)
        do_core(world, agent);
    else
        flight_do(world, agent);
    settle(world);
}

void world_undo(World *world, size_t deeds)
{
    while (world->deeds > deeds) {
        const Deed *deed = &world->deed[--world->deeds];
        if (deed->object != NONE) {
            if (deed->foreign)
                world->others[deed->object] -= world->value[deed->object] - deed->before;
            world->value[deed->object] = deed->before;
            world->version[deed->object] -= deed->bumped;
        }
        if (deed->kind >= STEP_EARLY_SEND) {
            if (deed->kind != DEED_EFFECT)
                flight_undo(world, deed);
        } else {
            world->stage[deed->core] = deed->stage;
            world->last[deed->core] = deed->older;
            world->doze[deed->core] = deed->doze;
            world->tangled[deed->core] = deed->tangled;
            set_pending(world, deed->core, deed->pending);
            if (deed->kind == STEP_COPY_START)
                flight_undo(world, deed);
        }
        if (world->data != NULL)
            data_undo(world->data, deed->written);
        if (world->watches->len != deed->watches)
            g_array_set_size(world->watches, deed->watches);
    }
}
