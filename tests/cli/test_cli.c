/* test_cli.c - the program as its users meet it: exit codes, one clear line for bad input, files that appear whole or not at all.
 *
 * Runs the binary that $HEDDLE names in its own folder; TMPDIR points into it, so that leftover files are seen.
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
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Run { int code; char *out, *err; } Run;

static char *folder, *temporary, *heddle, *ring, *hostile, *readme;

static char *path_of(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

/* Runs "heddle" with these words; %R and %H stand for ring.c and hostile.c of tests/support/kernels. */
static Run run(const char *words)
{
    Run result;
    int status = 0;
    GError *error = NULL;
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    char **part = g_strsplit(words, " ", -1), **environment = g_environ_setenv(g_get_environ(), "TMPDIR", temporary, TRUE);
    environment = g_environ_setenv(environment, "COLUMNS", "80", TRUE);
    g_ptr_array_add(argv, g_strdup(heddle));
    for (char **at = part; *at; at++) {
        char **half = g_strsplit(*at, strstr(*at, "%H") ? "%H" : "%R", -1);
        g_ptr_array_add(argv, g_strjoinv(strstr(*at, "%H") ? hostile : ring, half));
        g_strfreev(half);
    }
    g_ptr_array_add(argv, NULL);
    if (!g_spawn_sync(folder, (char **)argv->pdata, environment, G_SPAWN_DEFAULT, NULL, NULL, &result.out, &result.err, &status, &error))
        fail_msg("%s", error->message);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    g_strfreev(environment);
    g_strfreev(part);
    g_ptr_array_unref(argv);
    return result;
}

static void run_clear(Run *result)
{
    g_free(result->out);
    g_free(result->err);
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("nothing about \"%s\" in:\n%s", part, text);
}

static unsigned entries_of(const char *path)
{
    unsigned count = 0;
    GDir *directory = g_dir_open(path, 0, NULL);
    while (directory && g_dir_read_name(directory))
        count++;
    if (directory)
        g_dir_close(directory);
    return count;
}

/* Exit code 2, one line on standard error with this text, nothing on standard output, no file left over. */
static void assert_refused(const char *words, const char *part)
{
    unsigned before = entries_of(folder);
    Run result = run(words);
    if (result.code != 2 || *result.out || strchr(result.err, '\n') != result.err + strlen(result.err) - 1)
        fail_msg("heddle %s: exit code %d, says\n%s%s", words, result.code, result.out, result.err);
    assert_true(g_str_has_prefix(result.err, "heddle: "));
    assert_says(result.err, part);
    assert_int_equal(entries_of(folder), before);
    assert_int_equal(entries_of(temporary), 0);
    run_clear(&result);
}

static void write_file(const char *name, const char *text)
{
    char *path = path_of(name);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    g_free(path);
}

static void an_unknown_kernel_is_refused_with_the_nearest_name(void **state)
{
    (void)state;
    assert_refused("check all_gahter", "did you mean all_gather?");
    assert_refused("check nonesuch", "heddle list");
    assert_refused("check all_gather nonesuch", "nonesuch");
    assert_refused("check %R:rnig", "did you mean ring?");
    assert_refused("check nowhere.c", "no such file");
    assert_refused("check ./nowhere.so", "no such file");
    assert_refused("explain rcae", "did you mean race?");
}

static void malformed_sizes_and_parameters_are_refused(void **state)
{
    (void)state;
    assert_refused("check all_gather -n x", "-n");
    assert_refused("check all_gather -n 4..2", "-n");
    assert_refused("check all_gather --mesh x=2,y=2 -n 5", "has 4 devices");
    assert_refused("check all_gather --mesh x=-2", "--mesh");
    assert_refused("check %R:ring -n 2 -D columns=4", "rows=8 (1..64)");
    assert_refused("check %R:ring -n 2 -D rows=0", "out of range");
    assert_refused("check %R:ring -n 2 -D rows=60..65", "out of range");
    assert_refused("check %R:ring -n 2 --search fast", "auto|prove|enumerate|");
}

static void a_size_that_nothing_applies_to_is_no_verdict(void **state)
{
    (void)state;
    Run result = run("check %R:ring -n 1");
    assert_int_equal(result.code, 2);
    assert_says(result.out, "not applicable: ");
    assert_says(result.out, "a ring needs two devices");
    assert_says(result.err, "not applicable at any of these sizes");
    run_clear(&result);
    result = run("check %R:ring -n 1..2");
    assert_int_equal(result.code, 0);
    run_clear(&result);
}

static void a_file_that_does_not_compile_shows_the_compilers_words(void **state)
{
    (void)state;
    write_file("broken.c", "#include <heddle/pallas.h>\nKERNEL(k, a) { return a +; }\n");
    Run result = run("check broken.c -n 2");
    assert_int_equal(result.code, 2);
    assert_string_equal(result.out, "");
    assert_says(result.err, "broken.c:2:");
    assert_says(result.err, "heddle: broken.c does not compile\n");
    assert_int_equal(entries_of(temporary), 0);
    run_clear(&result);
    char *path = path_of("broken.c");
    g_unlink(path);
    g_free(path);
}

static void modules_without_programs_are_refused(void **state)
{
    (void)state;
    write_file("empty.c", "#include <heddle/pallas.h>\nint nothing;\n");
    write_file("foreign.so", "this is no library\n");
    assert_refused("check empty.c -n 2", "empty.c");
    assert_refused("check foreign.so -n 2", "foreign.so");
    Run result = run("compile empty.c");
    assert_int_equal(result.code, 0);
    assert_says(result.out, "-shared");
    run_clear(&result);
    assert_refused("check empty.so -n 2", "empty.so");
    for (const char *const *name = (const char *const[]){"empty.c", "empty.so", "foreign.so", NULL}; *name; name++) {
        char *path = path_of(*name);
        assert_int_equal(g_unlink(path), 0);
        g_free(path);
    }
}

static void an_unwritable_report_is_known_before_the_work(void **state)
{
    (void)state;
    assert_refused("check all_gather -n 2 --json nowhere/report.json", "nowhere/report.json");
    assert_refused("check all_gather -n 2 --json .", "cannot write");
    assert_refused("check all_gather -n 2 --json /dev/null/report.json", "cannot write");
}

static void a_report_goes_whole_to_its_file_or_to_standard_output(void **state)
{
    (void)state;
    Run result = run("check %R:ring -n 2..3 --json report.json");
    char *path = path_of("report.json"), *text = NULL;
    assert_int_equal(result.code, 0);
    assert_says(result.out, "ring, 3 devices: verified");
    assert_says(result.out, "2 checks: 2 verified");
    run_clear(&result);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    JsonNode *root = json_from_string(text, NULL);
    assert_non_null(root);
    assert_int_equal(json_array_get_length(json_object_get_array_member(json_node_get_object(root), "checks")), 2);
    json_node_unref(root);
    g_free(text);
    g_unlink(path);
    g_free(path);
    result = run("check %R:ring -n 2 --json -");
    root = json_from_string(result.out, NULL);
    assert_non_null(root);
    json_node_unref(root);
    assert_says(result.err, "ring, 2 devices: verified");
    run_clear(&result);
}

/* Interrupted, it leaves a whole report of what was done, the exit code that shells expect, and nothing in temporary folders. */
static void an_interruption_leaves_the_report_so_far(void **state)
{
    (void)state;
    char *argv[] = {heddle, (char *)"check", ring, (char *)"-n", (char *)"2..500", (char *)"--json", (char *)"report.json", NULL};
    char **environment = g_environ_setenv(g_get_environ(), "TMPDIR", temporary, TRUE), *path = path_of("report.json"), *text = NULL;
    GPid child = 0;
    int status = 0, out = -1;
    char seen[8];
    assert_true(g_spawn_async_with_pipes(folder, argv, environment, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                                         &child, NULL, &out, NULL, NULL));
    assert_true(read(out, seen, sizeof seen) > 0);      /* at least one check was reported */
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(out);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_int_equal(entries_of(temporary), 0);
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    JsonNode *root = json_from_string(text, NULL);
    assert_non_null(root);
    json_node_unref(root);
    g_free(text);
    g_unlink(path);
    g_free(path);
    g_strfreev(environment);
}

static char *first_schedule(void)
{
    char *schedules = path_of("heddle-schedules"), *found = NULL;
    GDir *directory = g_dir_open(schedules, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory)); )
        if (!found || strcmp(name, found) < 0) {
            g_free(found);
            found = g_strdup(name);
        }
    if (directory)
        g_dir_close(directory);
    g_free(schedules);
    return found;
}

static void remove_schedules(void)
{
    char *schedules = path_of("heddle-schedules");
    for (char *name; (name = first_schedule()); g_free(name)) {
        char *path = g_build_filename(schedules, name, NULL);
        g_unlink(path);
        g_free(path);
    }
    g_rmdir(schedules);
    g_free(schedules);
}

static void a_fault_is_written_as_a_schedule_that_shows_it_again(void **state)
{
    (void)state;
    Run result = run("check %R:ring_shared -n 2");
    char *schedules = path_of("heddle-schedules");
    assert_int_equal(result.code, 0);
    assert_false(g_file_test(schedules, G_FILE_TEST_EXISTS));   /* nothing wrong, nothing written */
    run_clear(&result);
    result = run("check %R:ring_shared -n 3 --story");
    assert_int_equal(result.code, 1);
    assert_says(result.out, "ring_shared, 3 devices: faulty");
    assert_says(result.out, "race: ");
    assert_says(result.out, "heddle replay heddle-schedules/ring_shared-n3-race-1-");
    char *name = first_schedule(), *command = g_strdup_printf("replay heddle-schedules/%s", name);
    Run again = run(command), twice = run(command);
    assert_int_equal(again.code, 1);
    assert_string_equal(again.out, twice.out);
    const char *from = strstr(again.out, "  race: "), *see = strstr(again.out, "    See it:"), *story = strstr(again.out, "    How it");
    assert_true(from && see && story);
    g_autofree char *head = g_strndup(from, (gsize)(see - from));
    assert_says(result.out, head);              /* the very report of the check */
    assert_says(result.out, story);
    run_clear(&twice);
    run_clear(&again);
    run_clear(&result);
    g_free(command);
    g_free(name);
    g_free(schedules);
    remove_schedules();
    assert_int_equal(entries_of(temporary), 0);
}

/* Results are judged at the end: a saved schedule names no step that they could be found at. */
static void wrong_and_missing_results_are_shown_again(void **state)
{
    (void)state;
    static const char *const program[] = {"g18_crossed_on_one_inbox_judged", "jax_never_written"};
    for (size_t i = 0; i < G_N_ELEMENTS(program); i++) {
        char *check = g_strdup_printf("check %s -n 2", program[i]);
        Run result = run(check);
        assert_int_equal(result.code, 1);
        char *name = first_schedule(), *replay = g_strdup_printf("replay heddle-schedules/%s", name);
        Run again = run(replay);
        assert_int_equal(again.code, 1);
        assert_says(again.out, "the schedule shows the fault");
        run_clear(&again);
        run_clear(&result);
        g_free(replay);
        g_free(name);
        g_free(check);
        remove_schedules();
    }
}

static void damaged_schedules_are_refused(void **state)
{
    (void)state;
    Run result = run("check %R:ring_shared -n 3");
    run_clear(&result);
    char *name = first_schedule(), *schedules = path_of("heddle-schedules"), *path = g_build_filename(schedules, name, NULL), *text = NULL;
    gsize length = 0;
    assert_true(g_file_get_contents(path, &text, &length, NULL));
    for (gsize cut = 0; cut + 5 < length; cut += MAX(length / 40, 1)) {
        char *part = g_strndup(text, cut);
        write_file("cut.schedule", part);
        assert_refused("replay cut.schedule", "cut.schedule");
        g_free(part);
    }
    write_file("cut.schedule", "\177ELF not one of ours");
    assert_refused("replay cut.schedule", "cut.schedule");
    assert_refused("replay nowhere.schedule", "nowhere.schedule");
    g_free(path);
    path = path_of("cut.schedule");
    g_unlink(path);
    g_free(path);
    g_free(text);
    g_free(schedules);
    g_free(name);
    remove_schedules();
}

static void tests_hold_programs_to_what_they_declare(void **state)
{
    (void)state;
    Run result = run("test %R -n 2..4");
    assert_int_equal(result.code, 0);
    assert_says(result.out, "6 passed, 0 failed");
    run_clear(&result);
    char *source = NULL;
    assert_true(g_file_get_contents(ring, &source, NULL, NULL));
    char **part = g_strsplit(source, "PL_RACE, .from = 3", 2), *late = g_strjoinv("PL_RACE, .from = 2", part);
    write_file("late.c", late);
    result = run("test late.c -n 2..3");
    assert_int_equal(result.code, 1);
    assert_says(result.out, "ring_shared, 2 devices: the expected fault is gone");
    assert_says(result.out, "3 passed, 1 failed");
    run_clear(&result);
    char *path = path_of("late.c");
    g_unlink(path);
    g_free(path);
    g_free(late);
    g_strfreev(part);
    g_free(source);
}

static void kernels_that_misbehave_are_findings_and_harm_nobody_else(void **state)
{
    (void)state;
    Run result = run("check %H -n 2 --json report.json");
    static const struct { const char *program, *verdict, *fault, *says; } expected[] = {
        {"same_names", "verified", NULL, NULL},
        {"leaves", "faulty", "crash", "exit"},
        {"recurses", "faulty", "crash", "stack"},
        {"hoards", "faulty", "crash", "stack"},
        {"spins", "faulty", "no-progress", NULL},
        {"spins_on_arrays", "faulty", "no-progress", NULL},
        {"labours", "verified", NULL, NULL},
        {"outside", "faulty", "crash", NULL},
    };
    char *path = path_of("report.json"), *text = NULL;
    assert_int_equal(result.code, 2);
    assert_says(result.err, "remembers");
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    JsonNode *root = json_from_string(text, NULL);
    JsonArray *checks = json_object_get_array_member(json_node_get_object(root), "checks");
    assert_int_equal(json_array_get_length(checks), G_N_ELEMENTS(expected));
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        JsonObject *check = json_array_get_object_element(checks, i);
        JsonArray *faults = json_object_get_array_member(check, "faults");
        assert_string_equal(json_object_get_string_member(check, "program"), expected[i].program);
        assert_string_equal(json_object_get_string_member(check, "verdict"), expected[i].verdict);
        assert_int_equal(json_array_get_length(faults), expected[i].fault != NULL);
        if (!expected[i].fault)
            continue;
        JsonObject *fault = json_array_get_object_element(faults, 0);
        assert_string_equal(json_object_get_string_member(fault, "id"), expected[i].fault);
        assert_says(json_object_get_string_member(fault, "message"), expected[i].says ? expected[i].says : "");
    }
    json_node_unref(root);
    g_free(text);
    g_unlink(path);
    g_free(path);
    run_clear(&result);
    remove_schedules();
}

/* The text between a fence of this kind and its end. */
static char *fenced(const char *page, const char *fence)
{
    const char *begin = strstr(page, fence);
    assert_non_null(begin);
    begin += strlen(fence);
    const char *end = strstr(begin, "```");
    assert_non_null(end);
    return g_strndup(begin, end - begin);
}

static void the_readme_shows_what_really_happens(void **state)
{
    (void)state;
    char *page = NULL;
    assert_true(g_file_get_contents(readme, &page, NULL, NULL));
    char *kernel = fenced(page, "```c\n"), *report = fenced(page, "```text\n"), *path = path_of("my_ring.c");
    write_file("my_ring.c", kernel);
    Run result = run("check my_ring.c -n 2..3");
    assert_int_equal(result.code, 1);
    assert_string_equal(result.out, report);
    run_clear(&result);
    g_unlink(path);
    g_free(path);
    g_free(report);
    g_free(kernel);
    g_free(page);
    remove_schedules();
}

static void what_is_built_in_is_listed(void **state)
{
    (void)state;
    Run table = run("list"), names = run("list --names"), json = run("list --json");
    assert_int_equal(table.code, 0);
    assert_says(table.out, "all_gather ");
    assert_says(names.out, "all_gather\n");
    JsonNode *root = json_from_string(json.out, NULL);
    assert_non_null(root);
    JsonArray *programs = json_object_get_array_member(json_node_get_object(root), "programs");
    char **line = g_strsplit(g_strchomp(names.out), "\n", -1);
    assert_int_equal(json_array_get_length(programs), g_strv_length(line));
    g_strfreev(line);
    json_node_unref(root);
    run_clear(&json);
    run_clear(&names);
    run_clear(&table);
}

/* As in an installation: bin/heddle, and what it comes with beside that folder. */
static char *move_heddle(const char *to)
{
    char *path = path_of(to), *bin = g_path_get_dirname(path), *bytes = NULL;
    gsize length;
    assert_int_equal(g_mkdir_with_parents(bin, 0700), 0);
    assert_true(g_file_get_contents(heddle, &bytes, &length, NULL) && g_file_set_contents(path, bytes, (gssize)length, NULL));
    assert_int_equal(g_chmod(path, 0700), 0);
    g_free(bytes);
    g_free(bin);
    return path;
}

static void modules_are_found_from_where_heddle_is(void **state)
{
    (void)state;
    char *home = g_path_get_dirname(heddle), *modules = g_build_filename(home, "lib", NULL), *lib = path_of("moved/lib"), *own = heddle;
    Run before = run("list");
    heddle = move_heddle("moved/bin/heddle");
    if (!g_file_test("/usr/local/lib/heddle", G_FILE_TEST_EXISTS)) {
        Run few = run("list --names"), one = run("check all_gather -n 2 -q");
        assert_int_equal(few.code | one.code, 0);
        assert_says(few.out, "all_gather\n");
        assert_null(strstr(few.out, "g01_no_exit_barrier"));
        assert_refused("check g01_no_exit_barrier", "lib/heddle is neither beside ");
        assert_refused("check all_gahter", "; run make install");
        run_clear(&one);
        run_clear(&few);
    }
    assert_int_equal(symlink(modules, lib), 0);
    Run after = run("list"), faulty = run("check g01_no_exit_barrier -n 2 -q");
    assert_string_equal(before.out, after.out);
    assert_int_equal(faulty.code, 1);
    run_clear(&faulty);
    run_clear(&after);
    run_clear(&before);
    g_unlink(lib);
    g_unlink(heddle);
    g_free(heddle);
    heddle = own;
    for (const char *const *name = (const char *const[]){ "moved/bin", "moved", NULL }; *name; name++) {
        char *path = path_of(*name);
        assert_int_equal(g_rmdir(path), 0);
        g_free(path);
    }
    remove_schedules();
    g_free(lib);
    g_free(modules);
    g_free(home);
}

static void every_fault_is_explained(void **state)
{
    (void)state;
    Run names = run("explain --names");
    char **line = g_strsplit(g_strchomp(names.out), "\n", -1);
    assert_true(g_strv_length(line) > 16);
    for (char **at = line; *at; at++) {
        char *command = g_strdup_printf("explain %s", *at);
        Run result = run(command);
        assert_int_equal(result.code, 0);
        assert_true(strlen(result.out) > 40);
        run_clear(&result);
        g_free(command);
    }
    g_strfreev(line);
    run_clear(&names);
}

static void colors_are_for_those_who_ask(void **state)
{
    (void)state;
    Run plain = run("explain race"), color = run("explain race --color=always");
    assert_null(strchr(plain.out, '\033'));
    assert_non_null(strchr(color.out, '\033'));
    run_clear(&color);
    run_clear(&plain);
}

static int set_up(void **state)
{
    (void)state;
    const char *named = getenv("HEDDLE");
    heddle = g_canonicalize_filename(named ? named : "build/heddle", NULL);
    ring = g_canonicalize_filename("tests/support/kernels/ring.c", NULL);
    hostile = g_canonicalize_filename("tests/support/kernels/hostile.c", NULL);
    readme = g_canonicalize_filename("README.md", NULL);
    folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
    temporary = path_of("tmp");
    return g_mkdir(temporary, 0700);
}

static int tear_down(void **state)
{
    (void)state;
    int left = g_rmdir(temporary) | g_rmdir(folder);
    g_free(temporary);
    g_free(folder);
    g_free(ring);
    g_free(readme);
    g_free(hostile);
    g_free(heddle);
    return left;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_kernel_is_refused_with_the_nearest_name),
        cmocka_unit_test(malformed_sizes_and_parameters_are_refused),
        cmocka_unit_test(a_size_that_nothing_applies_to_is_no_verdict),
        cmocka_unit_test(a_file_that_does_not_compile_shows_the_compilers_words),
        cmocka_unit_test(modules_without_programs_are_refused),
        cmocka_unit_test(an_unwritable_report_is_known_before_the_work),
        cmocka_unit_test(a_report_goes_whole_to_its_file_or_to_standard_output),
        cmocka_unit_test(an_interruption_leaves_the_report_so_far),
        cmocka_unit_test(a_fault_is_written_as_a_schedule_that_shows_it_again),
        cmocka_unit_test(wrong_and_missing_results_are_shown_again),
        cmocka_unit_test(damaged_schedules_are_refused),
        cmocka_unit_test(tests_hold_programs_to_what_they_declare),
        cmocka_unit_test(kernels_that_misbehave_are_findings_and_harm_nobody_else),
        cmocka_unit_test(the_readme_shows_what_really_happens),
        cmocka_unit_test(what_is_built_in_is_listed),
        cmocka_unit_test(modules_are_found_from_where_heddle_is),
        cmocka_unit_test(every_fault_is_explained),
        cmocka_unit_test(colors_are_for_those_who_ask),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
