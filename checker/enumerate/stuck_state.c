/* stuck_state.c - describes a deadlock: where each core is stuck, and what it waits for. */
#include "stuck_state.h"
#include "memory.h"
#include "state_counter.h"

enum { CORES_SHOWN = 8 };

/* Members of the join that have not reached it. */
static void append_join(const StateSpace *space, const uint32_t *id, GString *text, uint32_t core, const Step *step)
{
    uint32_t join_id = space_component(space, core, id[core])->join - 1, shown = 0;
    const Join *join = intern_get(&space->joins, join_id, NULL);
    g_string_append_printf(text, " stands at the %s, where it lacks", step_kind_name((StepKind)step->kind));
    for (uint32_t c = join->first; c < join->last && shown <= CORES_SHOWN; c++) {
        if (!join_has(space->program, join, c) || space_component(space, c, id[c])->join == join_id + 1)
            continue;
        g_autofree char *name = program_describe_core(space->program, c);
        bool finished = space_node(space, c, id[c])->end == TREE_FINISHED;
        g_string_append_printf(text, "%s %s%s", shown++ ? "," : "", name, finished ? " (finished)" : "");
    }
}

static void append_wait(StateSpace *space, const uint32_t *id, GString *text, const Step *step)
{
    uint32_t counter = state_counter_of(space, step->object);
    g_autofree char *semaphore = program_describe_semaphore(space->program, step->object);
    if (step->kind == STEP_FLAG_WAIT) {
        const StateCounter *flag = state_counter_get(space, counter);
        int64_t value = memory_get(space, flag->device, id[space->cores + flag->device], flag->slot);
        g_string_append_printf(text, " waits for the flag %s: it is %" G_GINT64_FORMAT, semaphore, value);
        return;
    }
    g_string_append_printf(text, " waits on %s: the count is %" G_GINT64_FORMAT ", it needs %u", semaphore,
                           state_counter_value(space, id, counter), step->value);
}

char *stuck_state_why(StateSpace *space, const uint32_t *id)
{
    GString *text = g_string_new(NULL);
    uint32_t stuck = 0;
    for (uint32_t core = 0; core < space->cores; core++) {
        const TreeNode *node = space_node(space, core, id[core]);
        if (node->end != TREE_GOES_ON || stuck++ >= CORES_SHOWN)
            continue;
        const Step *step = &node->step;
        g_autofree char *name = program_describe_core(space->program, core);
        g_autofree char *where = program_describe_site(space->program, step->site);
        name[0] = 'D';
        g_string_append_printf(text, "%s%s at %s", text->len ? " " : "", name, where);
        if (step_is_join(step->kind))
            append_join(space, id, text, core, step);
        else
            append_wait(space, id, text, step);
        g_string_append_c(text, '.');
    }
    if (stuck > CORES_SHOWN)
        g_string_append_printf(text, " %u more cores are stuck.", stuck - CORES_SHOWN);
    return g_string_free(text, FALSE);
}
