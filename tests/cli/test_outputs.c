/* test_outputs.c - reports for other programs: the fields that their readers require, baselines, and names that are not text.
 *
 * Runs the binary that $HEDDLE names in binary_folder. xmllint is used if it is installed.
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
#include <libxml/xmlschemas.h>
#include <sys/wait.h>

#include "../../checker/report/output.h"
#include "../support/binary.h"
#include "../support/by_hand.h"

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

/* What a code scanning service needs of a rule and of a result, and the limits that it sets. */
static void assert_rules(JsonObject *run_object)
{
    JsonObject *driver = object_in(object_in(run_object, "tool"), "driver");
    JsonArray *rules = array_in(driver, "rules");
    assert_string_equal(text_in(driver, "name"), "Heddle");
    assert_int_equal(json_array_get_length(rules), FAULT_COUNT);
    for (guint i = 0; i < FAULT_COUNT; i++) {
        JsonObject *rule = json_array_get_object_element(rules, i);
        assert_string_equal(text_in(rule, "id"), fault_name(i));
        assert_true(*text_in(rule, "name") && strlen(text_in(rule, "name")) <= 255);
        assert_in_range(strlen(text_in(object_in(rule, "shortDescription"), "text")), 10, 1024);
        assert_in_range(strlen(text_in(object_in(rule, "fullDescription"), "text")), 10, 1024);
        assert_string_equal(text_in(object_in(rule, "defaultConfiguration"), "level"), "error");
        assert_in_range(json_array_get_length(array_in(object_in(rule, "properties"), "tags")), 1, 10);
        assert_true(strlen(text_in(object_in(rule, "help"), "text")) > 10);
    }
}

static void validate_junit(const char *xml)
{
    xmlDocPtr document = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);
    xmlSchemaParserCtxtPtr reader = xmlSchemaNewParserCtxt("tests/cli/junit.xsd");
    xmlSchemaPtr schema = xmlSchemaParse(reader);
    xmlSchemaValidCtxtPtr judge = xmlSchemaNewValidCtxt(schema);
    assert_non_null(document);
    assert_non_null(schema);
    assert_int_equal(xmlSchemaValidateDoc(judge, document), 0);
    xmlSchemaFreeValidCtxt(judge);
    xmlSchemaFree(schema);
    xmlSchemaFreeParserCtxt(reader);
    xmlFreeDoc(document);
}

static void sarif_has_what_code_scanning_reads(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check kernel.c -n 2..4 --sarif a.sarif"), 1);
    g_autofree char *json = binary_contents("a.sarif");
    g_autoptr(JsonParser) parser = binary_parse(json);
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
    const char *message = text_in(object_in(result, "message"), "text");
    assert_non_null(strstr(message, "The other place: [kernel.c:14](1)."));       /* what is not linked is not shown */
    assert_non_null(strstr(message, "output\\[2, 0:8, 0:128\\]"));           /* no link */
    assert_non_null(strstr(message, " Repair: with one recv_sem for each copy"));
    assert_null(strstr(json, "/tmp/heddle"));
}

/* Without what was measured, and without the rules, whose words are those of heddle explain. */
static void texts_for_services_are_as_they_were(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check kernel.c:ring_shared missing_signal -n 1,3 -q --schedules s --junit g.xml --sarif g.sarif"), 1);
    g_autofree char *xml = binary_contents("g.xml"), *sarif = binary_contents("g.sarif");
    g_autoptr(GRegex) seconds = g_regex_new("time=\"[^\"]*\"", 0, 0, NULL);
    g_autofree char *junit = g_regex_replace(seconds, xml, -1, 0, "time=\"0\"", 0, NULL);
    binary_is_golden(junit, "ring_shared.xml");
    g_auto(GStrv) line = g_strsplit(strstr(sarif, "\"results\" : ["), "\n", -1);
    g_autoptr(GString) texts = g_string_new(NULL);
    for (char **l = line; *l != NULL; l++)
        if (g_str_has_prefix(g_strstrip(*l), "\"text\" : "))
            g_string_append_printf(texts, "%s\n", *l);
    binary_is_golden(texts->str, "ring_shared.sarif.txt");
    assert_int_equal(binary_run("check all_gather -n 3 -q --search enumerate --states 10 --junit g.xml"), 3);
    g_autofree char *bounded = binary_contents("g.xml");
    assert_non_null(strstr(bounded, "bounded: stopped by states before everything was covered"));
}

static JsonArray *flow_of(JsonObject *sarif)
{
    JsonObject *result = json_array_get_object_element(array_in(sarif, "results"), 0);
    assert_int_equal(json_array_get_length(array_in(result, "codeFlows")), 1);
    JsonObject *flow = json_array_get_object_element(array_in(result, "codeFlows"), 0);
    assert_int_equal(json_array_get_length(array_in(flow, "threadFlows")), 1);
    return array_in(json_array_get_object_element(array_in(flow, "threadFlows"), 0), "locations");
}

/* The narrative of the text: folded, ending with the two accesses, each step with a place and its text; omissions are stated. */
static void the_story_is_a_code_flow(void **state)
{
    (void)state;
    static const char *const sizes[] = { "3", "24" };
    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *words = g_strdup_printf("check kernel.c:ring_shared -n %s --sarif f.sarif", sizes[i]);
        assert_int_equal(binary_run(words), 1);
        g_autofree char *json = binary_contents("f.sarif");
        g_autoptr(JsonParser) parser = binary_parse(json);
        JsonArray *steps = flow_of(only_run(parser));
        guint length = json_array_get_length(steps);
        assert_in_range(length, 5, 25);
        for (guint s = 0; s < length; s++) {
            JsonObject *step = json_array_get_object_element(steps, s), *location = object_in(step, "location");
            const char *said = text_in(object_in(location, "message"), "text");
            assert_location(location);
            assert_int_equal(json_object_get_int_member(step, "executionOrder"), s + 1);
            assert_string_equal(text_in(step, "importance"), s + 2 >= length ? "essential" : "important");
            if (s + 2 == length)
                assert_true(g_str_has_prefix(said, "now "));
            else if (s + 2 < length && strstr(said, "heddle replay shows them all"))
                assert_int_equal(s, 0);
        }
        }
}

static void a_deadlock_has_a_place_too(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check missing_signal -n 3 --sarif d.sarif"), 1);
    g_autofree char *json = binary_contents("d.sarif");
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonObject *result = json_array_get_object_element(array_in(only_run(parser), "results"), 0);
    assert_string_equal(text_in(result, "ruleId"), "deadlock");
    assert_int_equal(json_array_get_length(array_in(result, "locations")), 1);
    assert_location(json_array_get_object_element(array_in(result, "locations"), 0));
}

/* Named by its absolute path and seen from elsewhere: all names of files are relative to the root that is given. */
static void files_are_named_from_the_source_root(void **state)
{
    (void)state;
    g_autofree char *absolute = g_canonicalize_filename(binary_folder, NULL), *root = g_path_get_dirname(absolute);
    g_autofree char *base = g_path_get_basename(binary_folder), *wanted = g_build_filename(base, "kernel.c", NULL);
    g_autofree char *words = g_strdup_printf("check %s/kernel.c:ring_shared -n 3 --source-root %s --json r.json --sarif r.sarif "
                                             "--schedules s", absolute, root);
    assert_int_equal(binary_run(words), 1);
    g_autofree char *json = binary_contents("r.json"), *sarif = binary_contents("r.sarif");
    g_autoptr(JsonParser) parser = binary_parse(json), code = binary_parse(sarif);
    JsonObject *check = json_array_get_object_element(array_in(json_node_get_object(json_parser_get_root(parser)), "checks"), 0);
    JsonObject *fault = json_array_get_object_element(array_in(check, "faults"), 0);
    assert_string_equal(text_in(check, "source"), wanted);
    for (guint i = 0; i < 2; i++)
        assert_string_equal(text_in(json_array_get_object_element(array_in(fault, "sites"), i), "file"), wanted);
    assert_null(strstr(json, absolute));
    JsonObject *result = json_array_get_object_element(array_in(only_run(code), "results"), 0);
    JsonObject *location = json_array_get_object_element(array_in(result, "locations"), 0);
    assert_location(location);
    assert_string_equal(text_in(object_in(object_in(location, "physicalLocation"), "artifactLocation"), "uri"), wanted);
    assert_null(strstr(text_in(object_in(result, "message"), "text"), absolute));
}

static char *fingerprint_of(const char *name)
{
    g_autofree char *json = binary_contents(name);
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonObject *result = json_array_get_object_element(array_in(only_run(parser), "results"), 0);
    JsonObject *fingerprints = object_in(result, "partialFingerprints");
    assert_true(g_str_has_prefix(text_in(fingerprints, "primaryLocationLineHash"), text_in(fingerprints, "heddleFault/v1")));
    return g_strdup(text_in(fingerprints, "heddleFault/v1"));
}

static void a_fingerprint_outlives_moved_lines_and_sizes(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check kernel.c -n 3 --sarif a.sarif"), 1);
    assert_int_equal(binary_run("check kernel.c -n 4 --sarif b.sarif"), 1);
    binary_write_kernel("/* a line\n * and another\n */\n", NULL, NULL);
    assert_int_equal(binary_run("check kernel.c -n 3 --sarif c.sarif"), 1);
    binary_write_kernel("", NULL, NULL);
    g_autofree char *a = fingerprint_of("a.sarif"), *b = fingerprint_of("b.sarif"), *c = fingerprint_of("c.sarif");
    assert_string_equal(a, b);
    assert_string_equal(a, c);
}

static void a_verified_check_gives_a_valid_file_without_results(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check all_gather -n 2 --sarif v.sarif --junit v.xml"), 0);
    g_autofree char *json = binary_contents("v.sarif");
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonObject *sarif = only_run(parser), *invocation = json_array_get_object_element(array_in(sarif, "invocations"), 0);
    assert_int_equal(json_array_get_length(array_in(sarif, "results")), 0);
    assert_true(json_object_get_boolean_member(invocation, "executionSuccessful"));
    g_autofree char *xml = binary_contents("v.xml");
    validate_junit(xml);
}

static void a_program_that_could_not_be_checked_is_a_failed_run(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check nonesuch --sarif e.sarif --junit e.xml"), 2);
    g_autofree char *json = binary_contents("e.sarif"), *xml = binary_contents("e.xml");
    g_autoptr(JsonParser) parser = binary_parse(json);
    JsonObject *invocation = json_array_get_object_element(array_in(only_run(parser), "invocations"), 0);
    assert_false(json_object_get_boolean_member(invocation, "executionSuccessful"));
    assert_non_null(strstr(xml, "errors=\"1\""));
    validate_junit(xml);
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
    assert_int_equal(binary_run("check kernel.c:ring_shared all_gather -n 1..3 --junit j.xml"), 1);
    g_autofree char *xml = binary_contents("j.xml");
    xmlDocPtr document = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);
    assert_non_null(document);
    validate_junit(xml);
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
    assert_int_equal(binary_run("check kernel.c -n 3 --json base.json"), 1);
    assert_int_equal(binary_run("check kernel.c -n 3..4 --baseline base.json --json again.json --junit j.xml --sarif s.sarif"), 0);
    binary_says("1 of 1 fault is known, 0 new");
    g_autofree char *json = binary_contents("again.json"), *sarif = binary_contents("s.sarif"), *xml = binary_contents("j.xml");
    assert_non_null(strstr(json, "\"known\" : true"));
    assert_non_null(strstr(sarif, "\"unchanged\""));
    assert_non_null(strstr(xml, "failures=\"0\""));
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 3 --baseline base.json"), 1);
    binary_says("0 of 1 fault are known, 1 new");
}

static void a_fault_that_is_gone_since_the_baseline_is_listed(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 3 --json base.json"), 1);
    g_autofree char *json = binary_contents("base.json");
    g_autoptr(GString) other = g_string_new(json);
    g_string_replace(other, "\"all_gather_shared_semaphore\"", "\"all_gather\"", 1);
    binary_write("base.json", other->str);
    assert_int_equal(binary_run("check all_gather -n 3 --baseline base.json"), 0);
    binary_says("Gone since the baseline:");
    binary_says("all_gather, 3 devices: race:");
    assert_int_equal(binary_run("check all_gather -n 2 --baseline base.json"), 0);
    assert_null(strstr(binary_text, "Gone"));          /* of that size nothing was seen this time */
    binary_says("1 fault of the baseline was not looked for");
    binary_says("nothing checked all_gather, 3 devices this time.");
}

static void a_baseline_that_is_none_is_refused(void **state)
{
    (void)state;
    g_autofree char *json = binary_path("never.json");
    binary_write("foreign.json", "{\"checks\": [{\"faults\": [{}]}]}");
    assert_int_equal(binary_run("check all_gather -n 2 --baseline foreign.json --json never.json"), 2);
    binary_says("is not a baseline");
    assert_false(g_file_test(json, G_FILE_TEST_EXISTS));
    assert_int_equal(binary_run("check all_gather -n 2 --baseline nowhere.json"), 2);
    assert_int_equal(binary_run("check all_gather -n 2 --json - --sarif -"), 2);
    binary_says("only one report");
}

static void bounded_can_be_accepted(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check all_gather -n 3 --search enumerate --states 10"), 3);
    assert_int_equal(binary_run("check all_gather -n 3 --search enumerate --states 10 --accept bounded --junit b.xml"), 0);
    g_autofree char *xml = binary_contents("b.xml");
    assert_non_null(strstr(xml, "errors=\"0\""));
    validate_junit(xml);
    assert_int_equal(binary_run("check all_gather -n 3 --accept everything"), 2);
}

/* Control characters, broken UTF-8, markup: in the name of the program, of the source, and in messages. */
static void names_that_are_no_text_keep_reports_valid(void **state)
{
    (void)state;
    const char *nasty = "a\x01<b>&\"\\ \xff]]>\x1b[31m\xc3";
    ByHand check;
    by_hand_init(&check, script_new(2, 1, NULL), nasty, nasty);
    check.result.captured = g_strdup(nasty);
    by_hand_assert(&check, nasty);
    const OutputSettings settings = { .version = "0" };
    const OutputFormat *const format[] = { &json_format, &sarif_format, &junit_format, &html_format, &trace_format, &dot_format,
                                           &markdown_format };
    for (unsigned i = 0; i < G_N_ELEMENTS(format); i++) {
        void *document = format[i]->begin(&settings);
        format[i]->add(document, &check.result, NULL);
        format[i]->add_error(document, nasty);
        const GString *told = format[i]->text(document);
        assert_true(g_utf8_validate(told->str, (gssize)told->len, NULL));
        if (format[i] == &json_format || format[i] == &sarif_format || format[i] == &trace_format)
            g_object_unref(binary_parse(told->str));
        if (format[i] == &junit_format)
            validate_junit(told->str);
        format[i]->clear(document);
    }
    g_free(check.result.captured);
    by_hand_clear(&check);
}

static void names_do_not_steer_the_terminal(void **state)
{
    (void)state;
    binary_shell("k=$(printf 'k\\033[2J.c'); cp kernel.c \"$k\"; $HEDDLE check \"$k\" -n 3 -v; $HEDDLE list \"$k\"; rm \"$k\"");
    binary_says("k [2J.c:");                    /* the model keeps names that are text */
    assert_null(strchr(binary_text, '\033'));
    assert_int_equal(binary_shell("$HEDDLE check \"$(printf 'k\\033[2J\\nl')\""), 2);
    binary_says("no built-in kernel k\\x1b[2J\\nl;");
    assert_int_equal(binary_shell("$HEDDLE check all_gather --mesh \"$(printf '\\033=x')\""), 2);
    binary_says("--mesh \\x1b=x:");
    assert_null(strchr(binary_text, '\033'));
}

static void the_json_report_fits_its_schema(void **state)
{
    (void)state;
    const char *command = "python3 -c \"import json,sys\ntry: import jsonschema\nexcept ImportError: sys.exit(0)\n"
                          "jsonschema.validate(json.load(open('s.json')),json.load(open('schema.json')))\"";
    g_autofree char *schema = g_build_filename(binary_folder, "schema.json", NULL);
    assert_int_equal(binary_run("--schema"), 0);
    g_object_unref(binary_parse(binary_text));
    assert_null(strstr(binary_text, "\"@"));
    assert_non_null(strstr(binary_text, "\"in-flight\", \"out-of-bounds\""));
    assert_non_null(strstr(binary_text, "\"classes\", \"prove\", \"enumerate\""));
    assert_true(g_file_set_contents(schema, binary_text, -1, NULL));
    assert_int_equal(binary_run("check kernel.c all_gather -n 1..3 --json s.json"), 1);
    if (binary_tool(command))
        print_message("python3 is not here\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sarif_has_what_code_scanning_reads),
        cmocka_unit_test(the_story_is_a_code_flow),
        cmocka_unit_test(a_deadlock_has_a_place_too),
        cmocka_unit_test(files_are_named_from_the_source_root),
        cmocka_unit_test(a_fingerprint_outlives_moved_lines_and_sizes),
        cmocka_unit_test(a_verified_check_gives_a_valid_file_without_results),
        cmocka_unit_test(a_program_that_could_not_be_checked_is_a_failed_run),
        cmocka_unit_test(junit_has_a_suite_a_program_and_a_case_a_size),
        cmocka_unit_test(a_baseline_leaves_only_new_faults_to_fail),
        cmocka_unit_test(a_fault_that_is_gone_since_the_baseline_is_listed),
        cmocka_unit_test(a_baseline_that_is_none_is_refused),
        cmocka_unit_test(bounded_can_be_accepted),
        cmocka_unit_test(names_that_are_no_text_keep_reports_valid),
        cmocka_unit_test(names_do_not_steer_the_terminal),
        cmocka_unit_test(texts_for_services_are_as_they_were),
        cmocka_unit_test(the_json_report_fits_its_schema),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
