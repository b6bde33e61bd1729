/* test_outputs.c - reports for other programs: what their readers demand of the fields, baselines, and names that are no text at all.
 *
 * Runs the binary that $HEDDLE names in a folder of its own. xmllint and python3-jsonschema are asked where they are installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <libxml/parser.h>
#include <sys/wait.h>

#include "../checker/report/output.h"
#include "script.h"

static char *folder, *heddle, *text;

static int run(const char *words)
{
    g_autofree char *line = g_strdup_printf("%s %s", heddle, words);
    g_auto(GStrv) argv = NULL;
    g_autofree char *out = NULL, *err = NULL;
    int status = 0;
    assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
    assert_true(g_spawn_sync(folder, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, NULL));
    assert_true(WIFEXITED(status));
    g_free(text);
    text = g_strconcat(out, err, NULL);
    return WEXITSTATUS(status);
}

static void assert_says(const char *part)
{
    if (!strstr(text, part))
        fail_msg("nothing about \"%s\" in:\n%s", part, text);
}

static char *path_of(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static char *contents(const char *name)
{
    g_autofree char *path = path_of(name);
    char *all = NULL;
    assert_true(g_file_get_contents(path, &all, NULL, NULL));
    return all;
}

/* A check by a tool that may not be installed; true if it is missing. */
static bool tool(const char *command)
{
    int status = 0;
    g_autofree char *out = NULL, *err = NULL;
    g_auto(GStrv) argv = NULL;
    assert_true(g_shell_parse_argv(command, NULL, &argv, NULL));
    if (!g_spawn_sync(folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, NULL))
        return true;
    if (WEXITSTATUS(status) != 0)
        fail_msg("%s: %s%s", command, out, err);
    return false;
}

static JsonObject *object_in(JsonObject *object, const char *name) { return json_object_get_object_member(object, name); }
static JsonArray *array_in(JsonObject *object, const char *name) { return json_object_get_array_member(object, name); }
static const char *text_in(JsonObject *object, const char *name) { return json_object_get_string_member(object, name); }

static JsonParser *parse(const char *json)
{
    GError *error = NULL;
    JsonParser *parser = json_parser_new();
    if (!json_parser_load_from_data(parser, json, -1, &error))
        fail_msg("no JSON: %s", error->message);
    return parser;
}

static JsonObject *only_run(JsonParser *parser)
{
    JsonObject *root = json_node_get_object(json_parser_get_root(parser));
    assert_string_equal(text_in(root, "version"), "2.1.0");
    assert_int_equal(json_array_get_length(array_in(root, "runs")), 1);
    return json_array_get_object_element(array_in(root, "runs"), 0);
}

static void assert_location(JsonObject *location)
{
    JsonObject *physical = object_in(location, "physicalLocation"), *artifact = object_in(physical, "artifactLocation");
    assert_true(json_object_get_int_member(object_in(physical, "region"), "startLine") >= 1);
    assert_string_equal(text_in(artifact, "uriBaseId"), "SRCROOT");
    assert_null(strstr(text_in(artifact, "uri"), ".."));
    assert_int_not_equal(text_in(artifact, "uri")[0], '/');
}

/* What a code scanning service needs of a rule and of a result. */
static void assert_rules(JsonObject *run_object)
{
    JsonObject *driver = object_in(object_in(run_object, "tool"), "driver");
    JsonArray *rules = array_in(driver, "rules");
    assert_string_equal(text_in(driver, "name"), "Heddle");
    assert_int_equal(json_array_get_length(rules), FAULT_COUNT);
    for (guint i = 0; i < FAULT_COUNT; i++) {
        JsonObject *rule = json_array_get_object_element(rules, i);
        assert_string_equal(text_in(rule, "id"), fault_name(i));
        assert_true(strlen(text_in(object_in(rule, "shortDescription"), "text")) > 10);
        assert_true(strlen(text_in(object_in(rule, "help"), "text")) > 10);
    }
}

static void sarif_has_what_code_scanning_reads(void **state)
{
    (void)state;
    assert_int_equal(run("check kernel.c -n 2..4 --sarif a.sarif"), 1);
    g_autofree char *json = contents("a.sarif");
    g_autoptr(JsonParser) parser = parse(json);
    JsonObject *sarif = only_run(parser);
    JsonArray *results = array_in(sarif, "results");
    assert_rules(sarif);
    assert_int_equal(json_array_get_length(results), 1);                /* one alert, though two sizes show it */
    JsonObject *result = json_array_get_object_element(results, 0);
    assert_string_equal(text_in(result, "ruleId"), "race");
    assert_int_equal(json_object_get_int_member(result, "ruleIndex"), FAULT_RACE);
    assert_int_equal(json_array_get_length(array_in(result, "locations")), 2);
    assert_int_equal(json_array_get_length(array_in(result, "relatedLocations")), 1);
    for (guint i = 0; i < 2; i++)
        assert_location(json_array_get_object_element(array_in(result, "locations"), i));
    JsonObject *flow = json_array_get_object_element(array_in(result, "codeFlows"), 0);
    JsonArray *steps = array_in(json_array_get_object_element(array_in(flow, "threadFlows"), 0), "locations");
    assert_in_range(json_array_get_length(steps), 5, 102);
    for (guint i = 0; i < json_array_get_length(steps); i++)
        assert_location(object_in(json_array_get_object_element(steps, i), "location"));
    assert_null(strstr(json, "/tmp/heddle"));
}

static char *fingerprint_of(const char *name)
{
    g_autofree char *json = contents(name);
    g_autoptr(JsonParser) parser = parse(json);
    JsonObject *result = json_array_get_object_element(array_in(only_run(parser), "results"), 0);
    return g_strdup(text_in(object_in(result, "partialFingerprints"), "heddleFault/v1"));
}

static void write_kernel(const char *before, const char *with, const char *instead)
{
    g_autofree char *source = g_build_filename("tests", "kernels", "ring.c", NULL), *path = path_of("kernel.c"), *all = NULL;
    assert_true(g_file_get_contents(source, &all, NULL, NULL));
    g_autoptr(GString) kernel = g_string_new(before);
    g_string_append(kernel, all);
    if (with)
        assert_int_equal(g_string_replace(kernel, with, instead, 0) > 0, 1);
    assert_true(g_file_set_contents(path, kernel->str, -1, NULL));
}

static void a_fingerprint_outlives_moved_lines_and_sizes(void **state)
{
    (void)state;
    assert_int_equal(run("check kernel.c -n 3 --sarif a.sarif"), 1);
    assert_int_equal(run("check kernel.c -n 4 --sarif b.sarif"), 1);
    write_kernel("/* a line\n * and another\n */\n", NULL, NULL);
    assert_int_equal(run("check kernel.c -n 3 --sarif c.sarif"), 1);
    write_kernel("", NULL, NULL);
    g_autofree char *a = fingerprint_of("a.sarif"), *b = fingerprint_of("b.sarif"), *c = fingerprint_of("c.sarif");
    assert_string_equal(a, b);
    assert_string_equal(a, c);
}

static void a_verified_check_gives_a_valid_file_without_results(void **state)
{
    (void)state;
    assert_int_equal(run("check all_gather -n 2 --sarif v.sarif --junit v.xml"), 0);
    g_autofree char *json = contents("v.sarif");
    g_autoptr(JsonParser) parser = parse(json);
    JsonObject *sarif = only_run(parser), *invocation = json_array_get_object_element(array_in(sarif, "invocations"), 0);
    assert_int_equal(json_array_get_length(array_in(sarif, "results")), 0);
    assert_true(json_object_get_boolean_member(invocation, "executionSuccessful"));
    if (tool("xmllint --noout v.xml"))
        print_message("xmllint is not here\n");
}

static void a_program_that_could_not_be_checked_is_a_failed_run(void **state)
{
    (void)state;
    assert_int_equal(run("check nonesuch --sarif e.sarif --junit e.xml"), 2);
    g_autofree char *json = contents("e.sarif"), *xml = contents("e.xml");
    g_autoptr(JsonParser) parser = parse(json);
    JsonObject *invocation = json_array_get_object_element(array_in(only_run(parser), "invocations"), 0);
    assert_false(json_object_get_boolean_member(invocation, "executionSuccessful"));
    assert_non_null(strstr(xml, "errors=\"1\""));
}

static unsigned number_of(xmlNodePtr node, const char *name)
{
    xmlChar *value = xmlGetProp(node, BAD_CAST name);
    unsigned number = value ? (unsigned)strtoul((char *)value, NULL, 10) : G_MAXUINT;
    xmlFree(value);
    return number;
}

static unsigned children_of(xmlNodePtr node, const char *name)
{
    unsigned count = 0;
    for (xmlNodePtr at = node->children; at; at = at->next)
        count += at->type == XML_ELEMENT_NODE && (!name || !strcmp((const char *)at->name, name));
    return count;
}

static void junit_has_a_suite_a_program_and_a_case_a_size(void **state)
{
    (void)state;
    assert_int_equal(run("check kernel.c:ring_shared all_gather -n 1..3 --junit j.xml"), 1);
    g_autofree char *xml = contents("j.xml");
    xmlDocPtr document = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);
    assert_non_null(document);
    xmlNodePtr root = xmlDocGetRootElement(document);
    assert_string_equal(root->name, "testsuites");
    assert_int_equal(number_of(root, "tests"), 6);
    assert_int_equal(number_of(root, "failures"), 1);
    assert_int_equal(number_of(root, "skipped"), 2);
    assert_int_equal(children_of(root, "testsuite"), 2);
    for (xmlNodePtr suite = root->children; suite; suite = suite->next)
        if (suite->type == XML_ELEMENT_NODE)
            assert_int_equal(children_of(suite, "testcase"), number_of(suite, "tests"));
    xmlFreeDoc(document);
}

static void a_baseline_leaves_only_new_faults_to_fail(void **state)
{
    (void)state;
    assert_int_equal(run("check kernel.c -n 3 --json base.json"), 1);
    assert_int_equal(run("check kernel.c -n 3..4 --baseline base.json --json again.json --junit j.xml --sarif s.sarif"), 0);
    assert_says("1 of 1 fault is known, 0 new");
    g_autofree char *json = contents("again.json"), *sarif = contents("s.sarif"), *xml = contents("j.xml");
    assert_non_null(strstr(json, "\"known\" : true"));
    assert_non_null(strstr(sarif, "\"unchanged\""));
    assert_non_null(strstr(xml, "failures=\"0\""));
    assert_int_equal(run("check all_gather_shared_semaphore -n 3 --baseline base.json"), 1);
    assert_says("0 of 1 fault are known, 1 new");
}

static void a_fault_that_is_gone_since_the_baseline_is_listed(void **state)
{
    (void)state;
    assert_int_equal(run("check all_gather_shared_semaphore -n 3 --json base.json"), 1);
    g_autofree char *json = contents("base.json"), *path = path_of("base.json");
    g_autoptr(GString) other = g_string_new(json);
    g_string_replace(other, "\"all_gather_shared_semaphore\"", "\"all_gather\"", 1);
    assert_true(g_file_set_contents(path, other->str, -1, NULL));
    assert_int_equal(run("check all_gather -n 3 --baseline base.json"), 0);
    assert_says("Gone since the baseline:");
    assert_says("all_gather, 3 devices: race:");
    assert_int_equal(run("check all_gather -n 2 --baseline base.json"), 0);
    assert_null(strstr(text, "Gone"));          /* of that size nothing was seen this time */
}

static void a_baseline_that_is_none_is_refused(void **state)
{
    (void)state;
    g_autofree char *path = path_of("foreign.json"), *json = path_of("never.json");
    assert_true(g_file_set_contents(path, "{\"checks\": [{\"faults\": [{}]}]}", -1, NULL));
    assert_int_equal(run("check all_gather -n 2 --baseline foreign.json --json never.json"), 2);
    assert_says("is no baseline");
    assert_false(g_file_test(json, G_FILE_TEST_EXISTS));
    assert_int_equal(run("check all_gather -n 2 --baseline nowhere.json"), 2);
    assert_int_equal(run("check all_gather -n 2 --json - --sarif -"), 2);
    assert_says("only one report");
}

static void bounded_can_be_accepted(void **state)
{
    (void)state;
    assert_int_equal(run("check all_gather -n 3 --search enumerate --states 10"), 3);
    assert_int_equal(run("check all_gather -n 3 --search enumerate --states 10 --accept bounded --junit b.xml"), 0);
    g_autofree char *xml = contents("b.xml");
    assert_non_null(strstr(xml, "errors=\"0\""));
    assert_int_equal(run("check all_gather -n 3 --accept everything"), 2);
}

/* Control characters, broken UTF-8, markup: in the name of the program, of the source, and in messages. */
static void names_that_are_no_text_keep_reports_valid(void **state)
{
    (void)state;
    const char *nasty = "a\x01<b>&\"\\ \xff]]>\x1b[31m\xc3";
    Script *script = script_new(2, 1, NULL);
    CheckSpec spec = { .program = nasty, .source = nasty, .cores = 1 };
    mesh_line(&spec.mesh, 2);
    script->program->name = nasty, script->program->source = nasty;
    CheckResult result = { .spec = &spec, .verdict = VERDICT_FAULTY, .program = script->program, .outcome = outcome_new(),
                           .record = record_new(script->program), .captured = g_strdup(nasty) };
    script_record(script, result.record);
    Finding *finding = finding_new(FAULT_ASSERT);
    finding->message = g_strdup(nasty);
    g_ptr_array_add(result.outcome->findings, finding);
    const OutputSettings settings = { .version = "0" };
    void *sarif = sarif_format.begin(&settings), *junit = junit_format.begin(&settings);
    sarif_format.add(sarif, &result, NULL);
    sarif_format.add_error(sarif, nasty);
    junit_format.add(junit, &result, NULL);
    junit_format.add_error(junit, nasty);
    const GString *json = sarif_format.text(sarif), *xml = junit_format.text(junit);
    assert_true(g_utf8_validate(json->str, json->len, NULL));
    g_object_unref(parse(json->str));
    xmlDocPtr document = xmlReadMemory(xml->str, (int)xml->len, NULL, NULL, XML_PARSE_NONET);
    assert_non_null(document);
    xmlFreeDoc(document);
    sarif_format.clear(sarif);
    junit_format.clear(junit);
    outcome_free(result.outcome);
    record_free(result.record);
    g_free(result.captured);
    script_free(script);
}

static void the_json_report_fits_its_schema(void **state)
{
    (void)state;
    g_autofree char *schema = g_canonicalize_filename("checker/report/heddle-report.schema.json", NULL);
    g_autofree char *command = g_strdup_printf("python3 -c \"import json,sys\ntry: import jsonschema\nexcept ImportError: sys.exit(0)\n"
                                               "jsonschema.validate(json.load(open('s.json')),json.load(open('%s')))\"", schema);
    assert_int_equal(run("check kernel.c all_gather -n 1..3 --json s.json"), 1);
    if (tool(command))
        print_message("python3 is not here\n");
}

/* The data of a page: what stands between the marks of its hidden element. */
static JsonParser *data_of_page(const char *name)
{
    g_autofree char *page = contents(name);
    const char *from = strstr(page, "<pre id=\"data\" hidden>"), *until = from ? strstr(from, "</pre>") : NULL;
    assert_non_null(until);
    g_autofree char *xml = g_strndup(from, (gsize)(until + 6 - from));
    g_autoptr(GString) element = g_string_new(xml);
    g_string_replace(element, " hidden>", ">", 1);
    xmlDocPtr document = xmlReadMemory(element->str, (int)element->len, NULL, NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    assert_non_null(document);
    xmlChar *json = xmlNodeGetContent(xmlDocGetRootElement(document));
    JsonParser *parser = parse((char *)json);
    xmlFree(json);
    xmlFreeDoc(document);
    return parser;
}

static void a_page_has_lanes_for_cores_and_copies_and_the_racing_pair(void **state)
{
    (void)state;
    assert_int_equal(run("check all_gather_shared_semaphore all_gather -n 4 --html p.html"), 1);
    g_autofree char *page = contents("p.html");
    assert_null(strstr(page, "src=\"http"));
    assert_null(strstr(page, "@DATA@"));
    g_autoptr(JsonParser) parser = data_of_page("p.html");
    JsonArray *stories = array_in(json_node_get_object(json_parser_get_root(parser)), "stories");
    assert_int_equal(json_array_get_length(stories), 2);
    JsonObject *race = json_array_get_object_element(stories, 0), *right = json_array_get_object_element(stories, 1);
    assert_string_equal(text_in(race, "fault"), "race");
    JsonArray *pair = array_in(race, "pair"), *frames = array_in(race, "frames"), *links = array_in(race, "links");
    assert_int_equal(json_array_get_length(pair), 2);
    for (guint i = 0; i < 2; i++) {
        JsonObject *next = json_array_get_object_element(frames, (guint)json_array_get_int_element(pair, i));
        assert_true(json_object_get_boolean_member(next, "next"));
        assert_non_null(strstr(text_in(next, "text"), "output[3, 0:8, 0:128] on device 0"));
    }
    for (guint i = 0; i < json_array_get_length(links); i++)
        assert_true(json_array_get_int_element(json_array_get_array_element(links, i), 0)
                    < json_array_get_int_element(json_array_get_array_element(links, i), 1));
    assert_string_equal(text_in(right, "verdict"), "verified");
    assert_int_equal(json_array_get_length(array_in(right, "lanes")), 4 + 4 * 4);      /* a local copy and three passes each */
}

static void a_page_of_a_deadlock_shows_who_is_stuck(void **state)
{
    (void)state;
    assert_int_equal(run("check missing_signal -n 3 --html d.html"), 1);
    g_autoptr(JsonParser) parser = data_of_page("d.html");
    JsonArray *stories = array_in(json_node_get_object(json_parser_get_root(parser)), "stories");
    JsonObject *deadlock = json_array_get_object_element(stories, 0);
    assert_string_equal(text_in(deadlock, "fault"), "deadlock");
    assert_true(json_array_get_length(array_in(deadlock, "stuck")) > 0);
}

static void replay_draws_the_same_pictures(void **state)
{
    (void)state;
    assert_int_equal(run("check all_gather_shared_semaphore -n 3 --html one.html --dot one.dot --trace one.trace --schedules one"), 1);
    g_autofree char *folder_of = path_of("one");
    GDir *directory = g_dir_open(folder_of, 0, NULL);
    g_autofree char *words = g_strdup_printf("replay one/%s --html two.html --dot two.dot --trace two.trace", g_dir_read_name(directory));
    g_dir_close(directory);
    assert_int_equal(run(words), 1);
    g_autofree char *one = contents("one.html"), *two = contents("two.html"), *dot = contents("one.dot"), *again = contents("two.dot");
    g_autofree char *trace = contents("one.trace"), *same = contents("two.trace");
    assert_string_equal(one, two);
    assert_string_equal(dot, again);
    assert_string_equal(trace, same);
    assert_non_null(strstr(dot, "color=red, style=dashed"));
}

/* Every event has a phase, a process and a time; flows come in pairs. */
static void a_trace_is_what_perfetto_opens(void **state)
{
    (void)state;
    unsigned starts = 0, ends = 0, slices = 0;
    assert_int_equal(run("check all_gather_shared_semaphore -n 3 --trace t.json"), 1);
    g_autofree char *json = contents("t.json");
    g_autoptr(JsonParser) parser = parse(json);
    JsonArray *events = array_in(json_node_get_object(json_parser_get_root(parser)), "traceEvents");
    for (guint i = 0; i < json_array_get_length(events); i++) {
        JsonObject *event = json_array_get_object_element(events, i);
        const char *phase = text_in(event, "ph");
        assert_true(json_object_has_member(event, "pid") && json_object_has_member(event, "tid") && json_object_has_member(event, "ts"));
        assert_true(*phase != 'X' || json_object_get_int_member(event, "dur") > 0);
        starts += *phase == 's', ends += *phase == 'f', slices += *phase == 'X';
    }
    assert_true(starts > 0 && slices > 10);
    assert_int_equal(starts, ends);
}

/* Walks by a script; what was said is in text. */
static void walk(const char *schedule, const char *commands)
{
    g_autofree char *script = g_strdup_printf("sh -c \"printf '%s' | '%s' replay %s --step -q\"", commands, heddle, schedule);
    g_autofree char *out = NULL, *err = NULL;
    g_auto(GStrv) argv = NULL;
    int status = 0;
    assert_true(g_shell_parse_argv(script, NULL, &argv, NULL));
    assert_true(g_spawn_sync(folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, NULL));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_string_equal(err, "");
    g_free(text);
    text = g_steal_pointer(&out);
}

static void a_run_can_be_walked_forward_and_back(void **state)
{
    (void)state;
    assert_int_equal(run("check all_gather_shared_semaphore -n 3 --schedules walk"), 1);
    g_autofree char *folder_of = path_of("walk");
    GDir *directory = g_dir_open(folder_of, 0, NULL);
    g_autofree char *schedule = g_build_filename("walk", g_dir_read_name(directory), NULL);
    g_dir_close(directory);
    walk(schedule, "n\\nn 2\\nb\\nq\\n");
    assert_says("before the first of");
    assert_says("step 1 of 36: device 0 enters launch 0");
    assert_says("step 3 of 36: ");
    assert_says("step 2 of 36: device 0 starts copy 0");
    walk(schedule, "d 2\\nd 2\\ndb 2\\nd 7\\nq\\n");
    assert_says("device 2 starts copy 0");
    assert_says("not understood: d 7");
    walk(schedule, "e\\nc\\nm\\nw\\n");
    assert_says("race, next: copy 1 of device 2 writes output[2, 0:8, 0:128] on device 0");
    assert_says("race, next: copy 2 of device 0 reads output[2, 0:8, 0:128] on device 0");
    assert_says("recv_sem of device 0: ");
    assert_says("output[0, 0:8, 0:128] on device 0: written by copy 0 of device 0 in step");
    assert_says("device 1: stands before: device 1 waits on");
}

static char *first_schedule(const char *name)
{
    g_autofree char *folder_of = path_of(name);
    GDir *directory = g_dir_open(folder_of, 0, NULL);
    assert_non_null(directory);
    char *schedule = g_build_filename(name, g_dir_read_name(directory), NULL);
    g_dir_close(directory);
    return schedule;
}

/* Moved lines are no change; new operations are done on the way; a repaired kernel shows nothing, and replay says where it departs. */
static void a_schedule_outlives_edits_of_its_kernel(void **state)
{
    (void)state;
    const char *wait = "        pl_copy_wait(own);\n", *call = "pass_all(input, output, own_sem, send_sem, recv_sem);";
    assert_int_equal(run("check kernel.c:ring_shared -n 3 --schedules edits"), 1);
    g_autofree char *schedule = first_schedule("edits"), *words = g_strdup_printf("replay %s", schedule);
    write_kernel("/* a line */\n", NULL, NULL);
    assert_int_equal(run(words), 1);
    assert_null(strstr(text, "has changed"));
    g_autofree char *longer = g_strdup_printf("%s        PlCopy more = pl_make_async_copy(input, pl_at(output, my_id), own_sem);\n"
                                              "        pl_copy_start(more);\n        pl_copy_wait(more);\n", wait);
    write_kernel("", wait, longer);
    assert_int_equal(run(words), 1);
    assert_says("The kernel has changed since: move ");
    assert_says("the schedule shows the fault");
    write_kernel("", call, "pass_all(input, output, own_sem, recv_sem, send_sem);");
    assert_in_range(run(words), 1, 3);          /* whatever it shows: it ends, and says so */
    write_kernel("", "PlRef recv_sem)\n{\n    int n", "PlRef recv_sem)\n{\n    if (pl_program_id(0) > 0)\n        return;\n    int n");
    assert_int_equal(run(words), 3);
    assert_says("The kernel has changed since: move ");
    write_kernel("", NULL, NULL);
}

static int set_up(void **state)
{
    (void)state;
    const char *name = g_getenv("HEDDLE");
    folder = g_dir_make_tmp("outputs-XXXXXX", NULL);
    heddle = name ? g_canonicalize_filename(name, NULL) : NULL;
    if (folder && heddle)
        write_kernel("", NULL, NULL);
    return folder && heddle ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    g_autofree char *command = g_strdup_printf("rm -rf '%s'", folder);
    g_free(heddle);
    g_free(folder);
    g_free(text);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sarif_has_what_code_scanning_reads),
        cmocka_unit_test(a_fingerprint_outlives_moved_lines_and_sizes),
        cmocka_unit_test(a_verified_check_gives_a_valid_file_without_results),
        cmocka_unit_test(a_program_that_could_not_be_checked_is_a_failed_run),
        cmocka_unit_test(junit_has_a_suite_a_program_and_a_case_a_size),
        cmocka_unit_test(a_baseline_leaves_only_new_faults_to_fail),
        cmocka_unit_test(a_fault_that_is_gone_since_the_baseline_is_listed),
        cmocka_unit_test(a_baseline_that_is_none_is_refused),
        cmocka_unit_test(bounded_can_be_accepted),
        cmocka_unit_test(names_that_are_no_text_keep_reports_valid),
        cmocka_unit_test(the_json_report_fits_its_schema),
        cmocka_unit_test(a_page_has_lanes_for_cores_and_copies_and_the_racing_pair),
        cmocka_unit_test(a_page_of_a_deadlock_shows_who_is_stuck),
        cmocka_unit_test(replay_draws_the_same_pictures),
        cmocka_unit_test(a_trace_is_what_perfetto_opens),
        cmocka_unit_test(a_run_can_be_walked_forward_and_back),
        cmocka_unit_test(a_schedule_outlives_edits_of_its_kernel),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
