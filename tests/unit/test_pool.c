/* test_pool.c - jobs in forked workers: their order, their memory, their deaths. */
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

#include "../../checker/run/pool.h"

static Store remembered;                        /* shared by all, unless a worker makes it its own */
static uint64_t served;

static Pool *start(unsigned workers, const PoolWork *work)
{
    char *error = NULL;
    Pool *pool = pool_new(workers, work, &error);
    assert_non_null(pool);
    assert_null(error);
    return pool;
}

static GBytes *square(void *argument, uint64_t job, const void *request, size_t bytes)
{
    const uint64_t *offset = argument;
    uint64_t number = 0;
    g_assert(bytes == sizeof number);
    memcpy(&number, request, bytes);
    if (job % 3 == 0)
        g_usleep(500);                          /* answers come out of order */
    number = number * number + *offset;
    return g_bytes_new(&number, sizeof number);
}

static void answers_come_in_the_order_of_jobs_with_any_number_of_workers(void **state)
{
    (void)state;
    uint64_t offset = 7;
    const PoolWork work = { .serve = square, .argument = &offset };
    for (unsigned workers = 0; workers <= 4; workers++) {
        Pool *pool = start(workers, &work);
        PoolAnswer answer;
        assert_false(pool_take(pool, -1, &answer));
        for (uint64_t i = 0; i < 100; i++)
            assert_int_equal(pool_give(pool, &i, sizeof i), i);
        for (uint64_t i = 0; i < 100; i++) {
            assert_true(pool_take(pool, -1, &answer));
            assert_int_equal(answer.job, i);
            assert_int_equal(answer.end, CHILD_DONE);
            assert_int_equal(*(const uint64_t *)g_bytes_get_data(answer.bytes, NULL), i * i + offset);
            g_bytes_unref(answer.bytes);
        }
        assert_false(pool_take(pool, -1, &answer));
        pool_free(pool);
    }
}

static GBytes *echo_doubled(void *argument, uint64_t job, const void *request, size_t bytes)
{
    (void)argument, (void)job;
    char *twice = g_malloc(2 * bytes);
    memcpy(twice, request, bytes);
    memcpy(twice + bytes, request, bytes);
    return g_bytes_new_take(twice, 2 * bytes);
}

static void large_requests_and_answers_pass_whole(void **state)
{
    (void)state;
    const size_t size = 5000000;
    g_autofree char *data = g_malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = (char)(i * 7);
    Pool *pool = start(2, &(PoolWork){ .serve = echo_doubled });
    for (int i = 0; i < 4; i++)
        pool_give(pool, data, size - i);
    pool_give(pool, NULL, 0);
    for (int i = 0; i < 5; i++) {
        PoolAnswer answer;
        gsize bytes = 0;
        assert_true(pool_take(pool, -1, &answer));
        const char *got = g_bytes_get_data(answer.bytes, &bytes);
        assert_int_equal(bytes, i == 4 ? 0 : 2 * (size - i));
        assert_true(bytes == 0 || memcmp(got + size - i, data, size - i) == 0);
        g_bytes_unref(answer.bytes);
    }
    pool_free(pool);
}

static void begin_with_own_memory(void *argument, ChildControl *control)
{
    (void)argument;
    g_assert(control != NULL && control->ended == CHILD_DONE);
    store_make_private(&remembered);
    served = 0;
}

/* What this worker served, and what it saw in the store. */
static GBytes *remember(void *argument, uint64_t job, const void *request, size_t bytes)
{
    (void)argument, (void)job;
    char *copy = store_push(&remembered, bytes);
    memcpy(copy, request, bytes);
    served++;
    return g_bytes_new(remembered.base, remembered.count);
}

static void a_worker_keeps_what_it_remembers_and_shares_it_with_nobody(void **state)
{
    (void)state;
    store_init(&remembered, 1, 1000);
    memcpy(store_push(&remembered, 2), "-:", 2);
    const PoolWork work = { .begin = begin_with_own_memory, .serve = remember };
    Pool *pool[] = { start(1, &work), start(1, &work) };
    memset(remembered.base, '!', 2);
    static const char *const TEXT[] = { "-:a", "-:x", "-:ab", "-:xy", "-:abc" };
    for (unsigned i = 0; i < 5; i++)
        pool_give(pool[i % 2], TEXT[i] + strlen(TEXT[i]) - 1, 1);
    for (unsigned i = 0; i < 5; i++) {
        PoolAnswer answer;
        gsize bytes = 0;
        assert_true(pool_take(pool[i % 2], -1, &answer));
        const char *seen = g_bytes_get_data(answer.bytes, &bytes);
        assert_int_equal(bytes, strlen(TEXT[i]));
        assert_memory_equal(seen, TEXT[i], bytes);
        g_bytes_unref(answer.bytes);
    }
    pool_free(pool[0]);
    pool_free(pool[1]);
    assert_memory_equal(remembered.base, "!!", 2);
    assert_int_equal(remembered.base[2], 0);
    store_clear(&remembered);
}

static GBytes *die_sometimes(void *argument, uint64_t job, const void *request, size_t bytes)
{
    (void)argument;
    if (job % 5 == 1)
        kill(getpid(), SIGKILL);
    if (job % 5 == 3)
        _exit(3);
    return g_bytes_new(request, bytes);
}

static void a_dead_worker_is_told_and_replaced(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 3; workers++) {
        Pool *pool = start(workers, &(PoolWork){ .serve = die_sometimes });
        for (uint64_t i = 0; i < 20; i++)
            pool_give(pool, &i, sizeof i);
        for (uint64_t i = 0; i < 20; i++) {
            PoolAnswer answer;
            assert_true(pool_take(pool, -1, &answer));
            assert_int_equal(answer.job, i);
            bool killed = i % 5 == 1, left = i % 5 == 3;
            assert_int_equal(answer.end, killed ? CHILD_CRASHED : left ? CHILD_EXITED : CHILD_DONE);
            assert_int_equal(answer.signal, killed ? SIGKILL : 0);
            assert_int_equal(answer.bytes == NULL, killed || left);
            g_bytes_unref(answer.bytes);
        }
        pool_free(pool);
    }
}

static GBytes *sleep_long(void *argument, uint64_t job, const void *request, size_t bytes)
{
    (void)argument, (void)job, (void)request, (void)bytes;
    g_usleep(60 * G_USEC_PER_SEC);
    return g_bytes_new(NULL, 0);
}

static void waiting_ends_in_time_and_so_do_the_workers(void **state)
{
    (void)state;
    gint64 start_time = g_get_monotonic_time();
    Pool *pool = start(2, &(PoolWork){ .serve = sleep_long });
    PoolAnswer answer;
    for (int i = 0; i < 3; i++)
        pool_give(pool, &i, sizeof i);
    assert_false(pool_take(pool, 0.05, &answer));
    assert_false(pool_take(pool, 0, &answer));
    pool_free(pool);
    assert_true(g_get_monotonic_time() - start_time < 30 * G_USEC_PER_SEC);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);       /* no child is left */
}

static void workers_die_with_their_parent(void **state)
{
    (void)state;
    int ends[2];
    char byte;
    gint64 start_time = g_get_monotonic_time();
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        char *error = NULL;
        Pool *pool = pool_new(2, &(PoolWork){ .serve = sleep_long }, &error);
        pool_give(pool, NULL, 0);
        close(ends[0]);
        _exit(pool == NULL);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);           /* closed by all who held it */
    close(ends[0]);
    assert_true(g_get_monotonic_time() - start_time < 30 * G_USEC_PER_SEC);
    int status = 0;
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_come_in_the_order_of_jobs_with_any_number_of_workers),
        cmocka_unit_test(large_requests_and_answers_pass_whole),
        cmocka_unit_test(a_worker_keeps_what_it_remembers_and_shares_it_with_nobody),
        cmocka_unit_test(a_dead_worker_is_told_and_replaced),
        cmocka_unit_test(waiting_ends_in_time_and_so_do_the_workers),
        cmocka_unit_test(workers_die_with_their_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
