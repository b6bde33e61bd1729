/* test_execution.c - runs of real kernel bodies: eager and scheduled, joins, polls, stops, what the record says, unrolling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/script.h"

static const Step *step_at(const Script *script, size_t i)
{
    return &STORE(Step, &script->record->steps, i);
}

SCRIPT_BODY(pass_to_the_right)
{
    uint32_t right = (core->device + 1) % core->program->devices;
    core_signal(core, 0, script_ref(script_now->semaphore), 2, script_on(right));
    core_wait(core, 0, script_ref(script_now->semaphore), 2, true);
}

static void an_eager_run_records_each_core_in_program_order(void **state)
{
    (void)state;
    Script *script = script_of(3, 1, pass_to_the_right);
    execution_run_eager(script->execution, NULL);
    assert_true(script->record->eager && script->record->complete);
    assert_int_equal(script->record->steps.count, 6);
    uint32_t seen[3] = { 0 };
    for (size_t i = 0; i < 6; i++) {
        const Step *step = step_at(script, i);
        assert_int_equal(step->kind, seen[step->core]++ == 0 ? STEP_SIGNAL : STEP_WAIT);
    }
    for (uint32_t c = 0; c < 3; c++) {
        assert_int_equal(STORE(CoreState, &script->record->ends, c).end, CORE_FINISHED);
        assert_int_equal(machine_count(execution_machine(script->execution),
                                       program_decl(script->program, script->semaphore)->first_semaphore + 4 * c), 0);
    }
    const char *why;
    assert_true(record_check(script->record, &why));
    script_free(script);
}

SCRIPT_BODY(wait_for_more_than_comes)
{
    core_signal(core, 0, script_ref(script_now->semaphore), 1, SCRIPT_OWN);
    core_wait(core, 0, script_ref(script_now->semaphore), 2, true);
}

static void a_blocked_core_leaves_its_pending_step(void **state)
{
    (void)state;
    Script *script = script_of(1, 1, wait_for_more_than_comes);
    execution_run_eager(script->execution, NULL);
    const CoreState *end = &STORE(CoreState, &script->record->ends, 0);
    assert_int_equal(end->end, CORE_BLOCKED);
    assert_int_equal(end->pending.kind, STEP_WAIT);
    assert_int_equal(end->pending.value, 2);
    script_free(script);
}

SCRIPT_BODY(meet_twice)
{
    core_barrier(core, 0);
    core_barrier(core, 0);
}

static void a_join_is_recorded_for_all_members_at_once(void **state)
{
    (void)state;
    Script *script = script_of(2, 2, meet_twice);
    script->program->bare = false;
    program_launch(script->program, 0)->entry_barrier = true;
    execution_run_eager(script->execution, NULL);
    assert_int_equal(script->record->steps.count, 4 * 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(step_at(script, i)->kind, STEP_ENTER);
    for (size_t i = 4; i < 16; i += 2) {
        assert_int_equal(step_at(script, i)->kind, step_at(script, i + 1)->kind);
        assert_int_equal(step_at(script, i)->core / 2, step_at(script, i + 1)->core / 2);
    }
    script_free(script);
}

SCRIPT_BODY(poll_for_ever)
{
    while (core_semaphore_read(core, 0, script_ref(script_now->semaphore)) < 1)
        continue;
}

static void a_poll_that_nobody_ends_is_no_progress(void **state)
{
    (void)state;
    Script *script = script_of(1, 1, poll_for_ever);
    execution_run_eager(script->execution, NULL);
    assert_int_equal(script->record->raised.count, 1);
    assert_int_equal(STORE(Raised, &script->record->raised, 0).fault, FAULT_NO_PROGRESS);
    assert_int_equal(STORE(CoreState, &script->record->ends, 0).end, CORE_STOPPED);
    script_free(script);
}

SCRIPT_BODY(first_device_answers_a_poll)
{
    if (core->device == 0) {
        while (core_semaphore_read(core, 0, script_ref(script_now->semaphore)) < 1)
            continue;
        core_wait(core, 0, script_ref(script_now->semaphore), 1, true);
    } else {
        core_signal(core, 0, script_ref(script_now->semaphore), 1, script_on(0));
    }
}

static void a_poll_gives_way_to_those_that_can_end_it(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, first_device_answers_a_poll);
    execution_run_eager(script->execution, NULL);
    assert_int_equal(script->record->raised.count, 0);
    assert_int_equal(STORE(CoreState, &script->record->ends, 0).end, CORE_FINISHED);
    script_free(script);
}

SCRIPT_BODY(copy_within)
{
    const Ref part[2] = { script_at(script_now->scratch, 0), script_at(script_now->scratch, 1) };
    Tile tile;
    core_load(core, 0, part[0], NULL, &tile);
    tile_fill_int(&tile, 7 + core->device);
    core_store(core, 0, part[0], NULL, &tile);
    CopyDesc copy = { .source = part[0], .target = part[1], .send = { NONE, NONE, NONE }, .receive = script_ref(script_now->dma),
                      .to = SCRIPT_OWN, .core = NONE, .ordinal = NONE };
    core_copy_start(core, 0, &copy);
    core_copy_wait(core, 0, &copy, COPY_WAIT_RECEIVE, false);
    core_load(core, 0, part[1], NULL, &tile);
    assert_int_equal(core_tile_int(core, 0, &tile, 3, "value"), 7 + core->device);
}

static void a_copy_moves_values_written_marks_and_origins(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, copy_within);
    execution_run_eager(script->execution, NULL);
    assert_int_equal(script->record->copies.count, 2);
    assert_int_equal(script->record->raised.count, 0);
    assert_true(script->record->values_observed);
    const Contents *contents = machine_contents(execution_machine(script->execution), program_object(script->program, script->scratch, 1));
    assert_true(contents->written[8] && !contents->written[16]);
    assert_true(contents->origin[0] == contents->origin[8] && contents->origin[0] != 0);
    script_free(script);
}

static void a_scheduled_run_moves_only_what_is_chosen(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, copy_within);
    execution_begin(script->execution, NULL);
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (int i = 0; i < 3; i++)
        assert_true(execution_do(script->execution, (Move){ 1, NONE, 0 }));
    assert_false(execution_do(script->execution, (Move){ 1, NONE, 0 }));          /* its wait: nothing arrived */
    assert_false(execution_do(script->execution, (Move){ 1, 0, STEP_WRITE }));    /* not read yet */
    execution_enabled(script->execution, moves);
    assert_int_equal(moves->len, 2);                                            /* core 0, and the copy's read */
    assert_true(execution_do(script->execution, (Move){ 1, 0, STEP_READ }));
    assert_true(execution_do(script->execution, (Move){ 1, 0, STEP_WRITE }));
    assert_true(execution_do(script->execution, (Move){ 1, NONE, 0 }));
    assert_int_equal(execution_position(script->execution, 1), 4);
    assert_int_equal(execution_position(script->execution, 0), 0);
    script_free(script);
}

static void two_orders_of_cores_give_the_same_steps(void **state)
{
    (void)state;
    uint64_t hash[2][3];
    uint64_t final[2];
    Script *script = script_of(3, 1, pass_to_the_right);
    for (int i = 0; i < 2; i++) {
        const ExecutionOptions options = { .reversed = i == 1, .shift = i ? 16 * 33 : 0, .fill = (unsigned char)(i ? 0xa7 : 0x5b),
                                           .core_hash = hash[i],
                                           .discard = i == 1 };
        execution_run_eager(script->execution, &options);
        final[i] = script->record->final_hash;
    }
    assert_memory_equal(hash[0], hash[1], sizeof hash[0]);
    assert_int_equal(final[0], final[1]);
    assert_int_equal(script->record->steps.count, 0);
    script_free(script);
}

/* Of a discarded run nothing is kept, whatever it copies: its copies do not count as memory. */
static void a_discarded_run_holds_one_copy_at_most(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, copy_within);
    const ExecutionOptions options = { .discard = true };
    execution_run_eager(script->execution, &options);
    size_t before = store_bytes_used();
    for (int i = 0; i < 10; i++)
        execution_run_eager(script->execution, &options);
    assert_int_equal(store_bytes_used(), before);
    script_free(script);
}

static void schedules_of_eager_records_replay(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, copy_within);
    execution_run_eager(script->execution, NULL);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) moves = schedule_of_record(script->record, lines);
    assert_int_equal(moves->len, lines->len);
    execution_begin(script->execution, NULL);
    for (guint i = 0; i < moves->len; i++) {
        Move parsed;
        assert_true(schedule_parse_line(2, 1, g_ptr_array_index(lines, i), &parsed));
        const Move *move = &g_array_index(moves, Move, i);
        assert_true(parsed.core == move->core && parsed.copy == move->copy && parsed.moment == move->moment);
        assert_true(execution_do(script->execution, parsed));
    }
    for (uint32_t c = 0; c < 2; c++)
        assert_null(execution_pending(script->execution, c));
    Move none;
    assert_false(schedule_parse_line(2, 1, "core 7.0 @1 wait", &none));
    assert_false(schedule_parse_line(2, 1, "copy 0.0 #1 flies", &none));
    script_free(script);
}

static void unrolling_stops_at_each_observation_and_goes_on_with_its_answer(void **state)
{
    (void)state;
    Script *script = script_of(2, 1, first_device_answers_a_poll);
    Unroller *unroller = unroller_new(script->program);
    UnrollSource *source = unroller_source(unroller);
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(UnrollStep));
    assert_int_equal(source->extend(source->self, 0, NULL, 0, false, out), UNROLL_OBSERVES);
    assert_int_equal(out->len, 1);
    const Observation seen[] = { { .value = 0 }, { .value = 1 } };
    assert_int_equal(source->extend(source->self, 0, seen, 1, false, out), UNROLL_OBSERVES);
    assert_int_equal(out->len, 2);
    assert_int_equal(source->extend(source->self, 0, seen, 2, false, out), UNROLL_FINISHED);
    assert_int_equal(g_array_index(out, UnrollStep, 2).step.kind, STEP_WAIT);
    assert_true(source->fingerprint(source->self, 0, seen, 1, false) == 0
                || source->fingerprint(source->self, 0, seen, 1, false) != source->fingerprint(source->self, 0, seen, 2, false));
    const Observation again[] = { { .value = 0 }, { .value = 0 }, { .value = 0 }, { .value = 0 } };    /* stale bytes may differ at first */
    uint64_t print = source->fingerprint(source->self, 0, again, 3, false);
    if (print != 0)                             /* 0: this platform hides its stacks */
        assert_int_equal(print, source->fingerprint(source->self, 0, again, 4, false));
    unroller_free(unroller);
    script_free(script);
}

SCRIPT_BODY(look_at_nothing)
{
    Tile tile;
    core_load(core, 0, script_ref(script_now->scratch), NULL, &tile);
    core_tile_int(core, 0, &tile, 0, "value");
}

static void looking_at_unwritten_data_is_raised_and_needs_contents(void **state)
{
    (void)state;
    Script *script = script_of(1, 1, look_at_nothing);
    execution_run_eager(script->execution, NULL);
    assert_int_equal(script->record->raised.count, 1);
    assert_int_equal(STORE(Raised, &script->record->raised, 0).fault, FAULT_UNINITIALISED);
    Unroller *unroller = unroller_new(script->program);
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(UnrollStep));
    UnrollSource *source = unroller_source(unroller);
    assert_int_equal(source->extend(source->self, 0, NULL, 0, false, out), UNROLL_STOPPED);
    assert_true(unroller_needs_contents(unroller));
    assert_null(script->program->usage_error);
    unroller_free(unroller);
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_eager_run_records_each_core_in_program_order),
        cmocka_unit_test(a_blocked_core_leaves_its_pending_step),
        cmocka_unit_test(a_join_is_recorded_for_all_members_at_once),
        cmocka_unit_test(a_poll_that_nobody_ends_is_no_progress),
        cmocka_unit_test(a_poll_gives_way_to_those_that_can_end_it),
        cmocka_unit_test(a_copy_moves_values_written_marks_and_origins),
        cmocka_unit_test(a_scheduled_run_moves_only_what_is_chosen),
        cmocka_unit_test(two_orders_of_cores_give_the_same_steps),
        cmocka_unit_test(a_discarded_run_holds_one_copy_at_most),
        cmocka_unit_test(schedules_of_eager_records_replay),
        cmocka_unit_test(unrolling_stops_at_each_observation_and_goes_on_with_its_answer),
        cmocka_unit_test(looking_at_unwritten_data_is_raised_and_needs_contents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
