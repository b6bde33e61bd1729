/* test_replay.c - every fault that a search reports comes with a schedule that shows it again: each kind, each search, from anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../support/verdicts.h"

static const char EVERY_FAULT[] =
    "race faulty race; lifetime faulty lifetime; deadlock faulty deadlock; leftover faulty leftover; in_flight faulty leftover in-flight; "
    "out_of_bounds faulty out-of-bounds; uninitialised faulty uninitialised; never_written faulty uninitialised; shape faulty shape; "
    "space faulty space; assertion faulty assert; expected_count faulty assert; expected_result faulty assert; "
    "mismatch faulty mismatch; overflow faulty overflow; divergence faulty divergence; revisit faulty revisit";

static void every_fault_is_shown_again_whichever_search_found_it(void **state)
{
    static const char *const SEARCH[] = { "auto -j 2", "enumerate", "enumerate --sweep", "random --runs 20" };
    static const char *const UNEVEN[] = { "; no_progress faulty no-progress", "; crash faulty crash" };
    (void)state;
    verdicts_compile("every_fault.c");
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++) {
        g_autofree char *options = g_strdup_printf("-n 2 --search %s", SEARCH[s]), *found = verdicts_of("every_fault.so", options);
        bool samples = strstr(SEARCH[s], "--runs") != NULL, sweeps = strstr(SEARCH[s], "--sweep") != NULL;
        g_autofree char *expected = g_strconcat(EVERY_FAULT, samples ? "; no_progress bounded" : sweeps ? "" : UNEVEN[0], UNEVEN[1], NULL);
        if (strcmp(found, expected) != 0)
            fail_msg("%s: %s\nexpected: %s", options, found, expected);
        assert_int_equal(verdicts_replay(), samples || sweeps ? 19 : 20);
    }
}

static void a_proof_and_other_samples_are_shown_again(void **state)
{
    static const char *const SEARCH[] = { "prove", "pct --runs 20", "pos --runs 20", "starve --runs 20", "enumerate --merge-local" };
    static const char *const FAULT[] = { "overflow faulty overflow", "expected_count faulty assert", "crash faulty crash" };
    (void)state;
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++)
        for (size_t f = 0; f < G_N_ELEMENTS(FAULT); f++) {
            g_autofree char *options = g_strdup_printf("-n 2 --search %s", SEARCH[s]);
            g_autofree char *file = g_strdup_printf("every_fault.so:%.*s", (int)strcspn(FAULT[f], " "), FAULT[f]);
            g_autofree char *found = verdicts_of(file, options);
            assert_string_equal(found, FAULT[f]);
            assert_int_equal(verdicts_replay(), 1);
        }
}

static void endless_polls_are_shown_again(void **state)
{
    (void)state;
    verdicts_compile("polls.c");
    verdicts_are("polls.so", "-n 2",
                 "two_words faulty no-progress; one_word faulty no-progress; swap faulty no-progress; late faulty no-progress; "
                 "three_words faulty no-progress");
    g_autofree char *one = verdicts_of("polls.so:three_words", "-n 1"), *few = verdicts_of("polls.so:one_word", "-n 3 --first");
    assert_string_equal(one, "three_words faulty no-progress");
    assert_string_equal(few, "one_word faulty no-progress");
    assert_int_equal(verdicts_replay(), 1);
}

static void wrong_kernels_from_all_over_are_decided_alike(void **state)
{
    (void)state;
    verdicts_compile("other_orders.c");
    verdicts_are("other_orders.so", "-n 1 --cores 2",
                 "one_way faulty race; same_on_all_cores faulty assert; all_on_each_core faulty uninitialised; "
                 "one_count_for_two faulty race");
    verdicts_compile("other_devices.c");
    verdicts_are("other_devices.so", "-n 3",
                 "loads_while_fetching faulty race; old_flag faulty race; other_sender faulty assert; words faulty deadlock; "
                 "semaphores faulty deadlock; cleared faulty deadlock; data_as_flag faulty race; anybodys_credit faulty race");
    verdicts_are("other_devices.so:anybodys_credit", "-n 3 -D by_flag=1", "anybodys_credit faulty race");
}

static void meshes_parameters_and_knobs_are_those_of_the_check(void **state)
{
    (void)state;
    verdicts_are("other_devices.so:old_flag", "--mesh y=1,x=2 --dma-order issue-order --dma-progress whole --scopes strict --seed 7",
                 "old_flag faulty race");
    assert_int_equal(binary_run("check all_gather_shared_semaphore credits_one_too_many reduce_scatter_missing_wait -n 3,4 -D rows=4 "
                                "-q --schedules built-in"), 2);        /* not each has rows */
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 3..4 -D rows=4..5 -q --json verdicts.json --schedules verdicts"), 1);
    assert_true(verdicts_replay() >= 4);
    assert_int_equal(binary_run("check credits_one_too_many reduce_scatter_missing_wait -n 3 -q --json verdicts.json --schedules verdicts"),
                     1);
    assert_true(verdicts_replay() >= 2);
}

/* Runs heddle in a folder of its own below. */
static int run_in(const char *folder, const char *words)
{
    g_autofree char *before = binary_folder;
    binary_folder = g_build_filename(before, folder, NULL);
    int code = binary_run(words);
    g_free(binary_folder);
    binary_folder = g_steal_pointer(&before);
    return code;
}

static void make_folder(const char *name)
{
    g_autofree char *path = binary_path(name);
    assert_int_equal(g_mkdir_with_parents(path, 0777), 0);
}

static void the_source_is_found_from_another_folder(void **state)
{
    (void)state;
    binary_write_kernel("", "    pl_copy_wait(pass);", "    pl_copy_wait_send(pass);");
    make_folder("project/src");
    make_folder("elsewhere/deep");
    binary_copy_kernel("project/src/k.c");
    assert_int_equal(run_in("project", "check src/k.c -n 3 -q --schedules out/of"), 1);
    g_autofree char *first = binary_first_schedule("project/out/of"), *above = g_build_filename("..", "..", first, NULL);
    g_autofree char *beside = g_build_filename("..", first, NULL);
    g_autofree char *plain = g_strdup_printf("replay %s", above), *json = g_strdup_printf("replay -q --json seen.json %s", beside);
    assert_int_equal(run_in("elsewhere/deep", plain), 1);
    binary_says("the schedule shows the fault");
    binary_says("src/k.c:");                    /* named as in the check, with the line's text */
    binary_says("pl_launch(ring_shared, ");
    assert_null(strstr(binary_text, "has changed"));
    assert_int_equal(run_in("elsewhere", json), 1);
    g_autofree char *seen = binary_contents("elsewhere/seen.json");
    assert_non_null(strstr(seen, "project/src/k.c"));
}

static void a_source_that_is_not_there_is_asked_for(void **state)
{
    (void)state;
    g_autofree char *first = binary_first_schedule("project/out/of"), *words = g_strdup_printf("replay %s", first);
    g_autofree char *source = binary_path("project/src/k.c"), *moved = binary_path("elsewhere/renamed.c"), *text = NULL, *again = NULL;
    assert_int_equal(rename(source, moved), 0);
    assert_int_equal(binary_run(words), 2);
    text = g_strdup_printf("%s needs src/k.c, which is neither here nor at ", first);
    binary_says(text);
    binary_says("project/src/k.c: name the file with --source FILE");
    again = g_strdup_printf("replay %s --source elsewhere/renamed.c", first);
    assert_int_equal(binary_run(again), 1);
    binary_says("elsewhere/renamed.c:");
    assert_null(strstr(binary_text, "has changed"));
    g_free(again);
    again = g_strdup_printf("replay %s --source elsewhere/none.c", first);
    assert_int_equal(binary_run(again), 2);
    binary_says("--source elsewhere/none.c: no such file");
}

/* Of two files of that name the one that is as it was is meant, wherever the replay is asked for. */
static void the_source_as_it_was_is_preferred(void **state)
{
    (void)state;
    make_folder("project/src");
    make_folder("elsewhere/src");
    binary_copy_kernel("project/src/k.c");
    binary_write_kernel("", NULL, NULL);
    binary_copy_kernel("elsewhere/src/k.c");
    g_autofree char *first = binary_first_schedule("project/out/of"), *words = g_strdup_printf("replay ../%s -q", first);
    assert_int_equal(run_in("elsewhere", words), 1);
    binary_says("the schedule shows the fault");
}

static void steps_and_debuggers_find_it_too(void **state)
{
    (void)state;
    g_autofree char *first = binary_first_schedule("project/out/of"), *step = g_strdup_printf("replay ../%s -q --step", first);
    g_autofree char *inside = g_strdup_printf("replay ../%s -q --in-process", first);
    assert_int_equal(run_in("elsewhere", step), 1);
    assert_int_equal(run_in("elsewhere", inside), 1);
    binary_says("the schedule shows the fault");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_shown_again_whichever_search_found_it),
        cmocka_unit_test(a_proof_and_other_samples_are_shown_again),
        cmocka_unit_test(endless_polls_are_shown_again),
        cmocka_unit_test(wrong_kernels_from_all_over_are_decided_alike),
        cmocka_unit_test(meshes_parameters_and_knobs_are_those_of_the_check),
        cmocka_unit_test(the_source_is_found_from_another_folder),
        cmocka_unit_test(a_source_that_is_not_there_is_asked_for),
        cmocka_unit_test(the_source_as_it_was_is_preferred),
        cmocka_unit_test(steps_and_debuggers_find_it_too),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
