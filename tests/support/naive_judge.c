/* naive_judge.c - what is wrong in a state, asked from scratch each time: who is next, what has been done, what lives. */
#include <string.h>
#include "naive_inside.h"

static uint32_t decl_of(const NaiveSearch *s, bool is_semaphore, uint32_t object)
{
    return is_semaphore ? program_semaphore_decl(s->program, object) : program_object_decl(s->program, object);
}

char *naive_key(const Program *program, FaultId id, unsigned places, const uint32_t *site, bool is_semaphore, uint32_t object)
{
    uint32_t line[2] = {0, 0};
    for (unsigned i = 0; i < places; i++)
        line[i] = program_get_site(program, site[i])->line;
    uint32_t decl = object == NONE ? NONE : is_semaphore ? program_semaphore_decl(program, object) : program_object_decl(program, object);
    return g_strdup_printf("%s %u %u %s", fault_name(id), MIN(line[0], line[1]), MAX(line[0], line[1]),
                           decl == NONE ? "-" : program_text(program, program_decl(program, decl)->name));
}

static uint32_t site_of(const NaiveSearch *s, const NaiveEvent *event)
{
    return naive_step(s, event->core, event->at)->step.site;
}

static char *place_of(const NaiveEvent *event)
{
    return g_strdup_printf("%u.%u%s", event->core, event->at,
                           event->copy == NONE ? "" : event->kind == STEP_READ ? "R" : event->kind == STEP_WRITE ? "W"
                           : event->kind == STEP_EARLY_SEND ? "r" : "w");
}

static void see(const NaiveSearch *s, FaultId id, const NaiveEvent *a, const NaiveEvent *b, bool is_semaphore, uint32_t object)
{
    uint32_t site[2] = {a ? site_of(s, a) : 0, b ? site_of(s, b) : 0};
    g_autofree char *first = a ? place_of(a) : g_strdup(""), *second = b ? place_of(b) : g_strdup("");
    if (id == FAULT_RACE && strcmp(first, second) > 0) {
        char *swap = first;
        first = second, second = swap;
    }
    char *key = naive_key(s->program, id, (a != NULL) + (b != NULL), site, is_semaphore, object);
    char *pair = g_strdup_printf("%s|%s|%s|%u", key, first, second, object);
    if (id == FAULT_RACE)
        g_hash_table_add(s->racing, g_strdup(first)), g_hash_table_add(s->racing, g_strdup(second));
    if (id == FAULT_IN_FLIGHT)
        g_hash_table_add(s->in_flight, g_strdup(first));
    if (id == FAULT_LEFTOVER)
        g_hash_table_add(s->left_over, GUINT_TO_POINTER(object + 1));
    g_hash_table_replace(s->pairs, pair, key);
}

typedef struct Late { char *key, *place; FaultId id; uint32_t semaphore; bool ended, by_launch; } Late;

static void see_late(const NaiveSearch *s, FaultId id, const NaiveEvent *a, bool is_semaphore, uint32_t object, bool ended, bool by_launch)
{
    uint32_t site = site_of(s, a);
    g_autofree char *key = naive_key(s->program, id, 1, &site, is_semaphore, object), *place = place_of(a);
    char *whole = g_strdup_printf("%s|%s|%u|%d", key, place, object, ended);
    if (g_hash_table_contains(s->late_keys, whole)) {
        g_free(whole);
        return;
    }
    g_hash_table_add(s->late_keys, whole);
    Late *late = g_new0(Late, 1);
    late->place = g_steal_pointer(&place), late->key = whole;
    late->id = id, late->semaphore = is_semaphore ? object : NONE, late->ended = ended, late->by_launch = by_launch;
    g_ptr_array_add(s->late, late);
}

/* Has core c done a step of that kind? (Lives and joins are never jumped over.) */
static bool passed(const NaiveSearch *s, const NaiveState *state, uint32_t c, StepKind kind, uint32_t object)
{
    for (uint32_t at = 0; at < state->core[c].at; at++)
        if (naive_step(s, c, at)->step.kind == kind && naive_step(s, c, at)->step.object == object)
            return true;
    return false;
}

static bool ever(const NaiveSearch *s, uint32_t c, StepKind kind, uint32_t object)
{
    for (uint32_t at = 0; naive_step(s, c, at); at++)
        if (naive_step(s, c, at)->step.kind == kind && naive_step(s, c, at)->step.object == object)
            return true;
    return false;
}

/* -1 not begun, +1 ended, 0 alive: unit of decl, for a step of core `by`. */
static int life_now(const NaiveSearch *s, const NaiveState *state, uint32_t decl_id, uint32_t unit, uint32_t by)
{
    const Decl *decl = program_decl(s->program, decl_id);
    bool shared = decl->space == SPACE_HBM || decl->space == SPACE_ANY;
    uint32_t cores = s->program->cores_per_device, device = shared ? unit : unit / cores, first, last;
    if (decl->life == LIFE_ALWAYS || s->program->bare)
        return 0;
    if (decl->life == LIFE_LAUNCHES) {
        if (!program_decl_launches(s->program, decl_id, device, &first, &last))
            return -1;
        return passed(s, state, device * cores, STEP_EXIT, last) ? 1 : passed(s, state, device * cores, STEP_ENTER, first) ? 0 : -1;
    }
    bool any_open = false, all_closed = true, any = false;
    for (uint32_t c = shared ? unit * cores : unit; c < (shared ? (unit + 1) * cores : unit + 1); c++) {
        any |= ever(s, c, STEP_ALLOC, decl_id);
        any_open |= passed(s, state, c, STEP_ALLOC, decl_id);
        all_closed &= !ever(s, c, STEP_ALLOC, decl_id) || passed(s, state, c, STEP_FREE, decl_id);
    }
    if (any && all_closed)
        return 1;
    bool own = shared ? naive_device(s, by) == unit : by == unit;
    if (!any_open && !own && s->program->knobs.scopes == SCOPES_STATIC && passed(s, state, device * cores, STEP_ENTER, decl->launch))
        return passed(s, state, device * cores, STEP_EXIT, decl->launch) ? 1 : 0;
    return any_open ? 0 : -1;
}

static void check_life(const NaiveSearch *s, const NaiveState *state, const NaiveEvent *event, bool is_semaphore, uint32_t object)
{
    if (object == NONE)
        return;
    uint32_t decl = decl_of(s, is_semaphore, object);
    uint32_t unit = is_semaphore ? program_semaphore_core(s->program, object) : object - program_decl(s->program, decl)->first_object;
    int now = life_now(s, state, decl, unit, event->core);
    if (now)
        see_late(s, FAULT_LIFETIME, event, is_semaphore, object, now > 0, program_decl(s->program, decl)->life == LIFE_LAUNCHES);
}

static bool touches(const NaiveSearch *s, const NaiveState *state, const NaiveEvent *event, uint32_t *object, uint32_t *region, bool *write)
{
    if (event->copy != NONE) {
        const Copy *copy = naive_copy(s, &state->copy[event->copy]);
        *write = event->kind == STEP_WRITE;
        *object = *write ? copy->target : copy->source, *region = *write ? copy->target_region : copy->source_region;
        return event->kind == STEP_READ || event->kind == STEP_WRITE;
    }
    const Step *step = &naive_step(s, event->core, event->at)->step;
    *object = step->object, *region = step->value, *write = step->kind != STEP_LOAD;
    return step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP;
}

static void check_races(const NaiveSearch *s, const NaiveState *state, const GArray *events)
{
    for (guint i = 0; i < events->len; i++)
        for (guint j = 0; j < i; j++) {
            const NaiveEvent *a = &g_array_index(events, NaiveEvent, i), *b = &g_array_index(events, NaiveEvent, j);
            uint32_t object[2], region[2];
            bool write[2];
            if (touches(s, state, a, &object[0], &region[0], &write[0]) && touches(s, state, b, &object[1], &region[1], &write[1])
                && object[0] == object[1] && (write[0] || write[1])
                && region_overlaps(program_get_region(s->program, region[0]), program_get_region(s->program, region[1])))
                see(s, FAULT_RACE, a, b, false, object[0]);
        }
}

/* Has any write to that region been done in this state? */
static bool written(const NaiveSearch *s, const NaiveState *state, uint32_t object, uint32_t region)
{
    const Region *wanted = program_get_region(s->program, region);
    for (uint32_t c = 0; c < s->program->cores; c++)
        for (uint32_t at = 0; at < state->core[c].at; at++) {
            const UnrollStep *step = naive_step(s, c, at);
            StepKind kind = (StepKind)step->step.kind;
            bool core = (kind == STEP_STORE || kind == STEP_SWAP) && step->step.object == object;
            bool copy = kind == STEP_COPY_START && step->step.object != NONE && step->copy.target == object;
            for (uint32_t i = 0; i < state->copies && copy; i++)
                copy = state->copy[i].core != c || state->copy[i].at != at;
            uint32_t target = core ? step->step.value : step->copy.target_region;
            if ((core || copy) && region_overlaps(wanted, program_get_region(s->program, target)))
                return true;
        }
    return false;
}

static bool any_stopped(const NaiveSearch *s, const NaiveState *state)
{
    for (uint32_t c = 0; c < s->program->cores; c++)
        if (state->core[c].stopped)
            return true;
    return false;
}

static bool ends_at(const NaiveSearch *s, bool is_semaphore, uint32_t object, uint32_t device, uint32_t launch)
{
    if (object == NONE)
        return false;
    uint32_t decl = decl_of(s, is_semaphore, object), first, last;
    uint32_t home = is_semaphore ? naive_device(s, program_semaphore_core(s->program, object)) : program_object_device(s->program, object);
    if (home != device)
        return false;
    if (program_decl(s->program, decl)->life == LIFE_SCOPE)
        return program_decl(s->program, decl)->launch == launch;
    return program_decl(s->program, decl)->life == LIFE_LAUNCHES && program_decl_launches(s->program, decl, device, &first, &last)
        && last == launch;
}

static void check_exit(const NaiveSearch *s, const NaiveState *state, const NaiveEvent *exit)
{
    uint32_t device = naive_device(s, exit->core), launch = naive_step(s, exit->core, exit->at)->step.object;
    for (uint32_t semaphore = 0; semaphore < s->program->semaphores; semaphore++) {
        uint32_t owner = program_semaphore_core(s->program, semaphore), object = program_semaphore_decl(s->program, semaphore);
        const Decl *decl = program_decl(s->program, object);
        NaiveEvent end = {owner, state->core[owner].at, NONE, STEP_EXIT};
        bool unopened = decl->life == LIFE_SCOPE && s->program->knobs.scopes == SCOPES_STATIC
            && !passed(s, state, owner, STEP_ALLOC, object);
        if ((decl->life == LIFE_LAUNCHES || unopened) && decl->semaphore_kind != SEMAPHORE_FLAG && state->count[semaphore] > 0
            && ends_at(s, true, semaphore, device, launch))
            see(s, FAULT_LEFTOVER, &end, NULL, true, semaphore);
    }
    for (uint32_t i = 0; i < state->copies; i++) {
        const Copy *copy = naive_copy(s, &state->copy[i]);
        NaiveEvent read = {copy->core, state->copy[i].at, i, STEP_READ}, write = {copy->core, state->copy[i].at, i, STEP_WRITE};
        if (!state->copy[i].read && naive_device(s, copy->core) == device
            && (ends_at(s, false, copy->source, device, launch) || ends_at(s, true, copy->send_semaphore, device, launch)))
            see(s, FAULT_IN_FLIGHT, &read, exit, false, copy->source);
        if (copy->target_device == device
            && (ends_at(s, false, copy->target, device, launch) || ends_at(s, true, copy->receive_semaphore, device, launch)))
            see(s, FAULT_IN_FLIGHT, &write, exit, false, copy->target);
    }
}

static void check_mismatch(const NaiveSearch *s, const NaiveState *state, const NaiveEvent *wait)
{
    const Step *step = &naive_step(s, wait->core, wait->at)->step;
    for (uint32_t at = 0; step->extra != NONE && naive_step(s, wait->core, at); at++) {
        const UnrollStep *start = naive_step(s, wait->core, at);
        if (start->step.kind != STEP_COPY_START || start->step.object != step->extra)
            continue;
        bool for_send = start->copy.send_semaphore == step->object;
        bool done = at < state->core[wait->core].at;
        for (uint32_t i = 0; i < state->copies; i++)
            if (state->copy[i].core == wait->core && state->copy[i].at == at)
                done = for_send && state->copy[i].read;
        NaiveEvent moment = {wait->core, at, 0, for_send ? STEP_READ : STEP_WRITE};
        if (!done)
            see(s, FAULT_MISMATCH, wait, &moment, true, step->object);
    }
}

void naive_check_limit(const NaiveSearch *s, const NaiveState *before, const NaiveState *after, const NaiveEvent *event)
{
    for (uint32_t semaphore = 0; semaphore < s->program->semaphores; semaphore++) {
        int64_t limit = program_decl(s->program, program_semaphore_decl(s->program, semaphore))->limit;
        if (limit >= 0 && after->count[semaphore] > limit && after->count[semaphore] > before->count[semaphore])
            see(s, FAULT_OVERFLOW, event, NULL, true, semaphore);
    }
}

static void check_core_step(const NaiveSearch *s, const NaiveState *state, const NaiveEvent *event)
{
    const UnrollStep *from = naive_step(s, event->core, event->at);
    const Step *step = &from->step;
    uint32_t object, region;
    bool write, stopped = any_stopped(s, state), memory = touches(s, state, event, &object, &region, &write);
    if (memory) {
        const Decl *decl = program_decl(s->program, program_object_decl(s->program, object));
        check_life(s, state, event, false, object);
        if (step->kind != STEP_STORE && decl->opaque && !decl->input && !written(s, state, object, region))
            see_late(s, FAULT_UNINITIALISED, event, false, object, false, false);
    } else if (step->kind != STEP_COPY_START && step->kind != STEP_ALLOC && step->kind != STEP_FREE && step->kind != STEP_STOP
               && !step_is_join((StepKind)step->kind)) {
        check_life(s, state, event, true, step->object);
    }
    if (step->kind == STEP_EXIT && !stopped)
        check_exit(s, state, event);
    const Decl *freed = step->kind == STEP_FREE ? program_decl(s->program, step->object) : NULL;
    for (uint32_t e = 0; freed && freed->first_semaphore != NONE && e < freed->elements && !stopped; e++)
        if (state->count[freed->first_semaphore + event->core * freed->elements + e] > 0)
            see(s, FAULT_LEFTOVER, event, NULL, true, freed->first_semaphore + event->core * freed->elements + e);
    if (step->kind == STEP_WAIT || step->kind == STEP_WAIT_KEEP)
        check_mismatch(s, state, event);
    if (step->kind == STEP_STOP)
        see(s, from->fault, event, NULL, false, NONE);
    if (step->kind == STEP_EXPECT_COUNT && state->count[step->object] != (int64_t)step->value)
        see(s, FAULT_ASSERT, event, NULL, false, NONE);
}

void naive_check(const NaiveSearch *s, const NaiveState *state, const GArray *events)
{
    check_races(s, state, events);
    for (guint i = 0; i < events->len; i++) {
        const NaiveEvent *event = &g_array_index(events, NaiveEvent, i);
        if (event->copy == NONE) {
            check_core_step(s, state, event);
            continue;
        }
        const Copy *copy = naive_copy(s, &state->copy[event->copy]);
        bool read = event->kind == STEP_READ;
        if (!read && event->kind != STEP_WRITE)
            continue;
        check_life(s, state, event, false, read ? copy->source : copy->target);
        check_life(s, state, event, true, read ? copy->send_semaphore : copy->receive_semaphore);
    }
}

void naive_check_end(const NaiveSearch *s, const NaiveState *state)
{
    uint32_t *position = g_new(uint32_t, s->program->cores);
    bool finished = true;
    for (uint32_t c = 0; c < s->program->cores; c++) {
        position[c] = state->core[c].position;
        finished &= !state->core[c].stopped && naive_next(s, state, c) == NULL;
    }
    uint64_t hash = outcome_end_state(position, s->program->cores, state->count, s->program->semaphores);
    g_array_append_val(s->naive->end_states, hash);
    g_free(position);
    if (any_stopped(s, state))
        return;
    if (!finished)
        see(s, FAULT_DEADLOCK, NULL, NULL, false, NONE);
    for (uint32_t semaphore = 0; finished && semaphore < s->program->semaphores; semaphore++) {
        const Decl *decl = program_decl(s->program, program_semaphore_decl(s->program, semaphore));
        if (decl->semaphore_kind == SEMAPHORE_BARRIER && decl->life == LIFE_ALWAYS && !s->program->bare && state->count[semaphore] > 0)
            see(s, FAULT_LEFTOVER, NULL, NULL, true, semaphore);
    }
}

static void count_one(GHashTable *faults, const char *key)
{
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(faults, key)) + 1;
    g_hash_table_replace(faults, g_strdup(key), GUINT_TO_POINTER(count));
}

static bool is_subsumed(const NaiveSearch *s, const Late *late)
{
    if (late->id == FAULT_UNINITIALISED)
        return g_hash_table_contains(s->racing, late->place);
    if (!late->ended)
        return false;
    if (late->semaphore != NONE && g_hash_table_contains(s->left_over, GUINT_TO_POINTER(late->semaphore + 1)))
        return true;
    return late->by_launch && g_hash_table_contains(s->in_flight, late->place);
}

void naive_settle(NaiveSearch *s)
{
    for (guint i = 0; i < s->late->len; i++) {
        const Late *late = g_ptr_array_index(s->late, i);
        if (is_subsumed(s, late))
            continue;
        g_autofree char *key = g_strndup(late->key, (gsize)(strchr(late->key, '|') - late->key));
        count_one(s->naive->faults, key);
    }
    for (guint i = 0; i < s->late->len; i++) {
        Late *late = g_ptr_array_index(s->late, i);
        g_free(late->place);
        g_free(late);
    }
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, s->pairs);    /* sums: the order does not matter */
    while (g_hash_table_iter_next(&iter, NULL, &key))
        count_one(s->naive->faults, key);
}
