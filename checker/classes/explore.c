/* explore.c - descends along a branch of the frame's wakeup tree; at a fresh frame without one, along the first enabled agent. */
#include "explore.h"
#include "../../model/sane.h"

Explorer *explore_new(Shared *shared)
{
    Explorer *x = g_new0(Explorer, 1);
    x->shared = shared, x->options = shared->options, x->program = shared->program, x->tiles = shared->tiles;
    x->usage = &shared->usage, x->tree = &shared->unrolled;
    x->world = world_new(shared);
    path_init(&x->path);
    x->nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    x->handed = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    x->known = g_hash_table_new(g_bytes_hash, g_bytes_equal);
    x->reversals = g_array_new(FALSE, FALSE, sizeof(Reversal));
    x->rows = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    x->outcome = class_results_new_outcome();
    x->results = class_results_new(x);
    return x;
}

void explore_free(Explorer *x)
{
    explore_end(x);
    world_free(x->world);
    if (x->shadow != NULL)
        world_free(x->shadow);
    path_clear(&x->path);
    wake_pool_clear(&x->pool);
    g_free(x->frame);
    g_free(x->sleep);
    g_array_free(x->nodes, TRUE);
    g_hash_table_unref(x->known);
    g_ptr_array_unref(x->handed);
    g_array_free(x->reversals, TRUE);
    g_array_free(x->rows, TRUE);
    steps_clear(&x->sequence);
    steps_clear(&x->reversed);
    steps_clear(&x->copy);
    g_free(x->shapes.at);
    outcome_free(x->outcome);
    class_results_free(x->results);
    g_free(x);
}

static Frame *top_frame(Explorer *x)
{
    return &x->frame[x->frames - 1];
}

static bool sleeps(const Explorer *x, const Frame *frame, uint32_t agent)
{
    for (uint32_t i = frame->sleep; i < x->sleepers; i++)
        if (x->sleep[i].agent == agent)
            return true;
    return false;
}

/* The first agent that is enabled and not asleep. *redundant: some are enabled, but all of them sleep. */
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
    x->frame[x->frames++] = (Frame){ .tree = tree, .sleep = sleep, .classes = x->classes };
}

static void add_sleeper(Explorer *x, const Sleeper *sleeper)
{
    if (x->sleepers == x->sleepers_max) {
        x->sleepers_max = MAX(2 * x->sleepers_max, 256);
        x->sleep = g_renew(Sleeper, x->sleep, x->sleepers_max);
    }
    x->sleep[x->sleepers++] = *sleeper;
}

static void find_enablers(const Explorer *x, PathChoice *choice)
{
    const Path *path = &x->path;
    const Transfer *transfer = transfer_of_agent(x->world, choice->agent);
    uint32_t needed[TRANSFER_NEEDS_MAX], at = path_last_of(path, transfer->core);
    while (at != 0 && path->choice[at - 1].events > transfer->event)
        at = path->choice[at - 1].of_agent;
    choice->enabler[0] = at;
    unsigned count = transfer_needs(x->world, choice->agent, needed);
    for (unsigned i = 0; i < count; i++)
        choice->enabler[i + 1] = path_last_of(path, needed[i]);
}

/* Updates the step's object and manner, which may be out of date. */
static void do_choice(Explorer *x, Sleeper *step)
{
    Pending pending;
    bool can = world_pending(x->world, step->agent, &pending) && pending.enabled;
    g_assert(can);
    PathChoice choice = { .agent = step->agent, .object = pending.object, .stage = pending.stage, .manner = pending.manner,
                          .before = pending.value, .events = x->world->events, .serial = x->choices++ };
    choice.tainted = world_is_tainted(x->world, step->agent);
    if (pending.stage == NONE)
        find_enablers(x, &choice);
    choice.blocks = pending.stage != NONE && world_may_block(x->world, pending.stage);
    step->object = pending.object, step->manner = pending.manner;
    world_do(x->world, step->agent);
    choice.after = world_value(x->world, choice.object);
    path_push(&x->path, &choice);
    reverse_note(x);
}

static void descend(Explorer *x, Sleeper step, WakeTree rest)
{
    do_choice(x, &step);
    top_frame(x)->tried++;
    uint32_t begin = top_frame(x)->sleep, end = x->sleepers;
    for (uint32_t i = begin; i < end; i++) {
        const Sleeper sleeper = x->sleep[i];
        if (wake_commute(&sleeper, &step) || x->options->canary == CLASSES_CANARY_DEEP_SLEEP)
            add_sleeper(x, &sleeper);
    }
    begin_frame(x, rest, end);
    if (x->path.choices >= EXPLORE_CHOICES_MAX)
        x->limit = "steps";
    SANE_SELDOM(explore_assert_sane(x));
}

/* The last frame is done. */
static void note_shape(Explorer *x, const Frame *frame)
{
    uint32_t depth = x->frames - 1;
    if (depth >= SHAPE_DEPTHS)
        return;
    shapes_fit(&x->shapes, depth + 1);
    Shape *shape = &x->shapes.at[depth];
    for (uint32_t i = 0; i < MIN(frame->tried, SHAPE_BRANCHES); i++)
        shape->classes[i] += shape->now[i], shape->now[i] = 0;
    if (depth > x->base)
        x->shapes.at[depth - 1].now[MIN(x->frame[depth - 1].tried, SHAPE_BRANCHES) - 1] += x->classes - frame->classes;
}

/* Returns to the frame above, where the choice now sleeps. */
static void ascend(Explorer *x)
{
    Frame *frame = top_frame(x);
    g_assert(frame->tree.first == 0);
    x->sleepers = frame->sleep;
    note_shape(x, frame);
    if (--x->frames == x->base)
        return;
    const PathChoice *choice = &x->path.choice[x->path.choices - 1];
    Sleeper tried = { choice->agent, choice->object, choice->manner };
    world_undo(x->world, choice->events);
    path_pop(&x->path);
    add_sleeper(x, &tried);
    SANE_SELDOM(explore_assert_sane(x));
}

static void check_limits(Explorer *x)
{
    const ClassesOptions *options = x->options;
    if (options->progress != NULL)
        __atomic_fetch_add(&options->progress->done, 1, __ATOMIC_RELAXED);
    const char *stop = progress_stop(options->progress);
    if (stop != NULL)
        x->limit = stop;
    if ((x->runs & 63) != 0)
        return;
    if (x->shared->deadline != 0 && g_get_monotonic_time() >= x->shared->deadline)
        x->limit = "time";
    if (options->limits.memory != 0 && store_bytes_used() + x->pool.size * sizeof(Wake) > options->limits.memory)
        x->limit = "memory";
}

void explore_begin(Explorer *x)
{
    world_begin(x->world);
    begin_frame(x, (WakeTree){ 0 }, 0);
    SANE_SELDOM(explore_assert_sane(x));
}

static void list_nodes(Explorer *x, uint32_t node)
{
    g_array_set_size(x->nodes, shared_node(x->shared, node)->depth + 1);
    for (guint i = x->nodes->len; i-- > 0; node = shared_node(x->shared, node)->parent)
        g_array_index(x->nodes, uint32_t, i) = node;
    x->base = x->nodes->len;
}

void explore_begin_below(Explorer *x, uint32_t node, Sleeper *step, WakeTree rest)
{
    list_nodes(x, node);
    world_begin(x->world);
    for (uint32_t i = 0; i < x->base; i++) {
        begin_frame(x, (WakeTree){ 0 }, 0);
        Sleeper choice = { .agent = step->agent };
        if (i + 1 < x->base)
            choice.agent = shared_node(x->shared, g_array_index(x->nodes, uint32_t, i + 1))->agent;
        do_choice(x, &choice);
        *step = i + 1 < x->base ? *step : choice;
    }
    const GArray *asleep = shared_node(x->shared, node)->sleep;
    for (guint i = 0; i < asleep->len; i++)
        if (wake_commute(&g_array_index(asleep, Sleeper, i), step))
            add_sleeper(x, &g_array_index(asleep, Sleeper, i));
    begin_frame(x, wake_move(&x->shared->pool, &rest, &x->pool), 0);
    SANE_SELDOM(explore_assert_sane(x));
}

static bool is_asleep(const Sleeper *sleep, uint32_t count, const Sleeper *which)
{
    for (uint32_t i = 0; i < count; i++)
        if (sleep[i].agent == which->agent && sleep[i].object == which->object && sleep[i].manner == which->manner)
            return true;
    return false;
}

/* Checks the sleepers of a frame from a file: first come those of the frame above (`count`) that commute with the choice that led here,
 * then the choices tried here; all are enabled. `above` NULL: there is none. */
static bool sleep_fits(Explorer *x, const Sleeper *sleep, uint32_t sleepers, const Sleeper *above, uint32_t count, uint32_t tried)
{
    uint32_t inherited = 0;
    for (uint32_t i = 0; i < count; i++) {
        const PathChoice *choice = &x->path.choice[x->path.choices - 1];
        const Sleeper done = { choice->agent, choice->object, choice->manner };
        if (wake_commute(&above[i], &done) && (inherited >= sleepers || !is_asleep(&sleep[inherited++], 1, &above[i])))
            return false;
    }
    for (uint32_t i = 0; i < sleepers; i++) {
        Pending pending;
        if (!world_knows(x->world, sleep[i].agent) || !world_pending(x->world, sleep[i].agent, &pending) || !pending.enabled
            || pending.object != sleep[i].object || (i >= inherited && pending.manner != sleep[i].manner))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (sleep[k].agent == sleep[i].agent)
                return false;
    }
    return sleepers - inherited == tried;
}

/* Checks the frame of the next choice and its sleepers against the node or frame above. */
static bool frame_fits(Explorer *x, const GArray *nodes, const GArray *frames, const GArray *sleep, uint32_t at, bool last)
{
    const uint32_t base = nodes->len;
    const Frame *frame = &g_array_index(frames, Frame, at - base), *next = last ? NULL : frame + 1;
    const Sleeper *all = (const Sleeper *)(const void *)sleep->data, *above = NULL;
    uint32_t end = next ? next->sleep : sleep->len, count = 0;
    if (frame->sleep > end || end > sleep->len || frame->classes > x->classes || (!last && frame->tried == 0)
        || frame->begun != (frame->tried > 0))
        return false;
    if (at > base) {
        above = all + frame[-1].sleep, count = frame->sleep - frame[-1].sleep;
    } else if (base > 0) {                      /* the sleepers when the branch began */
        const GArray *asleep = shared_node(x->shared, g_array_index(nodes, uint32_t, base - 1))->sleep;
        above = (const Sleeper *)(const void *)asleep->data;
        while (count < asleep->len && above[count].agent != x->path.choice[x->path.choices - 1].agent)
            count++;
        if (count == asleep->len)
            return false;
    }
    return sleep_fits(x, all + frame->sleep, end - frame->sleep, above, count, frame->tried - !last);
}

bool explore_resume(Explorer *x, const GArray *nodes, const GArray *agents, const GArray *sleep, const GArray *frames)
{
    const uint32_t base = nodes->len;
    explore_begin(x);
    for (uint32_t i = 0; i <= agents->len; i++) {
        Pending pending;
        if (i >= base && !frame_fits(x, nodes, frames, sleep, i, i == agents->len))
            return false;
        if (i >= base)
            x->frame[i] = g_array_index(frames, Frame, i - base);
        if (i == agents->len)
            break;
        Sleeper step = { .agent = g_array_index(agents, uint32_t, i) };
        if (!world_knows(x->world, step.agent) || !world_pending(x->world, step.agent, &pending) || !pending.enabled)
            return false;
        do_choice(x, &step);
        begin_frame(x, (WakeTree){ 0 }, 0);
    }
    for (guint i = 0; i < sleep->len; i++)
        add_sleeper(x, &g_array_index(sleep, Sleeper, i));
    g_array_append_vals(x->nodes, nodes->data, nodes->len);
    x->base = base;
    SANE_SELDOM(explore_assert_sane(x));
    return true;
}

/* A tree from a file may name impossible steps. */
static bool can_choose(const Explorer *x, uint32_t agent)
{
    Pending pending;
    return x->options->resumed == NULL
        || (world_knows(x->world, agent) && world_pending(x->world, agent, &pending) && pending.enabled);
}

bool explore_run(Explorer *x, uint64_t budget)
{
    while (x->frames > x->base && x->limit == NULL && !x->done && !shared_stop(x->shared)) {
        Frame *frame = top_frame(x);
        Sleeper step;
        WakeTree rest = { 0 };
        bool fresh = !frame->begun, redundant = false;
        if (x->runs >= budget && (fresh || frame->tree.first != 0))
            break;
        frame->begun = true;
        if (wake_take(&x->pool, &frame->tree, &step, &rest) || (fresh && choose(x, frame, &step, &redundant))) {
            if (!can_choose(x, step.agent)) {
                x->limit = CLASSES_UNFIT;
                break;
            }
            descend(x, step, rest);
            continue;
        }
        if (fresh && redundant)
            x->redundant++;
        else if (fresh) {
            x->runs++, x->classes++;
            reverse_run(x);
            class_results_add(x);
            check_limits(x);
        }
        ascend(x);
    }
    return x->frames == x->base;
}

static Sleeper in_hand(const Explorer *x, uint32_t frame)
{
    const PathChoice *choice = &x->path.choice[frame];
    return (Sleeper){ choice->agent, choice->object, choice->manner };
}

static void make_node(Explorer *x, uint32_t d)
{
    Frame *frame = &x->frame[d];
    Node node = { .parent = d == 0 ? NONE : g_array_index(x->nodes, uint32_t, d - 1), .depth = d, .begun = frame->tried,
                  .agent = d == 0 ? NONE : x->path.choice[d - 1].agent, .sleep = g_array_new(FALSE, FALSE, sizeof(Sleeper)),
                  .open = g_array_new(FALSE, FALSE, sizeof(Sleeper)), .classes = x->frame[d + 1].classes - frame->classes };
    Sleeper choice = in_hand(x, d);
    g_array_append_vals(node.sleep, x->sleep + frame->sleep, explore_sleep_end(x, d) - frame->sleep);
    g_array_append_val(node.sleep, choice);
    g_array_append_val(node.open, choice);
    node.tree = wake_move(&x->pool, &frame->tree, &x->shared->pool);
    if (d < x->shapes.depths)
        memset(x->shapes.at[d].now, 0, sizeof x->shapes.at[d].now);
    uint32_t id = shared_add_node(x->shared, &node);
    g_array_append_val(x->nodes, id);
}

uint32_t explore_can_share(const Explorer *x)
{
    uint32_t before;
    for (uint32_t d = x->base; d + 1 < x->frames; d++) {
        Sleeper choice = in_hand(x, d);
        if (wake_find_apart(&x->pool, &x->frame[d].tree, &choice, 1, &before))
            return d;
    }
    return NONE;
}

void explore_share(Explorer *x, uint32_t last)
{
    for (uint32_t d = x->base; d <= last; d++)
        make_node(x, d);
    uint32_t gone = x->frame[last + 1].sleep;
    memmove(x->sleep, x->sleep + gone, (x->sleepers - gone) * sizeof *x->sleep);
    x->sleepers -= gone;
    for (uint32_t d = x->base; d < x->frames; d++)
        x->frame[d].sleep = d <= last ? 0 : x->frame[d].sleep - gone;
    x->base = last + 1;
    SANE_SELDOM(explore_assert_sane(x));
}

void explore_end(Explorer *x)
{
    for (uint32_t i = x->base; i < x->frames; i++)
        wake_free(&x->pool, &x->frame[i].tree);
    while (x->path.choices > 0)
        path_pop(&x->path);
    x->frames = x->sleepers = x->base = 0;
    g_array_set_size(x->nodes, 0);
    world_undo(x->world, 0);
}

const Sleeper *explore_asleep(const Explorer *x, uint32_t frame, uint32_t *count)
{
    if (frame >= x->base) {
        *count = explore_sleep_end(x, frame) - x->frame[frame].sleep;
        return x->sleep + x->frame[frame].sleep;
    }
    const GArray *sleep = shared_node(x->shared, g_array_index(x->nodes, uint32_t, frame))->sleep;
    *count = sleep->len;
    return (const Sleeper *)(const void *)sleep->data;
}

const WakeTree *explore_tree(const Explorer *x, uint32_t frame, const WakePool **pool)
{
    if (frame >= x->base) {
        *pool = &x->pool;
        return &x->frame[frame].tree;
    }
    *pool = &x->shared->pool;
    return &shared_node(x->shared, g_array_index(x->nodes, uint32_t, frame))->tree;
}

void explore_assert_sane(Explorer *x)
{
    bool goes_on = x->frames > x->base;
    g_assert(x->frames >= x->base && x->frames == x->path.choices + goes_on);
    for (uint32_t d = x->base; d < x->frames; d++)
        g_assert(x->frame[d].sleep <= explore_sleep_end(x, d) && explore_sleep_end(x, d) <= x->sleepers);
    for (uint32_t i = goes_on ? top_frame(x)->sleep : x->sleepers; i < x->sleepers; i++) {
        Pending pending;
        bool can = world_pending(x->world, x->sleep[i].agent, &pending) && pending.enabled;
        g_assert((can && pending.object == x->sleep[i].object) || x->options->canary == CLASSES_CANARY_DEEP_SLEEP);
    }
}
