/* inspect.c - checks each state by itself: next steps, lives, copies under way. Nothing here depends on another state. */
#include "inspect.h"
#include "end_results.h"
#include "findings.h"
#include "lives.h"
#include "memory.h"
#include "row.h"
#include "state_counter.h"
#include "stuck_state.h"
#include "transition.h"

static bool any_stopped(const StateSpace *space, const uint32_t *id)
{
    for (uint32_t core = 0; core < space->cores; core++)
        if (space_node(space, core, id[core])->end == TREE_STOPPED)
            return true;
    return false;
}

static int64_t count_now(const StateSpace *space, const uint32_t *id, const StateCounter *counter, uint32_t index)
{
    if (counter->flag)
        return memory_get(space, counter->device, id[space->cores + counter->device], counter->slot);
    return state_counter_value(space, id, index);
}

static void see_race(StateSpace *space, Findings *findings, uint32_t a, uint32_t b)
{
    findings_add(space, findings, &(Sighting){.id = FAULT_RACE, .places = 2, .event = {a, b}, .object = space_event(space, a)->object,
                                              .transition = NONE});
}

void inspect_races(StateSpace *space, Findings *findings)
{
    for (uint32_t core = 1; core < space->cores; core++) {
        const Component *mine = space_component(space, core, findings->state[core]);
        for (uint32_t i = 0; i < mine->next_count; i++) {
            Next next = STORE(Next, &space->core[core].nexts, mine->nexts + i);
            if (accesses_get(&space->accesses, next.access)->bit == NONE)
                continue;
            for (uint32_t other = 0; other < core; other++) {
                const Component *theirs = space_component(space, other, findings->state[other]);
                for (uint32_t j = 0; j < theirs->next_count; j++) {
                    Next before = STORE(Next, &space->core[other].nexts, theirs->nexts + j);
                    if (accesses_rivals(&space->accesses, before.access, next.access))
                        see_race(space, findings, before.event, next.event);
                }
            }
        }
    }
}

static void judge_life(StateSpace *space, Findings *findings, uint32_t core, const Watch *watch)
{
    int now = lives_now(space, findings->state, watch->what, core);
    if (now)
        findings_add(space, findings, &(Sighting){.id = FAULT_LIFETIME, .places = 1, .event = {watch->event, NONE},
                                                  .object = (uint32_t)watch->value, .is_semaphore = watch->is_semaphore, .have = now,
                                                  .transition = NONE});
}

static void see_leftover(StateSpace *space, Findings *findings, uint32_t counter, unsigned places, uint32_t event)
{
    int64_t count = state_counter_value(space, findings->state, counter);
    if (count > 0)
        findings_add(space, findings, &(Sighting){.id = FAULT_LEFTOVER, .places = places, .event = {event, NONE}, .transition = NONE,
                                                  .is_semaphore = true, .object = state_counter_get(space, counter)->semaphore,
                                                  .have = count});
}

/* The exit of a launch is next on a device: checks counts of semaphores whose lives end with it. */
static void judge_leftovers(StateSpace *space, Findings *findings, uint32_t device, uint32_t launch)
{
    for (uint32_t g = 0; g < space->counters.count; g++) {
        const StateCounter *counter = state_counter_get(space, g);
        if (counter->flag || !lives_end_at(space, counter->life, device, launch))
            continue;
        if (lives_get(space, counter->life)->kind != LIFE_LAUNCHES && !lives_never_opened(space, findings->state, counter->life))
            continue;                           /* a scope has an end of its own */
        const Component *component = space_component(space, counter->owner, findings->state[counter->owner]);
        see_leftover(space, findings, g, 1, space_transition(space, counter->owner, component->transitions)->event);
    }
}

static void see_in_flight(StateSpace *space, Findings *findings, uint32_t core, const UnrollStep *start, StepKind moment,
                          const Watch *watch, uint32_t device)
{
    const Copy *copy = &start->copy;
    uint32_t object = moment == STEP_READ ? copy->source : copy->target;
    uint32_t semaphore = moment == STEP_READ ? copy->send_semaphore : copy->receive_semaphore;
    if (!lives_end_at(space, lives_of_object(space, object), device, watch->what)
        && (semaphore == NONE || !lives_end_at(space, lives_of_semaphore(space, semaphore), device, watch->what)))
        return;
    uint32_t event = row_moment_event(space, core, start, moment);
    findings_add(space, findings, &(Sighting){.id = FAULT_IN_FLIGHT, .places = 2, .event = {event, watch->event}, .object = object,
                                              .transition = NONE});
}

static void judge_exit(StateSpace *space, Findings *findings, uint32_t core, const Watch *watch)
{
    uint32_t cores = space->program->cores_per_device, device = core / cores;
    judge_leftovers(space, findings, device, watch->what);
    for (uint32_t issuer = 0; issuer < space->cores; issuer++) {
        const Component *component = space_component(space, issuer, findings->state[issuer]);
        const PendingCopy *pendings = space_pendings(space, issuer, findings->state[issuer]);
        for (uint32_t i = 0; i < component->pendings; i++) {
            const UnrollStep *start = tree_step(&space->core[issuer].tree, pendings[i].step);
            if (issuer / cores == device && !(pendings[i].phase & moment_bit(STEP_READ)))
                see_in_flight(space, findings, issuer, start, STEP_READ, watch, device);
            if (start->copy.target_device == device)
                see_in_flight(space, findings, issuer, start, STEP_WRITE, watch, device);
        }
    }
}

static void judge_free(StateSpace *space, Findings *findings, uint32_t core, const Watch *watch)
{
    const Decl *decl = program_decl(space->program, watch->what);
    for (uint32_t element = 0; element < decl->elements; element++) {
        uint32_t semaphore = decl->first_semaphore + core * decl->elements + element;
        if (semaphore < space->counter_of.count && STORE(uint32_t, &space->counter_of, semaphore))
            see_leftover(space, findings, STORE(uint32_t, &space->counter_of, semaphore) - 1, 1, watch->event);
    }
}

static bool is_judged(FaultId fault, uint8_t marks)
{
    const Raised raised = {.fault = (uint8_t)fault, .marks = marks};
    return record_is_judged(&raised);
}

/* What the core raised on its way here, after the step before, and what stops it. */
static void judge_fault(StateSpace *space, Findings *findings, uint32_t core, const Watch *watch)
{
    const SpaceCore *self = space_core(space, core);
    const TreeNode *node = space_node(space, core, findings->state[core]);
    const UnrollStep *step = tree_step(&self->tree, node->unrolled);
    const TreeNode *before = node->parent == NONE ? node : tree_node(&self->tree, node->parent);
    bool hidden = step->fault != FAULT_COUNT && space->options->canary == ENUMERATE_CANARY_STOP_HIDES;
    for (const UnrollFault *raised = hidden ? NULL : step->raised; raised != NULL; raised = raised->next) {
        Place place = *space_event(space, watch->event);
        place.position = before->position, place.site = raised->site, place.kind = before->step.kind;
        place.object = place.region = NONE;
        if (is_judged(raised->fault, raised->marks))
            findings_add(space, findings, &(Sighting){.id = raised->fault, .places = 1, .object = NONE, .message = raised->message,
                                                      .event = {intern_add(&space->events, &place, sizeof place), NONE}, .core = core,
                                                      .transition = NONE});
    }
    if (step->fault != FAULT_COUNT && is_judged(step->fault, step->steered))
        findings_add(space, findings, &(Sighting){.id = step->fault, .places = 1, .event = {watch->event, NONE}, .object = NONE,
                                                  .message = step->message, .core = core, .transition = watch->transition});
}

static void judge_limit(StateSpace *space, Findings *findings, uint32_t core, const Watch *watch)
{
    const StateCounter *counter = state_counter_get(space, watch->what);
    int64_t after = count_now(space, findings->state, counter, watch->what) + watch->value;
    if (after > counter->limit)
        findings_add(space, findings, &(Sighting){.id = FAULT_OVERFLOW, .places = 1, .event = {watch->event, NONE},
                                                  .object = counter->semaphore, .is_semaphore = true, .have = after,
                                                  .need = counter->limit, .core = core, .transition = watch->transition});
}

/* Has some core written part of what is to be loaded? */
static bool is_written(const StateSpace *space, const uint32_t *id, uint32_t access)
{
    for (uint32_t core = 0; core < space->cores; core++) {
        uint32_t count;
        const uint32_t *wrote = idsets_items(&space->sets, space_component(space, core, id[core])->wrote, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses_overlap(&space->accesses, wrote[i], access))
                return true;
    }
    return false;
}

static void judge_load(StateSpace *space, Findings *findings, const Watch *watch)
{
    if (is_written(space, findings->state, watch->what))
        return;
    findings_add(space, findings, &(Sighting){.id = FAULT_UNINITIALISED, .places = 1, .event = {watch->event, NONE}, .transition = NONE,
                                              .object = space_event(space, watch->event)->object});
}

static void judge_expect(StateSpace *space, Findings *findings, uint32_t core, const Watch *watch)
{
    const Step *step = &space_node(space, core, findings->state[core])->step;
    uint32_t counter = state_counter_of(space, step->object);
    int64_t count = count_now(space, findings->state, state_counter_get(space, counter), counter);
    if (count == (int64_t)step->value)
        return;
    g_autofree char *text = g_strdup_printf("the count is %" G_GINT64_FORMAT ", expected was %u", count, step->value);
    findings_add(space, findings, &(Sighting){.id = FAULT_ASSERT, .places = 1, .event = {watch->event, NONE}, .object = NONE,
                                              .core = core, .transition = watch->transition,
                                              .message = program_text(space->program, program_string(space->program, text))});
}

static void judge_watch(StateSpace *space, Findings *findings, uint32_t core, const Watch *watch)
{
    switch ((WatchKind)watch->kind) {
    case WATCH_LIFE:
        judge_life(space, findings, core, watch);
        break;
    case WATCH_PAIR:
        see_race(space, findings, watch->event, watch->what);
        break;
    case WATCH_EXIT:
        if (!any_stopped(space, findings->state))
            judge_exit(space, findings, core, watch);
        break;
    case WATCH_FREE:
        if (!any_stopped(space, findings->state))
            judge_free(space, findings, core, watch);
        break;
    case WATCH_MISMATCH:
        findings_add(space, findings, &(Sighting){.id = FAULT_MISMATCH, .places = watch->what == NONE ? 1 : 2, .transition = NONE,
                                                  .event = {watch->event, watch->what}, .object = (uint32_t)watch->value,
                                                  .is_semaphore = true});
        break;
    case WATCH_FAULT:
        judge_fault(space, findings, core, watch);
        break;
    case WATCH_LIMIT:
        judge_limit(space, findings, core, watch);
        break;
    case WATCH_LOAD:
        judge_load(space, findings, watch);
        break;
    case WATCH_EXPECT:
        judge_expect(space, findings, core, watch);
        break;
    }
}

/* ---- for all workers: may the state show a fault? ---- */

static bool exit_is_suspect(const StateSpace *space, const uint32_t *id, uint32_t device, uint32_t launch)
{
    for (uint32_t g = 0; g < space->counters.count; g++) {
        const StateCounter *counter = state_counter_get(space, g);
        if (!counter->flag && lives_end_at(space, counter->life, device, launch) && state_counter_value(space, id, g) > 0)
            return true;
    }
    for (uint32_t core = 0; core < space->cores; core++) {
        const PendingCopy *pendings = space_pendings(space, core, id[core]);
        for (uint32_t i = 0, count = space_component(space, core, id[core])->pendings; i < count; i++)
            if (tree_step(&space->core[core].tree, pendings[i].step)->copy.target_device == device
                || (core / space->program->cores_per_device == device && !(pendings[i].phase & moment_bit(STEP_READ))))
                return true;
    }
    return false;
}

static bool is_suspect(const StateSpace *space, const uint32_t *id, uint32_t core, const Watch *watch)
{
    switch ((WatchKind)watch->kind) {
    case WATCH_LIFE:
        return lives_now(space, id, watch->what, core) != 0;
    case WATCH_EXIT:
        return exit_is_suspect(space, id, core / space->program->cores_per_device, watch->what);
    case WATCH_LIMIT: {
        const StateCounter *counter = state_counter_get(space, watch->what);
        return count_now(space, id, counter, watch->what) + watch->value > counter->limit;
    }
    case WATCH_LOAD:
        return !is_written(space, id, watch->what);
    case WATCH_PAIR: case WATCH_FREE: case WATCH_MISMATCH: case WATCH_FAULT: case WATCH_EXPECT:
        return true;
    }
    g_assert_not_reached();
}

static bool is_due(const StateSpace *space, const uint32_t *id, uint32_t core, const Watch *watch)
{
    bool needs_transition = watch->transition != NONE && watch->kind != WATCH_FAULT;
    return !needs_transition || transition_enabled(space, id, core, space_transition(space, core, watch->transition));
}

bool inspect_suspects(const StateSpace *space, const uint32_t *id)
{
    for (uint32_t core = 0; core < space->cores; core++) {
        const Component *component = space_component(space, core, id[core]);
        for (uint32_t i = 0; i < component->watch_count; i++) {
            const Watch *watch = &STORE(Watch, &space->core[core].watches, component->watches + i);
            if (is_suspect(space, id, core, watch) && is_due(space, id, core, watch))
                return true;
        }
    }
    return false;
}

void inspect_state(StateSpace *space, Findings *findings)
{
    for (uint32_t core = 0; core < space->cores; core++) {
        const Component *component = space_component(space, core, findings->state[core]);
        for (uint32_t i = 0; i < component->watch_count; i++) {
            const Watch *watch = &STORE(Watch, &space->core[core].watches, component->watches + i);
            if (is_due(space, findings->state, core, watch))
                judge_watch(space, findings, core, watch);
        }
    }
}

static void add_flag(void *data, uint32_t semaphore, int64_t value)
{
    ((int64_t *)data)[semaphore] = value;
}

/* All counts of the current state, by semaphore; flags that no step names keep their initial value. */
static int64_t *all_counts(const StateSpace *space, const uint32_t *id)
{
    const Program *program = space->program;
    int64_t *count = g_new0(int64_t, program->semaphores + 1);
    for (size_t i = 0; i < program->semaphore_decls.count; i++) {
        const Decl *decl = program_decl(program, STORE(uint32_t, &program->semaphore_decls, i));
        for (uint32_t s = 0; decl->semaphore_kind == SEMAPHORE_FLAG && s < decl->elements * program->cores; s++)
            count[decl->first_semaphore + s] = decl->initial;
    }
    for (uint32_t g = 0; g < space->counters.count; g++)
        if (!state_counter_get(space, g)->flag)
            count[state_counter_get(space, g)->semaphore] = state_counter_value(space, id, g);
    for (uint32_t device = 0; space->memory && device < program->devices; device++)
        memory_each_flag(space, device, id[space->cores + device], add_flag, count);
    return count;
}

static void collect_end(StateSpace *space, Findings *findings)
{
    uint32_t *position = g_new(uint32_t, space->cores);
    for (uint32_t core = 0; core < space->cores; core++)
        position[core] = space_node(space, core, findings->state[core])->position;
    int64_t *count = all_counts(space, findings->state);
    uint64_t hash = outcome_end_state(position, space->cores, count, space->program->semaphores);
    g_array_append_val(findings->outcome->end_states, hash);
    g_free(count);
    g_free(position);
}

void inspect_end(StateSpace *space, Findings *findings)
{
    bool finished = true, stopped = any_stopped(space, findings->state);
    for (uint32_t core = 0; core < space->cores; core++)
        finished &= space_node(space, core, findings->state[core])->end == TREE_FINISHED;
    if (!space->options->no_end_states)
        collect_end(space, findings);
    if (stopped)
        return;
    if (!finished) {
        bool first = !findings_has(findings, FAULT_DEADLOCK);
        findings_add(space, findings, &(Sighting){.id = FAULT_DEADLOCK, .event = {NONE, NONE}, .object = NONE, .transition = NONE,
                                                  .why = first ? stuck_state_why(space, findings->state) : NULL});
        return;
    }
    for (uint32_t g = 0; g < space->counters.count && !space->program->bare; g++) {
        const Decl *decl = program_decl(space->program, program_semaphore_decl(space->program, state_counter_get(space, g)->semaphore));
        if (decl->semaphore_kind == SEMAPHORE_BARRIER && decl->life == LIFE_ALWAYS)
            see_leftover(space, findings, g, 0, NONE);
    }
    if (space->contents)
        end_results_check(space, findings);
}
