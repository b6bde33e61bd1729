/* livelock.c - states from which only polling is ever possible: a core polls a value that no step can change any more.
 *
 * Only cores inside polling loops can move, and whatever they do, that remains so: the states reachable by polling are few (a product of
 * short loops) and are enumerated. The last of them to be expanded sees them all.
 */
#include "livelock.h"
#include <string.h>
#include "../../model/dependence.h"
#include "successor.h"
#include "transition.h"

typedef struct Spin {
    StateSpace *space;
    GArray *ids;                                /* states reachable by polling, layout.fields numbers each */
    const uint32_t *from;
    bool only_polls;
} Spin;

static bool is_known(const Spin *spin, const uint32_t *id)
{
    unsigned fields = spin->space->layout.fields;
    for (guint at = 0; at < spin->ids->len; at += fields)
        if (memcmp(&g_array_index(spin->ids, uint32_t, at), id, fields * sizeof *id) == 0)
            return true;
    return false;
}

/* A loop closed on a guess may be left, and the next steps may end the loops of others. */
static bool loops_for_ever(const StateSpace *space, uint32_t core, uint32_t id)
{
    return space_node(space, core, id)->loops && !space_node(space, core, id)->guessed;
}

static bool note_transition(void *data, uint32_t core, uint32_t transition, const uint32_t *after)
{
    Spin *spin = data;
    StateSpace *space = spin->space;
    bool own = space_transition(space, core, transition)->pending == TRANSITION_CORE;
    spin->only_polls = own && !space->repack && !space->restart && loops_for_ever(space, core, spin->from[core])
        && loops_for_ever(space, core, after[core]);
    if (spin->only_polls && !is_known(spin, after))
        g_array_append_vals(spin->ids, after, space->layout.fields);
    return spin->only_polls;
}

static void see_poller(StateSpace *space, Findings *findings, uint32_t core)
{
    const Component *component = space_component(space, core, findings->state[core]);
    const Transition *transition = space_transition(space, core, component->transitions);
    if (!space_node(space, core, findings->state[core])->loops || component->transition_count == 0)
        return;
    findings_add(space, findings, &(Sighting){.id = FAULT_NO_PROGRESS, .places = 1, .event = {transition->event, NONE}, .object = NONE,
                                              .core = core, .transition = component->transitions,
                                              .message = "it polls a value that nobody is left to change"});
}

/* Does the core's possible transition leave no trace? Any other step or copy shows that not only polls are possible. */
static bool only_looks(const StateSpace *space, const uint32_t *id, uint32_t core)
{
    const Component *component = space_component(space, core, id[core]);
    if (component->transition_count == 0)
        return true;
    const Transition *transition = space_transition(space, core, component->transitions);
    if (component->pendings > 0)
        return false;
    const Step *step = &space_node(space, core, id[core])->step;
    return step->kind == STEP_FLAG_CAS || dependence_leaves_no_trace(step, 0) || !transition_enabled(space, id, core, transition);
}

bool livelock_is_possible(const StateSpace *space, const uint32_t *id)
{
    for (uint32_t core = 0; core < space->cores; core++)
        if (!only_looks(space, id, core))
            return space->options->canary == ENUMERATE_CANARY_SPIN_ALONE;
    return true;
}

void livelock_inspect(StateSpace *space, Findings *findings)
{
    Spin spin = {.space = space, .ids = g_array_new(FALSE, FALSE, sizeof(uint32_t)), .only_polls = true};
    unsigned fields = space->layout.fields;
    uint32_t *from = g_new(uint32_t, fields);
    spin.from = from;
    g_array_append_vals(spin.ids, findings->state, fields);
    for (guint at = 0; at < spin.ids->len && spin.only_polls; at += fields) {
        memcpy(from, &g_array_index(spin.ids, uint32_t, at), fields * sizeof *from);
        successor_each(space, from, note_transition, &spin);
    }
    spin.only_polls |= space->options->canary == ENUMERATE_CANARY_SPIN_ALONE;
    for (uint32_t core = 0; core < space->cores && spin.only_polls; core++)
        see_poller(space, findings, core);
    g_free(from);
    g_array_free(spin.ids, TRUE);
}
