/* inspect.c - each state checked as it stands: what is next, what lives, what is still under way. Nothing here looks at another state. */
#include "inspect.h"
#include "component.h"
#include "findings.h"
#include "lives.h"
#include "memory.h"
#include "state_counter.h"
#include "transition.h"

static bool any_stopped(const Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++)
        if (walk_node(walk, core, walk->id[core])->end == NODE_STOPPED)
            return true;
    return false;
}

static int64_t count_now(const Walk *walk, const uint32_t *id, const StateCounter *counter, uint32_t index)
{
    if (counter->flag)
        return memory_get(walk, counter->device, id[walk->cores + counter->device], counter->slot);
    return state_counter_value(walk, id, index);
}

static void see_race(Walk *walk, uint32_t a, uint32_t b)
{
    findings_add(walk, &(Sighting){.id = FAULT_RACE, .places = 2, .event = {a, b}, .object = walk_event(walk, a)->object,
                                   .transition = NONE});
}

void inspect_races(Walk *walk)
{
    for (uint32_t core = 1; core < walk->cores; core++) {
        const Component *mine = walk_component(walk, core, walk->id[core]);
        for (uint32_t i = 0; i < mine->next_count; i++) {
            Next next = STORE(Next, &walk->core[core].nexts, mine->nexts + i);
            if (accesses_get(&walk->accesses, next.access)->bit == NONE)
                continue;
            for (uint32_t other = 0; other < core; other++) {
                const Component *theirs = walk_component(walk, other, walk->id[other]);
                for (uint32_t j = 0; j < theirs->next_count; j++) {
                    Next before = STORE(Next, &walk->core[other].nexts, theirs->nexts + j);
                    if (accesses_rivals(&walk->accesses, before.access, next.access))
                        see_race(walk, before.event, next.event);
                }
            }
        }
    }
}

static void judge_life(Walk *walk, uint32_t core, const Watch *watch)
{
    int now = lives_now(walk, walk->id, watch->what, core);
    if (now)
        findings_add(walk, &(Sighting){.id = FAULT_LIFETIME, .places = 1, .event = {watch->event, NONE}, .object = (uint32_t)watch->value,
                                    .is_semaphore = watch->is_semaphore, .have = now, .transition = NONE});
}

static void see_leftover(Walk *walk, uint32_t counter, unsigned places, uint32_t event)
{
    int64_t count = state_counter_value(walk, walk->id, counter);
    if (count > 0)
        findings_add(walk, &(Sighting){.id = FAULT_LEFTOVER, .places = places, .event = {event, NONE}, .transition = NONE,
                                       .is_semaphore = true, .object = state_counter_get(walk, counter)->semaphore, .have = count});
}

/* The exit of a launch is next on a device: counts of semaphores that end with it. */
static void judge_leftovers(Walk *walk, uint32_t device, uint32_t launch)
{
    for (uint32_t g = 0; g < walk->counters.count; g++) {
        const StateCounter *counter = state_counter_get(walk, g);
        if (counter->flag || !lives_end_at(walk, counter->life, device, launch))
            continue;
        if (lives_get(walk, counter->life)->kind != LIFE_LAUNCHES && !lives_never_opened(walk, walk->id, counter->life))
            continue;                           /* a scope has an end of its own */
        const Component *component = walk_component(walk, counter->owner, walk->id[counter->owner]);
        see_leftover(walk, g, 1, STORE(Transition, &walk->core[counter->owner].transitions, component->transitions).event);
    }
}

static void see_in_flight(Walk *walk, uint32_t core, const UnrollStep *start, StepKind moment, const Watch *watch, uint32_t device)
{
    const Copy *copy = &start->copy;
    uint32_t object = moment == STEP_READ ? copy->source : copy->target;
    uint32_t semaphore = moment == STEP_READ ? copy->send_semaphore : copy->receive_semaphore;
    if (!lives_end_at(walk, lives_of_object(walk, object), device, watch->what)
        && (semaphore == NONE || !lives_end_at(walk, lives_of_semaphore(walk, semaphore), device, watch->what)))
        return;
    uint32_t event = row_moment_event(walk, core, start, moment);
    findings_add(walk, &(Sighting){.id = FAULT_IN_FLIGHT, .places = 2, .event = {event, watch->event}, .object = object,
                                   .transition = NONE});
}

static void judge_exit(Walk *walk, uint32_t core, const Watch *watch)
{
    uint32_t cores = walk->program->cores_per_device, device = core / cores;
    judge_leftovers(walk, device, watch->what);
    for (uint32_t issuer = 0; issuer < walk->cores; issuer++) {
        const Component *component = walk_component(walk, issuer, walk->id[issuer]);
        const Pending *pendings = component_pendings(walk, issuer, walk->id[issuer]);
        for (uint32_t i = 0; i < component->pendings; i++) {
            const UnrollStep *start = tree_step(&walk->core[issuer].tree, pendings[i].step);
            if (issuer / cores == device && !(pendings[i].phase & moment_bit(STEP_READ)))
                see_in_flight(walk, issuer, start, STEP_READ, watch, device);
            if (start->copy.target_device == device)
                see_in_flight(walk, issuer, start, STEP_WRITE, watch, device);
        }
    }
}

static void judge_free(Walk *walk, uint32_t core, const Watch *watch)
{
    const Decl *decl = program_decl(walk->program, watch->what);
    for (uint32_t element = 0; element < decl->elements; element++) {
        uint32_t semaphore = decl->first_semaphore + core * decl->elements + element;
        if (semaphore < walk->counter_of.count && STORE(uint32_t, &walk->counter_of, semaphore))
            see_leftover(walk, STORE(uint32_t, &walk->counter_of, semaphore) - 1, 1, watch->event);
    }
}

static void judge_fault(Walk *walk, uint32_t core, const Watch *watch)
{
    const WalkCore *self = walk_core(walk, core);
    const Node *node = walk_node(walk, core, walk->id[core]);
    const UnrollStep *step = tree_step(&self->tree, node->step);
    bool stops = step->step.kind == STEP_STOP;
    uint32_t event = watch->event;
    const Raised raised = {.fault = (uint8_t)step->fault, .marks = step->steered};
    if (!record_is_judged(&raised))
        return;
    if (!stops) {                               /* raised by the core on its way here, after the step before */
        const Node *before = node->parent == NONE ? node : tree_node(&self->tree, node->parent);
        Place place = *walk_event(walk, event);
        place.position = before->position, place.site = step->fault_site, place.kind = tree_step(&self->tree, before->step)->step.kind;
        place.object = place.region = NONE;
        event = intern_add(&walk->events, &place, sizeof place);
    }
    findings_add(walk, &(Sighting){.id = step->fault, .places = 1, .event = {event, NONE}, .object = NONE, .message = step->message,
                                .core = core, .transition = stops ? watch->transition : NONE});
}

static void judge_limit(Walk *walk, uint32_t core, const Watch *watch)
{
    const StateCounter *counter = state_counter_get(walk, watch->what);
    int64_t after = count_now(walk, walk->id, counter, watch->what) + watch->value;
    if (after > counter->limit)
        findings_add(walk, &(Sighting){.id = FAULT_OVERFLOW, .places = 1, .event = {watch->event, NONE}, .object = counter->semaphore,
                                       .is_semaphore = true, .have = after, .need = counter->limit, .core = core,
                                       .transition = watch->transition});
}

/* Has some core written something of what is to be loaded? */
static bool is_written(const Walk *walk, const uint32_t *id, uint32_t access)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        uint32_t count;
        const uint32_t *wrote = idsets_items(&walk->sets, walk_component(walk, core, id[core])->wrote, &count);
        for (uint32_t i = 0; i < count; i++)
            if (accesses_overlap(&walk->accesses, wrote[i], access))
                return true;
    }
    return false;
}

static void judge_load(Walk *walk, const Watch *watch)
{
    if (is_written(walk, walk->id, watch->what))
        return;
    findings_add(walk, &(Sighting){.id = FAULT_UNINITIALISED, .places = 1, .event = {watch->event, NONE}, .transition = NONE,
                                .object = walk_event(walk, watch->event)->object});
}

static void judge_expect(Walk *walk, uint32_t core, const Watch *watch)
{
    const Step *step = &tree_step(&walk->core[core].tree, walk_node(walk, core, walk->id[core])->step)->step;
    uint32_t counter = state_counter_of(walk, step->object);
    int64_t count = count_now(walk, walk->id, state_counter_get(walk, counter), counter);
    if (count == (int64_t)step->value)
        return;
    g_autofree char *text = g_strdup_printf("the count is %" G_GINT64_FORMAT ", expected was %u", count, step->value);
    findings_add(walk, &(Sighting){.id = FAULT_ASSERT, .places = 1, .event = {watch->event, NONE}, .object = NONE, .core = core,
                                   .transition = watch->transition,
                                   .message = program_text(walk->program, program_string(walk->program, text))});
}

static void judge_watch(Walk *walk, uint32_t core, const Watch *watch)
{
    switch ((WatchKind)watch->kind) {
    case WATCH_LIFE:
        judge_life(walk, core, watch);
        break;
    case WATCH_PAIR:
        see_race(walk, watch->event, watch->what);
        break;
    case WATCH_EXIT:
        if (!any_stopped(walk))
            judge_exit(walk, core, watch);
        break;
    case WATCH_FREE:
        if (!any_stopped(walk))
            judge_free(walk, core, watch);
        break;
    case WATCH_MISMATCH:
        findings_add(walk, &(Sighting){.id = FAULT_MISMATCH, .places = watch->what == NONE ? 1 : 2, .transition = NONE,
                                    .event = {watch->event, watch->what},
                                    .object = (uint32_t)watch->value, .is_semaphore = true});
        break;
    case WATCH_FAULT:
        judge_fault(walk, core, watch);
        break;
    case WATCH_LIMIT:
        judge_limit(walk, core, watch);
        break;
    case WATCH_LOAD:
        judge_load(walk, watch);
        break;
    case WATCH_EXPECT:
        judge_expect(walk, core, watch);
        break;
    }
}

/* ---- what all workers ask: is there anything for the judge? ---- */

static bool exit_is_suspect(const Walk *walk, const uint32_t *id, uint32_t device, uint32_t launch)
{
    for (uint32_t g = 0; g < walk->counters.count; g++) {
        const StateCounter *counter = state_counter_get(walk, g);
        if (!counter->flag && lives_end_at(walk, counter->life, device, launch) && state_counter_value(walk, id, g) > 0)
            return true;
    }
    for (uint32_t core = 0; core < walk->cores; core++) {
        const Pending *pendings = component_pendings(walk, core, id[core]);
        for (uint32_t i = 0, count = walk_component(walk, core, id[core])->pendings; i < count; i++)
            if (tree_step(&walk->core[core].tree, pendings[i].step)->copy.target_device == device
                || (core / walk->program->cores_per_device == device && !(pendings[i].phase & moment_bit(STEP_READ))))
                return true;
    }
    return false;
}

static bool is_suspect(const Walk *walk, const uint32_t *id, uint32_t core, const Watch *watch)
{
    switch ((WatchKind)watch->kind) {
    case WATCH_LIFE:
        return lives_now(walk, id, watch->what, core) != 0;
    case WATCH_EXIT:
        return exit_is_suspect(walk, id, core / walk->program->cores_per_device, watch->what);
    case WATCH_LIMIT: {
        const StateCounter *counter = state_counter_get(walk, watch->what);
        return count_now(walk, id, counter, watch->what) + watch->value > counter->limit;
    }
    case WATCH_LOAD:
        return !is_written(walk, id, watch->what);
    case WATCH_PAIR: case WATCH_FREE: case WATCH_MISMATCH: case WATCH_FAULT: case WATCH_EXPECT:
        return true;
    }
    g_assert_not_reached();
}

static bool is_due(const Walk *walk, const uint32_t *id, uint32_t core, const Watch *watch)
{
    bool needs_transition = watch->transition != NONE && watch->kind != WATCH_FAULT;
    return !needs_transition || transition_enabled(walk, id, core, &STORE(Transition, &walk->core[core].transitions, watch->transition));
}

bool inspect_suspects(const Walk *walk, const uint32_t *id)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        const Component *component = walk_component(walk, core, id[core]);
        for (uint32_t i = 0; i < component->watch_count; i++) {
            const Watch *watch = &STORE(Watch, &walk->core[core].watches, component->watches + i);
            if (is_suspect(walk, id, core, watch) && is_due(walk, id, core, watch))
                return true;
        }
    }
    return false;
}

void inspect_state(Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        const Component *component = walk_component(walk, core, walk->id[core]);
        for (uint32_t i = 0; i < component->watch_count; i++) {
            const Watch *watch = &STORE(Watch, &walk->core[core].watches, component->watches + i);
            if (is_due(walk, walk->id, core, watch))
                judge_watch(walk, core, watch);
        }
    }
}

static void add_flag(void *data, uint32_t semaphore, int64_t value)
{
    ((int64_t *)data)[semaphore] = value;
}

/* All counts of the state in hand, by semaphore; flags that no step names keep their first value. */
static int64_t *all_counts(const Walk *walk)
{
    const Program *program = walk->program;
    int64_t *count = g_new0(int64_t, program->semaphores + 1);
    for (size_t i = 0; i < program->semaphore_decls.count; i++) {
        const Decl *decl = program_decl(program, STORE(uint32_t, &program->semaphore_decls, i));
        for (uint32_t s = 0; decl->semaphore_kind == SEMAPHORE_FLAG && s < decl->elements * program->cores; s++)
            count[decl->first_semaphore + s] = decl->initial;
    }
    for (uint32_t g = 0; g < walk->counters.count; g++)
        if (!state_counter_get(walk, g)->flag)
            count[state_counter_get(walk, g)->semaphore] = state_counter_value(walk, walk->id, g);
    for (uint32_t device = 0; walk->memory && device < program->devices; device++)
        memory_each_flag(walk, device, walk->id[walk->cores + device], add_flag, count);
    return count;
}

static void collect_end(Walk *walk)
{
    uint32_t *position = g_new(uint32_t, walk->cores);
    for (uint32_t core = 0; core < walk->cores; core++)
        position[core] = walk_node(walk, core, walk->id[core])->position;
    int64_t *count = all_counts(walk);
    uint64_t hash = outcome_end_state(position, walk->cores, count, walk->program->semaphores);
    g_array_append_val(walk->outcome->end_states, hash);
    g_free(count);
    g_free(position);
}

void inspect_end(Walk *walk)
{
    bool finished = true, stopped = any_stopped(walk);
    for (uint32_t core = 0; core < walk->cores; core++)
        finished &= walk_node(walk, core, walk->id[core])->end == NODE_FINISHED;
    if (!walk->options->no_end_states)
        collect_end(walk);
    if (stopped)
        return;
    if (!finished) {
        bool first = !findings_has(walk->findings, FAULT_DEADLOCK);
        findings_add(walk, &(Sighting){.id = FAULT_DEADLOCK, .event = {NONE, NONE}, .object = NONE, .transition = NONE,
                                    .why = first ? stuck_state_why(walk) : NULL});
        return;
    }
    for (uint32_t g = 0; g < walk->counters.count && !walk->program->bare; g++) {
        const Decl *decl = program_decl(walk->program, program_semaphore_decl(walk->program, state_counter_get(walk, g)->semaphore));
        if (decl->semaphore_kind == SEMAPHORE_BARRIER && decl->life == LIFE_ALWAYS)
            see_leftover(walk, g, 0, NONE);
    }
    if (walk->contents)
        end_results_check(walk);
}
