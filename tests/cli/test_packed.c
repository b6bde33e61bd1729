/* test_packed.c - kernels with packed rows, and with slices that leave their buffer, from the command line and by every search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

static const char *const SEARCHES[] = { "auto", "prove", "enumerate" };

static int set_up(void **state)
{
    if (binary_set_up(state) != 0)
        return -1;
    binary_take_kernel("packed.c", "packed.c");
    binary_take_kernel("outside.c", "outside.c");
    return 0;
}

static void packed_rows_are_as_declared_by_every_search(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(SEARCHES); i++) {
        g_autofree char *words = g_strdup_printf("test packed.c -n 2 --cores 2 --search %s", SEARCHES[i]);
        assert_int_equal(binary_run(words), 0);
        binary_says("59 passed, 0 failed");
    }
}

static void row_and_column_race_in_each_column_with_and_without_contents(void **state)
{
    (void)state;
    static const struct { const char *program, *of; int code; } CASE[] = {
        { "row_meets_word", "8 checks: 8 faulty", 1 }, { "row_misses_word", "8 checks: 8 verified", 0 },
        { "word_meets_half", "2 checks: 2 faulty", 1 }, { "word_misses_half", "2 checks: 2 verified", 0 },
        { "strided_rows_meet", "faulty", 1 }, { "strided_rows_pass", "verified", 0 },
        { "masked_to_one_byte", "faulty", 1 }, { "masked_to_nothing", "verified", 0 },
        { "row_sent_loaded_early", "faulty", 1 }, { "row_sent_loaded_late", "verified", 0 },
        { "row_copied_loaded_early", "faulty", 1 }, { "row_copied_loaded_late", "verified", 0 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++)
        for (size_t data = 0; data < 2; data++) {
            g_autofree char *words = g_strdup_printf("check packed.c:%s -n 2 --cores 2 --data %s", CASE[i].program,
                                                     data ? "opaque" : "real");
            assert_int_equal(binary_run(words), CASE[i].code);
            binary_says(CASE[i].of);
        }
}

static void what_is_packed_is_said(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check packed.c:row_meets_word -n 1 --cores 2 -D column=3"), 1);
    binary_says("words[1, 0:8] (1 of 4 bytes of an element)");
    binary_says("words[1, 3]");
    g_autofree char *schedule = binary_first_schedule("heddle-schedules"), *words = g_strconcat("replay ", schedule, NULL);
    assert_int_equal(binary_run(words), 1);
}

static void slices_of_slices_are_outside_where_their_own_indices_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(SEARCHES); i++) {
        g_autofree char *outside = g_strdup_printf("check outside.c:slice_of_slice_outside -n 1 --search %s", SEARCHES[i]);
        g_autofree char *inside = g_strdup_printf("check outside.c:slice_of_slice_inside -n 1 --search %s", SEARCHES[i]);
        assert_int_equal(binary_run(outside), 1);
        binary_says("3 checks: 3 faulty");
        binary_says("out-of-bounds: load reaches indices 8 to 11 of dimension 1 of array, whose size there is 10");
        binary_says("The view made at line 7 takes 4 indices of dimension 1 from 8 on, where 0 to 6 are right.");
        assert_int_equal(binary_run(inside), 0);
    }
}

static void padding_holds_what_it_holds_in_each_dimension(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check outside.c:reaches_padding -n 1"), 1);
    assert_int_equal(binary_run("check outside.c:reaches_padding -n 1 --bounds padded"), 0);
    assert_int_equal(binary_run("check outside.c:slice_of_slice_outside -n 1 --bounds padded"), 0);
    assert_int_equal(binary_run("check outside.c:reaches_beyond_columns -n 1 --bounds padded"), 1);
    binary_says("load reaches index 128 of dimension 1 of array, whose size with padding is 128");
    assert_int_equal(binary_run("check outside.c:reshaped_reaches_beyond -n 1 --bounds padded"), 1);
}

static void a_wrong_copy_is_told_by_the_line_that_describes_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(SEARCHES); i++) {
        g_autofree char *check = g_strdup_printf("check outside.c:described_wrongly -n 1 --search %s", SEARCHES[i]);
        assert_int_equal(binary_run(check), 1);
        binary_says("The copy was described at line 69.");
        binary_says("The copy was described at line 70.");
        binary_says("The view made at line 71 takes index 4 of dimension 0, where 0 to 3 are right.");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_rows_are_as_declared_by_every_search),
        cmocka_unit_test(row_and_column_race_in_each_column_with_and_without_contents),
        cmocka_unit_test(what_is_packed_is_said),
        cmocka_unit_test(slices_of_slices_are_outside_where_their_own_indices_are),
        cmocka_unit_test(padding_holds_what_it_holds_in_each_dimension),
        cmocka_unit_test(a_wrong_copy_is_told_by_the_line_that_describes_it),
    };
    return cmocka_run_group_tests_name("packed", tests, set_up, binary_tear_down);
}
