/* test_report.c - reports of hand-made results: what people read and what tools parse must say the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <unistd.h>

#include "../../checker/report/columns.h"
#include "../../checker/report/describe.h"
#include "../../checker/report/message.h"
#include "../../checker/report/outfile.h"
#include "../../checker/report/output.h"
#include "../../checker/report/printable.h"
#include "../../checker/report/source.h"
#include "../../checker/report/text_check.h"
#include "../support/by_hand.h"

/* Two devices: device 0 copies to device 1, which reads without a wait; the race is found by hand. */
static void case_init(ByHand *c)
{
    Script *script = script_new(2, 1, NULL);
    uint32_t buffer = script_buffer(script, SPACE_HBM, 4, 8, "output"), semaphore = script_semaphore(script, SEMAPHORE_DMA, 1, "recv_sem");
    uint32_t receive = script_semaphore_id(script, semaphore, 1, 0);
    script_copy(script, 0, buffer, 0, buffer, 2, 1, NONE, receive, true);
    script_access(script, 1, STEP_LOAD, buffer, 2);
    script_wait(script, 1, receive, 8);
    by_hand_init(c, script, "ring", "kernels/ring.c");
    c->result.outcome->executions = c->result.outcome->classes = 1;
    c->result.outcome->states = c->result.outcome->transitions = UINT64_MAX;
}

static const Step *device_1_step(const ByHand *c, StepKind kind)
{
    const Step *step = &STORE(Step, &c->result.record->steps, 0);
    while (step->core != 1 || step->kind != kind)
        step++;
    return step;
}

static Finding *case_race(ByHand *c)
{
    const Copy *copy = &STORE(Copy, &c->result.record->copies, 0);
    const Step *load = device_1_step(c, STEP_LOAD);
    Finding *race = finding_new(FAULT_RACE);
    race->count = 3;
    race->places = 2;
    race->place[0] = (Place){.core = 0, .position = 0, .copy = 0, .kind = STEP_WRITE, .site = copy->site, .object = copy->target,
                             .region = copy->target_region};
    race->place[1] = (Place){.core = 1, .position = 0, .copy = NONE, .kind = STEP_LOAD, .site = load->site,
                             .object = load->object, .region = load->value};
    race->object = copy->target;
    race->why = g_strdup("the wait comes after the load.");
    race->cause = (Cause){ CAUSE_WAIT_LATE, race->place[1].site, NONE };
    Move moves[] = {{0, NONE, 0}, {0, 0, STEP_WRITE}, {1, NONE, 0}};
    race->moves = g_array_new(FALSE, FALSE, sizeof(Move));
    g_array_append_vals(race->moves, moves, 3);
    g_ptr_array_add(c->result.outcome->findings, race);
    return race;
}

static char *render(const CheckResult *result, bool color, bool quiet, bool verbose)
{
    Text text;
    text_init(&text, color, quiet, verbose);
    text_check(&text, result, NULL);
    char *out = g_strdup(text.out->str);
    text_clear(&text);
    return out;
}

static void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("nothing about \"%s\" in:\n%s", part, text ? text : "nothing");
}

static void a_race_names_both_accesses_and_their_lines(void **state)
{
    (void)state;
    ByHand c;
    case_init(&c);
    case_race(&c);
    char *text = render(&c.result, false, false, false);
    assert_says(text, "ring, 2 devices: faulty, 1 fault");
    assert_says(text, "race: copy 0 of device 0 writes output[2, 0:8] on device 1, device 1 reads\n  output[2, 0:8] on device 1, and");
    assert_says(text, "script:1");
    assert_says(text, "    line 1001\n");
    assert_says(text, "Why:  the wait comes after the load.");
    assert_says(text, "(one of 3 such");
    assert_says(text, "What usually helps:  Move that wait up");
    assert_null(strchr(text, '\033'));
    g_free(text);
    text = render(&c.result, true, false, false);
    assert_non_null(strchr(text, '\033'));
    g_free(text);
    text = render(&c.result, false, true, false);
    assert_string_equal(strchr(text, '\n'), "\n  race at script:1 and script:1001\n");
    g_free(text);
    by_hand_clear(&c);
}

static void the_same_lines_at_another_size_are_told_with_the_verdict(void **state)
{
    (void)state;
    ByHand c;
    case_init(&c);
    case_race(&c);
    Text text;
    text_init(&text, false, false, false);
    text_check(&text, &c.result, NULL);
    g_string_truncate(text.out, 0);
    text_check(&text, &c.result, NULL);
    assert_says(text.out->str, "ring, 2 devices: faulty, 1 fault, as with 2 devices\n");
    assert_string_equal(strchr(text.out->str, '\n'), "\n");
    text_clear(&text);
    by_hand_clear(&c);
}

static void an_exempted_fault_is_listed_with_its_reason_and_not_as_a_fault(void **state)
{
    (void)state;
    ByHand c;
    case_init(&c);
    case_race(&c);
    program_decl(c.result.program, 0)->exempt[FAULT_RACE] = program_string(c.result.program, "read for a statistic only");
    c.result.verdict = VERDICT_VERIFIED;
    char *text = render(&c.result, false, false, false);
    assert_says(text, "ring, 2 devices: verified");
    assert_says(text, "exempted:");
    assert_says(text, "read for a statistic only");
    g_free(text);
    void *document = json_format.begin(&(OutputSettings){ .version = "0" });
    json_format.add(document, &c.result, NULL);
    JsonNode *root = json_from_string(json_format.text(document)->str, NULL);
    JsonObject *check = json_array_get_object_element(json_object_get_array_member(json_node_get_object(root), "checks"), 0);
    assert_int_equal(json_array_get_length(json_object_get_array_member(check, "faults")), 0);
    assert_int_equal(json_array_get_length(json_object_get_array_member(check, "exempted")), 1);
    json_node_unref(root);
    json_format.clear(document);
    by_hand_clear(&c);
}

static JsonObject *nth_check(JsonNode *root, guint n)
{
    return json_array_get_object_element(json_object_get_array_member(json_node_get_object(root), "checks"), n);
}

static void json_says_what_the_text_says(void **state)
{
    (void)state;
    ByHand c;
    case_init(&c);
    case_race(&c);
    GPtrArray *schedules = g_ptr_array_new();
    g_ptr_array_add(schedules, (char *)"dir/ring.schedule");
    void *document = json_format.begin(&(OutputSettings){ .version = "1.2.3" });
    json_format.add(document, &c.result, schedules);
    json_format.add(document, &c.result, NULL);
    json_format.add_error(document, "a \"quoted\" line");
    JsonNode *root = json_from_string(json_format.text(document)->str, NULL);
    assert_non_null(root);
    JsonObject *top = json_node_get_object(root), *check = nth_check(root, 0);
    assert_string_equal(json_object_get_string_member(top, "format"), "heddle-report");
    assert_string_equal(json_object_get_string_member(top, "heddle"), "1.2.3");
    assert_string_equal(json_array_get_string_element(json_object_get_array_member(top, "errors"), 0), "a \"quoted\" line");
    assert_int_equal(json_array_get_length(json_object_get_array_member(top, "checks")), 2);
    assert_string_equal(json_object_get_string_member(check, "verdict"), "faulty");
    assert_int_equal(json_object_get_int_member(json_object_get_object_member(check, "mesh"), "x"), 2);
    assert_true(json_object_get_null_member(json_object_get_object_member(check, "covered"), "states"));
    assert_int_equal(json_object_get_int_member(json_object_get_object_member(check, "covered"), "classes"), 1);
    JsonObject *fault = json_array_get_object_element(json_object_get_array_member(check, "faults"), 0);
    assert_string_equal(json_object_get_string_member(fault, "id"), "race");
    assert_int_equal(json_object_get_int_member(fault, "count"), 3);
    assert_int_equal(json_object_get_int_member(fault, "switches"), 2);
    assert_string_equal(json_object_get_string_member(fault, "schedule"), "dir/ring.schedule");
    JsonObject *site = json_array_get_object_element(json_object_get_array_member(fault, "sites"), 0);
    assert_string_equal(json_object_get_string_member(site, "agent"), "dma 0 write");
    assert_string_equal(json_object_get_string_member(site, "region"), "output[2, 0:8]");
    assert_int_equal(json_object_get_int_member(site, "region_device"), 1);
    assert_int_equal(json_object_get_int_member(site, "line"), 1);
    fault = json_array_get_object_element(json_object_get_array_member(nth_check(root, 1), "faults"), 0);
    assert_true(json_object_get_null_member(fault, "schedule"));
    json_node_unref(root);
    json_format.clear(document);
    g_ptr_array_unref(schedules);
    by_hand_clear(&c);
}

static void json_is_whole_after_every_step(void **state)
{
    (void)state;
    ByHand c;
    case_init(&c);
    void *document = json_format.begin(&(OutputSettings){ .version = "0" });
    for (int i = 0; i < 3; i++) {
        JsonNode *root = json_from_string(json_format.text(document)->str, NULL);
        assert_non_null(root);
        assert_int_equal(json_array_get_length(json_object_get_array_member(json_node_get_object(root), "checks")), i);
        json_node_unref(root);
        json_format.add(document, &c.result, NULL);
    }
    json_format.clear(document);
    by_hand_clear(&c);
}

static void every_fault_has_a_sentence(void **state)
{
    (void)state;
    ByHand c;
    case_init(&c);
    Finding *race = case_race(&c);
    const Step *wait = device_1_step(&c, STEP_WAIT);
    for (unsigned id = 0; id < FAULT_COUNT; id++) {
        Finding *finding = finding_new(id);
        finding->places = 2;
        finding->place[0] = race->place[0];
        finding->place[1] = race->place[1];
        finding->object = wait->object;
        finding->object_is_semaphore = true;
        char *message = message_text(&c.result, finding), *key = message_key(c.result.program, finding);
        assert_true(strlen(message) > 20);
        assert_null(strchr(message, '\n'));
        assert_int_not_equal(message[strlen(message) - 1], '.');
        assert_says(key, fault_name(id));
        g_free(key);
        g_free(message);
        finding_free(finding);
    }
    by_hand_clear(&c);
}

static void a_blocked_core_is_named_with_its_line(void **state)
{
    (void)state;
    ByHand c;
    case_init(&c);
    Finding *deadlock = finding_new(FAULT_DEADLOCK);
    CoreState *core = &STORE(CoreState, &c.result.record->ends, 1);
    core->end = CORE_BLOCKED;
    core->pending = *device_1_step(&c, STEP_WAIT);
    char *message = message_text(&c.result, deadlock), *why = message_why(&c.result, deadlock);
    assert_says(message, "1 of 2 cores has");
    assert_says(why, "device 1 waits on recv_sem[0] of device 1 for 8 at script:1002");
    g_free(why);
    g_free(message);
    finding_free(deadlock);
    by_hand_clear(&c);
}

static void long_words_are_wrapped_under_their_lead(void **state)
{
    (void)state;
    Text text;
    text_init(&text, false, false, false);
    GString *words = g_string_new(NULL);
    for (int i = 0; i < 40; i++)
        g_string_append(words, "abcdefghi ");
    text_wrapped(&text, 2, "Why: ", words->str);
    char **line = g_strsplit(text.out->str, "\n", -1);
    for (char **at = line; **at; at++) {
        assert_true(strlen(*at) <= TEXT_WIDTH);
        assert_true(at == line || g_str_has_prefix(*at, "       a"));
    }
    g_strfreev(line);
    g_string_free(words, TRUE);
    text_clear(&text);
}

static void control_characters_are_printed_as_escapes(void **state)
{
    (void)state;
    const char *nasty = "a\033[2J\tb\n\033[1mc\033[0m\x7f\xc2\x9b\u202e\xff";
    g_autofree char *text = printable_text(nasty, NULL), *colored = printable_text(nasty, text_colors), *line = printable_line(nasty);
    assert_string_equal(text, "a\\x1b[2J\tb\n\\x1b[1mc\\x1b[0m\\x7f\\u009b\\u202e\\xff");
    assert_string_equal(colored, "a\\x1b[2J\tb\n\033[1mc\033[0m\\x7f\\u009b\\u202e\\xff");
    assert_string_equal(line, "a\\x1b[2J\tb\\n\\x1b[1mc\\x1b[0m\\x7f\\u009b\\u202e\\xff");
}

static void source_lines_are_quoted_and_missing_files_are_no_matter(void **state)
{
    (void)state;
    Source *source = source_new();
    char *folder = g_dir_make_tmp(NULL, NULL), *path = g_build_filename(folder, "a.c", NULL);
    g_file_set_contents(path, "one\n\ttwo\n\n\033four", -1, NULL);
    assert_string_equal(source_line(source, path, 1), "one");
    assert_string_equal(source_line(source, path, 2), " two");
    assert_null(source_line(source, path, 3));
    assert_string_equal(source_line(source, path, 4), " four");
    assert_null(source_line(source, path, 5));
    assert_null(source_line(source, path, 0));
    assert_null(source_line(source, folder, 1));
    assert_null(source_line(source, "/nowhere/at/all.c", 1));
    g_unlink(path);
    g_rmdir(folder);
    g_free(path);
    g_free(folder);
    source_free(source);
}

static void a_report_appears_whole_or_not_at_all(void **state)
{
    (void)state;
    char *folder = g_dir_make_tmp(NULL, NULL), *path = g_build_filename(folder, "r.json", NULL), *error = NULL, *text = NULL;
    Outfile *outfile = outfile_open(path, &error);
    outfile_set(outfile, "hello", 5);
    assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    assert_true(outfile_close(outfile, true, &error));
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    assert_string_equal(text, "hello");
    g_free(text);
    outfile = outfile_open(path, &error);
    outfile_set(outfile, "other", 5);
    assert_true(outfile_close(outfile, false, &error));
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    assert_string_equal(text, "hello");
    g_free(text);
    g_unlink(path);
    assert_int_equal(g_rmdir(folder), 0);               /* nothing is left beside it */
    assert_null(outfile_open(path, &error));
    assert_says(error, "cannot write");
    g_free(error);
    g_free(path);
    g_free(folder);
}

static void columns_are_as_wide_as_their_words(void **state)
{
    (void)state;
    Columns table;
    GString *out = g_string_new(NULL);
    columns_init(&table, 2);
    columns_add(&table, "a");
    columns_add(&table, "b");
    columns_add(&table, "ccc");
    columns_add(&table, "");
    columns_append_to(&table, out, ">");
    assert_string_equal(out->str, ">a    b\n>ccc\n");
    g_string_free(out, TRUE);
    columns_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_names_both_accesses_and_their_lines),
        cmocka_unit_test(the_same_lines_at_another_size_are_told_with_the_verdict),
        cmocka_unit_test(an_exempted_fault_is_listed_with_its_reason_and_not_as_a_fault),
        cmocka_unit_test(json_says_what_the_text_says),
        cmocka_unit_test(json_is_whole_after_every_step),
        cmocka_unit_test(every_fault_has_a_sentence),
        cmocka_unit_test(a_blocked_core_is_named_with_its_line),
        cmocka_unit_test(long_words_are_wrapped_under_their_lead),
        cmocka_unit_test(control_characters_are_printed_as_escapes),
        cmocka_unit_test(source_lines_are_quoted_and_missing_files_are_no_matter),
        cmocka_unit_test(a_report_appears_whole_or_not_at_all),
        cmocka_unit_test(columns_are_as_wide_as_their_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
