/* test_fault.c - identifiers are stable, and everything has an explanation fit to print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/fault.h"

static const char *const FAULTS[] = {
    "race", "lifetime", "deadlock", "leftover", "in-flight", "out-of-bounds", "uninitialised", "shape", "space", "revisit", "assert",
    "mismatch", "overflow", "divergence", "no-progress", "crash",
};
static const char *const ADVICES[] = {
    "ambiguous-wait", "oversignal", "needless-sync", "non-neighbour", "early-signal", "wait-descriptor-range", "unreached",
    "never-ran", "no-expectation", "idle-expectation", "unused-exemption",
    "no-domain",
};

static void identifiers_never_change(void **state)
{
    (void)state;
    assert_int_equal(G_N_ELEMENTS(FAULTS), FAULT_COUNT);
    for (int i = 0; i < FAULT_COUNT; i++) {
        FaultId id = FAULT_COUNT;
        assert_string_equal(fault_name((FaultId)i), FAULTS[i]);
        assert_true(fault_from_name(FAULTS[i], &id));
        assert_int_equal(id, i);
    }
    assert_int_equal(G_N_ELEMENTS(ADVICES), ADVICE_COUNT);
    for (int i = 0; i < ADVICE_COUNT; i++)
        assert_string_equal(advice_name((AdviceId)i), ADVICES[i]);
}

static void unknown_names_are_no_faults(void **state)
{
    (void)state;
    FaultId id = FAULT_SHAPE;
    static const char *const CASE[] = {"", "Race", "race ", "rac", "in_flight", "needless-sync"};
    for (size_t i = 0; i < G_N_ELEMENTS(CASE); i++)
        assert_false(fault_from_name(CASE[i], &id));
    assert_int_equal(id, FAULT_SHAPE);
}

static void a_core_goes_on_after_what_only_the_order_did(void **state)
{
    (void)state;
    static const FaultId GO_ON[] = {
        FAULT_RACE, FAULT_LIFETIME, FAULT_DEADLOCK, FAULT_LEFTOVER, FAULT_IN_FLIGHT, FAULT_UNINITIALISED, FAULT_MISMATCH, FAULT_OVERFLOW,
        FAULT_DIVERGENCE,
    };
    for (int i = 0; i < FAULT_COUNT; i++) {
        bool goes_on = false;
        for (size_t j = 0; j < G_N_ELEMENTS(GO_ON); j++)
            goes_on |= GO_ON[j] == (FaultId)i;
        assert_int_equal(fault_stops_core((FaultId)i), !goes_on);
    }
}

/* Whole lines that fit a terminal, no tabs, no trailing blanks. */
static void assert_lines_fit(const char *text, const char *prefix, size_t width)
{
    char **line = g_strsplit(text, "\n", -1);
    guint lines = g_strv_length(line);
    assert_true(lines > 1);
    assert_string_equal(line[lines - 1], "");
    for (guint i = 0; i + 1 < lines; i++) {
        assert_true(g_str_has_prefix(line[i], prefix));
        assert_true(strlen(line[i]) <= width);
        assert_false(g_str_has_suffix(line[i], " "));
        assert_null(strchr(line[i], '\t'));
    }
    g_strfreev(line);
}

static void every_fault_is_explained_with_an_example_and_repairs(void **state)
{
    (void)state;
    for (int i = 0; i < FAULT_COUNT; i++) {
        FaultId id = (FaultId)i;
        assert_true(g_str_has_suffix(fault_meaning(id), "."));
        assert_null(strchr(fault_meaning(id), '\n'));
        assert_lines_fit(fault_example(id), "    ", 132);
        assert_lines_fit(fault_repairs(id), "  ", 132);
        assert_true(g_str_has_prefix(fault_repairs(id), "  - "));
    }
    for (int i = 0; i < ADVICE_COUNT; i++)
        assert_true(g_str_has_suffix(advice_meaning((AdviceId)i), "."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identifiers_never_change),
        cmocka_unit_test(unknown_names_are_no_faults),
        cmocka_unit_test(a_core_goes_on_after_what_only_the_order_did),
        cmocka_unit_test(every_fault_is_explained_with_an_example_and_repairs),
    };
    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
