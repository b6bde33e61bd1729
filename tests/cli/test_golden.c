/* test_golden.c - the printed texts of counterexamples: one file for each wrong twin under tests/cli/golden.
 *
 * After an intended change, GOLDEN=write in the environment rewrites the files; review the diff.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/advise/advise.h"
#include "../../checker/check/check.h"
#include "../../checker/report/narrative.h"
#include "../../checker/report/text_check.h"
#include "../../kernels/pallas/module.h"

static const struct { const char *program; uint32_t devices; } CASES[] = {
    { "all_gather_shared_semaphore", 3 }, { "all_reduce_no_capacity", 3 },       { "all_to_all_neighbour_fence", 3 },
    { "credits_one_too_many", 3 },        { "cyclic_wait", 3 },                  { "four_devices_unreceived", 4 },
    { "missing_signal", 3 },              { "never_waited_for", 2 },             { "one_signal_too_many", 3 },
    { "overwrite_before_wait_send", 3 },  { "permute_twice_single_barrier", 5 }, { "read_before_wait", 3 },
    { "reduce_scatter_missing_wait", 3 }, { "reduce_scatter_no_cleanup", 3 },    { "right_permute_no_barrier", 3 },
    { "wait_for_fewer_bytes", 3 },
};

static char *report(const char *program, uint32_t devices)
{
    CheckSpec spec = { .open = pl_module_open, .program = program, .cores = 1, .recording = true };
    mesh_line(&spec.mesh, devices);
    CheckResult *result = check_run(&spec);
    check_settle_orders(result);
    Text text;
    text_init(&text, false, false, false);
    text.story = true;
    text_check(&text, result, NULL);
    char *out = g_strdup(text.out->str);
    text_clear(&text);
    check_result_free(result);
    return out;
}

static void texts_are_as_they_were(void **state)
{
    (void)state;
    unsigned changed = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autofree char *now = report(CASES[i].program, CASES[i].devices), *before = NULL;
        g_autofree char *path = g_strdup_printf("tests/cli/golden/%s-n%u.txt", CASES[i].program, CASES[i].devices);
        if (g_strcmp0(g_getenv("GOLDEN"), "write") == 0)
            assert_true(g_file_set_contents(path, now, -1, NULL));
        else if (!g_file_get_contents(path, &before, NULL, NULL) || strcmp(before, now) != 0)
            print_message("%s differs; it is now:\n%s\n", path, now), changed++;
    }
    assert_int_equal(changed, 0);
}

static void stories_are_short_and_were_replayed(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        for (uint32_t devices = 3; devices <= 6; devices++) {
            CheckSpec spec = { .open = pl_module_open, .program = CASES[i].program, .cores = 1, .recording = true };
            mesh_line(&spec.mesh, devices);
            CheckResult *result = check_run(&spec);
            assert_true(result->verdict == VERDICT_FAULTY || result->verdict == VERDICT_NOT_APPLICABLE
                        || devices < CASES[i].devices);
            for (guint f = 0; result->outcome != NULL && f < result->outcome->findings->len; f++) {
                const Finding *finding = result->outcome->findings->pdata[f];
                g_autoptr(GPtrArray) lines = narrative_lines(result, finding);
                assert_true(finding->shown);
                assert_non_null(lines);
                assert_in_range(lines->len, 1, NARRATIVE_LINES_MAX);
            }
            check_result_free(result);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(texts_are_as_they_were), cmocka_unit_test(stories_are_short_and_were_replayed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
