/* test_causes.c - what reports say of the cause of each kernel in causes.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

static int set_up(void **state)
{
    if (binary_set_up(state) != 0)
        return -1;
    binary_use_kernels("causes");
    return 0;
}

/* The JSON report of a check, which must find a fault, and its text, with each run of spaces and line ends as one space. */
static char *report(const char *check)
{
    g_autofree char *words = g_strdup_printf("check causes.c:%s --json -", check);
    assert_int_equal(binary_run(words), 1);
    g_auto(GStrv) word = g_strsplit_set(binary_text, " \n", -1);
    GString *text = g_string_new(NULL);
    for (char **at = word; *at; at++)
        if (**at)
            g_string_append_printf(text, "%s ", *at);
    return g_string_free(text, FALSE);
}

static void expect_says(const char *check, const char *const *parts)
{
    g_autofree char *text = report(check);
    for (; *parts; parts++)
        if (!strstr(text, *parts))
            fail_msg("%s does not say \"%s\":\n%s", check, *parts, binary_text);
}

static void expect_never_says(const char *check, const char *part)
{
    g_autofree char *text = report(check);
    if (strstr(text, part))
        fail_msg("%s says \"%s\":\n%s", check, part, binary_text);
}

#define SAYS(check, ...) expect_says(check, (const char *const[]){ __VA_ARGS__, NULL })

static void a_wait_on_a_flag_says_whose_store_it_accepts(void **state)
{
    (void)state;
    SAYS("epoch -n 2",
         "The wait of device 1 at causes.c:11 on flag of device 1 (the 2nd time) was meant to come after the store of device 0 at "
         "causes.c:9, but it accepts the flag store of 1 by device 0 at causes.c:10 (the 1st time); that (the 2nd time) was meant.",
         "(the 2nd time) was meant to come after the wait of device 0 at causes.c:13 (the 1st time) for the write of copy 0 of device 1 at "
         "causes.c:12, but it accepts the flag store of 1 by device 0 at causes.c:10 (the 1st time)");
}

static void a_credit_of_somebody_else_is_the_cause_of_all_three_races(void **state)
{
    (void)state;
    SAYS("credit -n 3",
         "The wait of device 0 at causes.c:30 on credit of device 0 was meant to come after the wait of device 1 at causes.c:35 "
         "for the write of copy 0 of device 0 at causes.c:28 (described at causes.c:26), but it can be satisfied without it, by "
         "the signal of device 2 at causes.c:40.",
         "So the wait of device 1 at causes.c:35 on received of device 1, which was meant to come after the write of copy 0",
         "was meant to come after the load of device 1 at causes.c:36, but it can be satisfied without it, by the signal of device 2");
}

static void words_of_one_line_are_different_words(void **state)
{
    (void)state;
    SAYS("words -n 2", "each until its own (flags[0] of device 0, flags[1] of device 1) is not 0, but it is 0. flags[0] of device 0 was 1, "
         "which would do, after the flag store of 1 by device 0 at causes.c:53, until the flag store of 0 by device 0 at causes.c:54");
}

static void the_order_that_the_values_need_is_missing(void **state)
{
    (void)state;
    SAYS("direction -n 1 --cores 2", "Nothing that device 0 core 0 waits for before causes.c:69 tells it that the load of device 0 core 1 "
         "at causes.c:73 is done", "put a delay at device 0 core 1 before causes.c:73");
    expect_never_says("direction -n 1 --cores 2", "put a delay at device 0 core 0");
}

static void the_story_has_values_and_who_wrote_them(void **state)
{
    (void)state;
    SAYS("either -n 3", "device 1 stores 1 to flags[0] of device 0 (causes.c:86)",
         "device 0 passes its wait until flags[0] of device 0 is 1: it is 1, by device 1 (causes.c:92)",
         "device 0 loads flags[1] of device 0: it is 0, its initial value (causes.c:93)");
}

static void a_failed_assertion_says_what_was_seen_and_which_wait_let_it(void **state)
{
    (void)state;
    SAYS("either -n 3",
         "flags[1] of device 0 is 0, its initial value; the flag store of 7 by device 2 at causes.c:88 comes later. The wait of device 0 "
         "at causes.c:92 on flags[0] of device 0 was meant to come after the flag store of 7 by device 2 at causes.c:88, but it "
         "accepts the flag store of 1 by device 1 at causes.c:86; the flag store of 1 by device 2 at causes.c:89 was meant.");
}

static void an_endless_poll_says_what_it_sees_and_from_whom(void **state)
{
    (void)state;
    SAYS("poll -n 1", "flags[1] of device 0 is 1, from the flag store of 1 by device 0 at causes.c:105. flags[0] of device 0 is 0, its "
         "initial value.");
    SAYS("cleared -n 2", "flag of device 0 is 1, from the flag store of 1 by device 0 at causes.c:114, after the flag store of 0 by "
         "device 1 at causes.c:114.");
}

static void the_line_that_describes_a_copy_is_named(void **state)
{
    (void)state;
    SAYS("made -n 2", "waits for the write of copy 0 of device 0 at causes.c:128 (described at causes.c:127) only at causes.c:130");
}

static void a_wrong_result_says_whose_it_is_and_which_copy_wrote_it(void **state)
{
    (void)state;
    SAYS("own_out -n 1 --cores 2", "out[0] on device 0 core 1 is x[1, 0] on device 0, not x[0] on device 0",
         "device 0 core 1 at causes.c:143 wrote out on device 0 core 1 from y on device 0 core 1, loaded at causes.c:143; copy 0 of "
         "device 0 core 1 at causes.c:141 wrote y on device 0 core 1 from x[1, 0:8] on device 0.");
    SAYS("part_out -n 1 --cores 2", "nobody wrote out[1, 0] on device 0 core 0",
         "Nothing in this run writes that element. But device 0 core 1 writes that element of its own out, at causes.c:156.");
}

static void the_order_that_would_be_right_is_named(void **state)
{
    (void)state;
    SAYS("either -n 3", "Right if the flag store of 7 by device 2 at causes.c:88 comes before the flag load of device 0 at causes.c:93.");
    SAYS("cleared -n 2", "Right if the flag store of 1 by device 0 at causes.c:114 comes before the flag store of 0 by "
         "device 1 at causes.c:114.");
    expect_never_says("poll -n 1", "Right if");
}

static void a_step_that_is_done_too_often_says_which_condition_says_how_often(void **state)
{
    (void)state;
    SAYS("too_often -n 1", "The step at causes.c:172 is done while `i <= 2` at causes.c:171. The step at causes.c:170 is done "
         "while `i < 2` at causes.c:169.", "\"kind\" : \"unserved\"");
    SAYS("beyond -n 1", "The step at causes.c:178 is done while `row <= 2` at causes.c:177.");
    expect_never_says("credit -n 3", "is done while");
}

static void a_signal_that_would_order_the_two_and_the_wait_that_is_never_done_are_named(void **state)
{
    (void)state;
    SAYS("never_done -n 2", "Device 0 would learn that from the signal of device 1 at causes.c:193, on room of device 0, but nobody "
         "waits for it.", "was meant to come after the wait of device 0 at causes.c:190 (the 1st time). Device 1 would learn "
         "that from the signal",
         "The wait at causes.c:188 is never done, only where `i > 1` at causes.c:187, while `i < 2` at causes.c:186.");
}

static void what_goes_to_itself_is_named(void **state)
{
    (void)state;
    SAYS("own_word -n 2", "The signal of device 1 at causes.c:205 comes later. Before it the wait of device 0 at causes.c:207, on ready of "
         "device 0, hears only of the signal of device 0 at causes.c:206.");
    SAYS("own_device -n 1", "The copy of causes.c:218 names device 0, which is its own.");
}

static void a_sender_that_hears_only_of_itself_is_named(void **state)
{
    (void)state;
    SAYS("deaf_copies -n 2", "but it can be satisfied without it, by copy 1 of device 1 at causes.c:268. Before it the wait of device 1 "
         "at causes.c:267, on ready of device 1, hears only of the 2 signals of device 1 at causes.c:266.");
    SAYS("deaf_words -n 2", "until the flag store of 2 by device 0 at causes.c:283: that signal was lost. Before it the flag wait of "
         "device 0 at causes.c:282, on start of device 0, hears only of the flag store of 2 by device 0 at causes.c:281.");
}

static void the_nearest_elements_that_are_written_are_named(void **state)
{
    (void)state;
    SAYS("nearest -n 1", "Nothing in this run writes that element. The nearest elements that are written are out[1, 0:8] on device 0, by "
         "device 0 at causes.c:297.", "The step at causes.c:297 is done while `i < 2` at causes.c:296.");
}

static void a_value_of_several_loads_names_them_all(void **state)
{
    (void)state;
    SAYS("mixed -n 2", "device 0 at causes.c:313 wrote out on device 0 from inbox on device 0 and x on device 0; copy 0 of device 0 at "
         "causes.c:311 wrote inbox on device 0 from x on device 0.");
}

static void the_landing_that_would_be_right_is_named(void **state)
{
    (void)state;
    SAYS("look_expects -n 2", "Right if copy 0 of device 0 at causes.c:248 (described at causes.c:246) lands before the semaphore read of "
         "device 1 at causes.c:251.");
    SAYS("look_leaves -n 2", "leftover", "Right if copy 0 of device 0 at causes.c:229 (described at causes.c:226) lands before the "
         "semaphore read of device 1 at causes.c:232.");
    SAYS("look_keeps -n 2", "divergence", "It ends with the other results if the semaphore read of device 1 at causes.c:336 comes before "
         "copy 0 of device 0 at causes.c:333 (described at causes.c:331) has written bytes.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_on_a_flag_says_whose_store_it_accepts),
        cmocka_unit_test(a_credit_of_somebody_else_is_the_cause_of_all_three_races),
        cmocka_unit_test(words_of_one_line_are_different_words),
        cmocka_unit_test(the_order_that_the_values_need_is_missing),
        cmocka_unit_test(the_story_has_values_and_who_wrote_them),
        cmocka_unit_test(a_failed_assertion_says_what_was_seen_and_which_wait_let_it),
        cmocka_unit_test(an_endless_poll_says_what_it_sees_and_from_whom),
        cmocka_unit_test(the_line_that_describes_a_copy_is_named),
        cmocka_unit_test(a_wrong_result_says_whose_it_is_and_which_copy_wrote_it),
        cmocka_unit_test(the_order_that_would_be_right_is_named),
        cmocka_unit_test(a_step_that_is_done_too_often_says_which_condition_says_how_often),
        cmocka_unit_test(a_signal_that_would_order_the_two_and_the_wait_that_is_never_done_are_named),
        cmocka_unit_test(what_goes_to_itself_is_named),
        cmocka_unit_test(a_sender_that_hears_only_of_itself_is_named),
        cmocka_unit_test(the_nearest_elements_that_are_written_are_named),
        cmocka_unit_test(a_value_of_several_loads_names_them_all),
        cmocka_unit_test(the_landing_that_would_be_right_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, binary_tear_down);
}
