/* test_inputs.c - a check of many inputs: which are tried, what the verdict says of them, and which one is shown if some are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

static void check(int exit_code, const char *program, const char *options, const char *says)
{
    g_autofree char *words = g_strdup_printf("check %s %s", program, options);
    assert_int_equal(binary_run(words), exit_code);
    binary_says(says);
}

static void all_inputs_are_tried_and_counted(void **state)
{
    (void)state;
    check(0, "./inputs.so:depends", "-n 1 --inputs all", "verified for all 14 inputs (");
    check(0, "./inputs.so:own", "-n 2 --inputs all", "verified for all 9 inputs (");
    check(0, "./inputs.so:sums", "-n 1 --inputs all", "verified for all 6 inputs (");
    check(0, "./inputs.so:depends", "-n 1 -D most=1 --inputs all", "verified for all 4 inputs (");
    check(0, "./inputs.so:closed", "-n 1 --inputs all", "closed, 1 device: verified (1 execution, ");
    check(0, "ragged_all_to_all", "-n 2..3 --inputs all", "3 devices: verified for all 512 inputs (512 shapes; results checked)");
    check(0, "routed_tokens", "-n 2 --inputs all", "verified for all 256 inputs (16 shapes; results checked)");
    check(0, "routed_tokens", "-n 2 --inputs 256", "verified for all 256 inputs (16 shapes; results checked)");
}

static void one_input_is_tried_by_itself_even_if_the_first_one_is_refused(void **state)
{
    (void)state;
    check(0, "./inputs.so:depends", "-n 1", "most=2: verified (1 execution, ");
    check(2, "./inputs.so:sums", "-n 1",
          "not applicable: no input that the program takes was found (\"the sum is 2\"); --inputs N looks for one");
}

static void some_inputs_are_bounded(void **state)
{
    (void)state;
    check(3, "ragged_all_to_all", "-n 3 --inputs 40", "bounded, no proof: stopped by inputs; no fault seen in 40 inputs");
    binary_says("not covered: other inputs (--inputs all tries all of them)");
}

static void each_input_finds_what_loading_left(void **state)
{
    (void)state;
    check(0, "./inputs.so:remembers", "-n 1 --inputs all", "verified for all 16 inputs (");
}

static void the_smallest_wrong_input_is_shown_and_replayed(void **state)
{
    (void)state;
    check(1, "look_ahead_too_short", "-n 1 --inputs all",
          "input: steps = 0, the smallest of 2 that look wrong, of 7 tried. Wrong whenever steps is at most 1; right for the 5 tried");
    check(1, "look_ahead_too_short", "-n 1 --inputs 1000", "of 7 tried. Wrong whenever steps is at most 1; right for the 5 tried");
    check(1, "window_starts_late", "-n 1 --inputs all", "input: start = 1, the smallest of 3 that look wrong, of 7 tried. Wrong");
    binary_says("whenever start is odd; right for the 4 tried without");
    check(1, "chunk_sizes_differ", "-n 1 --inputs all", "sizes = [1, 1, 2], the smallest of 6 that look wrong, of 8 tried. Wrong");
    binary_says("whenever the elements of sizes differ; right for the 2 tried without");
    check(1, "ragged_nothing_to_send", "-n 2 --inputs all --schedules s", "input: sizes = [[0, 0], [1, 0]], the smallest of 12 that look");
    g_autofree char *schedule = binary_first_schedule("s"), *words = g_strdup_printf("replay %s", schedule);
    assert_int_equal(binary_run(words), 1);
    binary_says("ragged_nothing_to_send");
}

static void the_wrong_twins_are_right_with_the_input_of_a_check_alone(void **state)
{
    static const char *const twins[] = { "ragged_nothing_to_send", "routed_nowhere", "look_ahead_too_short", "write_back_even",
                                         "window_starts_late", "chunk_sizes_differ" };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(twins); i++) {
        check(0, twins[i], "-n 2", ": verified (1 execution, ");
        check(1, twins[i], "-n 2 --inputs 1000", ": faulty, ");
    }
}

static void each_twin_is_found_whatever_the_seed(void **state)
{
    static const char *const twins[] = { "ragged_nothing_to_send -n 3 -D most=2", "routed_nowhere -n 2 -D tokens=4",
                                         "look_ahead_too_short -n 1", "write_back_even -n 1", "window_starts_late -n 1",
                                         "chunk_sizes_differ -n 1" };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(twins); i++)
        for (int seed = 0; seed < 10; seed++) {
            g_autofree char *options = g_strdup_printf("-q --inputs 1000 --inputs-seed %d", seed);
            check(1, twins[i], options, ": faulty, ");
        }
}

static void the_smallest_table_of_three_devices_has_one_row(void **state)
{
    (void)state;
    check(1, "ragged_nothing_to_send", "-n 3 -D most=2 --inputs 1000", "input: sizes = [[");
    int rows = 0;
    for (const char *at = strstr(binary_text, "sizes = [["), *end = strstr(binary_text, "smallest"); at < end; at++)
        rows += MAX(g_ascii_digit_value(*at), 0);
    assert_int_equal(rows, 1);
}

static void lines_that_were_never_seen_lead_to_the_fault(void **state)
{
    (void)state;
    for (int seed = 0; seed < 10; seed++) {
        g_autofree char *options = g_strdup_printf("-n 1 --inputs 4000 --inputs-seed %d", seed);
        check(1, "./inputs.so:ladder", options, "input: table = [5, 3, 7, 2, 6, 0]");
    }
}

static void an_input_that_kills_the_process_is_named_and_the_others_are_tried(void **state)
{
    (void)state;
    check(1, "./inputs.so:crashes", "-n 1 --inputs all", "input: table = [0, 3, 0]");
    binary_says("crash");
}

static void whoever_looks_is_searched_for_each_input(void **state)
{
    (void)state;
    check(1, "./inputs.so:looks", "-n 2 --inputs all", "input: table = 2\n");
    binary_says("deadlock");
}

static void a_rare_input_is_found_whatever_the_seed_and_made_small(void **state)
{
    (void)state;
    for (int seed = 0; seed < 10; seed++) {
        g_autofree char *options = g_strdup_printf("-n 1 --inputs 1000 --inputs-seed %d", seed);
        check(1, "./inputs.so:deep", options, "input: table = [");
        binary_says("input: table = [7, 0, 0, 0, 0, 0, 0, 0], the smallest of ");
    }
}

static void the_same_inputs_are_tried_for_any_number_of_workers(void **state)
{
    (void)state;
    check(1, "./inputs.so:deep", "-n 1..2 --inputs 200 -j 1", "input: table = [");
    g_autofree char *one = g_strdup(binary_text);
    check(1, "./inputs.so:deep", "-n 1..2 --inputs 200 -j 2", "input: table = [");
    assert_string_equal(one, binary_text);
}

static void reports_say_how_many_inputs(void **state)
{
    (void)state;
    check(0, "routed_tokens", "-n 2 --inputs all --json report.json", "verified for all");
    g_autofree char *json = binary_contents("report.json");
    assert_non_null(strstr(json, "\"tried\" : 256,"));
    assert_non_null(strstr(json, "\"shapes\" : 16,"));
    assert_non_null(strstr(json, "\"all\" : true,"));
}

static void answer(int exit_code, const char *lines, const char *program, const char *says)
{
    g_autofree char *script = g_strdup_printf("printf '%s' | $HEDDLE check %s --inputs -", lines, program);
    assert_int_equal(binary_shell(script), exit_code);
    binary_says(says);
}

static void whoever_chooses_inputs_is_answered_line_by_line(void **state)
{
    (void)state;
    answer(1, "1 1 2\\n1 1 1\\n2 1 1\\n2 2 2\\n", "chunk_sizes_differ -n 1",
           "wrong\nright\nwrong\nright\nchunk_sizes_differ, 1 device: faulty");
    binary_says("input: sizes = [2, 1, 1], the last of 2 that look wrong, of 4 tried");
    answer(3, "0 0 0 0\\n3 3 3 3\\n", "routed_tokens -n 2", "right\nright\nrouted_tokens, 2 devices: bounded, no proof: stopped by inputs");
    answer(3, "0 0 2\\n0 0 1\\n", "./inputs.so:sums -n 1", "right\nrefused\nsums, 1 device: bounded");
    answer(1, "0 3 0\\n0 0 0\\n", "./inputs.so:crashes -n 1", "wrong\nright\ncrashes, 1 device: faulty");
    answer(3, "1 2\\n2 2\\n", "./inputs.so:remembers -n 1", "right\nright\nremembers");
}

static void lines_that_are_no_inputs_are_named(void **state)
{
    (void)state;
    answer(2, "0 0 x 0\\n", "routed_tokens -n 2", "--inputs -: \"0 0 x 0\" is no list of integers");
    answer(2, "0 0 0\\n", "routed_tokens -n 2", "--inputs -: a line of 3 values, but an input of routed_tokens has 4");
    answer(2, "0 0 0 4\\n", "routed_tokens -n 2", "pl_table_among: the given input says 4, but values go from 0 to 3");
    answer(2, "", "routed_tokens -n 2", "routed_tokens took no input that was read");
    answer(2, "", "routed_tokens look_ahead_steps", "--inputs - is for a single check");
}

static void an_input_that_steers_without_a_domain_is_named(void **state)
{
    (void)state;
    check(0, "./inputs.so:no_domain", "-n 1", "advice, no-domain: table steers 2 operations, and only these values of it were checked");
    check(0, "./inputs.so:constant", "-n 1", "verified");
    assert_null(strstr(binary_text, "no-domain"));
    check(0, "./inputs.so:own", "-n 1", "verified");
    assert_null(strstr(binary_text, "no-domain"));
}

static void what_is_expected_may_depend_on_the_input(void **state)
{
    (void)state;
    check(0, "./inputs.so:same", "-n 2 --inputs all", "verified for all 9 inputs (");
    binary_says("results checked");
    check(1, "./inputs.so:not_same", "-n 1 --inputs all", "input: pairs = [0, 1], the smallest of 6 that look wrong, of 9 tried");
    binary_says("assert: output[0] on device 0 is 0, not 1");
    check(1, "./inputs.so:nothing_wanted", "-n 1", "nobody wrote what is expected");
    check(2, "./inputs.so:other_shape", "-n 1", "pl_expect_same: the arrays differ in shape or type");
}

static void every_format_says_which_inputs(void **state)
{
    static const char *const formats[] = { "html", "markdown", "sarif", "junit" };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *options = g_strdup_printf("--%s report", formats[i]), *all = g_strdup_printf("-n 2 --inputs all %s", options);
        g_autofree char *some = g_strdup_printf("-n 2 --inputs 40 %s", options);
        check(0, "routed_tokens", all, "verified for all");
        g_autofree char *verified = binary_contents("report");
        assert_non_null(strstr(verified, "verified for all 256 inputs (16 shapes)"));
        check(3, "routed_tokens", some, "bounded");
        g_autofree char *bounded = binary_contents("report");
        assert_non_null(strstr(bounded, "no fault seen in 40 inputs ("));
        check(1, "chunk_sizes_differ", all, "faulty");
        g_autofree char *faulty = binary_contents("report");
        assert_non_null(strstr(faulty, "the smallest of 6 that look wrong, of 8 tried"));
    }
}

static void what_cannot_be_is_refused_in_one_line(void **state)
{
    (void)state;
    check(2, "routed_tokens", "--inputs none", "--inputs none: must be one, all, a number of inputs, 1 or more, or - to read them");
    check(2, "routed_tokens", "-n 2 --inputs all --checkpoint c", "--checkpoint is for one input");
    check(2, "./inputs.so:floats", "-n 1", "pl_table_among needs a type of integers, such as PL_I32");
    check(2, "./inputs.so:too_wide", "-n 1", "pl_table_among: 0 to 200 is no range of int8");
}

static int set_up(void **state)
{
    int failed = binary_set_up(state);
    binary_use_kernels("inputs");
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_inputs_are_tried_and_counted),
        cmocka_unit_test(one_input_is_tried_by_itself_even_if_the_first_one_is_refused),
        cmocka_unit_test(some_inputs_are_bounded),
        cmocka_unit_test(each_input_finds_what_loading_left),
        cmocka_unit_test(the_smallest_wrong_input_is_shown_and_replayed),
        cmocka_unit_test(the_wrong_twins_are_right_with_the_input_of_a_check_alone),
        cmocka_unit_test(each_twin_is_found_whatever_the_seed),
        cmocka_unit_test(the_smallest_table_of_three_devices_has_one_row),
        cmocka_unit_test(lines_that_were_never_seen_lead_to_the_fault),
        cmocka_unit_test(an_input_that_kills_the_process_is_named_and_the_others_are_tried),
        cmocka_unit_test(whoever_looks_is_searched_for_each_input),
        cmocka_unit_test(a_rare_input_is_found_whatever_the_seed_and_made_small),
        cmocka_unit_test(the_same_inputs_are_tried_for_any_number_of_workers),
        cmocka_unit_test(reports_say_how_many_inputs),
        cmocka_unit_test(whoever_chooses_inputs_is_answered_line_by_line),
        cmocka_unit_test(lines_that_are_no_inputs_are_named),
        cmocka_unit_test(an_input_that_steers_without_a_domain_is_named),
        cmocka_unit_test(what_is_expected_may_depend_on_the_input),
        cmocka_unit_test(every_format_says_which_inputs),
        cmocka_unit_test(what_cannot_be_is_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, set_up, binary_tear_down);
}
