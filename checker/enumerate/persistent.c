/* persistent.c - --merge-local: copy starts, signals and waits that are possible are done at once, nothing else in that state.
 *
 * Such a step is a persistent set of one (P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996): counts
 * only enable, one core alone waits on the semaphore, nobody looks at it. So from each state a state is reached in which all of them are
 * done, whatever is next there is next here too, and no end is missed. What a state shows while such a step is next is seen before it is
 * done. Not done at once is what would change what the others show: steps on semaphores that are looked at or have a limit, waits on one
 * that other cores wait on too, signals into a scope, which may have closed. A signal that comes after its semaphore's launch is found as
 * what it leaves over in the other order, unless that is exempt.
 *
 * What other cores will do is known from their steps so far; when a new one says otherwise of a semaphore, the search begins anew. It comes
 * to light here if it does at all, since up to it nothing was wrong.
 *
 * This reasoning is the proof's own premise: hence an option, and nothing of it where it is not asked for.
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
