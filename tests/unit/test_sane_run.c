/* test_sane_run.c - canaries of runs, loops that poll, and workers: an invariant broken on purpose is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include "../../checker/run/execution_inside.h"
#include "../../checker/run/pool_inside.h"
#include "../../checker/run/tree.h"
#include "../support/fails.h"
#include "../support/script.h"

static void check_execution(void *execution) { execution_assert_sane(execution); }
static void check_poll(void *tree) { poll_assert_sane(tree); }
static void check_pool(void *pool) { pool_assert_sane(pool); }

/* ---- runs: device 1 sends to device 0, which waits ---- */

SCRIPT_BODY(sends_or_waits)
{
    if (core->device == 1)
        script_copy_all(core, 1, script_now->buffer, script_now->buffer, 0);
    const CopyDesc copy = script_describe_copy(script_now->buffer, script_now->buffer, 0);
    core_copy_wait(core, script_line(core, 2), &copy, core->device == 1 ? COPY_WAIT_SEND : COPY_WAIT_RECEIVE, false);
}

static Script *start_sending(void)
{
    Script *script = script_of(2, 1, sends_or_waits);
    execution_begin(script->execution, NULL);
    assert_true(execution_do(script->execution, (Move){ 1, NONE, 0 }));
    assert_true(execution_do(script->execution, (Move){ 1, 0, STEP_READ }));
    return script;
}

static void a_core_whose_request_is_lost_or_another_s_is_noticed(void **state)
{
    (void)state;
    Script *script = start_sending();
    Execution *e = script->execution;
    Request *request = e->pending[0], elsewhere = *request;
    assert_false(fails(check_execution, e));
    e->pending[0] = NULL;
    assert_true(fails(check_execution, e));
    e->pending[0] = e->pending[1];
    assert_true(fails(check_execution, e));
    e->pending[0] = &elsewhere;
    assert_true(fails(check_execution, e));
    e->pending[0] = request;
    e->end[0] = CORE_STOPPED;
    assert_true(fails(check_execution, e));
    script_free(script);
}

static void a_copy_that_moments_were_taken_from_is_noticed(void **state)
{
    (void)state;
    Script *script = start_sending();
    Execution *e = script->execution;
    Flight *flight = &g_array_index(e->flights, Flight, 0);
    flight->done = 0;                           /* and yet it holds what it has read */
    assert_true(fails(check_execution, e));
    flight->done = moment_bit(STEP_READ) | moment_bit(STEP_EARLY_SEND);         /* the program's copies have no such moment */
    assert_true(fails(check_execution, e));
    flight->done = moment_bit(STEP_READ);
    assert_false(fails(check_execution, e));
    flight->copy++;
    assert_true(fails(check_execution, e));
    flight->copy--;
    g_array_append_val(e->flights, *flight);
    assert_true(fails(check_execution, e));
    g_array_set_size(e->flights, 1);
    script_free(script);
}

SCRIPT_BODY(waits_for_nobody) { core_wait(core, script_line(core, 1), script_ref(script_now->semaphore), 1, true); }

static void a_core_that_was_not_woken_is_noticed(void **state)
{
    (void)state;
    Script *script = script_of(1, 1, waits_for_nobody);
    Execution *e = script->execution;
    script_run(script);
    assert_false(fails(check_execution, e));
    machine_add(e->machine, e->pending[0]->step.object, 1);
    assert_true(fails(check_execution, e));
    machine_add(e->machine, e->pending[0]->step.object, -1);
    e->ready[e->ready_tail] = 0, e->ready_tail = (e->ready_tail + 1) % 2;
    assert_true(fails(check_execution, e));
    script_free(script);
}

/* ---- a core that polls ---- */

SCRIPT_BODY(polls)
{
    while (core_semaphore_read(core, script_line(core, 1), script_ref(script_now->semaphore)) == 0)
        continue;
    core_signal(core, script_line(core, 2), script_ref(script_now->semaphore), 1, SCRIPT_OWN);
}

static void a_loop_that_leads_elsewhere_is_noticed(void **state)
{
    (void)state;
    Script *script = script_of(1, 1, polls);
    Tree tree = { .source = script_source(script), .rule = POLL_AT_LOOK };
    store_init(&tree.nodes, sizeof(TreeNode), 100);
    store_init(&tree.steps, sizeof(UnrollStep), 100);
    uint32_t start = tree_begin(&tree, 0), signals = tree_after(&tree, start, 1);
    assert_int_equal(tree_after(&tree, start, 0), start);
    assert_int_equal(tree.folds, 1);
    assert_false(fails(check_poll, &tree));
    tree_node(&tree, start)->loops = false;
    assert_true(fails(check_poll, &tree));
    tree_node(&tree, start)->loops = tree_node(&tree, start)->guessed = true;
    assert_true(fails(check_poll, &tree));
    tree_node(&tree, start)->guessed = false;
    tree.folds++;
    assert_true(fails(check_poll, &tree));
    uint32_t over = tree_node(&tree, signals)->child;
    tree_node(&tree, over)->same = start;       /* the signal between leaves a trace */
    assert_true(fails(check_poll, &tree));
    store_clear(&tree.nodes);
    store_clear(&tree.steps);
    script_free(script);
}

/* ---- workers ---- */

static GBytes *answer(void *argument, uint64_t job, const void *request, size_t bytes)
{
    (void)argument, (void)job;
    return g_bytes_new(request, bytes);
}

static void jobs_out_of_turn_lost_or_given_twice_are_noticed(void **state)
{
    (void)state;
    char *error = NULL;
    Pool *pool = pool_new(2, &(PoolWork){ .serve = answer }, &error);
    assert_non_null(pool);
    for (unsigned i = 0; i < 4; i++)
        pool_give(pool, &i, sizeof i);
    assert_false(fails(check_pool, pool));
    Job *second = pool->worker[1].job;
    pool->worker[1].job = pool->worker[0].job;
    assert_true(fails(check_pool, pool));
    pool->worker[1].job = NULL;
    assert_true(fails(check_pool, pool));
    pool->worker[1].job = second;
    second->number++;
    assert_true(fails(check_pool, pool));
    second->number--;
    Job *last = g_queue_pop_tail(&pool->waiting);
    assert_true(fails(check_pool, pool));
    g_queue_push_tail(&pool->waiting, last);
    assert_false(fails(check_pool, pool));
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_whose_request_is_lost_or_another_s_is_noticed),
        cmocka_unit_test(a_copy_that_moments_were_taken_from_is_noticed),
        cmocka_unit_test(a_core_that_was_not_woken_is_noticed),
        cmocka_unit_test(a_loop_that_leads_elsewhere_is_noticed),
        cmocka_unit_test(jobs_out_of_turn_lost_or_given_twice_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
