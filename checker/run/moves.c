/* moves.c - scheduled runs: every step waits until it is chosen.
 *
 * Each core runs to its next step and parks there; copies under way are kept in order of start, each with its moments done so far.
 * semantics.md, section 2, says when a move is possible: waits by count, joins when all members have arrived, moments of a copy by its own
 * order, by fluid progress (the early bytes come first) and by the DMA order.
 */
#include "../../model/sane.h"
#include "edit.h"
#include "execution_inside.h"
#include <string.h>

static void submit_parked(Core *core, Request *request)
{
    Execution *e = core->runner;
    if (edit_pass(core, request))
        return;
    e->pending[core->id] = request;
    coro_yield(e->pool);
}

static void advance(Execution *e, uint32_t c)
{
    e->pending[c] = NULL;
    execution_resume(e, c);
}

void execution_begin(Execution *e, const ExecutionOptions *options)
{
    execution_prepare(e, options, submit_parked);
    e->entered = g_malloc0(MAX(e->program->launches.count, 1) * e->program->devices);
    for (uint32_t c = 0; c < e->program->cores; c++)
        advance(e, c);
}

static const Copy *copy_of(const Execution *e, const Flight *flight)
{
    return &STORE(Copy, &e->record->copies, flight->copy);
}

/* Does an earlier copy of the core, not yet written (or read), hold this one back? Flights are in order of start. */
static bool held_back(const Execution *e, guint index, StepKind moment)
{
    DmaOrder order = e->program->knobs.dma_order;
    const Copy *copy = copy_of(e, &g_array_index(e->flights, Flight, index));
    for (guint i = 0; i < index && moment_chained(order, moment); i++) {
        const Flight *flight = &g_array_index(e->flights, Flight, i);
        const Copy *earlier = copy_of(e, flight);
        if (earlier->core == copy->core && moment_held_back(order, earlier, flight->done, copy, moment))
            return true;
    }
    return false;
}

static bool moment_possible(const Execution *e, guint index, StepKind moment)
{
    const Flight *flight = &g_array_index(e->flights, Flight, index);
    unsigned left = moments_of(moment_is_fluid(&e->program->knobs), copy_of(e, flight)) & ~flight->done;
    return moment_is(moment) && (left & moment_bit(moment)) && !(left & moment_needs(moment)) && !held_back(e, index, moment);
}

static bool core_possible(Execution *e, uint32_t c)
{
    const Request *request = e->pending[c];
    if (request == NULL || e->end[c] != CORE_RUNNING)
        return false;
    if (!step_is_join(request->step.kind))
        return request->step.kind == STEP_STOP || machine_possible(e->machine, &request->step);
    const Join join = join_of(e->program, &request->step);
    for (uint32_t m = join.first; m < c; m++)   /* a join is one move, named by its first member */
        if (join_has(e->program, &join, m))
            return false;
    return execution_join_complete(e, &join);
}

void execution_enabled(Execution *e, GArray *moves)
{
    g_array_set_size(moves, 0);
    for (uint32_t c = 0; c < e->program->cores && !e->aborted; c++)
        if (core_possible(e, c))
            g_array_append_val(moves, ((Move){ .core = c, .copy = NONE }));
    for (guint i = 0; i < e->flights->len && !e->aborted; i++)
        for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
            if (moment_possible(e, i, moment)) {
                const Copy *copy = copy_of(e, &g_array_index(e->flights, Flight, i));
                g_array_append_val(moves, ((Move){ copy->core, copy->ordinal, (uint8_t)moment }));
            }
}

static guint find_flight(const Execution *e, uint32_t core, uint32_t ordinal)
{
    for (guint i = 0; i < e->flights->len; i++) {
        const Copy *copy = copy_of(e, &g_array_index(e->flights, Flight, i));
        if (copy->core == core && copy->ordinal == ordinal)
            return i;
    }
    return G_MAXUINT;
}

bool execution_is_enabled(Execution *e, Move move)
{
    if (e->aborted || move.core >= e->program->cores)
        return false;
    if (move.copy == NONE)
        return core_possible(e, move.core);
    guint index = find_flight(e, move.core, move.copy);
    return index != G_MAXUINT && moment_possible(e, index, move.moment);
}

static void do_moment(Execution *e, guint index, StepKind moment)
{
    Flight *flight = &g_array_index(e->flights, Flight, index);
    const Copy *copy = copy_of(e, flight);
    *(Step *)store_push(&e->record->steps, 1) = (Step){ .kind = (uint8_t)moment, .launch = 0, .site = copy->site, .core = copy->core,
                                                        .object = flight->copy };
    flight->done |= moment_bit(moment);
    if (moment == STEP_READ)
        flight->payload = machine_copy_read(e->machine, copy);
    if (moment == STEP_WRITE)
        machine_copy_write(e->machine, copy, flight->payload);
    uint32_t inc = moment_gives(moment_is_fluid(&e->program->knobs), copy, moment);
    if (inc > 0)
        machine_add(e->machine, moment_semaphore(copy, moment), inc);
    if (moment == STEP_WRITE)
        g_array_remove_index(e->flights, index);
}

static ScopeCount *scope_of(Execution *e, uint32_t object)
{
    if (object >= e->scopes) {
        uint32_t now = MAX(e->program->objects, object + 1);
        e->scope = g_renew(ScopeCount, e->scope, now);
        e->openers = g_renew(uint16_t, e->openers, now);
        memset(e->scope + e->scopes, 0, (now - e->scopes) * sizeof *e->scope);
        memset(e->openers + e->scopes, 0, (now - e->scopes) * sizeof *e->openers);
        e->scopes = now;
    }
    return &e->scope[object];
}

void execution_note_scope(Execution *e, const Core *core, const Step *step)
{
    uint32_t object = program_object(e->program, step->object, core->id);
    ScopeCount *scope = scope_of(e, object);
    if (step->kind == STEP_ALLOC)
        scope->opened++;
    else
        scope->closed++;
    e->openers[object] = MAX(e->openers[object], scope->opened);
}

static void note_launch(Execution *e, const Core *core, const Step *step)
{
    if (step->kind == STEP_ENTER || step->kind == STEP_EXIT)
        e->entered[step->object * e->program->devices + core->device] = step->kind == STEP_ENTER ? 1 : 2;
}

static void do_join(Execution *e, uint32_t c)
{
    const Join join = join_of(e->program, &e->pending[c]->step);
    for (uint32_t m = join.first; m < join.last; m++)
        if (join_has(e->program, &join, m)) {
            note_launch(e, &e->cores[m], &e->pending[m]->step);
            execution_record_step(e, &e->cores[m], &e->pending[m]->step, NULL);
        }
    for (uint32_t m = join.first; m < join.last && !e->aborted; m++)
        if (join_has(e->program, &join, m))
            advance(e, m);
}

static void do_core(Execution *e, uint32_t c)
{
    Core *core = &e->cores[c];
    Request *request = e->pending[c];
    if (request->step.kind == STEP_STOP) {
        execution_stop_core(e, core, request);
        e->pending[c] = NULL;
        return;
    }
    if (step_is_join(request->step.kind)) {
        do_join(e, c);
        return;
    }
    if (request->step.kind == STEP_COPY_START) {
        execution_start_copy(e, core, request);
        if (request->step.object != NONE)
            g_array_append_val(e->flights, ((Flight){ .copy = request->step.object }));
    } else {
        execution_perform(e, core, request);
    }
    if (e->end[c] == CORE_STOPPED)
        e->pending[c] = NULL;
    else
        advance(e, c);
}

bool execution_do(Execution *e, Move move)
{
    if (!execution_is_enabled(e, move))
        return false;
    if (move.copy == NONE)
        do_core(e, move.core);
    else
        do_moment(e, find_flight(e, move.core, move.copy), move.moment);
    SANE_SELDOM(execution_assert_sane(e));
    return true;
}

void __attribute__((noinline)) execution_stands_at_fault(Execution *execution)
{
    __asm__ volatile("" : : "r"(execution) : "memory");
}

const Request *execution_pending(Execution *e, uint32_t core)
{
    return e->end[core] == CORE_RUNNING ? e->pending[core] : NULL;
}

uint32_t execution_position(Execution *e, uint32_t core)
{
    return e->cores[core].position;
}

uint32_t execution_find_copy(Execution *e, uint32_t core, uint32_t ordinal)
{
    bool known = core < e->program->cores && ordinal < e->started[core]->len;
    return known ? g_array_index(e->started[core], uint32_t, ordinal) : NONE;
}

bool execution_moment_done(Execution *e, uint32_t index, StepKind moment)
{
    const Copy *copy = &STORE(Copy, &e->record->copies, index);
    guint at = find_flight(e, copy->core, copy->ordinal);
    if (at == G_MAXUINT)
        return true;
    const Flight *flight = &g_array_index(e->flights, Flight, at);
    unsigned gone = moment_bit(moment) | (moment == STEP_EARLY_SEND ? moment_bit(STEP_READ) : 0);
    return flight->done & gone;
}

static bool device_is_in(const Execution *e, uint32_t launch, uint32_t device, uint8_t state)
{
    return e->entered[launch * e->program->devices + device] >= state;
}

/* Shared memory lives until the last of the cores that open it has closed it. A scope that others may name early, but that its own core
 * never opens, ends with the exit of the launch. */
static LifeState scope_life(Execution *e, const Decl *decl, uint32_t object, uint32_t device, uint32_t core)
{
    const Program *program = e->program;
    const ScopeCount *scope = scope_of(e, object);
    bool shared = decl->space == SPACE_HBM || decl->space == SPACE_ANY;
    if (scope->opened > 0)
        return scope->closed >= e->openers[object] ? LIFE_ENDED : LIFE_BEGUN;
    bool own = shared ? core / program->cores_per_device == device : core == object - decl->first_object;
    if (own || program->knobs.scopes != SCOPES_STATIC || !device_is_in(e, decl->launch, device, 1))
        return LIFE_NOT_BEGUN;
    return device_is_in(e, decl->launch, device, 2) ? LIFE_ENDED : LIFE_BEGUN;
}

LifeState execution_life(Execution *e, uint32_t decl_id, uint32_t object, uint32_t core)
{
    const Program *program = e->program;
    const Decl *decl = program_decl(program, decl_id);
    uint32_t device = program_object_device(program, object), first, last;
    if (decl->life == LIFE_ALWAYS || program->bare)
        return LIFE_BEGUN;
    if (decl->life == LIFE_LAUNCHES) {
        if (!program_decl_launches(program, decl_id, device, &first, &last))
            return LIFE_NOT_BEGUN;
        return device_is_in(e, last, device, 2) ? LIFE_ENDED : device_is_in(e, first, device, 1) ? LIFE_BEGUN : LIFE_NOT_BEGUN;
    }
    return scope_life(e, decl, object, device, core);
}
