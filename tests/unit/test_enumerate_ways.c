/* test_enumerate_ways.c - the ways of enumerating that are asked for by name, on programs whose numbers of states are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include "../../checker/enumerate/enumerate.h"
#include "../support/shapes.h"

static Outcome *enumerate(Script *script)
{
    EnumerateOptions options = {.limits.states = 0};
    return enumerate_run(script_source(script), &options);
}

static void want_the_same(Script *script, const EnumerateOptions *options)
{
    Outcome *plain = enumerate(script), *other = enumerate_run(script_source(script), options);
    assert_null(other->refused);
    assert_true(other->complete);
    assert_int_equal(other->states, plain->states);
    assert_int_equal(other->transitions, plain->transitions);
    assert_int_equal(other->findings->len, plain->findings->len);
    for (guint i = 0; i < plain->findings->len; i++) {
        const Finding *one = g_ptr_array_index(plain->findings, i), *two = g_ptr_array_index(other->findings, i);
        assert_int_equal(finding_compare(one, two), 0);
        assert_int_equal(one->count, two->count);
        assert_int_equal(one->moves->len, two->moves->len);
        assert_true(options->modes || memcmp(one->moves->data, two->moves->data, one->moves->len * sizeof(Move)) == 0);
    }
    outcome_free(plain);
    outcome_free(other);
    script_free(script);
}

static void workers_and_sweeps_see_what_one_worker_sees(void **state)
{
    (void)state;
    static const EnumerateOptions OPTIONS[] = {{.workers = 2}, {.workers = 5}, {.modes = ENUMERATE_SWEEP},
                                               {.modes = ENUMERATE_SWEEP, .workers = 2}};
    for (size_t i = 0; i < G_N_ELEMENTS(OPTIONS); i++) {
        want_the_same(shape_all_gather(4, NULL, true), &OPTIONS[i]);
        want_the_same(shape_all_gather(5, NULL, false), &OPTIONS[i]);
        want_the_same(shape_all_reduce(3, false), &OPTIONS[i]);
        want_the_same(shape_all_to_all(3), &OPTIONS[i]);
    }
}

/* Sixteen cores, keys of two words; the first two race. */
static Script *two_of_many(void)
{
    Script *script = script_new(16, 1, NULL);
    uint32_t semaphore = script_semaphore(script, SEMAPHORE_REGULAR, 1, "semaphore");
    uint32_t copied = script_semaphore(script, SEMAPHORE_DMA, 1, "copied");
    uint32_t buffer = script_buffer(script, SPACE_HBM, 1, 3, "buffer");
    for (uint32_t core = 0; core < 12; core++)
        script_signal(script, core, script_semaphore_id(script, semaphore, core, 0), 1);
    for (uint32_t core = 0; core < 2; core++)
        script_copy(script, core, buffer, 0, buffer, 0, 2, NONE, script_semaphore_id(script, copied, 2, 0), true);
    return script;
}

static void hashes_in_place_of_keys_find_the_same_and_promise_no_proof(void **state)
{
    (void)state;
    static const EnumerateOptions OPTIONS[] = {{.modes = ENUMERATE_HASH_COMPACT}, {.modes = ENUMERATE_HASH_COMPACT, .workers = 2},
                                               {.modes = ENUMERATE_HASH_COMPACT | ENUMERATE_SWEEP}};
    Script *script = two_of_many();
    Outcome *plain = enumerate(script);
    assert_true(plain->complete);
    assert_true(plain->states > 10000);
    assert_int_equal(plain->findings->len, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(OPTIONS); i++) {
        Outcome *outcome = enumerate_run(script_source(script), &OPTIONS[i]);
        assert_int_equal(outcome->states, plain->states);
        assert_int_equal(outcome->transitions, plain->transitions);
        assert_false(outcome->complete);
        assert_string_equal(g_ptr_array_index(outcome->limits, 0), "hash-compact");
        assert_non_null(strstr(outcome->promise, "probability"));
        assert_int_equal(outcome->findings->len, 1);
        const Finding *one = g_ptr_array_index(plain->findings, 0), *two = g_ptr_array_index(outcome->findings, 0);
        assert_int_equal(finding_compare(one, two), 0);
        assert_int_equal(one->count, two->count);
        assert_non_null(two->moves);
        outcome_free(outcome);
    }
    outcome_free(plain);
    script_free(script);
    script = shape_all_gather(4, NULL, false);  /* keys of one word are no longer than hashes: nothing is lost */
    Outcome *exact = enumerate_run(script_source(script), &OPTIONS[0]);
    assert_true(exact->complete);
    assert_int_equal(exact->states, 38337);
    outcome_free(exact);
    script_free(script);
}

enum { SIGNALS = 3000 };

/* Twelve cores, keys of two words at first: then core 0 needs a wide field and the others narrow ones, in one word. The next two race. */
static Script *one_of_many(void)
{
    Script *script = script_new(12, 1, &(Knobs){.dma_progress = DMA_PROGRESS_WHOLE});
    uint32_t semaphore = script_semaphore(script, SEMAPHORE_REGULAR, 1, "semaphore");
    uint32_t buffer = script_buffer(script, SPACE_HBM, 1, 3, "buffer");
    for (unsigned i = 0; i < SIGNALS; i++)
        script_signal(script, 0, script_semaphore_id(script, semaphore, 0, 0), 1);
    for (uint32_t core = 1; core < 3; core++)
        script_copy(script, core, buffer, 0, buffer, 0, 3, NONE, NONE, true);
    return script;
}

static void hashes_stay_hashes_where_keys_become_short(void **state)
{
    (void)state;
    char *error = NULL, path[] = "/tmp/heddle-test-XXXXXX";
    close(mkstemp(path));
    Script *script = one_of_many();
    EnumerateOptions options = {.modes = ENUMERATE_HASH_COMPACT};
    Outcome *whole = enumerate_run(script_source(script), &options), *plain = enumerate(script);
    options.limits.states = whole->states / 2, options.checkpoint = checkpoint_new(path, "test 1\n", &error);
    outcome_free(enumerate_run(script_source(script), &options));
    checkpoint_free(options.checkpoint);
    options = (EnumerateOptions){.modes = ENUMERATE_HASH_COMPACT, .resumed = checkpoint_read(path, "test 1\n", &error)};
    assert_non_null(options.resumed);
    Outcome *resumed = enumerate_run(script_source(script), &options);
    assert_int_equal(whole->states, plain->states);
    assert_int_equal(resumed->states, plain->states);
    assert_int_equal(resumed->transitions, plain->transitions);
    assert_int_equal(resumed->findings->len, 1);
    assert_non_null(((const Finding *)g_ptr_array_index(resumed->findings, 0))->moves);
    assert_false(resumed->complete);
    assert_string_equal(resumed->promise, whole->promise);
    g_bytes_unref(options.resumed);
    outcome_free(plain);
    outcome_free(whole);
    outcome_free(resumed);
    script_free(script);
    unlink(path);
}

static void a_limit_that_was_reached_stops_whoever_goes_on_under_it(void **state)
{
    (void)state;
    char *error = NULL, path[] = "/tmp/heddle-test-XXXXXX";
    close(mkstemp(path));
    Script *script = shape_all_gather(4, NULL, false);
    EnumerateOptions options = {.limits.states = 5000, .checkpoint = checkpoint_new(path, "test 1\n", &error)};
    Outcome *first = enumerate_run(script_source(script), &options);
    options.resumed = checkpoint_read(path, "test 1\n", &error);
    assert_non_null(options.resumed);
    Outcome *second = enumerate_run(script_source(script), &options);
    assert_int_equal(second->states, first->states);
    assert_int_equal(second->transitions, first->transitions);
    assert_false(second->complete);
    outcome_free(first);
    outcome_free(second);
    g_bytes_unref(options.resumed);
    checkpoint_free(options.checkpoint);
    script_free(script);
    unlink(path);
}

static void what_a_search_cut_short_cannot_name_is_marked(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {   /* core 0 loads what core 1 writes after many steps: uninitialised, or a race */
        Script *script = script_new(2, 1, NULL);
        uint32_t buffer = script_buffer(script, SPACE_HBM, 1, 3, "buffer"), semaphore = script_semaphore(script, SEMAPHORE_DMA, 1, "dma");
        for (int i = 0; i < 200; i++)
            script_signal(script, 1, script_semaphore_id(script, semaphore, 1, 0), 1);
        script_access(script, 0, STEP_LOAD, buffer, 0);
        script_copy(script, 1, buffer, 0, buffer, 0, 0, NONE, script_semaphore_id(script, semaphore, 0, 0), true);
        const EnumerateOptions options = {.limits.states = whole ? 0 : 100};
        Outcome *outcome = enumerate_run(script_source(script), &options);
        assert_int_equal(outcome->complete, whole);
        assert_true(outcome->findings->len >= 1);
        const Finding *finding = g_ptr_array_index(outcome->findings, 0);
        assert_int_equal(finding->id, whole ? FAULT_RACE : FAULT_UNINITIALISED);
        assert_int_equal(finding->why != NULL && strstr(finding->why, "cut short") != NULL, !whole);
        outcome_free(outcome);
        script_free(script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_and_sweeps_see_what_one_worker_sees),
        cmocka_unit_test(hashes_in_place_of_keys_find_the_same_and_promise_no_proof),
        cmocka_unit_test(hashes_stay_hashes_where_keys_become_short),
        cmocka_unit_test(a_limit_that_was_reached_stops_whoever_goes_on_under_it),
        cmocka_unit_test(what_a_search_cut_short_cannot_name_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
