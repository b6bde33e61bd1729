/* test_pictures.c - what is drawn and walked: the page, the trace, the graph, walking a run step by step, the debugger, old schedules.
 *
 * Runs the binary that $HEDDLE names in a folder of its own. Graphviz and gdb are asked where they are installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <libxml/parser.h>
#include <sys/wait.h>

#include "../support/binary.h"

/* The data of a page: what stands between the marks of its hidden element. */
static JsonParser *data_of_page(const char *name)
{
    g_autofree char *page = binary_contents(name);
    const char *from = strstr(page, "<pre id=\"data\" hidden>"), *until = from ? strstr(from, "</pre>") : NULL;
    assert_non_null(until);
    g_autofree char *xml = g_strndup(from, (gsize)(until + 6 - from));
    g_autoptr(GString) element = g_string_new(xml);
    g_string_replace(element, " hidden>", ">", 1);
    xmlDocPtr document = xmlReadMemory(element->str, (int)element->len, NULL, NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    assert_non_null(document);
    xmlChar *json = xmlNodeGetContent(xmlDocGetRootElement(document));
    JsonParser *parser = binary_parse((char *)json);
    xmlFree(json);
    xmlFreeDoc(document);
    return parser;
}

static void a_page_has_lanes_for_cores_and_copies_and_the_racing_pair(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check all_gather_shared_semaphore all_gather -n 4 --html p.html"), 1);
    g_autofree char *page = binary_contents("p.html");
    assert_null(strstr(page, "src=\"http"));
    assert_null(strstr(page, "@DATA@"));
    g_autoptr(JsonParser) parser = data_of_page("p.html");
    JsonArray *stories = array_in(json_node_get_object(json_parser_get_root(parser)), "stories");
    assert_int_equal(json_array_get_length(stories), 2);
    JsonObject *race = json_array_get_object_element(stories, 0), *right = json_array_get_object_element(stories, 1);
    assert_string_equal(text_in(race, "fault"), "race");
    JsonObject *repair = json_array_get_object_element(array_in(race, "repairs"), 0);
    assert_string_equal(text_in(repair, "kind"), "repair");
    assert_non_null(strstr(text_in(repair, "words"), "with one recv_sem for each copy"));
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
    assert_int_equal(binary_run("check missing_signal -n 3 --html d.html"), 1);
    g_autoptr(JsonParser) parser = data_of_page("d.html");
    JsonArray *stories = array_in(json_node_get_object(json_parser_get_root(parser)), "stories");
    JsonObject *deadlock = json_array_get_object_element(stories, 0);
    assert_string_equal(text_in(deadlock, "fault"), "deadlock");
    assert_true(json_array_get_length(array_in(deadlock, "stuck")) > 0);
}

/* What a page tells, the source with it: places with the lines around them, the cause, and the story, whose lines lead to steps. */
static void a_page_tells_the_cause_beside_its_source(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check kernel.c:ring_shared -n 3 --html s.html"), 1);
    g_autoptr(JsonParser) parser = data_of_page("s.html");
    JsonObject *race = json_array_get_object_element(array_in(json_node_get_object(json_parser_get_root(parser)), "stories"), 0);
    JsonObject *code = object_in(race, "code"), *place = json_array_get_object_element(array_in(race, "places"), 0);
    JsonArray *tale = array_in(race, "tale");
    assert_non_null(strstr(text_in(race, "name"), "race at kernel.c:"));
    assert_non_null(strstr(text_in(race, "why"), "was meant to"));
    assert_string_equal(text_in(place, "where"), "kernel.c:14");
    assert_non_null(strstr(text_in(place, "inside"), ", in pass_all, grid step 0"));
    assert_non_null(strstr(text_in(code, "kernel.c:14"), "pl_copy_start("));
    assert_true(json_object_has_member(code, "kernel.c:12") && json_object_has_member(code, "kernel.c:16"));
    guint length = json_array_get_length(tale), faults = 0, frames = json_array_get_length(array_in(race, "frames"));
    for (guint i = 0; i < length; i++) {
        JsonObject *line = json_array_get_object_element(tale, i);
        faults += json_object_has_member(line, "fault");
        if (json_object_has_member(line, "frame"))
            assert_true(json_object_get_int_member(line, "frame") < frames);
    }
    assert_int_equal(faults, 2);
    assert_true(length > 5);
}

/* The other symptoms of an entry are stories behind it. */
static void an_entry_leads_to_its_symptoms(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check reduce_scatter_missing_wait -n 3 --html m.html"), 1);
    g_autoptr(JsonParser) parser = data_of_page("m.html");
    JsonArray *stories = array_in(json_node_get_object(json_parser_get_root(parser)), "stories");
    guint length = json_array_get_length(stories);
    assert_true(length > 2);
    assert_int_equal(json_object_get_int_member(json_array_get_object_element(stories, 0), "symptoms"), length - 1);
    for (guint i = 0; i < length; i++)
        assert_int_equal(json_object_get_boolean_member(json_array_get_object_element(stories, i), "symptom"), i > 0);
}

/* A check without a run has words on the page, too. */
static void a_page_tells_of_checks_without_a_run(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check all_gather -n 3 --search enumerate --states 10 --html b.html"), 3);
    assert_int_equal(binary_run("check nonesuch --html e.html"), 2);
    static const char *const page[] = { "b.html", "e.html" }, *const verdict[] = { "bounded", "error" };
    static const char *const words[] = { "Not covered: ", "no built-in kernel nonesuch" };
    for (unsigned i = 0; i < G_N_ELEMENTS(page); i++) {
        g_autoptr(JsonParser) parser = data_of_page(page[i]);
        JsonArray *stories = array_in(json_node_get_object(json_parser_get_root(parser)), "stories");
        assert_int_equal(json_array_get_length(stories), 1);
        assert_string_equal(text_in(json_array_get_object_element(stories, 0), "verdict"), verdict[i]);
        assert_non_null(strstr(text_in(json_array_get_object_element(stories, 0), "message"), words[i]));
    }
}

/* The data of a page without what only a check knows: the repairs that it tried, how to replay it. g_free. */
static char *drawn_alone(const char *name)
{
    static const char *const of_checks[] = { "repairs", "tried", "see", "helps", "holds" };
    g_autoptr(JsonParser) parser = data_of_page(name);
    JsonNode *root = json_parser_get_root(parser);
    JsonArray *stories = array_in(json_node_get_object(root), "stories");
    for (guint s = 0; s < json_array_get_length(stories); s++)
        for (unsigned i = 0; i < G_N_ELEMENTS(of_checks); i++)
            json_object_remove_member(json_array_get_object_element(stories, s), of_checks[i]);
    return json_to_string(root, false);
}

static void replay_draws_the_same_pictures(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 3 -q --html one.html --dot one.dot --trace one.trace "
                                "--schedules one"), 1);
    g_autofree char *schedule = binary_first_schedule("one");
    g_autofree char *words = g_strdup_printf("replay %s --html two.html --dot two.dot --trace two.trace", schedule);
    assert_int_equal(binary_run(words), 1);
    g_autofree char *one = drawn_alone("one.html"), *two = drawn_alone("two.html");
    g_autofree char *dot = binary_contents("one.dot"), *again = binary_contents("two.dot");
    g_autofree char *trace = binary_contents("one.trace"), *same = binary_contents("two.trace");
    assert_string_equal(one, two);
    assert_string_equal(dot, again);
    assert_string_equal(trace, same);
    assert_non_null(strstr(dot, "color=red, style=dashed"));
}

static bool is_one_of(const char *line, const char *const *pattern)
{
    for (; *pattern; pattern++)
        if (g_regex_match_simple(*pattern, line, 0, 0))
            return true;
    return false;
}

/* The lines that we write, as a grammar; every node that an edge names is there; Graphviz draws it where it is installed. */
static void a_graph_is_what_graphviz_draws(void **state)
{
    (void)state;
#define TEXT "\"([^\"\\\\]|\\\\\\\\|\\\\\")*\""
    static const char *const pattern[] = {
        "^digraph heddle \\{$", "^  node \\[shape=box, fontname=" TEXT "\\];$", "^  edge \\[fontname=" TEXT "\\];$",
        "^ +subgraph cluster_[0-9_]+ \\{$", "^ +label=" TEXT ";$", "^ +\\}$", "^\\}$", "^$",
        "^ +g[0-9]+_[0-9]+ \\[(color=red, penwidth=2, )?label=" TEXT "(, shape=ellipse)?\\];$",
        "^ +g[0-9]+_[0-9]+ -> g[0-9]+_[0-9]+( \\[[a-z0-9=,\" ]+\\])?;$", NULL,
    };
    assert_int_equal(binary_run("check all_gather_shared_semaphore missing_signal permute_twice_single_barrier -n 5 --dot g.dot"), 1);
    g_autofree char *dot = binary_contents("g.dot");
    g_auto(GStrv) line = g_strsplit(dot, "\n", -1);
    g_autoptr(GHashTable) nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    int depth = 0;
    for (char **at = line; *at; at++) {
        if (!is_one_of(*at, pattern))
            fail_msg("no line of a graph: %s", *at);
        depth += g_str_has_suffix(*at, "{") - g_str_has_suffix(*at, "}");
        g_auto(GStrv) word = g_strsplit(g_strstrip(*at), " ", 3);
        if (word[0] && word[0][0] == 'g' && word[1] && word[1][0] == '[')
            g_hash_table_add(nodes, g_strdup(word[0]));
    }
    for (char **at = line; *at; at++) {
        g_auto(GStrv) word = g_strsplit_set(*at, " ;", 4);
        if (word[0] && word[1] && strcmp(word[1], "->") == 0)
            assert_true(g_hash_table_contains(nodes, word[0]) && g_hash_table_contains(nodes, word[2]));
    }
    assert_int_equal(depth, 0);
    assert_true(g_hash_table_size(nodes) > 20);
    if (binary_tool("dot -Tsvg g.dot -o g.svg"))
        print_message("Graphviz is not here: its own opinion was not asked\n");
}

/* Every event has a phase, a process and a time; flows come in pairs. */
static void a_trace_is_what_perfetto_opens(void **state)
{
    (void)state;
    unsigned starts = 0, ends = 0, slices = 0;
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 3 --trace t.json"), 1);
    g_autofree char *json = binary_contents("t.json");
    g_autoptr(JsonParser) parser = binary_parse(json);
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
    g_autofree char *script = g_strdup_printf("sh -c \"printf '%s' | '%s' replay %s --step -q\"", commands, binary_heddle, schedule);
    g_autofree char *out = NULL, *err = NULL;
    g_auto(GStrv) argv = NULL;
    int status = 0;
    assert_true(g_shell_parse_argv(script, NULL, &argv, NULL));
    assert_true(g_spawn_sync(binary_folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, &status, NULL));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_string_equal(err, "");
    g_free(binary_text);
    binary_text = g_steal_pointer(&out);
}

static void a_run_can_be_walked_forward_and_back(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check all_gather_shared_semaphore -n 3 --schedules walk"), 1);
    g_autofree char *schedule = binary_first_schedule("walk");
    walk(schedule, "n\\nn 2\\nb\\nq\\n");
    binary_says("before the first of");
    binary_says("step 1 of 36: device 0 enters launch 0");
    binary_says("step 3 of 36: ");
    binary_says("step 2 of 36: device 0 starts copy 0");
    walk(schedule, "d 2\\nd 2\\ndb 2\\nd 7\\nq\\n");
    binary_says("device 2 starts copy 0");
    binary_says("not understood: d 7");
    walk(schedule, "e\\nc\\nm\\nw\\n");
    binary_says("race, next: copy 1 of device 2 writes output[2, 0:8, 0:128] on device 0");
    binary_says("race, next: copy 2 of device 0 reads output[2, 0:8, 0:128] on device 0");
    binary_says("recv_sem of device 0: ");
    binary_says("output[0, 0:8, 0:128] on device 0: written by copy 0 of device 0 in step");
    binary_says("device 1: stands before: device 1 waits on");
}

/* What can be said without a debugger is said before it begins. */
static void a_debugger_is_not_begun_for_a_bad_schedule(void **state)
{
    (void)state;
    assert_int_equal(binary_run("replay --gdb kernel.c"), 2);
    binary_says("kernel.c is not a schedule of this version: it must begin with \"heddle-schedule 1\"");
    assert_int_equal(binary_run("check kernel.c:ring_shared -n 3 --schedules moved"), 1);
    g_autofree char *schedule = binary_first_schedule("moved");
    assert_int_equal(binary_shell("mv kernel.c elsewhere.c"), 0);
    g_autofree char *words = g_strdup_printf("replay --gdb %s", schedule);
    assert_int_equal(binary_run(words), 2);
    binary_says("kernel.c");
    assert_int_equal(binary_shell("mv elsewhere.c kernel.c"), 0);
    g_autofree char *spoil = g_strdup_printf("sed -i '0,/^copy 0.0 /s//copy 3.0 /' %s", schedule);
    assert_int_equal(binary_shell(spoil), 0);
    assert_int_equal(binary_run(words), 2);
    binary_says(": \"copy 3.0 #0 ");
    binary_says("is not what a schedule says there; make a new one with heddle check");
    assert_null(strstr(binary_text, "GNU gdb"));
}

/* Stops where the schedule has led to the fault; a core's stack goes from the kernel's line to the core's entry, and no further. */
static void a_debugger_stops_at_the_fault(void **state)
{
    (void)state;
    g_autofree char *gdb = g_find_program_in_path("gdb"), *out = NULL, *err = NULL;
    if (gdb == NULL) {
        print_message("gdb is not here: replay --gdb was not tried\n");
        skip();
    }
    assert_int_equal(binary_run("check kernel.c:ring_shared -n 3 --schedules gdb"), 1);
    g_autofree char *schedule = binary_first_schedule("gdb");
    g_autofree char *script = g_strdup_printf("sh -c \"printf 'heddle-cores\\nheddle-core 1\\nheddle-core 9\\nquit\\n' | "
                                              "'%s' replay %s --gdb\"", binary_heddle, schedule);
    g_auto(GStrv) argv = NULL;
    assert_true(g_shell_parse_argv(script, NULL, &argv, NULL));
    assert_true(g_spawn_sync(binary_folder, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, NULL, NULL));
    g_free(binary_text);
    binary_text = g_strconcat(out, err, NULL);
    if (strstr(binary_text, "ptrace")) {
        print_message("no process may be traced here: replay --gdb was not tried\n");
        skip();
    }
    binary_says("Breakpoint 1, execution_stands_at_fault");
    binary_says("core 0: heddle-core 0 shows its stack");
    binary_says("core 2: heddle-core 2 shows its stack");
    binary_says("in pass_all");
    binary_says("kernel.c:");
    binary_says("in enter_coroutine");
    binary_says("no core 9, or it has ended");
    assert_null(strstr(binary_text, "corrupt stack"));
    assert_null(strstr(binary_text, "0x0000000000000000 in"));
}

/* Moved lines do not matter; new operations are done in between; a repaired kernel shows no fault, and replay says where it departs. */
static void a_schedule_outlives_edits_of_its_kernel(void **state)
{
    (void)state;
    const char *wait = "        pl_copy_wait(own);\n", *call = "pass_all(input, output, own_sem, send_sem, recv_sem);";
    assert_int_equal(binary_run("check kernel.c:ring_shared -n 3 --schedules edits"), 1);
    g_autofree char *schedule = binary_first_schedule("edits"), *words = g_strdup_printf("replay %s", schedule);
    binary_write_kernel("/* a line */\n", NULL, NULL);
    assert_int_equal(binary_run(words), 1);
    assert_null(strstr(binary_text, "has changed"));
    g_autofree char *longer = g_strdup_printf("%s        PlCopy more = pl_make_async_copy(input, pl_at(output, my_id), own_sem);\n"
                                              "        pl_copy_start(more);\n        pl_copy_wait(more);\n", wait);
    binary_write_kernel("", wait, longer);
    assert_int_equal(binary_run(words), 1);
    binary_says("The kernel has changed since: move ");
    binary_says("the schedule shows the fault");
    binary_write_kernel("", call, "pass_all(input, output, own_sem, recv_sem, send_sem);");
    assert_in_range(binary_run(words), 1, 3);          /* whatever it shows: it ends, and says so */
    binary_write_kernel("", "PlRef recv_sem)\n{\n    int n",
                        "PlRef recv_sem)\n{\n    if (pl_program_id(0) > 0)\n        return;\n    int n");
    assert_int_equal(binary_run(words), 3);
    binary_says("The kernel has changed since: move ");
    binary_write_kernel("", "PROGRAM(ring_shared", "PROGRAM(ring_renamed");
    assert_int_equal(binary_run(words), 2);
    binary_says("no program ring_shared in kernel.c");
    binary_write_kernel("", "n >= 2", "n >= 4");
    assert_int_equal(binary_run(words), 2);
    binary_write_kernel("", NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_has_lanes_for_cores_and_copies_and_the_racing_pair),
        cmocka_unit_test(a_page_of_a_deadlock_shows_who_is_stuck),
        cmocka_unit_test(a_page_tells_the_cause_beside_its_source),
        cmocka_unit_test(an_entry_leads_to_its_symptoms),
        cmocka_unit_test(a_page_tells_of_checks_without_a_run),
        cmocka_unit_test(replay_draws_the_same_pictures),
        cmocka_unit_test(a_graph_is_what_graphviz_draws),
        cmocka_unit_test(a_trace_is_what_perfetto_opens),
        cmocka_unit_test(a_run_can_be_walked_forward_and_back),
        cmocka_unit_test(a_debugger_is_not_begun_for_a_bad_schedule),
        cmocka_unit_test(a_debugger_stops_at_the_fault),
        cmocka_unit_test(a_schedule_outlives_edits_of_its_kernel),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
