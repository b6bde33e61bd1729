/* test_entry_barrier.c - which launches begin with a barrier, if some device never gets to one: all searches say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../support/verdicts.h"

static void a_device_that_never_gets_to_a_launch_may_be_the_one_that_communicates(void **state)
{
    (void)state;
    verdicts_are("later_launches.c", "-n 2",
                 "stuck_before faulty deadlock; stuck_before_no_barrier faulty race deadlock; stuck_before_quiet faulty race deadlock; "
                 "stuck_before_own_barrier faulty race deadlock; stuck_before_third faulty deadlock; "
                 "stuck_before_reading faulty deadlock; stuck_before_asking faulty deadlock; stopped_before faulty assert; "
                 "got_there faulty race leftover; stuck_in_one_order faulty race deadlock leftover; tells_in_one_order faulty leftover; "
                 "receives_in_one_order faulty divergence; helped_past_a_look verified");
}

static void a_proof_and_samples_take_the_same_launches_for_ones_with_a_barrier(void **state)
{
    static const char *const SEARCH[] = { "prove", "random --runs 20", "starve --runs 20" };
    static const char *const PROGRAM_NAME[] = { "stuck_before", "stuck_before_reading", "stuck_before_asking" };
    (void)state;
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++)
        for (size_t p = 0; p < G_N_ELEMENTS(PROGRAM_NAME); p++) {
            g_autofree char *file = g_strdup_printf("later_launches.c:%s", PROGRAM_NAME[p]);
            g_autofree char *options = g_strdup_printf("-n 3 --search %s", SEARCH[s]), *found = verdicts_of(file, options);
            g_autofree char *expected = g_strdup_printf("%s faulty deadlock", PROGRAM_NAME[p]);
            assert_string_equal(found, expected);
            assert_int_equal(verdicts_replay(), 1);
        }
}

static void nobody_enters_where_a_third_device_is_stuck(void **state)
{
    (void)state;
    verdicts_are("later_launches.c:tells_in_one_order", "-n 3", "tells_in_one_order faulty deadlock");
    verdicts_are("later_launches.c:receives_in_one_order", "-n 3", "receives_in_one_order faulty deadlock");
}

static void one_core_of_a_device_is_enough(void **state)
{
    (void)state;
    verdicts_are("later_cores.c", "-n 2 --cores 2", "core_stuck_before faulty deadlock; core_stopped_before faulty out-of-bounds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_never_gets_to_a_launch_may_be_the_one_that_communicates),
        cmocka_unit_test(a_proof_and_samples_take_the_same_launches_for_ones_with_a_barrier),
        cmocka_unit_test(nobody_enters_where_a_third_device_is_stuck),
        cmocka_unit_test(one_core_of_a_device_is_enough),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
