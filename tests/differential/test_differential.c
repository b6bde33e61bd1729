/* test_differential.c - the proof against the enumeration, and both against brute force, on thousands of random programs.
 *
 * SOAK_SECONDS=n in the environment: 20000 programs with conflicts, and on for as long as that since the start, on seeds of its own
 * (SOAK_SEED, else from the time of day); `make soak` does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include "../support/sanitized.h"
#include "campaign.h"

static void agree_on_small_programs(void **state)
{
    (void)state;
    DifferentialStats stats;
    assert_true(campaign_run(1, sanitized_share(1800), 0, 8, CAMPAIGN_PLAIN, &stats));
    assert_true(SANITIZED || stats.ordered >= 150);
}

static void agree_on_larger_programs(void **state)
{
    (void)state;
    assert_true(campaign_run(1000001, sanitized_share(400), 0, 12, CAMPAIGN_PLAIN, NULL));
}

static void agree_where_values_steer_and_cores_stop(void **state)
{
    (void)state;
    assert_true(campaign_run(2000001, sanitized_share(900), 0, 8, CAMPAIGN_WILD, NULL));
}

static void agree_where_faults_are_exempt(void **state)
{
    DifferentialStats stats;
    (void)state;
    assert_true(campaign_run(5000001, sanitized_share(500), 0, 8, CAMPAIGN_EXEMPT, &stats));
    assert_true(SANITIZED || stats.marked >= 60);
}

static void agree_on_programs_with_conflicts(void **state)
{
    DifferentialStats stats;
    (void)state;
    assert_true(campaign_run(3000001, sanitized_share(2000), 0, 8, CAMPAIGN_CONFLICTS, &stats));
    assert_true(SANITIZED || (stats.conflicts >= 800 && stats.brute >= 1000));
}

static void agree_on_programs_with_and_without_symmetry(void **state)
{
    DifferentialStats stats;
    (void)state;
    assert_true(campaign_run(4000001, sanitized_share(1500), 0, 4, CAMPAIGN_ROTATED, &stats));
    assert_true(SANITIZED || stats.rotated >= 800);
}

/* 20000 programs with conflicts, then whatever there is time for. */
static int soak(double seconds)
{
    enum { CONFLICTS = 20000, PORTION = 1000 };
    const char *given = getenv("SOAK_SEED");
    uint64_t seed = given ? g_ascii_strtoull(given, NULL, 0) : (uint64_t)g_get_real_time() * 1000;
    gint64 end = g_get_monotonic_time() + (gint64)(seconds * 1e6);
    bool fine = true;
    DifferentialStats stats;
    for (uint64_t conflicts = 0; fine && conflicts < CONFLICTS; seed += PORTION, conflicts += stats.conflicts)
        fine = campaign_run(seed, PORTION, 0, 6 + seed / PORTION % 3 * 2, CAMPAIGN_CONFLICTS, &stats);
    for (unsigned round = 0; fine && g_get_monotonic_time() < end; round++, seed += 1000000) {
        double left = (double)(end - g_get_monotonic_time()) / 1e6;
        unsigned operations = round % 5 == CAMPAIGN_ROTATED ? 4 : 6 + round % 5 * 2;
        fine = campaign_run(seed, 1000000, CLAMP(left, 1, 60), operations, round % 5, NULL);
    }
    return fine ? 0 : 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree_on_small_programs),
        cmocka_unit_test(agree_on_larger_programs),
        cmocka_unit_test(agree_where_values_steer_and_cores_stop),
        cmocka_unit_test(agree_where_faults_are_exempt),
        cmocka_unit_test(agree_on_programs_with_conflicts),
        cmocka_unit_test(agree_on_programs_with_and_without_symmetry),
    };
    const char *seconds = getenv("SOAK_SECONDS");
    return seconds ? soak(g_ascii_strtod(seconds, NULL)) : cmocka_run_group_tests(tests, NULL, NULL);
}
