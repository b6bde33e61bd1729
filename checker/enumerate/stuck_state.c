/* stuck_state.c - a deadlock in words: where each core stands, and what it waits for. */
#include "component.h"
#include "inspect.h"
#include "memory.h"
#include "state_counter.h"
#include "transition.h"

enum { CORES_SHOWN = 8 };

/* Members of the join that do not stand at it. */
static void append_join(const Walk *walk, GString *text, uint32_t core, const Step *step)
{
    uint32_t join_id = walk_component(walk, core, walk->id[core])->join - 1, shown = 0;
    const Join *join = intern_get(&walk->joins, join_id, NULL);
    g_string_append_printf(text, " stands at the %s, where it lacks", step_kind_name((StepKind)step->kind));
    for (uint32_t c = join->first; c < join->last && shown <= CORES_SHOWN; c++) {
        if (!walk_is_member(walk, join, c) || walk_component(walk, c, walk->id[c])->join == join_id + 1)
            continue;
        g_autofree char *name = program_describe_core(walk->program, c);
        bool finished = walk_node(walk, c, walk->id[c])->end == NODE_FINISHED;
        g_string_append_printf(text, "%s %s%s", shown++ ? "," : "", name, finished ? " (finished)" : "");
    }
}

static void append_wait(Walk *walk, GString *text, const Step *step)
{
    uint32_t counter = state_counter_of(walk, step->object);
    g_autofree char *semaphore = program_describe_semaphore(walk->program, step->object);
    if (step->kind == STEP_FLAG_WAIT) {
        const StateCounter *flag = state_counter_get(walk, counter);
        int64_t value = memory_get(walk, flag->device, walk->id[walk->cores + flag->device], flag->slot);
        g_string_append_printf(text, " waits for the flag %s: it is %" G_GINT64_FORMAT, semaphore, value);
        return;
    }
    g_string_append_printf(text, " waits on %s: the count is %" G_GINT64_FORMAT ", it needs %u", semaphore,
                           state_counter_value(walk, walk->id, counter), step->value);
}

char *stuck_state_why(Walk *walk)
{
    GString *text = g_string_new(NULL);
    uint32_t stuck = 0;
    for (uint32_t core = 0; core < walk->cores; core++) {
        const Node *node = walk_node(walk, core, walk->id[core]);
        if (node->end != NODE_GOES_ON || stuck++ >= CORES_SHOWN)
            continue;
        const Step *step = &tree_step(&walk->core[core].tree, node->step)->step;
        g_autofree char *name = program_describe_core(walk->program, core);
        g_autofree char *where = program_describe_site(walk->program, step->site);
        name[0] = 'D';
        g_string_append_printf(text, "%s%s at %s", text->len ? " " : "", name, where);
        if (step_is_join(step->kind))
            append_join(walk, text, core, step);
        else
            append_wait(walk, text, step);
        g_string_append_c(text, '.');
    }
    if (stuck > CORES_SHOWN)
        g_string_append_printf(text, " %u more cores are stuck.", stuck - CORES_SHOWN);
    return g_string_free(text, FALSE);
}
