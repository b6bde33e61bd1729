/* test_checkpoint.c - files to go on from: whole or refused; and the line of progress. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>

#include "../../checker/run/checkpoint.h"
#include "../../checker/run/progress.h"
#include "../support/one_file.h"

static const char *const IDENTITY = "program all_gather\nmesh x=4\nseed 0\n";

static Checkpoint *open_file(const char *identity)
{
    char *error = NULL;
    Checkpoint *checkpoint = checkpoint_new(one_file, identity, &error);
    assert_non_null(checkpoint);
    return checkpoint;
}

static void write_bytes(Checkpoint *checkpoint, const char *data, size_t bytes)
{
    checkpoint_begin(checkpoint);
    for (size_t at = 0; at < bytes; at += 1000)
        checkpoint_put(checkpoint, data + at, MIN(bytes - at, 1000));
    assert_true(checkpoint_commit(checkpoint));
    assert_null(checkpoint_failure(checkpoint));
}

static void what_was_put_comes_back_aligned(void **state)
{
    (void)state;
    char data[12345];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * i);
    for (size_t bytes = 0; bytes <= sizeof data; bytes += 2469) {
        g_autofree char *identity = g_strndup(IDENTITY, strlen(IDENTITY) - bytes % 7), *error = NULL;
        Checkpoint *checkpoint = open_file(identity);
        write_bytes(checkpoint, data, bytes);
        checkpoint_free(checkpoint);
        g_autoptr(GBytes) back = checkpoint_read(one_file, identity, &error);
        assert_null(error);
        gsize size = 0;
        const char *got = g_bytes_get_data(back, &size);
        assert_int_equal(size, bytes);
        assert_int_equal((uintptr_t)got % 8, 0);
        assert_true(bytes == 0 || memcmp(got, data, bytes) == 0);
    }
}

static void refused(const char *identity, const char *words)
{
    char *error = NULL;
    assert_null(checkpoint_read(one_file, identity, &error));
    assert_non_null(error);
    if (strstr(error, words) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", error, words);
    assert_null(strchr(error, '\n'));
    g_free(error);
}

static void another_check_is_refused_by_the_first_difference(void **state)
{
    (void)state;
    Checkpoint *checkpoint = open_file(IDENTITY);
    write_bytes(checkpoint, "abc", 3);
    checkpoint_free(checkpoint);
    refused("program all_gather\nmesh x=8\nseed 1\n", "another check: mesh was x=4 there and is x=8 here");
    refused("program all_reduce\nmesh x=4\nseed 0\n", "program was all_gather there and is all_reduce here");
    refused("program all_gather\nmesh x=4\ncores 2\nseed 0\n", "it knows no cores");
    refused("program all_gather\nmesh x=4\n", "it has settings that this check lacks");
}

static void torn_damaged_and_foreign_files_are_refused(void **state)
{
    (void)state;
    g_autofree char *whole = NULL, *error = NULL;
    gsize length = 0;
    g_unlink(one_file);
    refused(IDENTITY, "there is no file");
    Checkpoint *checkpoint = open_file(IDENTITY);
    write_bytes(checkpoint, "0123456789", 10);
    checkpoint_free(checkpoint);
    assert_true(g_file_get_contents(one_file, &whole, &length, NULL));
    for (gsize cut = 0; cut < length; cut++) {
        assert_true(g_file_set_contents(one_file, whole, (gssize)cut, NULL));
        refused(IDENTITY, cut < 20 ? "is not a checkpoint of heddle" : "damaged");
    }
    for (gsize at = 0; at < length; at++) {
        whole[at] ^= 0x20;
        assert_true(g_file_set_contents(one_file, whole, (gssize)length, NULL));
        refused(IDENTITY, at < 20 ? "is not a checkpoint of heddle" : "damaged");
        whole[at] ^= 0x20;
    }
    whole[strlen("heddle-checkpoint ")]--;
    assert_true(g_file_set_contents(one_file, whole, (gssize)length, NULL));
    refused(IDENTITY, "is a checkpoint of another version of heddle");
    assert_true(g_file_set_contents(one_file, "int main(void) { return 0; }\n", -1, NULL));
    refused(IDENTITY, "is not a checkpoint of heddle");
}

static void a_kill_at_any_moment_leaves_a_whole_file(void **state)
{
    (void)state;
    enum { ROUNDS = 30, BYTES = 200000 };
    g_unlink(one_file);
    bool any = false;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pid_t child = fork();
        if (child == 0) {
            g_autofree char *data = g_malloc(BYTES);
            Checkpoint *checkpoint = open_file(IDENTITY);
            for (unsigned i = 0;; i++) {
                memset(data, (int)i, BYTES);
                write_bytes(checkpoint, data, BYTES);
            }
        }
        g_usleep(1000 + 700 * round);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (!any && !g_file_test(one_file, G_FILE_TEST_EXISTS))
            continue;
        g_autofree char *error = NULL;
        g_autoptr(GBytes) back = checkpoint_read(one_file, IDENTITY, &error);
        assert_null(error);
        gsize bytes = 0;
        const char *data = g_bytes_get_data(back, &bytes);
        assert_int_equal(bytes, BYTES);
        for (gsize i = 1; i < bytes; i++)
            assert_int_equal(data[i], data[0]);
        any = true;
    }
    assert_true(any);
    g_autofree char *part = g_strdup_printf("%s.part", one_file), *lock = g_strdup_printf("%s.lock", one_file);
    g_unlink(part);
    g_unlink(lock);
}

/* The second process gets an error that names the first; the file of the first stays intact. A lock ends with its process, however it
 * ends. */
static void one_process_at_a_time_writes_a_file(void **state)
{
    (void)state;
    for (unsigned killed = 0; killed < 2; killed++) {
        int ready[2], go[2];
        char byte = 0;
        assert_int_equal(pipe(ready) | pipe(go), 0);
        pid_t child = fork();
        if (child == 0) {
            Checkpoint *checkpoint = open_file(IDENTITY);
            write_bytes(checkpoint, "first", 5);
            if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
                _exit(1);
            write_bytes(checkpoint, "again", 5);
            checkpoint_free(checkpoint);
            _exit(0);
        }
        char *error = NULL;
        g_autofree char *holder = g_strdup_printf("another heddle (process %d) is writing the checkpoint %s", (int)child, one_file);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        assert_null(checkpoint_new(one_file, IDENTITY, &error));
        assert_non_null(strstr(error, holder));
        g_clear_pointer(&error, g_free);
        if (killed)
            kill(child, SIGKILL);
        else
            assert_int_equal(write(go[1], &byte, 1), 1);
        waitpid(child, NULL, 0);
        g_autoptr(GBytes) back = checkpoint_read(one_file, IDENTITY, &error);
        assert_null(error);
        assert_memory_equal(g_bytes_get_data(back, NULL), killed ? "first" : "again", 5);
        Checkpoint *checkpoint = open_file(IDENTITY);
        checkpoint_free(checkpoint);
        g_autofree char *lock = g_strdup_printf("%s.lock", one_file);
        assert_false(g_file_test(lock, G_FILE_TEST_EXISTS));
        for (unsigned i = 0; i < 2; i++)
            close(ready[i]), close(go[i]);
    }
}

static void a_file_that_cannot_be_written_is_told_at_once_or_when_it_happens(void **state)
{
    (void)state;
    g_autofree char *below = g_build_filename(one_file_folder, "below", NULL), *nowhere = g_build_filename(below, "file", NULL);
    char *error = NULL;
    assert_null(checkpoint_new(nowhere, IDENTITY, &error));
    assert_non_null(strstr(error, "cannot write the checkpoint"));
    assert_non_null(strstr(error, "No such file"));
    g_clear_pointer(&error, g_free);
    assert_int_equal(g_mkdir(below, 0777), 0);
    Checkpoint *checkpoint = checkpoint_new(nowhere, IDENTITY, &error);
    assert_true(checkpoint_due(checkpoint));
    assert_false(checkpoint_due(NULL));
    g_autofree char *lock = g_strdup_printf("%s.lock", nowhere);
    assert_int_equal(g_unlink(lock), 0);
    assert_int_equal(g_rmdir(below), 0);
    checkpoint_begin(checkpoint);
    checkpoint_put(checkpoint, "abc", 3);
    assert_false(checkpoint_commit(checkpoint));
    assert_non_null(strstr(checkpoint_failure(checkpoint), "cannot write the checkpoint"));
    assert_false(checkpoint_due(checkpoint));
    checkpoint_free(checkpoint);
}

static void assert_line(const Progress *progress, double rate, double seconds, double seconds_max, const char *expected)
{
    g_autofree char *line = progress_line(progress, rate, seconds, seconds_max);
    if (expected == NULL)
        assert_null(line);
    else
        assert_string_equal(line, expected);
}

static void progress_is_told_in_one_line(void **state)
{
    (void)state;
    Progress progress = { 0 };
    assert_line(&progress, 0, 0, 0, NULL);
    progress_begin(&progress, PROGRESS_STEPS, 0);
    progress_set(&progress, 1200000, 0);
    assert_line(&progress, 0, 1, 0, "running the kernel, 1.2 million steps");
    progress_phase(&progress, "proving");
    assert_line(&progress, 5, 1, 9, "proving");
    progress_begin(NULL, PROGRESS_RUNS, 1);
    progress_begin(&progress, PROGRESS_RUNS, 10000);
    assert_line(&progress, 0, 0, 0, "runs 0 of 10000");
    progress_set(&progress, 1200, 2);
    assert_line(&progress, 352, 3, 0, "runs 1200 of 10000, 352 a second, 2 faults, 25 s left");
    assert_line(&progress, 352, 3, 10, "runs 1200 of 10000, 352 a second, 2 faults, 7 s left");
    progress_begin(&progress, PROGRESS_CLASSES, 3100000);
    progress.total_least = 2000000, progress.total_most = 4500000;
    progress_set(&progress, 100000, 1);
    assert_line(&progress, 500, 200, 0,
                "classes 100000 of about 3.1 million (2 million to 4.5 million), 500 a second, 1 fault, 1.7 h left");
    progress_begin(&progress, PROGRESS_STATES, 0);
    progress_set(&progress, 5000000, 0);
    progress.level = 31;
    assert_line(&progress, 1e6, 5, 0, "states 5 million up to level 31, 1 million a second");
    assert_null(progress_stop(&progress));
    assert_null(progress_stop(NULL));
    progress.stop = STOP_TIME;
    assert_string_equal(progress_stop(&progress), "time");
    progress.stop = STOP_INTERRUPT;
    assert_string_equal(progress_stop(&progress), "interrupt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_comes_back_aligned),
        cmocka_unit_test(another_check_is_refused_by_the_first_difference),
        cmocka_unit_test(torn_damaged_and_foreign_files_are_refused),
        cmocka_unit_test(a_kill_at_any_moment_leaves_a_whole_file),
        cmocka_unit_test(one_process_at_a_time_writes_a_file),
        cmocka_unit_test(a_file_that_cannot_be_written_is_told_at_once_or_when_it_happens),
        cmocka_unit_test(progress_is_told_in_one_line),
    };
    return cmocka_run_group_tests(tests, one_file_set_up, one_file_tear_down);
}
