/* judge.c - each state checked as it stands: what is next, what lives, what is still under way. Nothing here looks at another state. */
#include "judge.h"
#include "component.h"
#include "found.h"
#include "lives.h"
#include "memory.h"
#include "turn.h"

static bool any_stopped(const Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++)
        if (walk_node(walk, core, walk->id[core])->end == NODE_STOPPED)
            return true;
    return false;
}

static int64_t count_now(const Walk *walk, const uint32_t *id, const Gauge *gauge, uint32_t index)
{
    if (gauge->flag)
        return memory_get(walk, gauge->device, id[walk->cores + gauge->device], gauge->slot);
    return walk_count(walk, id, index);
}

static void see_race(Walk *walk, uint32_t a, uint32_t b)
{
    found_add(walk, &(Sighting){.id = FAULT_RACE, .places = 2, .event = {a, b}, .object = walk_event(walk, a)->object, .turn = NONE});
}

void judge_races(Walk *walk)
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
        found_add(walk, &(Sighting){.id = FAULT_LIFETIME, .places = 1, .event = {watch->event, NONE}, .object = (uint32_t)watch->value,
                                    .is_semaphore = watch->is_semaphore, .have = now, .turn = NONE});
}

static void see_leftover(Walk *walk, uint32_t gauge, unsigned places, uint32_t event)
{
    int64_t count = walk_count(walk, walk->id, gauge);
    if (count > 0)
        found_add(walk, &(Sighting){.id = FAULT_LEFTOVER, .places = places, .event = {event, NONE}, .turn = NONE, .is_semaphore = true,
                                    .object = walk_gauge(walk, gauge)->semaphore, .have = count});
}

/* The exit of a launch is next on a device: counts of semaphores that end with it. */
static void judge_leftovers(Walk *walk, uint32_t device, uint32_t launch)
{
    for (uint32_t g = 0; g < walk->gauges.count; g++) {
        const Gauge *gauge = walk_gauge(walk, g);
        if (gauge->flag || !lives_end_at(walk, gauge->life, device, launch))
            continue;
        if (lives_get(walk, gauge->life)->kind != LIFE_LAUNCHES && !lives_never_opened(walk, walk->id, gauge->life))
            continue;                           /* a scope has an end of its own */
        const Component *component = walk_component(walk, gauge->owner, walk->id[gauge->owner]);
        see_leftover(walk, g, 1, STORE(Turn, &walk->core[gauge->owner].turns, component->turns).event);
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
    found_add(walk, &(Sighting){.id = FAULT_IN_FLIGHT, .places = 2, .event = {event, watch->event}, .object = object, .turn = NONE});
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
        if (semaphore < walk->gauge_of.count && STORE(uint32_t, &walk->gauge_of, semaphore))
            see_leftover(walk, STORE(uint32_t, &walk->gauge_of, semaphore) - 1, 1, watch->event);
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
    found_add(walk, &(Sighting){.id = step->fault, .places = 1, .event = {event, NONE}, .object = NONE, .message = step->message,
                                .core = core, .turn = stops ? watch->turn : NONE});
}

static void judge_limit(Walk *walk, uint32_t core, const Watch *watch)
{
    const Gauge *gauge = walk_gauge(walk, watch->what);
    int64_t after = count_now(walk, walk->id, gauge, watch->what) + watch->value;
    if (after > gauge->limit)
        found_add(walk, &(Sighting){.id = FAULT_OVERFLOW, .places = 1, .event = {watch->event, NONE}, .object = gauge->semaphore,
                                    .is_semaphore = true, .have = after, .need = gauge->limit, .core = core, .turn = watch->turn});
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
    found_add(walk, &(Sighting){.id = FAULT_UNINITIALISED, .places = 1, .event = {watch->event, NONE}, .turn = NONE,
                                .object = walk_event(walk, watch->event)->object});
}

static void judge_expect(Walk *walk, uint32_t core, const Watch *watch)
{
    const Step *step = &tree_step(&walk->core[core].tree, walk_node(walk, core, walk->id[core])->step)->step;
    uint32_t gauge = walk_gauge_of(walk, step->object);
    int64_t count = count_now(walk, walk->id, walk_gauge(walk, gauge), gauge);
    if (count == (int64_t)step->value)
        return;
    g_autofree char *text = g_strdup_printf("the count is %" G_GINT64_FORMAT ", expected was %u", count, step->value);
    found_add(walk, &(Sighting){.id = FAULT_ASSERT, .places = 1, .event = {watch->event, NONE}, .object = NONE, .core = core,
                                .turn = watch->turn, .message = program_text(walk->program, program_string(walk->program, text))});
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
        found_add(walk, &(Sighting){.id = FAULT_MISMATCH, .places = watch->what == NONE ? 1 : 2, .turn = NONE,
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
    for (uint32_t g = 0; g < walk->gauges.count; g++) {
        const Gauge *gauge = walk_gauge(walk, g);
        if (!gauge->flag && lives_end_at(walk, gauge->life, device, launch) && walk_count(walk, id, g) > 0)
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
        const Gauge *gauge = walk_gauge(walk, watch->what);
        return count_now(walk, id, gauge, watch->what) + watch->value > gauge->limit;
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
    bool needs_turn = watch->turn != NONE && watch->kind != WATCH_FAULT;
    return !needs_turn || turn_possible(walk, id, core, &STORE(Turn, &walk->core[core].turns, watch->turn));
}

bool judge_suspects(const Walk *walk, const uint32_t *id)
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

void judge_state(Walk *walk)
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
    for (uint32_t g = 0; g < walk->gauges.count; g++)
        if (!walk_gauge(walk, g)->flag)
            count[walk_gauge(walk, g)->semaphore] = walk_count(walk, walk->id, g);
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

void judge_end(Walk *walk)
{
    bool finished = true, stopped = any_stopped(walk);
    for (uint32_t core = 0; core < walk->cores; core++)
        finished &= walk_node(walk, core, walk->id[core])->end == NODE_FINISHED;
    if (!walk->options->no_end_states)
        collect_end(walk);
    if (stopped)
        return;
    if (!finished) {
        bool first = !found_has(walk->found, FAULT_DEADLOCK);
        found_add(walk, &(Sighting){.id = FAULT_DEADLOCK, .event = {NONE, NONE}, .object = NONE, .turn = NONE,
                                    .why = first ? stuck_why(walk) : NULL});
        return;
    }
    for (uint32_t g = 0; g < walk->gauges.count && !walk->program->bare; g++) {
        const Decl *decl = program_decl(walk->program, program_semaphore_decl(walk->program, walk_gauge(walk, g)->semaphore));
        if (decl->semaphore_kind == SEMAPHORE_BARRIER && decl->life == LIFE_ALWAYS)
            see_leftover(walk, g, 0, NONE);
    }
    if (walk->contents)
        results_check(walk);
}
