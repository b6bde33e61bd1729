/* world_sane.c - all events undone once more, in a copy, to see what that leads back to, and whether each could be done. */
#include "../../model/counter.h"
#include "../../model/join.h"
#include "../../model/moment.h"
#include "world.h"

/* Only those arrays are its own that undoing changes. */
static World copy_of(const World *world)
{
    World was = *world;
    const uint32_t cores = world->program->cores, semaphores = world->semaphores;
    was.value = g_memdup2(world->value, semaphores * sizeof *was.value);
    was.others = g_memdup2(world->others, semaphores * sizeof *was.others);
    was.version = g_memdup2(world->version, semaphores * sizeof *was.version);
    was.stage = g_memdup2(world->stage, cores * sizeof *was.stage);
    was.last = g_memdup2(world->last, cores * sizeof *was.last);
    was.transfers = g_array_sized_new(FALSE, FALSE, sizeof(Transfer), world->transfers->len);
    g_array_append_vals(was.transfers, world->transfers->data, world->transfers->len);
    return was;
}

static void free_copy(World *was)
{
    g_free(was->value);
    g_free(was->others);
    g_free(was->version);
    g_free(was->stage);
    g_free(was->last);
    g_array_free(was->transfers, TRUE);
}

static void undo_value(World *was, const WorldEvent *event)
{
    if (event->object == NONE)
        return;
    if (event->foreign)
        was->others[event->object] -= was->value[event->object] - event->before;
    was->value[event->object] = event->before;
    was->version[event->object] -= event->bumped;
}

static void undo_moment(World *was, const WorldEvent *event)
{
    g_assert(event->stage < was->transfers->len);
    Transfer *transfer = &g_array_index(was->transfers, Transfer, event->stage);
    g_assert(transfer->core == event->core && (transfer->done & moment_bit((StepKind)event->kind)));
    transfer->done &= (uint8_t)~moment_bit((StepKind)event->kind);
    g_assert((moment_needs((StepKind)event->kind) & transfer->exist & ~transfer->done) == 0);
}

static void undo_step(World *was, size_t index)
{
    const WorldEvent *event = &was->event[index];
    const Step *step = &tree_node(was->tree, event->stage)->step;
    guint transfers = was->transfers->len;
    g_assert(step->core == event->core && step->kind == event->kind && was->last[event->core] == index + 1);
    g_assert(!step_is_wait(step->kind) || counter_permits(step, was->value[step->object]));
    was->stage[event->core] = event->stage, was->last[event->core] = event->older;
    if (step->kind == STEP_COPY_START && transfers > 0 && g_array_index(was->transfers, Transfer, transfers - 1).event == index) {
        g_assert(g_array_index(was->transfers, Transfer, transfers - 1).done == 0);
        g_array_set_size(was->transfers, transfers - 1);
    }
}

static void assert_begin_sane(const World *was)
{
    for (uint32_t s = 0; s < was->semaphores; s++) {
        const Decl *decl = program_decl(was->program, program_semaphore_decl(was->program, s));
        g_assert(was->value[s] == (decl->semaphore_kind == SEMAPHORE_FLAG ? decl->initial : 0));
        g_assert(was->others[s] == 0 && was->version[s] == 0);
    }
    for (uint32_t c = 0; c < was->program->cores; c++)
        g_assert(was->last[c] == 0 && (!was->begun || was->stage[c] == was->shared->start[c]));
    g_assert(was->transfers->len == 0);
}

/* All members of a join, the lowest first; returns where the next event is. */
static size_t assert_join_sane(const World *world, size_t index)
{
    const Program *program = world->program;
    const Join join = join_of(program, &tree_node(world->tree, world->event[index].stage)->step);
    for (uint32_t core = join.first; core < join.last; core++) {
        if (!join_has(program, &join, core))
            continue;
        g_assert(index < world->events);
        const Step *member = &tree_node(world->tree, world->event[index++].stage)->step;
        g_assert(member->core == core && join_includes(&join, member));
    }
    return index;
}

void world_assert_sane(const World *world)
{
    World was = copy_of(world);
    for (size_t i = world->events; i-- > 0;) {
        const WorldEvent *event = &world->event[i];
        undo_value(&was, event);
        if (event->kind < STEP_EARLY_SEND)
            undo_step(&was, i);
        else if (event->kind != EVENT_EFFECT)
            undo_moment(&was, event);
    }
    assert_begin_sane(&was);
    free_copy(&was);
    for (size_t i = 0; i < world->events;)
        i = step_is_join(world->event[i].kind) ? assert_join_sane(world, i) : i + 1;
}
