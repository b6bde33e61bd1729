/* execution.c - the eager run, and what it shares with scheduled runs.
 *
 * Eager: a core runs until it blocks, and does its steps on its own stack, without a switch; a copy is read and written immediately after
 * its start, which every DMA order allows. A core whose step enables a blocked step does that step too and queues its core. A core that
 * looks at a count or flag goes to the end of the queue, so that polls let others run.
 */
#include "../../model/counter.h"
#include "../../model/expectation.h"
#include "../../model/heap.h"
#include "../../model/outside.h"
#include "../../model/sane.h"
#include "edit.h"
#include "execution_inside.h"
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* POLLS_MAX: looks in a row, per core, without any other step: an endless poll. LOADS_MAX: loads in a row after which a core may be polling
 * memory. LOOKS_MAX: looks in a row that observe nothing new. */
enum { POLLS_MAX = 10000, LOADS_MAX = 1000, LOOKS_MAX = 200000 };

Execution *execution_new(Program *program, Record *record)
{
    Execution *e = g_new0(Execution, 1);
    e->program = program, e->record = record;
    e->machine = machine_new(program);
    e->pool = coro_pool_new(program->cores);
    e->cores = g_new0(Core, program->cores);
    e->pending = g_new0(Request *, program->cores);
    e->end = g_new0(uint8_t, program->cores);
    e->ready = g_new0(uint32_t, program->cores + 1);
    e->next_waiter = g_new0(uint32_t, program->cores);
    e->last_grid = g_new0(int64_t, program->cores);
    e->flights = g_array_new(FALSE, TRUE, sizeof(Flight));
    e->started = g_new(GArray *, program->cores);
    for (uint32_t c = 0; c < program->cores; c++)
        e->started[c] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return e;
}

static void forget_run(Execution *e)
{
    for (uint32_t c = 0; c < e->program->cores; c++)
        if (e->cores[c].program != NULL)
            core_clear(&e->cores[c]);
    for (uint32_t c = 0; c < e->program->cores; c++)
        g_array_set_size(e->started[c], 0);
    machine_reset(e->machine);
    g_free(e->waiter);
    g_free(e->polling);
    g_free(e->missing);
    g_free(e->entered);
    e->waiter = e->missing = NULL, e->entered = NULL, e->polling = NULL;
    e->waiters = 0;
    if (e->scopes > 0)
        memset(e->scope, 0, e->scopes * sizeof *e->scope);
    for (guint i = 0; i < e->flights->len; i++)
        tile_free(g_array_index(e->flights, Flight, i).payload);
    g_array_set_size(e->flights, 0);
}

void execution_free(Execution *e)
{
    if (e == NULL)
        return;
    forget_run(e);
    machine_free(e->machine);
    coro_pool_free(e->pool);
    g_free(e->cores);
    g_free(e->pending);
    g_free(e->end);
    g_free(e->ready);
    g_free(e->next_waiter);
    g_free(e->last_grid);
    g_free(e->scope);
    g_free(e->openers);
    g_array_free(e->flights, TRUE);
    for (uint32_t c = 0; c < e->program->cores; c++)
        g_array_unref(e->started[c]);
    g_free(e->started);
    g_free(e);
}

Machine *execution_machine(Execution *e)
{
    return e->machine;
}

bool execution_limit_reached(const Execution *e)
{
    return e->limit_reached;
}

const CoroPool *execution_stacks(const Execution *e)
{
    return e->pool;
}

const Record *execution_record(const Execution *e)
{
    return e->record;
}

static void mark_grid(Execution *e, Core *core)
{
    const Launch *launch = program_launch(e->program, core->launch);
    int64_t now = launch->grid_dims ? ((int64_t)core->launch << 40) + core->grid_index + 1 : 0;
    if (now == e->last_grid[core->id])
        return;
    e->last_grid[core->id] = now;
    GridMark *mark = store_push(&e->record->grid_marks, 1);
    mark->core = core->id, mark->position = core->position;
    memcpy(mark->grid, core->grid, sizeof mark->grid);
}

static void hash_step(Execution *e, const Core *core, const Step *step, const Copy *copy)
{
    uint64_t *hash = &e->options.core_hash[core->id];
    Step seen = *step;
    if (step->kind == STEP_STOP)
        seen.object = 0;                        /* an index in the list of this run */
    if (copy != NULL) {
        seen.object = copy->ordinal;
        *hash = XXH3_64bits_withSeed(copy, sizeof *copy, *hash);
    }
    *hash = XXH3_64bits_withSeed(&seen, sizeof seen, *hash);
}

void execution_record_step(Execution *e, Core *core, const Step *step, const Copy *copy)
{
    if (e->options.core_hash != NULL)
        hash_step(e, core, step, copy);
    if (!e->options.discard) {
        mark_grid(e, core);
        *(Step *)store_push(&e->record->steps, 1) = *step;
    }
    if (++e->steps == e->options.steps_max)
        e->aborted = e->limit_reached = true;
    if (step->kind == STEP_ALLOC || step->kind == STEP_FREE)
        execution_note_scope(e, core, step);
    core->position++;
    if (e->options.pulse != NULL)
        e->options.pulse->operations++;
}

static void raise_fault(Core *core, uint32_t site, FaultId fault, const char *message)
{
    Execution *e = core->runner;
    *(Raised *)store_push(&e->record->raised, 1) = (Raised){ .fault = (uint8_t)fault, .marks = core->steered, .core = core->id,
        .site = site, .object = NONE, .region = NONE, .position = core->position ? core->position - 1 : 0, .message = message };
}

static void advise(Core *core, uint32_t site, AdviceId advice)
{
    Execution *e = core->runner;
    *(Advised *)store_push(&e->record->advised, 1) = (Advised){ (uint8_t)advice, core->id, core->position, site };
}

/* The core is never resumed. */
void execution_stop_core(Execution *e, Core *core, Request *request)
{
    if (request->fault == FAULT_COUNT) {
        e->aborted = true;
    } else {
        Step step = request->step;
        step.object = (uint32_t)e->record->raised.count;
        *(Raised *)store_push(&e->record->raised, 1) = (Raised){ .fault = (uint8_t)request->fault, .marks = core->steered,
            .core = core->id, .site = step.site, .object = NONE, .region = NONE, .position = core->position, .message = request->message };
        execution_record_step(e, core, &step, NULL);
    }
    e->end[core->id] = CORE_STOPPED;
}

void execution_start_copy(Execution *e, Core *core, Request *request)
{
    if (request->step.object == NONE) {
        execution_record_step(e, core, &request->step, NULL);
        return;
    }
    request->copy.position = core->position;
    if (e->options.discard)
        store_reset(&e->record->copies);
    request->step.object = (uint32_t)e->record->copies.count;
    if (!e->options.discard)
        g_array_append_val(e->started[core->id], request->step.object);
    *(Copy *)store_push(&e->record->copies, 1) = request->copy;
    execution_record_step(e, core, &request->step, &request->copy);
}

/* A step that is possible now, other than joins, starts and stops. An expectation that fails stops the core. */
void execution_perform(Execution *e, Core *core, Request *request)
{
    bool held = machine_do(e->machine, request);
    execution_record_step(e, core, &request->step, NULL);
    if (!held) {
        g_autofree char *name = program_describe_semaphore(e->program, request->step.object);
        g_autofree char *message = g_strdup_printf("%s is %lld, expected %d", name,
                                                   (long long)machine_count(e->machine, request->step.object),
                                                   (int32_t)request->step.value);
        raise_fault(core, request->step.site, FAULT_ASSERT, program_text(e->program, program_string(e->program, message)));
        STORE(Raised, &e->record->raised, e->record->raised.count - 1).marks = 0;
        e->end[core->id] = CORE_STOPPED;
    }
}

static void queue_core(Execution *e, uint32_t core)
{
    e->ready[e->ready_tail] = core;
    e->ready_tail = (e->ready_tail + 1) % (e->program->cores + 1);
}

static uint32_t *waiter_of(Execution *e, uint32_t semaphore)
{
    if (semaphore >= e->waiters) {
        uint32_t now = MAX(e->program->semaphores, semaphore + 1);
        e->waiter = g_renew(uint32_t, e->waiter, now);
        memset(e->waiter + e->waiters, 0, (now - e->waiters) * sizeof *e->waiter);
        e->waiters = now;
    }
    return &e->waiter[semaphore];
}

/* Does the possible steps of the cores that wait on the semaphore, first come, first served. */
static void wake(Execution *e, uint32_t semaphore)
{
    uint32_t *link = waiter_of(e, semaphore);
    while (*link != 0) {
        uint32_t c = *link - 1;
        if (!machine_possible(e->machine, &e->pending[c]->step)) {
            link = &e->next_waiter[c];
            continue;
        }
        *link = e->next_waiter[c];
        execution_perform(e, &e->cores[c], e->pending[c]);
        e->pending[c] = NULL;
        e->idle_looks = 0;
        queue_core(e, c);
    }
}

static void block_on(Execution *e, Core *core, Request *request)
{
    uint32_t *link = waiter_of(e, request->step.object);
    while (*link != 0)
        link = &e->next_waiter[*link - 1];
    *link = core->id + 1;
    e->next_waiter[core->id] = 0;
    e->pending[core->id] = request;
    coro_yield(e->pool);
}

bool execution_join_complete(const Execution *e, const Join *join)
{
    for (uint32_t c = join->first; c < join->last; c++)
        if (join_has(e->program, join, c) && (e->pending[c] == NULL || !join_includes(join, &e->pending[c]->step)))
            return false;
    return true;
}

/* A core has arrived; of a join of all devices only the last one looks at the others. */
static bool arrive(Execution *e, const Join *join)
{
    if (join->last - join->first > e->program->cores_per_device) {
        if (e->missing == NULL)
            e->missing = g_new0(uint32_t, e->program->launches.count);
        uint32_t *missing = &e->missing[join->object];
        *missing = (*missing == 0 ? join_size(e->program, join) : *missing) - 1;
        if (*missing > 0)
            return false;
    }
    return execution_join_complete(e, join);
}

static void join_eagerly(Execution *e, Core *core, Request *request)
{
    const Join join = join_of(e->program, &request->step);
    e->pending[core->id] = request;
    if (!arrive(e, &join)) {
        coro_yield(e->pool);
        return;
    }
    for (uint32_t c = join.first; c < join.last; c++) {
        if (!join_has(e->program, &join, c))
            continue;
        execution_record_step(e, &e->cores[c], &e->pending[c]->step, NULL);
        e->pending[c] = NULL;
        if (c != core->id)
            queue_core(e, c);
    }
}

static void stop_poller(Execution *e, Core *core, const Request *request)
{
    g_autofree char *name = program_describe_semaphore(e->program, request->step.object);
    g_autofree char *message = g_strdup_printf("polls %s for ever: nobody can change it any more", name);
    Request stop = { .step = request->step, .fault = FAULT_NO_PROGRESS,
                     .message = program_text(e->program, program_string(e->program, message)) };
    stop.step.kind = STEP_STOP;
    execution_stop_core(e, core, &stop);
    STORE(Raised, &e->record->raised, e->record->raised.count - 1).object = request->step.object;
}

static void give_way(Execution *e, Core *core, Request *request)
{
    if (++e->idle_looks > (uint64_t)POLLS_MAX * e->program->cores) {
        stop_poller(e, core, request);
        coro_yield(e->pool);
        g_assert_not_reached();
    }
    queue_core(e, core->id);
    coro_yield(e->pool);
}

/* Did the core observe the same a short while ago? */
static bool sees_nothing_new(Execution *e, const Core *core, const Request *request)
{
    Polling *polling = &e->polling[core->id];
    const Step *step = &request->step;
    const Seen now = { step->site, step->object, step->kind == STEP_LOAD ? step->value : request->observed };
    for (size_t i = 0; i < G_N_ELEMENTS(polling->seen); i++)
        if (polling->seen[i].site == now.site && polling->seen[i].object == now.object && polling->seen[i].value == now.value) {
            polling->repeats++;
            return true;
        }
    polling->seen[polling->next++ % G_N_ELEMENTS(polling->seen)] = now;
    polling->repeats = 0;
    return false;
}

static void yield_to_others(Execution *e, const Core *core)
{
    queue_core(e, core->id);
    coro_yield(e->pool);
}

/* Lets others run while a core polls counts or memory. A loop that polls and leaves traces, or polls memory, cannot be distinguished from
 * one that makes progress: after very many looks the run ends at its limit. */
static void look_around(Execution *e, Core *core, Request *request)
{
    Polling *polling = &e->polling[core->id];
    StepKind kind = request->step.kind;
    bool load = kind == STEP_LOAD, no_trace = load || kind == STEP_WAIT_KEEP || (kind == STEP_WAIT && request->step.value == 0);
    polling->loads = load ? polling->loads + 1 : 0;
    bool look = step_learns(&request->step), again = (look || polling->loads > LOADS_MAX) && sees_nothing_new(e, core, request);
    if (again && polling->repeats > LOOKS_MAX)
        e->aborted = e->limit_reached = true;
    if (look)
        give_way(e, core, request);
    else if (again)
        yield_to_others(e, core);
    else if (!no_trace)
        e->idle_looks = 0;
}

static void submit_eagerly(Core *core, Request *request)
{
    Execution *e = core->runner;
    if (edit_pass(core, request))
        return;
    StepKind kind = request->step.kind;
    if (e->aborted)
        coro_yield(e->pool);
    if (kind == STEP_STOP) {
        execution_stop_core(e, core, request);
        coro_yield(e->pool);
        g_assert_not_reached();
    }
    if (step_is_join(kind)) {
        join_eagerly(e, core, request);
        e->idle_looks = 0;
    } else if (kind == STEP_COPY_START) {
        execution_start_copy(e, core, request);
        if (request->step.object != NONE) {
            const Copy *copy = &STORE(Copy, &e->record->copies, request->step.object);
            machine_copy_now(e->machine, copy);
            if (copy->send_semaphore != NONE) {
                machine_add(e->machine, copy->send_semaphore, copy->send_count);
                wake(e, copy->send_semaphore);
            }
            machine_add(e->machine, copy->receive_semaphore, copy->receive_count);
            wake(e, copy->receive_semaphore);
        }
        e->idle_looks = 0;
    } else if (!machine_possible(e->machine, &request->step)) {
        block_on(e, core, request);
    } else {
        execution_perform(e, core, request);
        if (e->end[core->id] == CORE_STOPPED)
            coro_yield(e->pool);
        if (kind == STEP_SIGNAL || counter_writes_flag(kind))
            wake(e, request->step.object);
        look_around(e, core, request);
    }
}

static void run_core(void *argument)
{
    core_main(argument);
}

void execution_resume(Execution *e, uint32_t c)
{
    core_run_as(&e->cores[c]);
    if (e->options.pulse != NULL)
        e->options.pulse->running = c;
    coro_resume(e->pool, c);
    if (e->options.pulse != NULL)
        e->options.pulse->running = NONE;
    core_run_as(NULL);
    if (coro_done(e->pool, c))
        e->end[c] = CORE_FINISHED;
}

void execution_prepare(Execution *e, const ExecutionOptions *options, void (*submit)(Core *, Request *))
{
    outside_begin();
    forget_run(e);
    record_reset(e->record);
    e->options = options ? *options : (ExecutionOptions){ 0 };
    e->aborted = e->limit_reached = false, e->idle_looks = 0, e->steps = 0, e->ready_head = e->ready_tail = 0;
    coro_pool_shift(e->pool, e->options.shift, e->options.fill);
    heap_pattern(e->options.shift != 0 ? 0 : HEAP_FILL, e->options.shift);
    machine_ignore_contents(e->machine, e->options.without_contents);
    e->polling = g_new0(Polling, e->program->cores);
    store_push(&e->record->ends, e->program->cores);
    for (uint32_t c = 0; c < e->program->cores; c++) {
        Core *core = &e->cores[c];
        core_init(core, e->program, c);
        core->submit = submit, core->raise = raise_fault, core->advise = advise, core->runner = e;
        core->opaque_data = e->options.without_contents;
        e->pending[c] = NULL, e->end[c] = CORE_RUNNING, e->last_grid[c] = 0;
        if (e->options.core_hash != NULL)
            e->options.core_hash[c] = 0;
        coro_start(e->pool, c, run_core, core);
    }
}

void execution_end(Execution *e)
{
    Record *record = e->record;
    for (uint32_t c = 0; c < e->program->cores; c++) {
        CoreState *state = &STORE(CoreState, &record->ends, c);
        bool waits = e->end[c] == CORE_RUNNING && (e->pending[c] != NULL || !e->aborted);
        state->end = waits ? CORE_BLOCKED : e->end[c];
        if (state->end == CORE_BLOCKED && e->pending[c] != NULL)
            state->pending = e->pending[c]->step;
        if (state->end == CORE_BLOCKED && state->pending.kind == STEP_COPY_START)
            state->pending.object = NONE;       /* a copy that has not started is not in the record */
        record->values_observed |= e->cores[c].observed_data;
    }
    record->complete = !e->aborted;
}

void execution_run_eager(Execution *e, const ExecutionOptions *options)
{
    execution_prepare(e, options, submit_eagerly);
    uint32_t cores = e->program->cores;
    for (uint32_t i = 0; i < cores; i++)
        queue_core(e, e->options.reversed ? cores - 1 - i : i);
    while (e->ready_head != e->ready_tail && !e->aborted) {
        uint32_t c = e->ready[e->ready_head];
        e->ready_head = (e->ready_head + 1) % (cores + 1);
        execution_resume(e, c);
        SANE_SELDOM(execution_assert_sane(e));
    }
    execution_end(e);
    e->record->eager = true;
    e->record->final_hash = machine_hash(e->machine);
    e->record->result_hash = machine_hash_results(e->machine);
}

void execution_check_results(Execution *e)
{
    const Program *program = e->program;
    for (uint32_t c = 0; c < program->cores; c++)
        if (e->end[c] != CORE_FINISHED)
            return;
    g_autoptr(GArray) unmet = expectation_judge(e->machine);
    for (guint i = 0; i < unmet->len; i++) {
        const Unmet *one = &g_array_index(unmet, Unmet, i);
        record_add_unmet(e->record, one, e->cores[one->core].position);
    }
    e->record->results_checked = program->expectations.count > 0;
}
