/* test_repairs.c - for each mistake of tests/support/kernels/repairs.c the change that undoes it is offered, as lines of the file; and what
 * only looks like one is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"

/* The repairs of one program on three devices. */
static JsonParser *repairs_of(const char *program, JsonArray **repairs)
{
    g_autofree char *words = g_strdup_printf("check repairs.c:%s -n 3 -q --schedules none --json report.json", program);
    assert_int_equal(binary_run(words), 1);
    g_autofree char *report = binary_contents("report.json");
    JsonParser *parser = binary_parse(report);
    JsonObject *check = json_array_get_object_element(array_in(json_node_get_object(json_parser_get_root(parser)), "checks"), 0);
    *repairs = array_in(check, "repairs");
    assert_in_range(json_array_get_length(*repairs), 1, 3);
    return parser;
}

static JsonObject *find_repair(JsonArray *repairs, const char *part)
{
    for (guint i = 0; i < json_array_get_length(repairs); i++) {
        JsonObject *repair = json_array_get_object_element(repairs, i);
        if (strstr(text_in(repair, "words"), part) != NULL)
            return repair;
    }
    return NULL;
}

/* Stripped; NULL: null in the report. */
static char *line_of(JsonObject *line, const char *which)
{
    return json_object_get_null_member(line, which) ? NULL : g_strstrip(g_strdup(text_in(line, which)));
}

static bool tells(JsonObject *repair, const char *old, const char *now)
{
    JsonArray *diff = array_in(repair, "diff");
    for (guint i = 0; i < json_array_get_length(diff); i++) {
        JsonObject *line = json_array_get_object_element(diff, i);
        g_autofree char *before = line_of(line, "old"), *after = line_of(line, "new");
        if (g_strcmp0(before, old) == 0 && g_strcmp0(after, now) == 0)
            return true;
    }
    return false;
}

static void each_mistake_is_undone(void **state)
{
    (void)state;
    static const struct { const char *program, *words, *old, *now; } cases[] = {
        { "waits_twice", "without the wait on s at repairs.c:", "pl_copy_wait(c);", NULL },
        { "never_starts", "with the copy that is made at repairs.c:14 started", "PlCopy c = pl_make_async_copy(x, y, s);",
          "PlCopy c = pl_async_copy(x, y, s);" },
        { "waits_before_it_signals", "moved down to after repairs.c:23", NULL, "pl_semaphore_wait(s, 1);" },
        { "signals_one_side", "with a wait for 1 instead of 2 on s", "pl_semaphore_wait(s, 2);", "pl_semaphore_wait(s, 1);" },
        { "starts_before_it_reads", "with the start of the copy at repairs.c:38 moved down to after repairs.c:39", NULL,
          "PlCopy b = pl_async_copy(pl_at(x, 1), r, s);" },
        { "reads_the_next_slot", "with the index of the source one less", "PlCopy c = pl_async_copy(pl_at(x, i + 1), pl_at(out, i), s);",
          "PlCopy c = pl_async_copy(pl_at(x, i), pl_at(out, i), s);" },
        { "sends_to_the_wrong_side", "sent to the left neighbour", "pl_semaphore_signal(pl_get_barrier_semaphore(), 1, pl_device(right));",
          "pl_semaphore_signal(pl_get_barrier_semaphore(), 1, pl_device(left));" },
        { "crossed_semaphores", "send and receive semaphore exchanged", "PlCopy c = pl_async_remote_copy(x, y, rs, ss, pl_device(right));",
          "PlCopy c = pl_async_remote_copy(x, y, ss, rs, pl_device(right));" },
        { "signals_two", "with a signal of 1 instead of 2 on s", "pl_semaphore_signal(s, 2, pl_device(right));",
          "pl_semaphore_signal(s, 1, pl_device(right));" },
        { "waits_on_the_other", "with ready instead of done in the wait", "pl_semaphore_wait(done, 1);", "pl_semaphore_wait(ready, 1);" },
        { "waits_for_exactly", "at least", "pl_flag_wait(f, PL_EQ, 1, PL_OWN);", "pl_flag_wait(f, PL_GE, 1, PL_OWN);" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        JsonArray *repairs;
        JsonParser *parser = repairs_of(cases[i].program, &repairs);
        JsonObject *repair = find_repair(repairs, cases[i].words);
        if (repair == NULL || !tells(repair, cases[i].old, cases[i].now))
            fail_msg("%s: %s", cases[i].program, repair ? "another diff" : "not offered");
        g_object_unref(parser);
    }
}

static void what_is_no_line_is_told_in_words(void **state)
{
    (void)state;
    static const struct { const char *program, *words; } cases[] = {
        { "looks_ahead", "with a guard at repairs.c:101: nothing where the index is outside" },
        { "one_epoch_for_all", "with an epoch in b" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        JsonArray *repairs;
        JsonParser *parser = repairs_of(cases[i].program, &repairs);
        assert_non_null(find_repair(repairs, cases[i].words));
        g_object_unref(parser);
    }
}

/* A wait before the load is free of races too, but then the first block is never read. */
static void data_that_is_read_stays_read(void **state)
{
    (void)state;
    JsonArray *repairs;
    JsonParser *parser = repairs_of("starts_before_it_reads", &repairs);
    assert_null(find_repair(repairs, "moved up"));
    assert_null(find_repair(repairs, "a wait for"));
    g_object_unref(parser);
}

/* Another slot or receiver of data is free of faults as well: it is offered only if results are compared. */
static void data_goes_elsewhere_only_if_results_are_compared(void **state)
{
    (void)state;
    JsonArray *repairs;
    JsonParser *parser = repairs_of("sends_to_the_wrong_side", &repairs);
    assert_null(find_repair(repairs, "copy at"));
    assert_null(find_repair(repairs, "index"));
    assert_false(json_object_get_boolean_member(json_array_get_object_element(repairs, 0), "data_checked"));
    g_object_unref(parser);
    parser = repairs_of("reads_the_next_slot", &repairs);
    assert_true(json_object_get_boolean_member(json_array_get_object_element(repairs, 0), "data_checked"));
    g_object_unref(parser);
}

static int set_up(void **state)
{
    int failed = binary_set_up(state);
    binary_use_kernels("repairs");
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_is_undone),
        cmocka_unit_test(what_is_no_line_is_told_in_words),
        cmocka_unit_test(data_that_is_read_stays_read),
        cmocka_unit_test(data_goes_elsewhere_only_if_results_are_compared),
    };
    return cmocka_run_group_tests(tests, set_up, binary_tear_down);
}
