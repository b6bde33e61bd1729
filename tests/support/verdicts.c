/* verdicts.c - see verdicts.h. */
#include "verdicts.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../model/fault.h"

static const char REPORT[] = "verdicts.json", SCHEDULES[] = "verdicts";

void verdicts_compile(const char *file)
{
    g_autofree char *path = g_build_filename("tests", "support", "kernels", file, NULL), *source = g_canonicalize_filename(path, NULL);
    g_autofree char *words = g_strdup_printf("compile '%s' -o '%.*s.so'", source, (int)strlen(file) - 2, file);
    if (binary_run(words) != 0)
        fail_msg("%s: %s", words, binary_text);
}

static JsonParser *last_report(void)
{
    g_autofree char *json = binary_contents(REPORT);
    return binary_parse(json);
}

/* Each kind of fault once, in the order of FaultId: which of several comes first in a report is not a verdict. */
static void append_check(GString *all, JsonObject *check)
{
    JsonArray *faults = array_in(check, "faults");
    bool found[FAULT_COUNT] = { false };
    for (guint i = 0; i < json_array_get_length(faults); i++) {
        FaultId id;
        assert_true(fault_from_name(text_in(json_array_get_object_element(faults, i), "id"), &id));
        found[id] = true;
    }
    g_string_append_printf(all, "%s%s %s", all->len ? "; " : "", text_in(check, "program"), text_in(check, "verdict"));
    for (FaultId id = 0; id < FAULT_COUNT; id++)
        if (found[id])
            g_string_append_printf(all, " %s", fault_name(id));
}

char *verdicts_of(const char *file, const char *options)
{
    g_autofree char *path = g_build_filename("tests", "support", "kernels", file, NULL);
    g_autofree char *source = strstr(file, ".so") ? g_strdup(file) : g_canonicalize_filename(path, NULL);
    g_autofree char *words = g_strdup_printf("check '%s' -q --json %s --schedules %s %s", source, REPORT, SCHEDULES, options);
    g_autofree char *old = binary_path(REPORT);
    (void)remove(old);
    binary_run(words);
    if (!g_file_test(old, G_FILE_TEST_EXISTS))
        fail_msg("%s: %s", words, binary_text);
    g_autoptr(JsonParser) parser = last_report();
    JsonArray *checks = array_in(json_node_get_object(json_parser_get_root(parser)), "checks");
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < json_array_get_length(checks); i++)
        append_check(all, json_array_get_object_element(checks, i));
    return g_string_free(all, FALSE);
}

void verdicts_are(const char *file, const char *options, const char *expected)
{
    static const char *const SEARCH[] = { "auto", "enumerate" };
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++) {
        g_autofree char *words = g_strdup_printf("%s --search %s", options, SEARCH[s]), *found = verdicts_of(file, words);
        if (strcmp(found, expected) != 0)
            fail_msg("%s %s: %s\nexpected: %s\n%s", file, words, found, expected, binary_text);
    }
    verdicts_replay();
}

static void replay(const char *schedule)
{
    g_autofree char *words = g_strdup_printf("replay -q '%s'", schedule);
    int code = binary_run(words);
    if (code != 1 || strstr(binary_text, ": the schedule shows the fault.") == NULL)
        fail_msg("%s ends with %d:\n%s", words, code, binary_text);
}

unsigned verdicts_replay(void)
{
    unsigned replayed = 0;
    g_autoptr(JsonParser) parser = last_report();
    JsonArray *checks = array_in(json_node_get_object(json_parser_get_root(parser)), "checks");
    for (guint i = 0; i < json_array_get_length(checks); i++) {
        JsonArray *faults = array_in(json_array_get_object_element(checks, i), "faults");
        for (guint f = 0; f < json_array_get_length(faults); f++, replayed++)
            replay(text_in(json_array_get_object_element(faults, f), "schedule"));
    }
    return replayed;
}
