/* test_enumerate.c - the enumeration against known numbers of states; against brute force: test_differential. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include "../../checker/enumerate/enumerate.h"
#include "../support/shapes.h"

static Outcome *enumerate(Script *script)
{
    EnumerateOptions options = {.limits.states = 0};
    return enumerate_run(script_source(script), &options);
}

static uint64_t races_of(const Outcome *outcome)
{
    uint64_t races = 0;
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        assert_int_equal(finding->id, FAULT_RACE);
        assert_non_null(finding->moves);
        races += finding->count;
    }
    return races;
}

/* Known numbers of states, transitions (0: not known) and racing pairs. */
static void expect(Script *script, uint64_t states, uint64_t transitions, uint64_t races)
{
    Outcome *outcome = enumerate(script);
    assert_true(outcome->complete);
    assert_int_equal(outcome->states, states);
    if (transitions)
        assert_int_equal(outcome->transitions, transitions);
    assert_int_equal(races_of(outcome), races);
    assert_int_equal(outcome->end_states->len, 1);
    outcome_free(outcome);
    script_free(script);
}

static void all_gather(void **state)
{
    (void)state;
    expect(shape_all_gather(2, NULL, false), 45, 90, 0);
    expect(shape_all_gather(3, NULL, false), 1429, 4623, 0);
    expect(shape_all_gather(4, NULL, false), 38337, 167572, 0);
    expect(shape_all_gather(5, NULL, false), 944605, 5178165, 0);
}

static void all_gather_with_one_receive_semaphore(void **state)
{
    (void)state;
    expect(shape_all_gather(2, NULL, true), 45, 0, 0);
    expect(shape_all_gather(3, NULL, true), 1939, 0, 3);
    expect(shape_all_gather(4, NULL, true), 92641, 0, 8);
}

static void all_gather_fluid(void **state)
{
    (void)state;
    Knobs fluid = {.dma_progress = DMA_PROGRESS_FLUID};
    expect(shape_all_gather(2, &fluid, false), 134, 0, 0);
    expect(shape_all_gather(3, &fluid, false), 7343, 0, 0);
    expect(shape_all_gather(4, &fluid, false), 331732, 0, 0);
}

static void all_gather_with_credit(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 2; k++)
        for (uint32_t n = 2; n <= 4; n++) {
            Script *script = shape_credit_gather(n, k, k + 1);
            Outcome *outcome = enumerate(script);
            assert_int_equal(races_of(outcome), n > k + 1 ? n * (n - k - 1) : 0);
            outcome_free(outcome);
            script_free(script);
            script = shape_credit_gather(n, k, k);
            outcome = enumerate(script);
            assert_int_equal(races_of(outcome), 0);
            outcome_free(outcome);
            script_free(script);
        }
}

static void right_permute(void **state)
{
    (void)state;
    static const uint64_t STATES[] = {66, 484, 3706, 28720, 223362};
    for (uint32_t n = 2; n <= 6; n++)
        expect(shape_right_permute(n), STATES[n - 2], 0, 0);
}

static void all_to_all(void **state)
{
    (void)state;
    expect(shape_all_to_all(2), 72, 0, 0);
    expect(shape_all_to_all(3), 8330, 0, 0);
}

static void two_slots(void **state)
{
    (void)state;
    expect(shape_two_slots(2, 1, true), 85, 0, 0);
    expect(shape_two_slots(3, 2, true), 1498, 0, 0);
    expect(shape_two_slots(4, 3, true), 23715, 0, 0);
    expect(shape_two_slots(2, 1, false), 77, 0, 0);
    expect(shape_two_slots(3, 2, false), 2226, 0, 3);
    expect(shape_two_slots(4, 3, false), 62011, 0, 16);
}

static void all_reduce(void **state)
{
    (void)state;
    expect(shape_all_reduce(2, true), 1412, 0, 0);
    expect(shape_all_reduce(3, true), 61543, 0, 0);
    expect(shape_all_reduce(4, true), 2649598, 0, 0);
    expect(shape_all_reduce(2, false), 2668, 0, 12);
    expect(shape_all_reduce(3, false), 334855, 0, 42);
}

/* ---- keys and limits ---- */

/* Cores that only signal: every combination of their positions is a state. */
static Script *signallers(uint32_t cores, uint32_t first_steps)
{
    Script *script = script_new(cores, 1, NULL);
    uint32_t semaphore = script_semaphore(script, SEMAPHORE_REGULAR, 1, "semaphore");
    for (uint32_t core = 0; core < cores; core++)
        for (uint32_t i = 0; i < (core ? 1 : first_steps); i++)
            script_signal(script, core, script_semaphore_id(script, semaphore, core, 0), 1);
    return script;
}

static void wide_keys(void **state)
{
    (void)state;
    expect(signallers(14, 1), 1 << 14, 14 << 13, 0);                    /* two words */
    expect(signallers(10, 200), 201 << 9, (200 << 9) + (201 * 9 << 8), 0);     /* a field that is outgrown */
    Script *script = script_new(40, 1, NULL);                           /* four words, one schedule */
    uint32_t semaphore = script_semaphore(script, SEMAPHORE_REGULAR, 1, "semaphore");
    for (uint32_t core = 0; core < 40; core++) {
        if (core)
            script_wait(script, core, script_semaphore_id(script, semaphore, core, 0), 1);
        script_signal(script, core, script_semaphore_id(script, semaphore, (core + 1) % 40, 0), 1);
    }
    expect(script, 80, 79, 0);
}

static void a_fluid_count_that_is_looked_at(void **state)
{
    (void)state;
    for (uint32_t bytes = 2; bytes <= 3; bytes++) {     /* of 2 bytes every count is seen, of 3 not */
        Script *script = script_new(2, 1, NULL);
        uint32_t buffer = script_buffer(script, SPACE_HBM, 1, bytes, "buffer");
        uint32_t semaphore = script_semaphore(script, SEMAPHORE_DMA, 1, "semaphore");
        script_copy(script, 0, buffer, 0, buffer, 0, 1, NONE, script_semaphore_id(script, semaphore, 1, 0), true);
        script_step(script, 1, STEP_SEMAPHORE_READ, script_semaphore_id(script, semaphore, 1, 0), 0, 0);
        Outcome *outcome = enumerate(script);
        assert_int_equal(outcome->complete, bytes == 2);
        assert_int_equal(outcome->limits->len, bytes - 2);
        if (bytes == 3)
            assert_string_equal(g_ptr_array_index(outcome->limits, 0), "fluid-look");
        outcome_free(outcome);
        script_free(script);
    }
}

static void too_many_cores(void **state)
{
    (void)state;
    Script *script = script_new(4096, 1, NULL);
    Outcome *outcome = enumerate(script);
    assert_false(outcome->complete);
    assert_string_equal(g_ptr_array_index(outcome->limits, 0), "memory");
    outcome_free(outcome);
    script_free(script);
}

static void limits(void **state)
{
    (void)state;
    Script *script = shape_all_gather(4, NULL, true);
    const EnumerateOptions options[] = {{.limits.states = 5000}, {.limits.memory = 1 << 20}, {.first = true}};
    static const char *const LIMIT[] = {"states", "memory", NULL};
    for (int i = 0; i < 3; i++) {
        Outcome *outcome = enumerate_run(script_source(script), &options[i]);
        assert_false(outcome->complete);
        assert_true(outcome->states < 92641);
        assert_int_equal(outcome->limits->len, LIMIT[i] ? 1 : 0);
        if (LIMIT[i])
            assert_string_equal(g_ptr_array_index(outcome->limits, 0), LIMIT[i]);
        else
            assert_int_equal(races_of(outcome), 1);
        outcome_free(outcome);
    }
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_gather),
        cmocka_unit_test(all_gather_with_one_receive_semaphore),
        cmocka_unit_test(all_gather_fluid),
        cmocka_unit_test(all_gather_with_credit),
        cmocka_unit_test(right_permute),
        cmocka_unit_test(all_to_all),
        cmocka_unit_test(two_slots),
        cmocka_unit_test(all_reduce),
        cmocka_unit_test(wide_keys),
        cmocka_unit_test(a_fluid_count_that_is_looked_at),
        cmocka_unit_test(too_many_cores),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
