/* explore.c - forwards and back: a branch of the frame's wakeup tree, or where there is none and nothing was tried, whoever is enabled. */
#include "explore.h"

static Frame *top_frame(Explorer *x)
{
    return &x->frame[x->frames - 1];
}

static bool commute(const Sleeper *a, const Sleeper *b)
{
    return a->object != b->object || manner_commutes(a->manner, b->manner);
}

static bool sleeps(const Explorer *x, const Frame *frame, uint32_t agent)
{
    for (uint32_t i = frame->sleep; i < x->sleepers; i++)
        if (x->sleep[i].agent == agent)
            return true;
    return false;
}

/* The first agent that can move and does not sleep. *redundant: some can, but all of them sleep. */
static bool choose(Explorer *x, const Frame *frame, Sleeper *step, bool *redundant)
{
    Pending pending;
    *redundant = false;
    for (uint32_t agent = world_next_agent(x->world, NONE); agent != NONE; agent = world_next_agent(x->world, agent)) {
        if (!world_pending(x->world, agent, &pending) || !pending.enabled)
            continue;
        if (sleeps(x, frame, agent)) {
            *redundant = true;
            continue;
        }
        *step = (Sleeper){ .agent = agent };
        *redundant = false;
        return true;
    }
    return false;
}

static void begin_frame(Explorer *x, WakeTree tree, uint32_t sleep)
{
    if (x->frames == x->frames_max) {
        x->frames_max = MAX(2 * x->frames_max, 64);
        x->frame = g_renew(Frame, x->frame, x->frames_max);
    }
    x->frame[x->frames++] = (Frame){ .tree = tree, .sleep = sleep };
}

static void add_sleeper(Explorer *x, const Sleeper *sleeper)
{
    if (x->sleepers == x->sleepers_max) {
        x->sleepers_max = MAX(2 * x->sleepers_max, 256);
        x->sleep = g_renew(Sleeper, x->sleep, x->sleepers_max);
    }
    x->sleep[x->sleepers++] = *sleeper;
}

enum { PICKS_MAX = 20000 };                     /* of one run: cores are run anew after each observation */

static void descend(Explorer *x, Sleeper step, WakeTree rest)
{
    Pending pending;
    bool can = world_pending(x->world, step.agent, &pending) && pending.enabled;
    g_assert(can);
    Pick pick = { .agent = step.agent, .object = pending.object, .stage = pending.stage, .manner = pending.manner, .before = pending.value,
                  .deeds = x->world->deeds, .serial = x->picks++ };
    pick.tangled = pending.stage == NONE || x->world->tangled[step.agent];
    step.object = pending.object, step.manner = pending.manner;
    world_do(x->world, step.agent);
    pick.after = world_value(x->world, pick.object);
    path_push(&x->path, &pick);
    reverse_note(x);
    uint32_t begin = top_frame(x)->sleep, end = x->sleepers;
    for (uint32_t i = begin; i < end; i++) {
        const Sleeper sleeper = x->sleep[i];
        if (commute(&sleeper, &step))
            add_sleeper(x, &sleeper);
    }
    begin_frame(x, rest, end);
    if (x->path.picks >= PICKS_MAX)
        x->limit = "steps";
}

/* Back to the frame above; what was tried there sleeps from now on. */
static void ascend(Explorer *x)
{
    Frame *frame = top_frame(x);
    g_assert(frame->tree.first == 0);
    x->sleepers = frame->sleep;
    if (--x->frames == 0)
        return;
    const Pick *pick = &x->path.pick[x->path.picks - 1];
    Sleeper tried = { pick->agent, pick->object, pick->manner };
    world_undo(x->world, pick->deeds);
    path_pop(&x->path);
    add_sleeper(x, &tried);
}

static void check_limits(Explorer *x)
{
    const ClassesOptions *options = x->options;
    if (options->runs_max != 0 && x->runs >= options->runs_max)
        x->limit = "runs";
    if ((x->runs & 63) != 0)
        return;
    if (x->deadline != 0 && g_get_monotonic_time() >= x->deadline)
        x->limit = "time";
    if (options->memory_max != 0 && store_bytes_used() + x->pool.size * sizeof(Wake) > options->memory_max)
        x->limit = "memory";
}

static void abandon(Explorer *x)
{
    for (uint32_t i = 0; i < x->frames; i++)
        wake_free(&x->pool, &x->frame[i].tree);
    while (x->path.picks > 0)
        path_pop(&x->path);
    x->frames = x->sleepers = 0;
}

void explore_classes(Explorer *x)
{
    world_begin(x->world);
    begin_frame(x, (WakeTree){ 0 }, 0);
    while (x->frames > 0 && !x->usage.grew && x->limit == NULL && !x->done) {
        Frame *frame = top_frame(x);
        Sleeper step;
        WakeTree rest = { 0 };
        bool fresh = !frame->begun, redundant = false;
        frame->begun = true;
        if (wake_take(&x->pool, &frame->tree, &step, &rest) || (fresh && choose(x, frame, &step, &redundant))) {
            descend(x, step, rest);
            continue;
        }
        if (fresh && redundant)
            x->redundant++;
        else if (fresh) {
            x->runs++;
            reverse_run(x);
            digest_class(x);
            check_limits(x);
        }
        ascend(x);
    }
    abandon(x);
    world_undo(x->world, 0);
}
