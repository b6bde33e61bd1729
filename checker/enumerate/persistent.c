/* persistent.c - --merge-local: a possible copy start, signal or wait is the only transition taken from a state.
 *
 * Such a step is a persistent set by itself (P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996): counts
 * only enable, a single core waits on the semaphore, none looks at it. From each state the search reaches one in which all such steps are
 * done; whatever is next in the former is next in the latter too, and no end state is missed. Faults that a state shows while such a step
 * is next are found before it is done. Steps that could hide faults of others are not merged: those on semaphores that are looked at or
 * have a limit, waits on a semaphore on which other cores wait too, signals into a scope, which may have closed. A signal after its
 * semaphore's launch is found as the count that it leaves over in the other order, unless that is exempt.
 *
 * The steps of other cores are known only as far as they are unrolled; when a new one contradicts these conditions, the search restarts. It
 * is sure to appear if it exists, since up to it the reduction was sound.
 *
 * The proof rests on the same premise: hence this is an option, and without it nothing of this is used.
 */
#include "persistent.h"
#include "lives.h"
#include "state_counter.h"

bool persistent_step(const StateSpace *space, const Step *step, bool life_watched)
{
    if (!space_merges(space))
        return false;
    if (step->kind == STEP_COPY_START)
        return true;
    bool wait = step_is_semaphore_wait(step->kind);
    if (!step_has(step->kind, STEP_ON_SEMAPHORE) || step_is_conflict(step->kind))
        return false;
    if (step->value == 0)
        return !life_watched;
    const StateCounter *counter = state_counter_get(space, STORE(uint32_t, &space->counter_of, step->object) - 1);
    bool looked_at = counter->looked_at && space->options->canary != ENUMERATE_CANARY_LOOK_IS_MERGED;
    if (looked_at || counter->limit >= 0)
        return false;
    if (!life_watched || wait)
        return !life_watched && !(wait && counter->shared);
    const Decl *decl = program_decl(space->program, program_semaphore_decl(space->program, step->object));
    return lives_get(space, counter->life)->kind == LIFE_LAUNCHES && decl->exempt[FAULT_LEFTOVER] == 0;
}

void persistent_recheck(StateSpace *space)
{
    for (uint32_t core = 0; core < space->cores && space_merges(space); core++) {
        const SpaceCore *self = space_core(space, core);
        for (uint32_t id = 1; id < self->components.count; id++) {
            const Component *component = space_component(space, core, id);
            Transition *transition = &STORE(Transition, &self->transitions, component->transitions);
            if (component->transition_count > 0 && transition->local)
                transition->local = persistent_step(space, &space_node(space, core, id)->step, false);
        }
    }
}
