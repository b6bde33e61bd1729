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

bool persistent_step(const Walk *walk, const Step *step, bool life_watched)
{
    if (!(walk->options->modes & WALK_MERGE_LOCAL))
        return false;
    if (step->kind == STEP_COPY_START)
        return true;
    bool wait = step_is_semaphore_wait(step->kind);
    if (!step_has(step->kind, STEP_ON_SEMAPHORE) || step_is_conflict(step->kind))
        return false;
    if (step->value == 0)
        return !life_watched;
    const StateCounter *counter = state_counter_get(walk, STORE(uint32_t, &walk->counter_of, step->object) - 1);
    bool looked_at = counter->looked_at && walk->options->canary != ENUMERATE_CANARY_LOOK_IS_MERGED;
    if (looked_at || counter->limit >= 0)
        return false;
    if (!life_watched || wait)
        return !life_watched && !(wait && counter->shared);
    const Decl *decl = program_decl(walk->program, program_semaphore_decl(walk->program, step->object));
    return lives_get(walk, counter->life)->kind == LIFE_LAUNCHES && decl->exempt[FAULT_LEFTOVER] == 0;
}

void persistent_recheck(Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores && walk->merges; core++) {
        const WalkCore *self = walk_core(walk, core);
        for (uint32_t id = 1; id < self->components.count; id++) {
            const Component *component = walk_component(walk, core, id);
            Transition *transition = &STORE(Transition, &self->transitions, component->transitions);
            if (component->transition_count > 0 && transition->local)
                transition->local = persistent_step(walk, &tree_step(&self->tree, walk_node(walk, core, id)->step)->step, false);
        }
    }
}
