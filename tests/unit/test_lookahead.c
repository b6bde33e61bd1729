/* test_lookahead.c - what stuck cores would do next, noted without doing it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../checker/run/lookahead.h"
#include "../support/world.h"

static void run(World *world, uint32_t devices, void (*body)(Core *core, const Launch *launch))
{
    const char *why;
    world_set_up(world, devices, 1, body);
    execution_run_eager(world->execution, NULL);
    lookahead_run(world->execution);
    assert_true(record_check(world->record, &why));
}

static const Lookahead *foreseen(const World *world, size_t i)
{
    assert_true(i < world->record->lookahead.count);
    return &STORE(Lookahead, &world->record->lookahead, i);
}

static uint32_t other(const Core *core)
{
    return 1 - core->device;
}

WORLD_BODY(wait_then_signal)
{
    core_wait(core, 0, world_at(world_now->semaphore, 0), 1, true);
    uint32_t later = world_line(core, 2);
    core_signal(core, later, world_at(world_now->semaphore, 0), 3, world_on(other(core)));
}

static void signals_behind_the_wait_are_foreseen_with_their_lines(void **state)
{
    (void)state;
    World world;
    run(&world, 2, wait_then_signal);
    assert_int_equal(world.record->lookahead.count, 4);
    for (uint32_t c = 0; c < 2; c++) {
        const Lookahead *signal = foreseen(&world, c * 2);
        assert_int_equal(signal->core, c);
        assert_int_equal(signal->kind, STEP_SIGNAL);
        assert_int_equal(signal->value, 3);
        assert_int_equal(program_semaphore_core(world.program, signal->object), 1 - c);
        assert_int_equal(program_get_site(world.program, signal->site)->line, 2);
        assert_int_equal(foreseen(&world, c * 2 + 1)->kind, STEP_EXIT);
    }
    world_clear(&world);
}

static void nothing_of_it_is_done(void **state)
{
    (void)state;
    World world;
    run(&world, 2, wait_then_signal);
    assert_int_equal(world.record->steps.count, 0);
    for (uint32_t c = 0; c < 2; c++) {
        assert_int_equal(machine_count(execution_machine(world.execution), c * 4), 0);
        assert_non_null(execution_pending(world.execution, c));
    }
    world_clear(&world);
}

WORLD_BODY(look_then_signal)
{
    Tile tile;
    core_wait(core, 0, world_at(world_now->semaphore, 0), 1, true);
    core_load(core, 0, world_ref(world_now->buffer), NULL, &tile);
    if (core_tile_int(core, 0, &tile, 0, "value") >= 0)
        core_signal(core, 0, world_at(world_now->semaphore, 0), 1, WORLD_OWN);
}

static void it_ends_where_a_core_looks_at_data(void **state)
{
    (void)state;
    World world;
    run(&world, 1, look_then_signal);
    assert_int_equal(world.record->lookahead.count, 1);
    assert_int_equal(foreseen(&world, 0)->kind, STEP_STOP);
    assert_null(world.program->usage_error);
    world_clear(&world);
}

WORLD_BODY(wait_then_die)
{
    core_wait(core, 0, world_at(world_now->semaphore, 0), 1, true);
    if (core->device == 0)
        _exit(1);
    core_signal(core, 0, world_at(world_now->semaphore, 0), 1, WORLD_OWN);
}

static void a_core_that_would_crash_is_known_no_further(void **state)
{
    (void)state;
    World world;
    run(&world, 2, wait_then_die);
    assert_int_equal(world.record->lookahead.count, 3);
    assert_int_equal(foreseen(&world, 0)->kind, STEP_STOP);
    assert_int_equal(foreseen(&world, 1)->kind, STEP_SIGNAL);
    world_clear(&world);
}

static void expect_why(World *world, const char *words)
{
    Outcome *outcome = prove_record(world->record, &(ProveOptions){ 0 });
    assert_int_equal(outcome->findings->len, 1);
    const Finding *deadlock = g_ptr_array_index(outcome->findings, 0);
    if (strstr(deadlock->why, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", deadlock->why, words);
    outcome_free(outcome);
    world_clear(world);
}

static void the_deadlock_tells_who_is_stuck_before_the_signal(void **state)
{
    (void)state;
    World world;
    run(&world, 2, wait_then_signal);
    expect_why(&world, "That of device 0 would be signalled by device 1 at test:2, which is stuck before that at test:1.\n"
                       "The cycle: device 0 needs device 1 needs device 0.");
}

/* Device 0 needs 2, of which 1 and 2 would give one each; these wait for one that 0 would give. */
WORLD_BODY(wait_for_both)
{
    uint32_t later = world_line(core, 2);
    core_wait(core, 0, world_at(world_now->semaphore, 0), core->device == 0 ? 2 : 1, true);
    for (uint32_t d = 1; d < 3 && core->device == 0; d++)
        core_signal(core, later, world_at(world_now->semaphore, 0), 1, world_on(d));
    if (core->device > 0)
        core_signal(core, later, world_at(world_now->semaphore, 0), 1, world_on(0));
}

static void a_wait_for_several_tells_that_it_needs_them_all(void **state)
{
    (void)state;
    World world;
    run(&world, 3, wait_for_both);
    expect_why(&world, "the count is 0, it needs 2. It would be signalled by device 1 at test:2, which is stuck before that at test:1 and "
                       "by device 2 at test:2, which is stuck before that at test:1; it needs all of these.");
}

WORLD_BODY(wait_for_the_wrong_one)
{
    core_signal(core, 0, world_at(world_now->semaphore, 1), 1, world_on(other(core)));
    core_wait(core, 0, world_at(world_now->semaphore, 0), 1, true);
}

static void a_signal_that_went_to_a_semaphore_of_the_same_name_is_told(void **state)
{
    (void)state;
    World world;
    run(&world, 2, wait_for_the_wrong_one);
    expect_why(&world, "No core will signal it, and none ever has. But sem[1] of device 0 holds 1 that nobody takes, from the signal of "
                       "device 1 at test:1.");
}

WORLD_BODY(wait_twice_for_one)
{
    uint32_t later = world_line(core, 2);
    core_signal(core, 0, world_at(world_now->semaphore, 0), 1, WORLD_OWN);
    core_wait(core, 0, world_at(world_now->semaphore, 0), 1, true);
    core_wait(core, later, world_at(world_now->semaphore, 0), 1, true);
}

static void a_signal_that_an_earlier_wait_took_is_told(void **state)
{
    (void)state;
    World world;
    run(&world, 1, wait_twice_for_one);
    expect_why(&world, "It was given 1, by the signal of device 0 at test:1; 1 of that was taken before, at test:1.");
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
