/* world.c - steps of cores: those without conflict at once, the others when chosen; each is logged, so that it can be undone. */
#include "world.h"
#include "../../model/counter.h"
#include "../../model/join.h"
#include "../../model/sane.h"
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
    world->watching = g_new0(uint32_t, program->cores);
    world->tainted = g_new0(uint8_t, program->cores);
    world->pending = g_new0(uint64_t, program->cores / 64 + 1);
    world->recent = g_new(Recent, RECENT);
    for (unsigned i = 0; i < RECENT; i++)
        world->recent[i].stage = NONE;
    world->queue = g_new0(uint32_t, program->cores + 1);
    world->queued = g_new0(uint8_t, program->cores);
    world->transfers = g_array_new(FALSE, FALSE, sizeof(Transfer));
    world->watches = g_array_new(FALSE, FALSE, sizeof(Watched));
    return world;
}

void world_free(World *world)
{
    data_free(world->data);
    g_free(world->stage);
    g_free(world->last);
    g_free(world->watching);
    g_free(world->tainted);
    g_free(world->pending);
    g_free(world->recent);
    g_free(world->queue);
    g_free(world->queued);
    g_free(world->value);
    g_free(world->version);
    g_free(world->others);
    g_free(world->event);
    g_free(world->transfer_of);
    g_array_free(world->transfers, TRUE);
    g_array_free(world->watches, TRUE);
    g_free(world);
}

/* New steps may name semaphores that did not exist before. */
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

WorldEvent *world_log(World *world, uint32_t core, StepKind kind, uint32_t stage)
{
    if (G_UNLIKELY(world->events == world->events_max)) {
        world->events_max = MAX(world->events_max * 2, 256);
        world->event = g_renew(WorldEvent, world->event, world->events_max);
    }
    WorldEvent *event = &world->event[world->events++];
    event->core = core, event->kind = (uint8_t)kind, event->stage = stage, event->object = NONE;
    event->bumped = event->foreign = false;
    event->watches = world->watches->len;
    event->written = world->data ? data_mark(world->data) : 0;
    return event;
}

static void change_value(World *world, WorldEvent *event, uint32_t object, int64_t value)
{
    event->object = object, event->before = world_value(world, object);
    world->value[object] = value;
    if (usage_of(world->usage, object)->contended) {
        world->version[object]++;
        event->bumped = true;
    }
}

void world_add(World *world, WorldEvent *event, uint32_t object, int64_t inc, bool own)
{
    const Use *use = usage_of(world->usage, object);
    change_value(world, event, object, world_value(world, object) + inc);
    event->foreign = world->begun && !own;
    world->others[object] += event->foreign ? inc : 0;
    for (uint32_t at = use->contended ? 0 : use->waiters; at != 0; at = STORE(Waiter, &world->usage->waiters, at - 1).next)
        queue_core(world, STORE(Waiter, &world->usage->waiters, at - 1).core);
}

/* The core returned to an earlier stage: it sleeps there until something that it observed in the loop changes. */
static void watch_loop(World *world, uint32_t core, uint32_t stage)
{
    uint32_t list = 0;
    for (uint32_t at = world->last[core]; at != 0; at = world->event[at - 1].older) {
        const WorldEvent *event = &world->event[at - 1];
        const Step *step = &tree_node(world->tree, event->stage)->step;
        bool load = step->kind == STEP_LOAD || step->kind == STEP_SWAP;
        if (step_on_counter(step->kind) || (load && world->data != NULL)) {
            Watched watch = { load ? NONE : step->object, (uint32_t)event->before, list };
            g_array_append_val(world->watches, watch);
            list = world->watches->len;
        }
        if (event->stage == stage)
            break;
    }
    world->watching[core] = list;
}

static bool changed_since(const World *world, uint32_t list)
{
    for (; list != 0; list = g_array_index(world->watches, Watched, list - 1).next) {
        const Watched *watch = &g_array_index(world->watches, Watched, list - 1);
        if ((watch->object == NONE ? data_mark(world->data) : world->version[watch->object]) != watch->version)
            return true;
    }
    return false;
}

/* Caches tree_after, whose lists of outcomes may be long. */
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
static WorldEvent *step_on(World *world, uint32_t core, int64_t seen)
{
    uint32_t stage = world->stage[core];
    const TreeNode *at = tree_node(world->tree, stage);
    WorldEvent *event = world_log(world, core, (StepKind)at->step.kind, stage);
    event->older = world->last[core], event->watching = world->watching[core], event->tainted = world->tainted[core];
    event->pending = is_pending(world, core);
    world->last[core] = (uint32_t)world->events;
    world->watching[core] = 0;
    stand_at(world, core, stage_after(world, stage, seen));
    return event;
}

/* Did the step close a loop? Its event is complete. */
static void note_loop(World *world, uint32_t core, uint32_t from)
{
    if (tree_node(world->tree, world->stage[core])->position <= tree_node(world->tree, from)->position) {
        watch_loop(world, core, world->stage[core]);
        world->tainted[core] = 1;
    }
}

static bool do_join(World *world, uint32_t core)
{
    const Join join = join_of(world->program, &tree_node(world->tree, world->stage[core])->step);
    uint32_t members = 0;
    for (uint32_t c = join.first; c < join.last; c++) {
        const TreeNode *other = tree_node(world->tree, world->stage[c]);
        if (!join_has(world->program, &join, c))
            continue;
        if (other->end != TREE_GOES_ON || !join_includes(&join, &other->step))
            return false;
        members++;
    }
    for (uint32_t c = join.first; c < join.last; c++)
        if (join_has(world->program, &join, c)) {
            step_on(world, c, 0);
            world->tainted[c] |= world->begun && members > 1;
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
    WorldEvent *event = step_on(world, core, tile);
    event->written = mark;
    event->before = (int64_t)mark;
    note_loop(world, core, stage);
}

/* A step on an object that is not contended. False: not possible now. */
static bool do_free_object(World *world, uint32_t core)
{
    const Step *step = &tree_node(world->tree, world->stage[core])->step;
    int64_t value = world_value(world, step->object);
    bool blocks = step_blocks(step->kind);
    if (blocks && !world_holds(world, world->stage[core], value))
        return false;
    bool own = usage_of(world->usage, step->object)->owner == core;
    bool alone = own && blocks && world_holds(world, world->stage[core], value - world->others[step->object]);
    WorldEvent *event = step_on(world, core, 0);
    event->before = 0;
    if (step->kind == STEP_WAIT && step->value > 0)
        change_value(world, event, step->object, value - step->value);
    else if (step->kind == STEP_SIGNAL)
        world_add(world, event, step->object, step->value, own);
    else if (step->kind == STEP_FLAG_ADD)
        world_add(world, event, step->object, (int32_t)step->value, own);
    world->tainted[core] |= blocks && !alone && world->begun;
    return true;
}

/* One step of the core, if it is possible and without conflict. */
static bool act(World *world, uint32_t core)
{
    uint32_t stage = world->stage[core];
    const TreeNode *at = tree_node(world->tree, stage);
    if (at->end != TREE_GOES_ON || (world->watching[core] != 0 && !changed_since(world, world->watching[core])))
        return false;
    const Step *step = &at->step;
    if (step_on_counter(step->kind))            /* an object to be contended waits for the next search */
        return !usage_of(world->usage, step->object)->contended && !usage_needs_order(step) && do_free_object(world, core);
    if (step_is_join(step->kind))
        return do_join(world, core);
    if (step->kind == STEP_COPY_START && step->object != NONE) {
        step_on(world, core, 0);
        transfer_start(world, core, stage);
    } else if (world->data != NULL && (step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP)) {
        do_data(world, core);
    } else {
        step_on(world, core, 0);
        note_loop(world, core, stage);
    }
    return true;
}

/* Writes to memory do not queue the cores that poll it: they are queued when nothing else moves. */
static void wake_readers(World *world)
{
    for (uint32_t c = 0; world->data != NULL && c < world->program->cores; c++) {
        const TreeNode *at = tree_node(world->tree, world->stage[c]);
        uint32_t list = world->watching[c];
        if (list != 0 && at->end == TREE_GOES_ON && !step_on_counter(at->step.kind) && changed_since(world, list))
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
        if (world->transfers_changed)
            transfer_run(world);
        if (world->head == world->tail)
            wake_readers(world);
    } while (world->head != world->tail);
}

void world_begin(World *world)
{
    g_assert(world->events == 0);
    fit(world);
    world->begun = false;
    for (uint32_t c = 0; c < world->program->cores; c++) {
        stand_at(world, c, world->shared->start[c]);
        world->last[c] = world->watching[c] = 0;
        world->tainted[c] = 0;
        queue_core(world, c);
    }
    settle(world);
    world->begun = true;
    SANE(world_assert_sane(world));
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

bool world_may_disable(const World *world, uint32_t stage)
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
        return transfer_pending(world, agent, pending);
    if (!is_pending(world, agent))
        return false;
    pending->stage = world->stage[agent];
    pending->object = tree_node(world->tree, pending->stage)->step.object;
    pending->value = world_value(world, pending->object);
    pending->manner = (uint8_t)world_manner(world, pending->stage, pending->value);
    pending->enabled = (world->watching[agent] == 0 || changed_since(world, world->watching[agent]))
        && world_holds(world, pending->stage, pending->value);
    return true;
}

bool world_is_tainted(const World *world, uint32_t agent)
{
    return agent < world->program->cores ? world->tainted[agent] : transfer_of_agent(world, agent)->tainted;
}

bool world_polls(World *world, uint32_t core)
{
    const TreeNode *at = tree_node(world->tree, world->stage[core]);
    return at->end == TREE_GOES_ON && (world->watching[core] != 0 || (is_pending(world, core) && !step_blocks(at->step.kind)));
}

uint32_t world_next_agent(World *world, uint32_t agent)
{
    uint32_t cores = world->program->cores;
    if (agent != NONE && agent >= cores)
        return transfer_next(world, agent);
    uint32_t next = agent + 1;                  /* NONE + 1 is 0 */
    for (uint64_t mask = ~UINT64_C(0) << next % 64; next < cores; next = (next / 64 + 1) * 64, mask = ~UINT64_C(0)) {
        uint64_t left = world->pending[next / 64] & mask;
        if (left != 0)
            return next / 64 * 64 + (uint32_t)__builtin_ctzll(left);
    }
    return transfer_next(world, NONE);
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
    WorldEvent *event = step_on(world, core, outcome_of(step, value));
    event->before = world->version[step->object];
    if (dependence_manner(step, value) != MANNER_LOOK && (step->kind != STEP_WAIT || step->value > 0)) {
        int64_t after = counter_after(step, value);
        if (step->kind == STEP_FLAG_ADD && after != value + (int32_t)step->value)
            usage_order(world->usage, step->object);            /* the word wraps around: its adds do not commute */
        change_value(world, event, step->object, after);
    }
    note_loop(world, core, stage);
    queue_core(world, core);
}

void world_do(World *world, uint32_t agent)
{
    if (agent < world->program->cores)
        do_core(world, agent);
    else
        transfer_do(world, agent);
    settle(world);
    SANE_SELDOM(world_assert_sane(world));
}

void world_undo(World *world, size_t events)
{
    while (world->events > events) {
        const WorldEvent *event = &world->event[--world->events];
        if (event->object != NONE) {
            if (event->foreign)
                world->others[event->object] -= world->value[event->object] - event->before;
            world->value[event->object] = event->before;
            world->version[event->object] -= event->bumped;
        }
        if (event->kind >= STEP_EARLY_SEND) {
            if (event->kind != EVENT_EFFECT)
                transfer_undo(world, event);
        } else {
            world->stage[event->core] = event->stage;
            world->last[event->core] = event->older;
            world->watching[event->core] = event->watching;
            world->tainted[event->core] = event->tainted;
            set_pending(world, event->core, event->pending);
            if (event->kind == STEP_COPY_START)
                transfer_undo(world, event);
        }
        if (world->data != NULL)
            data_undo(world->data, event->written);
        if (world->watches->len != event->watches)
            g_array_set_size(world->watches, event->watches);
    }
    SANE_SELDOM(world_assert_sane(world));
}
