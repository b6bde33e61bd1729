/* test_classes_machine.c - classes of programs with semaphores and copies: one where only orders differ, known numbers where counts are
 * looked at; and from the command line: the same report by any number of workers, and after a kill and a resumption.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "../../checker/classes/classes.h"
#include "../support/checked.h"
#include "../support/sanitized.h"
#include "../support/shapes.h"

static const Knobs WHOLE = { .dma_progress = DMA_PROGRESS_WHOLE }, FLUID = { .dma_progress = DMA_PROGRESS_FLUID };

static void want_classes(Script *script, const char *what, uint64_t expected, unsigned faults)
{
    Outcome *outcome = classes_run(script_source(script), &(ClassesOptions){ .audit = true }, NULL);
    if (outcome->classes != expected || outcome->findings->len != faults)
        print_message("%s: %lu classes, %u findings\n", what, (unsigned long)outcome->classes, outcome->findings->len);
    assert_int_equal(outcome->classes, expected);
    assert_int_equal(outcome->redundant, 0);
    assert_int_equal(outcome->findings->len, faults);
    outcome_free(outcome);
    script_free(script);
}

static Script *signals_and_waits(uint32_t n, uint32_t waits, uint32_t value)
{
    Script *script = script_new(n + 1, 1, NULL);
    uint32_t decl = script_semaphore(script, SEMAPHORE_REGULAR, 1, "s"), s = script_semaphore_id(script, decl, n, 0);
    for (uint32_t core = 0; core < n; core++)
        script_signal(script, core, s, 1);
    for (uint32_t w = 0; w < waits; w++)
        script_wait(script, n, s, value);
    return script;
}

/* The last one receives two copies on one semaphore, and reads what they write. */
static Script *two_copies(bool wait_before_reading)
{
    Script *script = script_new(3, 1, NULL);
    uint32_t buffer = script_buffer(script, SPACE_HBM, 2, 8, "buffer"), other = script_buffer(script, SPACE_VMEM, 2, 8, "other");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send"), receive = script_semaphore(script, SEMAPHORE_DMA, 1, "receive");
    uint32_t arrived = script_semaphore_id(script, receive, 2, 0);
    for (uint32_t core = 0; core < 2; core++)
        script_copy(script, core, buffer, 0, other, core, 2, script_semaphore_id(script, send, core, 0), arrived, true);
    for (uint32_t slot = 0; slot < 2; slot++) {
        script_wait(script, 2, arrived, wait_before_reading && slot == 0 ? 16 : 8 * !wait_before_reading);
        script_access(script, 2, STEP_LOAD, other, slot);
    }
    return script;
}

/* All signal all, and wait for all; twice on one semaphore. */
static Script *two_barriers(uint32_t devices)
{
    Script *script = script_new(devices, 1, NULL);
    uint32_t barrier = script_semaphore(script, SEMAPHORE_REGULAR, 1, "barrier");
    for (uint32_t core = 0; core < devices; core++)
        for (unsigned phase = 0; phase < 2; phase++) {
            for (uint32_t other = 0; other < devices; other++)
                script_signal(script, core, script_semaphore_id(script, barrier, other, 0), 1);
            script_wait(script, core, script_semaphore_id(script, barrier, core, 0), devices);
        }
    return script;
}

static void where_only_orders_differ_there_is_one_class(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 5; n++) {
        want_classes(signals_and_waits(n, n, 1), "n signals, n waits", 1, 0);
        want_classes(signals_and_waits(n, 1, n), "n signals, a wait for n", 1, 0);
        want_classes(signals_and_waits(n, 1, 1), "n signals, a wait for one", 1, 0);
    }
    want_classes(two_copies(false), "two copies, a wait for one, a read", 1, 1);
    want_classes(two_copies(true), "two copies, waits for both, reads", 1, 0);
    for (uint32_t n = 2; n <= 4; n++) {
        want_classes(shape_right_permute(n), "right permute", 1, 0);
        want_classes(shape_all_to_all(n), "all-to-all", 1, 0);
    }
    want_classes(shape_two_slots(2, 2, true), "two slots, with capacity", 1, 0);
    want_classes(shape_two_slots(2, 2, false), "two slots, without capacity", 1, 0);
    want_classes(shape_two_slots(3, 2, true), "two slots, with capacity", 1, 0);
    want_classes(shape_two_slots(3, 2, false), "two slots, without capacity: races", 1, 3);
    want_classes(two_barriers(2), "two barriers", 1, 0);
    want_classes(two_barriers(3), "two barriers", 1, 0);
}

/* `copies` devices copy to the last one, which looks `looks` times at how much has arrived. */
static Script *looks_at_copies(uint32_t copies, unsigned looks, const Knobs *knobs)
{
    Script *script = script_new(copies + 1, 1, knobs);
    uint32_t buffer = script_buffer(script, SPACE_HBM, MAX(copies, 1), 8, "buffer");
    uint32_t send = script_semaphore(script, SEMAPHORE_DMA, 1, "send"), receive = script_semaphore(script, SEMAPHORE_DMA, 1, "receive");
    uint32_t arrived = script_semaphore_id(script, receive, copies, 0);
    for (uint32_t core = 0; core < copies; core++)
        script_copy(script, core, buffer, 0, buffer, core, copies, script_semaphore_id(script, send, core, 0), arrived, true);
    for (unsigned look = 0; look < looks; look++)
        script_step(script, copies, STEP_SEMAPHORE_READ, arrived, 0, 0);
    return script;
}

static uint64_t power(uint64_t base, uint32_t n) { return n == 0 ? 1 : base * power(base, n - 1); }

/* Each copy is complete before, between or after the looks; under fluid progress its early bytes come before the last one: of `looks + 1`
 * places two in order, one place for both allowed. */
static void a_look_tells_apart_which_copies_are_complete(void **state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 4; copies++)
        for (unsigned looks = 1; looks <= 2; looks++) {
            uint64_t places = looks + 1;
            want_classes(looks_at_copies(copies, looks, &WHOLE), "looks, whole", power(places, copies), 0);
            want_classes(looks_at_copies(copies, looks, &FLUID), "looks, fluid", power(places * (places + 1) / 2, copies), 0);
        }
}

static char *folder;                            /* for schedules */

static int make_folder(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
    return folder == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
    g_free(folder);
    return 0;
}

static char *heddle(const char *arguments, int *status)
{
    g_autofree char *command = g_strdup_printf("%s %s", g_getenv("HEDDLE"), arguments);
    g_auto(GStrv) argv = NULL;
    char *out = NULL;
    assert_true(g_shell_parse_argv(command, NULL, &argv, NULL));
    assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, status, NULL));
    *status = WEXITSTATUS(*status);
    return out;
}

/* A report without what was measured. */
static char *report_of(const char *arguments, int expected)
{
    int status;
    g_autofree char *command = g_strdup_printf("check tests/support/kernels/conflicts.c:%s --json - --schedules %s", arguments, folder);
    char *out = heddle(command, &status);
    if (status != expected)
        print_message("%s\n%s", command, out);
    assert_int_equal(status, expected);
    char *clean = checked_unmeasured(out);
    g_free(out);
    return clean;
}

static void the_report_is_the_same_for_any_number_of_workers(void **state)
{
    (void)state;
    static const struct { const char *what; int status; } CHECKS[] = {
        { "tickets -n 3", 0 }, { SANITIZED ? "tickets -n 4 --runs 2000" : "tickets -n 4 --runs 20000", 3 }, { "count_is_a_result -n 2", 1 },
        { "polls_what_was_replaced -n 2", 1 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CHECKS) - SANITIZED; i++) {         /* polls in vain are not seen with the sanitizer */
        g_autofree char *one = report_of(CHECKS[i].what, CHECKS[i].status);
        g_autofree char *arguments = g_strdup_printf("%s -j 3", CHECKS[i].what), *three = report_of(arguments, CHECKS[i].status);
        assert_string_equal(one, three);
    }
}

/* Kills the process group some time after the checkpoint exists, repeatedly, until the search completes. */
static void a_search_that_is_killed_goes_on_where_it_was(void **state)
{
    (void)state;
    static const char PATH[] = "test_classes_machine.checkpoint";
    const char *runs = SANITIZED ? "10000" : "200000";
    g_autofree char *check = g_strdup_printf("tickets -n 4 --runs %s -j 2", runs), *whole = report_of(check, 3);
    g_unlink(PATH);
    for (unsigned attempt = 0; attempt < 3; attempt++) {
        bool resumes = g_file_test(PATH, G_FILE_TEST_EXISTS);
        pid_t child = fork();
        if (child == 0) {
            setpgid(0, 0);
            bool quiet = freopen("/dev/null", "w", stdout) != NULL && freopen("/dev/null", "w", stderr) != NULL;
            execl(g_getenv("HEDDLE"), "heddle", "check", "tests/support/kernels/conflicts.c:tickets", "-n", "4", "--runs", runs,
                  resumes ? "--resume" : "--checkpoint", PATH, quiet ? "-q" : "-v", NULL);
            _exit(127);
        }
        for (unsigned wait = 0; wait < 2000 && !g_file_test(PATH, G_FILE_TEST_EXISTS); wait++)
            g_usleep(5000);
        g_usleep(40000 * (attempt + 1));
        kill(-child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    g_autofree char *arguments = g_strdup_printf("tickets -n 4 --runs %s --resume %s", runs, PATH);
    g_autofree char *resumed = report_of(arguments, 3);
    assert_string_equal(whole, resumed);
    g_unlink(PATH);
}

static void a_checkpoint_is_for_its_own_check(void **state)
{
    (void)state;
    static const char PATH[] = "test_classes_machine.checkpoint";
    g_autofree char *written = report_of("tickets -n 3 --checkpoint test_classes_machine.checkpoint", 0);
    g_autofree char *finished = report_of("tickets -n 3 --resume test_classes_machine.checkpoint", 0);
    assert_string_equal(written, finished);
    int status;
    g_free(heddle("check tests/support/kernels/conflicts.c:tickets -n 2 --resume test_classes_machine.checkpoint", &status));
    assert_int_equal(status, 2);
    g_unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_only_orders_differ_there_is_one_class), cmocka_unit_test(a_look_tells_apart_which_copies_are_complete),
        cmocka_unit_test(the_report_is_the_same_for_any_number_of_workers), cmocka_unit_test(a_search_that_is_killed_goes_on_where_it_was),
        cmocka_unit_test(a_checkpoint_is_for_its_own_check),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
