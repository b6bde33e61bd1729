/* test_sample.c - sampling from the command line: workers, checkpoints, interruptions; always the same report. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>

#include "../../model/rng.h"
#include "../support/checked.h"
#include "../support/sanitized.h"

/* Each device adds ROUNDS times to one counter, and forgets what others added meanwhile: the sum may be anything from 2 on, and each sum is
 * complained about in a line of its own. */
static const char SOURCE[] =
    "#include <heddle/pallas.h>\n"
    "enum { ROUNDS = 3 };\n"
    "KERNEL(adds, counter, done)\n"
    "{\n"
    "    for (int i = 0; i < ROUNDS; i++) {\n"
    "        int sum = pl_flag_load(counter, pl_device(0));\n"
    "        pl_flag_store(counter, sum + 1, pl_device(0));\n"
    "    }\n"
    "    pl_semaphore_signal(done, 1, pl_device(0));\n"
    "    if (pl_device_id() != 0)\n"
    "        return;\n"
    "    pl_semaphore_wait(done, pl_num_devices());\n"
    "    int sum = pl_flag_load(counter, PL_OWN);\n"
    "    pl_assert(sum != 2);\n"
    "    pl_assert(sum != 3);\n"
    "    pl_assert(sum != 4);\n"
    "    pl_assert(sum != 5);\n"
    "    pl_assert(sum != 6);\n"
    "}\n"
    "PROGRAM(lost, \"adds without looking\")\n"
    "{\n"
    "    pl_launch(adds, .args = {pl_flags(), pl_regular_semaphore()});\n"
    "}\n"
    "KERNEL(last, flag, out)\n"
    "{\n"
    "    pl_flag_store(flag, pl_device_id() + 1, pl_device(0));\n"
    "    if (pl_device_id() == 0)\n"
    "        pl_store_int(out, pl_flag_load(flag, PL_OWN));\n"
    "}\n"
    "PROGRAM(ends_as_it_likes, \"what is handed back depends on who was last\")\n"
    "{\n"
    "    PlRef out = pl_output_in(PL_SMEM, PL_I32);\n"
    "    pl_launch(last, .args = {pl_flags(), out}, .skip_device_barrier = true);\n"
    "}\n"
    "KERNEL(follows, flag)\n"
    "{\n"
    "    int me = pl_device_id(), before = pl_flag_load(flag, pl_device(0));\n"
    "    pl_flag_store(flag, before == me ? me + 1 : 0, pl_device(0));\n"
    "    if (me == pl_num_devices() - 1 && before == me)\n"
    "        __builtin_trap();\n"
    "}\n"
    "PROGRAM(dies_in_turn, \"dies if all go one after the other\")\n"
    "{\n"
    "    pl_launch(follows, .args = {pl_flags()});\n"
    "}\n"
    "KERNEL(polls, s)\n"
    "{\n"
    "    if (pl_device_id() == 0) {\n"
    "        pl_semaphore_signal(s, 1, pl_device(1));\n"
    "        return;\n"
    "    }\n"
    "    while (pl_semaphore_read(s) == 0)\n"
    "        ;\n"
    "    pl_semaphore_wait(s, 1);\n"
    "}\n"
    "PROGRAM(waits_by_polling, \"looks until a signal has come\")\n"
    "{\n"
    "    PL_NEEDS(pl_num_devices() == 2, \"two partners\");\n"
    "    pl_launch(polls, .args = {pl_regular_semaphore()});\n"
    "}\n"
    "KERNEL(works, s, work)\n"
    "{\n"
    "    int times = 0;\n"
    "    if (pl_device_id() == 0) {\n"
    "        pl_semaphore_signal(s, 1, pl_device(1));\n"
    "        return;\n"
    "    }\n"
    "    for (; pl_semaphore_read(s) == 0; times++)\n"
    "        pl_semaphore_signal(work, 1);\n"
    "    pl_semaphore_wait(work, times);\n"
    "    pl_semaphore_wait(s, 1);\n"
    "}\n"
    "PROGRAM(works_while_polling, \"does something else each time\")\n"
    "{\n"
    "    PL_NEEDS(pl_num_devices() == 2, \"two partners\");\n"
    "    pl_launch(works, .args = {pl_regular_semaphore(), pl_regular_semaphore()});\n"
    "}\n"
    "KERNEL(misuses, counter)\n"
    "{\n"
    "    int seen = 0;\n"
    "    for (int i = 0; i < ROUNDS; i++) {\n"
    "        seen = pl_flag_load(counter, pl_device(0));\n"
    "        pl_flag_store(counter, seen + 1, pl_device(0));\n"
    "    }\n"
    "    if (seen == 1 && pl_device_id() == 0)\n"
    "        pl_semaphore_signal(counter, 1);\n"
    "    if (seen == 1 && pl_device_id() == 1)\n"
    "        pl_semaphore_wait(counter, 1);\n"
    "}\n"
    "PROGRAM(misuses_if_others_are_fast, \"in some orders a flag word is taken for a semaphore\")\n"
    "{\n"
    "    pl_launch(misuses, .args = {pl_flags()});\n"
    "}\n"
    "KERNEL(waits_for_a_later_launch, sem, at_home)\n"
    "{\n"
    "    if (pl_core_index() != 0)\n"
    "        return;\n"
    "    pl_semaphore_signal(at_home, 1, pl_device(1 - pl_device_id()));\n"
    "    pl_semaphore_wait(at_home, 1);\n"
    "    if (pl_device_id() == 0)\n"
    "        pl_semaphore_wait(sem, 1);\n"
    "}\n"
    "KERNEL(communicates_by_chance, sem, counter)\n"
    "{\n"
    "    int seen = 0;\n"
    "    for (int i = 0; i < ROUNDS && pl_device_id() == 1; i++) {\n"
    "        seen = pl_flag_load(counter, PL_OWN);\n"
    "        pl_flag_store(counter, seen + 1, PL_OWN);\n"
    "    }\n"
    "    if (pl_core_index() == 0 && seen == 1)\n"
    "        pl_semaphore_signal(sem, 0, pl_device(0));\n"
    "}\n"
    "KERNEL(comes_later, sem)\n"
    "{\n"
    "    if (pl_device_id() == 1 && pl_core_index() == 0)\n"
    "        pl_semaphore_signal(sem, 1, pl_device(0));\n"
    "}\n"
    "PROGRAM(barrier_by_chance, \"that a launch begins with a barrier is found out during the search\")\n"
    "{\n"
    "    PL_NEEDS(pl_num_devices() == 2, \"two partners\");\n"
    "    PlRef sem = pl_semaphore_output(PL_REGULAR);\n"
    "    pl_launch(waits_for_a_later_launch, .args = {sem, pl_regular_semaphore()});\n"
    "    pl_launch(communicates_by_chance, .args = {sem, pl_flags()});\n"
    "    pl_launch(comes_later, .args = {sem}, .skip_device_barrier = true);\n"
    "}\n"
    "enum { WORK = 24 };\n"
    "KERNEL(looks_late, data, inbox, sent, came, work)\n"
    "{\n"
    "    PlCopy copy = pl_make_async_remote_copy(data, inbox, sent, came, pl_device(1 - pl_device_id()));\n"
    "    pl_copy_start(copy);\n"
    "    for (int i = 0; i < WORK; i++)\n"
    "        pl_semaphore_signal(work, 1);\n"
    "    pl_assert(pl_semaphore_read(came) > 0);\n"
    "    pl_semaphore_wait(work, WORK);\n"
    "    pl_copy_wait(copy);\n"
    "}\n"
    "PROGRAM(surely_arrived, \"a copy that has not come after so much work is not expected\")\n"
    "{\n"
    "    PL_NEEDS(pl_num_devices() == 2, \"two partners\");\n"
    "    PlRef data = pl_input_in(PL_VMEM, PL_F32, 8, 128), inbox = pl_output_in(PL_VMEM, PL_F32, 8, 128);\n"
    "    pl_launch(looks_late, .args = {data, inbox, pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});\n"
    "}\n";

static char *folder, *source, *binary;

static char *path_of(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

/* Runs heddle with these arguments; returns its exit code and, if wanted, its output in *out (g_free). */
static int run(char **out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int run(char **out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *words = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *command = g_strdup_printf("%s %s", binary, words), *both = g_strdup_printf("%s 2>&1", command), *text = NULL;
    const char *argv[] = { "/bin/sh", "-c", both, NULL };
    int status = 0;
    assert_true(g_spawn_sync(folder, (char **)argv, NULL, 0, NULL, NULL, &text, NULL, &status, NULL));
    assert_true(WIFEXITED(status));
    if (out != NULL)
        *out = g_steal_pointer(&text);
    return WEXITSTATUS(status);
}

static char *report(const char *name)
{
    g_autofree char *path = path_of(name);
    return checked_take_report(path);
}

static void assert_says(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", text, words);
}

static void any_number_of_workers_gives_the_same_report(void **state)
{
    (void)state;
    static const char *const SEARCH[] = { "random", "pct", "pos", "starve" };
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++) {
        g_autofree char *first = NULL, *first_text = NULL;
        for (unsigned workers = 1; workers <= 3; workers++) {
            g_autofree char *text = NULL;
            assert_int_equal(run(&text, "check %s:lost -n 3 --search %s --runs 400 --seed 7 -j %u --json report", source, SEARCH[s],
                                 workers), 1);
            g_autofree char *here = report("report");
            if (workers == 1) {
                assert_says(here, "\"executions\" : 400,");
                assert_true(strcmp(SEARCH[s], "random") != 0 || strstr(text, "sum != 5") != NULL);
                first = g_steal_pointer(&here);
                first_text = g_steal_pointer(&text);
            } else {
                assert_string_equal(here, first);
                assert_string_equal(text, first_text);
            }
        }
    }
}

static void first_stops_at_the_lowest_run_that_shows_a_fault(void **state)
{
    (void)state;
    g_autofree char *first = NULL;
    for (unsigned workers = 1; workers <= 3; workers++) {
        assert_int_equal(run(NULL, "check %s:lost -n 2 --search random --runs 100000 --first -j %u --json report", source, workers), 1);
        g_autofree char *here = report("report");
        assert_null(strstr(here, "\"executions\" : 100000"));
        if (first != NULL)
            assert_string_equal(here, first);
        else
            first = g_steal_pointer(&here);
    }
}

static void runs_that_end_with_other_results_diverge(void **state)
{
    (void)state;
    g_autofree char *text = NULL;
    assert_int_equal(run(&text, "check %s:ends_as_it_likes -n 3 --search random --runs 20", source), 1);
    assert_says(text, "divergence");
    assert_says(text, "element 0 of out on device 0");
}

/* A copy that needs two moves while a core does WORK of its own is late in a random run with odds of about 26 / 2^25. */
static void starve_finds_in_few_runs_what_chance_does_not_find(void **state)
{
    (void)state;
    g_autofree char *starved = NULL, *random = NULL;
    assert_int_equal(run(&starved, "check %s:surely_arrived -n 2 --dma-progress whole --search starve --runs 10", source), 1);
    assert_says(starved, "pl_assert(pl_semaphore_read(came) > 0) does not hold");
    assert_int_equal(run(&random, "check %s:surely_arrived -n 2 --dma-progress whole --search random --runs 1000", source), 3);
    assert_says(random, "no fault seen in 1000 executions");
}

/* Wrong twins of the foundation. The last five cost more, and are sampled by `make soak` only. */
static void each_wrong_twin_is_found_at_64_devices_within_10_runs(void **state)
{
    (void)state;
    static const char *const TWIN[] = {
        "right_permute_no_barrier", "permute_twice_single_barrier", "missing_signal", "cyclic_wait", "one_signal_too_many",
        "read_before_wait", "overwrite_before_wait_send", "wait_for_fewer_bytes", "never_waited_for", "credits_one_too_many",
        "all_to_all_neighbour_fence", "all_gather_shared_semaphore", "all_reduce_no_capacity", "reduce_scatter_no_cleanup",
        "reduce_scatter_missing_wait",
    };
    const size_t twins = G_N_ELEMENTS(TWIN) - (g_getenv("SOAK_SECONDS") ? 0 : 5);
    for (size_t i = 0; i < twins; i++) {
        g_autofree char *text = NULL;
        if (run(&text, "check %s -n %d --search random --runs 10 --first -j 2 -q", TWIN[i], SANITIZED ? 16 : 64) != 1)
            fail_msg("%s: %s", TWIN[i], text);
    }
}

static void a_time_limit_reports_the_runs_so_far(void **state)
{
    (void)state;
    g_autofree char *text = NULL, *clean = NULL;
    assert_int_equal(run(&text, "check g03_equality_poll_repaired -n 2 --search random --runs 1000000000 --time 1.5 -j 2"), 3);
    assert_says(text, "time");
    assert_null(strstr(text, " 0 executions"));
    assert_int_equal(run(&clean, "check all_gather -n 2 --search random --runs 1000000000 --time 1.5"), 0);      /* the first run decides */
}

static GPid start(const char *const *argv)
{
    GPid child = 0;
    assert_true(g_spawn_async(folder, (char **)argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL
                              | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, &child, NULL));
    return child;
}

static void a_killed_search_goes_on_where_its_checkpoint_is(void **state)
{
    (void)state;
    enum { KILLS = 4 };
    g_autofree char *program = g_strdup_printf("%s:lost", source);
    for (unsigned seed = 0; seed < 2; seed++) {
        g_autofree char *words = g_strdup_printf("-n 3 --search random --runs 3000 --seed %u", seed), *number = g_strdup_printf("%u", seed);
        run(NULL, "check %s %s --json whole", program, words);
        g_autofree char *whole = report("whole"), *file = path_of("search.checkpoint"), *text = NULL;
        Rng rng;
        rng_init(&rng, seed);
        for (unsigned k = 0; k < KILLS; k++) {
            bool exists = g_file_test(file, G_FILE_TEST_EXISTS);
            const char *argv[] = { binary, "check", program, "-n", "3", "--search", "random", "--runs", "3000", "-j", k % 2 ? "2" : "1",
                                   "--seed", number, exists ? "--resume" : "--checkpoint", file, NULL };
            GPid child = start(argv);
            g_usleep(50000 + rng_below(&rng, 500000));
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        bool exists = g_file_test(file, G_FILE_TEST_EXISTS);
        assert_int_equal(run(&text, "check %s %s --json resumed %s %s", program, words, exists ? "--resume" : "--checkpoint", file), 1);
        g_autofree char *resumed = report("resumed");
        assert_string_equal(resumed, whole);
        assert_int_equal(run(NULL, "check %s %s --json again --resume %s", program, words, file), 1);
        g_autofree char *again = report("again");           /* of a finished one: the report, once more */
        assert_string_equal(again, whole);
        g_unlink(file);
    }
}

static void runs_can_be_added_to_a_finished_search(void **state)
{
    (void)state;
    g_autofree char *error = NULL, *file = path_of("more.checkpoint");
    assert_int_equal(run(NULL, "check %s:lost -n 3 --search pos --runs 30 --checkpoint %s", source, file), 1);
    assert_int_equal(run(NULL, "check %s:lost -n 3 --search pos --runs 90 --resume %s -j 2 --json more", source, file), 1);
    assert_int_equal(run(NULL, "check %s:lost -n 3 --search pos --runs 90 --json at-once", source), 1);
    g_autofree char *more = report("more"), *at_once = report("at-once");
    assert_string_equal(more, at_once);
    assert_int_equal(run(&error, "check %s:lost -n 3 --search pos --runs 30 --resume %s", source, file), 2);
    assert_says(error, "has 90 runs already");
    g_unlink(file);
}

static void misuse_that_only_some_runs_come_to_is_told(void **state)
{
    (void)state;
    g_autofree char *first = NULL;
    for (unsigned workers = 1; workers <= 3; workers++) {
        g_autofree char *text = NULL;
        assert_int_equal(run(&text, "check %s:misuses_if_others_are_fast -n 3 --search random --runs 3000 -j %u", source, workers), 2);
        assert_says(text, "needs a semaphore, counter is a flag word");
        if (workers == 1)
            first = g_steal_pointer(&text);
        else
            assert_string_equal(text, first);
    }
    assert_int_equal(run(NULL, "check %s:misuses_if_others_are_fast -n 3 --search random --runs 3", source), 3);
}

/* Interrupted by a limit before the barrier was found out; and after all was done again under it. */
static void barriers_found_out_by_a_search_are_those_of_its_checkpoint(void **state)
{
    (void)state;
    static const char *const SEARCH[] = { "auto --runs", "enumerate --states", "random --runs" };
    static const unsigned FEW[] = { 3, 30, 3 }, MANY[] = { 2000000, 20000000, 500 };
    g_autofree char *file = path_of("barriers.checkpoint");
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++) {
        g_autofree char *check = g_strdup_printf("check %s:barrier_by_chance -n 2 --cores 2 --search %s", source, SEARCH[s]);
        assert_int_equal(run(NULL, "%s %u --json whole", check, MANY[s]), 1);
        assert_int_equal(run(NULL, "%s %u --checkpoint %s", check, FEW[s], file), 3);
        assert_int_equal(run(NULL, "%s %u --json resumed --resume %s", check, MANY[s], file), 1);
        assert_int_equal(run(NULL, "%s %u --json again --resume %s", check, MANY[s], file), 1);
        g_autofree char *whole = report("whole"), *resumed = report("resumed"), *again = report("again");
        assert_says(whole, "\"deadlock\"");
        assert_string_equal(resumed, whole);
        assert_string_equal(again, whole);
        g_unlink(file);
    }
}

static void a_checkpoint_of_another_check_is_refused(void **state)
{
    (void)state;
    static const struct { const char *words, *complaint; } OTHER[] = {
        { "lost -n 4 --search random", "mesh was x=3 there and is x=4 here" },
        { "ends_as_it_likes -n 3 --search random", "program was lost there and is ends_as_it_likes here" },
        { "lost -n 3 --search pct", "search was random there and is pct here" },
        { "lost -n 3 --search random --seed 9", "--seed was 0 there and is 9 here" },
        { "lost -n 3 --search random --dma-order link-fifo", "knobs was" },
    };
    g_autofree char *file = path_of("other.checkpoint"), *none = NULL, *many = NULL;
    assert_int_equal(run(NULL, "check %s:lost -n 3 --search random --runs 10 --checkpoint %s", source, file), 1);
    for (size_t i = 0; i < G_N_ELEMENTS(OTHER); i++) {
        g_autofree char *text = NULL;
        assert_int_equal(run(&text, "check %s:%s --resume %s", source, OTHER[i].words, file), 2);
        assert_says(text, "belongs to another check");
        assert_says(text, OTHER[i].complaint);
    }
    assert_int_equal(run(&none, "check %s:lost -n 3 --search random --resume %s.none", source, file), 2);
    assert_says(none, "there is no file");
    assert_int_equal(run(&many, "check %s:lost -n 2..3 --search random --resume %s", source, file), 2);
    assert_says(many, "is for a single check, and these are 2");
    g_unlink(file);
}

/* Waits until the program has begun to sample: it writes its first checkpoint then. */
static void wait_for(const char *file)
{
    for (unsigned i = 0; i < 1000 && !g_file_test(file, G_FILE_TEST_EXISTS); i++)
        g_usleep(10000);
    assert_true(g_file_test(file, G_FILE_TEST_EXISTS));
}

static void an_interrupted_search_reports_what_it_did(void **state)
{
    (void)state;
    static const int SIGNALS[] = { SIGINT, SIGTERM };
    g_autofree char *program = g_strdup_printf("%s:lost", source), *file = path_of("interrupted.checkpoint");
    for (size_t s = 0; s < G_N_ELEMENTS(SIGNALS); s++) {
        const char *argv[] = { binary, "check", program, "-n", "3", "--search", "random", "--runs", "1000000000", "--json", "report", "-j",
                               "2", "--checkpoint", file, NULL };
        int status = 0;
        GPid child = start(argv);
        wait_for(file);
        kill(child, SIGNALS[s]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 130);
        g_autofree char *here = report("report");
        assert_says(here, "\"verdict\" : \"faulty\"");
        assert_says(here, "interrupt");
        assert_null(strstr(here, "\"executions\" : 0,"));
        g_unlink(file);
    }
}

static void polls_end_in_every_way_of_sampling_and_pct_promises_nothing_then(void **state)
{
    (void)state;
    static const char *const SEARCH[] = { "random", "pct", "pos", "starve" };
    g_autofree char *straight = NULL;
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++) {
        g_autofree char *polling = NULL;
        assert_int_equal(run(&polling, "check %s:waits_by_polling -n 2 --search %s --runs 40", source, SEARCH[s]), 3);
        assert_says(polling, "no fault seen in 40 executions");
        assert_null(strstr(polling, "so many steps of one run"));
        assert_null(strstr(polling, "promised"));
    }
    assert_int_equal(run(&straight, "check g03_equality_poll_repaired -n 2 --search pct --depth 2 --runs 10"), 3);
    assert_says(straight, "promised: a fault that 2 ordering constraints bring about");
}

/* Priorities let such a poll go on for ever where it comes first. */
static void a_run_that_is_cut_off_is_no_deadlock(void **state)
{
    (void)state;
    g_autofree char *text = NULL;
    assert_int_equal(run(&text, "check %s:works_while_polling -n 2 --search pct --runs 10", source), 3);
    assert_says(text, "so many steps of one run");
    assert_says(text, "no fault seen in 10 executions");
}

static void a_crash_comes_with_a_schedule_that_crashes(void **state)
{
    (void)state;
    static const char *const SEARCH[] = { "random", "auto", "enumerate" };
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++) {
        g_autofree char *found = NULL, *again = NULL, *both = NULL;
        assert_int_equal(run(&found, "check --story %s:dies_in_turn -n 3 --search %s", source, SEARCH[s]), 1);
        assert_says(found, "crash: the kernel crashed after this operation: trap");
        assert_says(found, "device 2 stores 3 to flag of device 0");
        const char *command = strstr(found, "heddle replay ") + strlen("heddle replay ");
        g_autofree char *schedule = g_strndup(command, strcspn(command, "\n"));
        assert_int_equal(run(&again, "replay %s", schedule), 1);
        assert_says(again, "the schedule shows the fault");
        assert_says(again, "device 2 stores 3 to flag of device 0");
        assert_int_equal(run(&both, "check %s:dies_in_turn -n 3,4 --search %s -q -j 2", source, SEARCH[s]), 1);
        assert_says(both, "3 devices: faulty, 1 fault");
    }
    g_autofree char *rare = NULL;
    assert_int_equal(run(&rare, "check %s:dies_in_turn -n 7", source), 1);
    assert_says(rare, "1000 sampled runs did not reproduce it");
    assert_null(strstr(rare, "heddle replay heddle-schedules"));
}

static void every_search_ends_with_a_report_when_it_is_interrupted(void **state)
{
    (void)state;
    static const char *const SEARCH[] = { "auto", "enumerate", "pos" };
    g_autofree char *program = g_strdup_printf("%s:lost", source);
    for (size_t s = 0; s < G_N_ELEMENTS(SEARCH); s++) {
        const char *argv[] = { binary, "check", program, "-n", "6", "--search", SEARCH[s], "--runs", "1000000000", "--states", "1000000000",
                               "--json", "report", NULL };
        int status = 0;
        GPid child = start(argv);
        g_usleep(1500000);
        kill(child, SIGTERM);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 130);
        g_autofree char *here = report("report");
        assert_says(here, "\"interrupt\"");
        assert_null(strstr(here, "unanswered"));
    }
}

static int make_folder(void **state)
{
    (void)state;
    const char *given = g_getenv("HEDDLE");
    binary = g_canonicalize_filename(given ? given : "build/heddle", NULL);
    folder = g_dir_make_tmp("heddle-sample-XXXXXX", NULL);
    if (folder == NULL)
        return 1;
    g_setenv("COLUMNS", "1000", TRUE);          /* sentences stay in one piece */
    source = path_of("lost.c");
    return !g_file_set_contents(source, SOURCE, -1, NULL);
}

static int remove_folder(void **state)
{
    (void)state;
    g_autofree char *command = g_strdup_printf("rm -rf %s", folder);
    int status = 0;
    g_spawn_command_line_sync(command, NULL, NULL, &status, NULL);
    g_free(source);
    g_free(folder);
    g_free(binary);
    return status;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_workers_gives_the_same_report),
        cmocka_unit_test(first_stops_at_the_lowest_run_that_shows_a_fault),
        cmocka_unit_test(runs_that_end_with_other_results_diverge),
        cmocka_unit_test(starve_finds_in_few_runs_what_chance_does_not_find),
        cmocka_unit_test(each_wrong_twin_is_found_at_64_devices_within_10_runs),
        cmocka_unit_test(a_time_limit_reports_the_runs_so_far),
        cmocka_unit_test(a_killed_search_goes_on_where_its_checkpoint_is),
        cmocka_unit_test(runs_can_be_added_to_a_finished_search),
        cmocka_unit_test(misuse_that_only_some_runs_come_to_is_told),
        cmocka_unit_test(barriers_found_out_by_a_search_are_those_of_its_checkpoint),
        cmocka_unit_test(a_checkpoint_of_another_check_is_refused),
        cmocka_unit_test(an_interrupted_search_reports_what_it_did),
        cmocka_unit_test(polls_end_in_every_way_of_sampling_and_pct_promises_nothing_then),
        cmocka_unit_test(a_run_that_is_cut_off_is_no_deadlock),
        cmocka_unit_test(a_crash_comes_with_a_schedule_that_crashes),
        cmocka_unit_test(every_search_ends_with_a_report_when_it_is_interrupted),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
