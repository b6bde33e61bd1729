/* explore.c - forwards and back: a branch of the frame's wakeup tree, or where there is none and nothing was tried, whoever is enabled. */
#include "explore.h"

static Frame *top_frame(Explorer *x)
{
    return &g_array_index(x->frames, Frame, x->frames->len - 1);
}

static bool commute(const Sleeper *a, const Sleeper *b)
{
    return a->object != b->object || manner_commutes(a->manner, b->manner);
}

static bool sleeps(const Explorer *x, const Frame *frame, uint32_t agent)
{
    for (guint i = frame->sleep; i < x->sleep->len; i++)
        if (g_array_index(x->sleep, Sleeper, i).agent == agent)
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

static void begin_frame(Explorer *x, WakeTree tree, guint sleep)
{
    Frame frame = { .tree = tree, .sleep = sleep };
    g_array_append_val(x->frames, frame);
}

static void descend(Explorer *x, Sleeper step, WakeTree rest)
{
    Pending pending;
    bool can = world_pending(x->world, step.agent, &pending) && pending.enabled;
    g_assert(can);
    Pick pick = { .agent = step.agent, .object = pending.object, .stage = pending.stage, .manner = pending.manner, .before = pending.value,
                  .deeds = x->world->deeds };
    pick.tangled = pending.stage == NONE || x->world->tangled[step.agent];
    step.object = pending.object, step.manner = pending.manner;
    world_do(x->world, step.agent);
    pick.after = world_value(x->world, pick.object);
    path_push(&x->path, &pick);
    guint begin = top_frame(x)->sleep, end = x->sleep->len;
    for (guint i = begin; i < end; i++) {
        Sleeper sleeper = g_array_index(x->sleep, Sleeper, i);
        if (commute(&sleeper, &step))
            g_array_append_val(x->sleep, sleeper);
    }
    begin_frame(x, rest, end);
    x->picks++;
}

/* Back to the frame above; what was tried there sleeps from now on. */
static void ascend(Explorer *x)
{
    Frame *frame = top_frame(x);
    g_assert(frame->tree.child == 0);
    g_array_set_size(x->sleep, frame->sleep);
    g_array_set_size(x->frames, x->frames->len - 1);
    if (x->frames->len == 0)
        return;
    const Pick *pick = &x->path.pick[x->path.picks - 1];
    Sleeper tried = { pick->agent, pick->object, pick->manner };
    world_undo(x->world, pick->deeds);
    path_pop(&x->path);
    g_array_append_val(x->sleep, tried);
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
    for (guint i = 0; i < x->frames->len; i++)
        wake_free(&x->pool, &g_array_index(x->frames, Frame, i).tree);
    while (x->path.picks > 0)
        path_pop(&x->path);
    g_array_set_size(x->frames, 0);
    g_array_set_size(x->sleep, 0);
}

void explore_classes(Explorer *x)
{
    world_begin(x->world);
    begin_frame(x, (WakeTree){ 0 }, 0);
    while (x->frames->len > 0 && !x->usage.grew && x->limit == NULL && !x->done) {
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
    if (x->frames->len > 0 && x->limit == NULL && !x->done && !x->usage.grew)
        g_assert_not_reached();
    abandon(x);
    world_undo(x->world, 0);
}
