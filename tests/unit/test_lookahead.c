/* test_lookahead.c - what stuck cores would do next, noted without doing it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../checker/run/lookahead.h"
#include "../support/script.h"

static Script *run(uint32_t devices, void (*body)(Core *core, const Launch *launch))
{
    const char *why;
    Script *script = script_of(devices, 1, body);
    execution_run_eager(script->execution, NULL);
    lookahead_run(script->execution);
    assert_true(record_check(script->record, &why));
    return script;
}

static const Lookahead *foreseen(const Script *script, size_t i)
{
    assert_true(i < script->record->lookahead.count);
    return &STORE(Lookahead, &script->record->lookahead, i);
}

static uint32_t other(const Core *core)
{
    return 1 - core->device;
}

SCRIPT_BODY(wait_then_signal)
{
    core_wait(core, 0, script_at(script_now->semaphore, 0), 1, true);
    uint32_t later = script_line(core, 2);
    core_signal(core, later, script_at(script_now->semaphore, 0), 3, script_on(other(core)));
}

static void signals_behind_the_wait_are_foreseen_with_their_lines(void **state)
{
    (void)state;
    Script *script = run(2, wait_then_signal);
    assert_int_equal(script->record->lookahead.count, 4);
    for (uint32_t c = 0; c < 2; c++) {
        const Lookahead *signal = foreseen(script, c * 2);
        assert_int_equal(signal->core, c);
        assert_int_equal(signal->kind, STEP_SIGNAL);
        assert_int_equal(signal->value, 3);
        assert_int_equal(program_semaphore_core(script->program, signal->object), 1 - c);
        assert_int_equal(program_get_site(script->program, signal->site)->line, 2);
        assert_int_equal(foreseen(script, c * 2 + 1)->kind, STEP_EXIT);
    }
    script_free(script);
}

static void nothing_of_it_is_done(void **state)
{
    (void)state;
    Script *script = run(2, wait_then_signal);
    assert_int_equal(script->record->steps.count, 0);
    for (uint32_t c = 0; c < 2; c++) {
        assert_int_equal(machine_count(execution_machine(script->execution), c * 4), 0);
        assert_non_null(execution_pending(script->execution, c));
    }
    script_free(script);
}

SCRIPT_BODY(look_then_signal)
{
    Tile tile;
    core_wait(core, 0, script_at(script_now->semaphore, 0), 1, true);
    core_load(core, 0, script_ref(script_now->buffer), NULL, &tile);
    if (core_tile_int(core, 0, &tile, 0, "value") >= 0)
        core_signal(core, 0, script_at(script_now->semaphore, 0), 1, SCRIPT_OWN);
}

static void it_ends_where_a_core_looks_at_data(void **state)
{
    (void)state;
    Script *script = run(1, look_then_signal);
    assert_int_equal(script->record->lookahead.count, 1);
    assert_int_equal(foreseen(script, 0)->kind, STEP_STOP);
    assert_null(script->program->usage_error);
    script_free(script);
}

SCRIPT_BODY(wait_then_die)
{
    core_wait(core, 0, script_at(script_now->semaphore, 0), 1, true);
    if (core->device == 0)
        _exit(1);
    core_signal(core, 0, script_at(script_now->semaphore, 0), 1, SCRIPT_OWN);
}

static void a_core_that_would_crash_is_known_no_further(void **state)
{
    (void)state;
    Script *script = run(2, wait_then_die);
    assert_int_equal(script->record->lookahead.count, 3);
    assert_int_equal(foreseen(script, 0)->kind, STEP_STOP);
    assert_int_equal(foreseen(script, 1)->kind, STEP_SIGNAL);
    script_free(script);
}

static void expect_why(Script *script, const char *words)
{
    Outcome *outcome = prove_record(script->record, &(ProveOptions){ 0 });
    assert_int_equal(outcome->findings->len, 1);
    const Finding *deadlock = g_ptr_array_index(outcome->findings, 0);
    if (strstr(deadlock->why, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", deadlock->why, words);
    outcome_free(outcome);
    script_free(script);
}

static void the_deadlock_tells_who_is_stuck_before_the_signal(void **state)
{
    (void)state;
    Script *script = run(2, wait_then_signal);
    expect_why(script, "That of device 0 would be signalled by device 1 at test:2, which is stuck before that at test:1.\n"
                       "The cycle: device 0 needs device 1 needs device 0.");
}

/* Device 0 needs 2, of which 1 and 2 would give one each; these wait for one that 0 would give. */
SCRIPT_BODY(wait_for_both)
{
    uint32_t later = script_line(core, 2);
    core_wait(core, 0, script_at(script_now->semaphore, 0), core->device == 0 ? 2 : 1, true);
    for (uint32_t d = 1; d < 3 && core->device == 0; d++)
        core_signal(core, later, script_at(script_now->semaphore, 0), 1, script_on(d));
    if (core->device > 0)
        core_signal(core, later, script_at(script_now->semaphore, 0), 1, script_on(0));
}

static void a_wait_for_several_tells_that_it_needs_them_all(void **state)
{
    (void)state;
    Script *script = run(3, wait_for_both);
    expect_why(script, "the count is 0, it needs 2. It would be signalled by device 1 at test:2, which is stuck before that at test:1 and "
                       "by device 2 at test:2, which is stuck before that at test:1; it needs all of these.");
}

SCRIPT_BODY(wait_for_the_wrong_one)
{
    core_signal(core, 0, script_at(script_now->semaphore, 1), 1, script_on(other(core)));
    core_wait(core, 0, script_at(script_now->semaphore, 0), 1, true);
}

static void a_signal_that_went_to_a_semaphore_of_the_same_name_is_told(void **state)
{
    (void)state;
    Script *script = run(2, wait_for_the_wrong_one);
    expect_why(script, "No core will signal it, and none ever has. But sem[1] of device 0 holds 1 that nobody takes, from the signal of "
                       "device 1 at test:1.");
}

SCRIPT_BODY(wait_twice_for_one)
{
    uint32_t later = script_line(core, 2);
    core_signal(core, 0, script_at(script_now->semaphore, 0), 1, SCRIPT_OWN);
    core_wait(core, 0, script_at(script_now->semaphore, 0), 1, true);
    core_wait(core, later, script_at(script_now->semaphore, 0), 1, true);
}

static void a_signal_that_an_earlier_wait_took_is_told(void **state)
{
    (void)state;
    Script *script = run(1, wait_twice_for_one);
    expect_why(script, "It was given 1, by the signal of device 0 at test:1; 1 of that was taken before, at test:1.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_behind_the_wait_are_foreseen_with_their_lines),
        cmocka_unit_test(nothing_of_it_is_done),
        cmocka_unit_test(it_ends_where_a_core_looks_at_data),
        cmocka_unit_test(a_core_that_would_crash_is_known_no_further),
        cmocka_unit_test(the_deadlock_tells_who_is_stuck_before_the_signal),
        cmocka_unit_test(a_wait_for_several_tells_that_it_needs_them_all),
        cmocka_unit_test(a_signal_that_went_to_a_semaphore_of_the_same_name_is_told),
        cmocka_unit_test(a_signal_that_an_earlier_wait_took_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
