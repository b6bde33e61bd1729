/* execution_sane.c - the invariants of a run, as execution.h states them. */
#include "execution_inside.h"

static bool is_possible(const Execution *e, const Step *step)
{
    const Join join = step_is_join(step->kind) ? join_of(e->program, step) : (Join){ 0 };
    return step_is_join(step->kind) ? execution_join_complete(e, &join) : machine_possible(e->machine, step);
}

static void assert_request_sane(const Execution *e, uint32_t core)
{
    const Request *request = e->pending[core];
    size_t bytes = 0;
    const char *stack = coro_stack_in_use(e->pool, core, &bytes), *at = (const char *)request;
    g_assert(request->step.core == core);
    g_assert(stack == NULL || (at >= stack && at + sizeof *request <= stack + bytes));
}

static void assert_core_sane(const Execution *e, uint32_t core, bool queued)
{
    const Request *request = e->pending[core];
    bool runs = e->end[core] == CORE_RUNNING, scheduled = e->entered != NULL;
    g_assert(runs || request == NULL);
    if (request != NULL)
        assert_request_sane(e, core);
    if (!runs)
        return;
    g_assert(scheduled ? request != NULL : queued != (request != NULL));
    g_assert(scheduled || request == NULL || !is_possible(e, &request->step));
}

static void assert_flight_sane(const Execution *e, guint index)
{
    const Flight *flight = &g_array_index(e->flights, Flight, index);
    g_assert(flight->copy < e->record->copies.count);
    g_assert(index == 0 || flight[-1].copy < flight->copy);
    const Copy *copy = &STORE(Copy, &e->record->copies, flight->copy);
    g_assert((flight->done & ~moments_of(moment_is_fluid(&e->program->knobs), copy)) == 0 && !(flight->done & moment_bit(STEP_WRITE)));
    g_assert(!flight->payload || (flight->done & moment_bit(STEP_READ)));
    g_assert(g_array_index(e->started[copy->core], uint32_t, copy->ordinal) == flight->copy);
}

void execution_assert_sane(const Execution *e)
{
    const uint32_t cores = e->program->cores;
    g_autofree bool *queued = g_new0(bool, cores);
    for (uint32_t at = e->ready_head; at != e->ready_tail; at = (at + 1) % (cores + 1)) {
        g_assert(!queued[e->ready[at]]);
        queued[e->ready[at]] = true;
    }
    for (uint32_t core = 0; core < cores && !e->aborted; core++)
        assert_core_sane(e, core, queued[core]);
    for (guint index = 0; index < e->flights->len; index++)
        assert_flight_sane(e, index);
}
