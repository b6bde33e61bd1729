/* pool.c - a socket pair per worker; a frame is the number of the job, the number of bytes, the bytes.
 *
 * A worker reads one request, serves it and writes the answer, so both sides never write at the same time. Answers that come early are
 * kept until their turn.
 */
#include "pool_inside.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../model/sane.h"
#include "alone.h"

#define READY UINT64_MAX                        /* the number of the frame that says: begin is over */

typedef struct PoolFrame { uint64_t job, bytes; } PoolFrame;

static bool send_all(int socket, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent, bytes -= (size_t)sent;
    }
    return true;
}

static bool receive_all(int socket, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        ssize_t got = recv(socket, at, bytes, MSG_WAITALL);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got, bytes -= (size_t)got;
    }
    return true;
}

static bool send_frame(int socket, uint64_t job, GBytes *bytes)
{
    gsize size = 0;
    const void *data = g_bytes_get_data(bytes, &size);
    const PoolFrame frame = { job, size };
    return send_all(socket, &frame, sizeof frame) && send_all(socket, data, size);
}

/* NULL: the other side is gone. */
static GBytes *receive_frame(int socket, uint64_t *job)
{
    PoolFrame frame;
    if (!receive_all(socket, &frame, sizeof frame))
        return NULL;
    char *data = frame.bytes < SIZE_MAX ? g_try_malloc(frame.bytes + 1) : NULL;
    if (data == NULL || !receive_all(socket, data, frame.bytes)) {
        g_free(data);
        return NULL;
    }
    *job = frame.job;
    return g_bytes_new_take(data, frame.bytes);
}

static GBytes *serve(const Pool *pool, uint64_t job, GBytes *request)
{
    gsize bytes = 0;
    const void *data = g_bytes_get_data(request, &bytes);
    return pool->work.serve(pool->work.argument, job, data, bytes);
}

/* Output of kernels in workers is discarded: its order would be random. */
static G_GNUC_NORETURN void live_as_worker(Pool *pool, unsigned index, int socket, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)                    /* it died before the signal was set up */
        _exit(1);
    for (unsigned i = 0; i < pool->workers; i++)
        if (pool->worker[i].socket >= 0)
            close(pool->worker[i].socket);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    ChildControl *control = &STORE(ChildControl, &pool->controls, index);
    child_report_to(control);
    if (pool->work.begin != NULL)
        pool->work.begin(pool->work.argument, control);
    uint64_t job;
    g_autoptr(GBytes) nothing = g_bytes_new(NULL, 0);
    if (!send_frame(socket, READY, nothing))
        _exit(1);
    for (GBytes *request; (request = receive_frame(socket, &job)) != NULL;) {
        GBytes *answer = serve(pool, job, request);
        if (!send_frame(socket, job, answer))
            break;
        g_bytes_unref(answer);
        g_bytes_unref(request);
    }
    _exit(0);
}

static void end_worker(PoolWorker *worker, int *status)
{
    if (worker->socket < 0)
        return;
    close(worker->socket);
    kill(worker->pid, SIGKILL);
    while (waitpid(worker->pid, status, 0) < 0 && errno == EINTR)
        ;
    worker->socket = -1;
}

/* Returns when `begin` has returned: until then no other process writes to shared memory. */
static bool start_worker(Pool *pool, unsigned index)
{
    PoolWorker *worker = &pool->worker[index];
    int pair[2];
    worker->socket = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    ChildControl *control = &STORE(ChildControl, &pool->controls, index);
    control->ended = CHILD_DONE, control->core = NONE, control->pulse.running = NONE, control->progress = (Progress){ 0 };
    fflush(NULL);
    pid_t parent = getpid();
    worker->pid = alone_fork();
    if (worker->pid == 0) {
        close(pair[0]);
        live_as_worker(pool, index, pair[1], parent);
    }
    int failure = errno;
    close(pair[1]);
    if (worker->pid < 0) {
        close(pair[0]);
        errno = failure;
        return false;
    }
    worker->socket = pair[0];
    uint64_t number;
    GBytes *ready = receive_frame(worker->socket, &number);
    if (ready == NULL) {
        end_worker(worker, NULL);
        errno = ECHILD;
    }
    g_bytes_unref(ready);
    return worker->socket >= 0;
}

Pool *pool_new(unsigned workers, const PoolWork *work, char **error)
{
    Pool *pool = g_new0(Pool, 1);
    pool->work = *work, pool->workers = workers;
    pool->worker = g_new0(PoolWorker, MAX(workers, 1));
    g_queue_init(&pool->order);
    g_queue_init(&pool->waiting);
    store_init(&pool->controls, sizeof(ChildControl), MAX(workers, 1));
    store_push(&pool->controls, MAX(workers, 1));
    for (unsigned i = 0; i < workers; i++)
        pool->worker[i].socket = -1;
    for (unsigned i = 0; i < workers; i++)
        if (!start_worker(pool, i)) {
            *error = g_strdup_printf("cannot start a worker process: %s", g_strerror(errno));
            pool_free(pool);
            return NULL;
        }
    if (workers == 0 && work->begin != NULL)
        work->begin(work->argument, &STORE(ChildControl, &pool->controls, 0));
    return pool;
}

static void free_job(gpointer data)
{
    Job *job = data;
    g_bytes_unref(job->request);
    g_bytes_unref(job->answer.bytes);
    g_free(job);
}

void pool_free(Pool *pool)
{
    for (unsigned i = 0; i < pool->workers; i++) {
        end_worker(&pool->worker[i], NULL);
    }
    g_queue_clear(&pool->waiting);
    g_queue_clear_full(&pool->order, free_job);
    store_clear(&pool->controls);
    g_free(pool->worker);
    g_free(pool);
}

static void answer_with_death(Pool *pool, unsigned index)
{
    PoolWorker *worker = &pool->worker[index];
    const ChildControl *control = &STORE(ChildControl, &pool->controls, index);
    PoolAnswer *answer = &worker->job->answer;
    int status = 0;
    bool lived = worker->socket >= 0;
    end_worker(worker, &status);
    answer->core = lived ? control->core : NONE;
    answer->end = CHILD_EXITED;
    if (lived && control->ended != CHILD_DONE) {
        answer->end = (ChildEnd)control->ended, answer->signal = control->signal;
    } else if (lived && WIFSIGNALED(status)) {  /* a signal that no handler saw */
        answer->end = CHILD_CRASHED, answer->signal = WTERMSIG(status), answer->core = control->pulse.running;
    }
    worker->job->answered = true;
    worker->job = NULL;
    start_worker(pool, index);
}

/* Gives an idle worker its next job; if the worker is dead, its death is the answer. */
static void hand_over(Pool *pool, PoolWorker *worker)
{
    while (worker->job == NULL) {
        worker->job = g_queue_pop_head(&pool->waiting);
        if (worker->job == NULL)
            return;
        if (worker->socket < 0 || !send_frame(worker->socket, worker->job->number, worker->job->request))
            answer_with_death(pool, (unsigned)(worker - pool->worker));
    }
}

uint64_t pool_give(Pool *pool, const void *request, size_t bytes)
{
    Job *job = g_new0(Job, 1);
    job->number = job->answer.job = pool->given++;
    job->request = g_bytes_new(request, bytes);
    job->answer.core = NONE;
    g_queue_push_tail(&pool->order, job);
    if (pool->workers == 0)
        return job->number;
    g_queue_push_tail(&pool->waiting, job);
    for (unsigned i = 0; i < pool->workers; i++)
        hand_over(pool, &pool->worker[i]);
    SANE_NOW_AND_THEN(pool->given, pool_assert_sane(pool));
    return job->number;
}

static void receive_answer(Pool *pool, unsigned index)
{
    PoolWorker *worker = &pool->worker[index];
    uint64_t number = 0;
    GBytes *bytes = receive_frame(worker->socket, &number);
    if (bytes == NULL || number != worker->job->number) {       /* dead, or its kernel wrote to the socket */
        g_bytes_unref(bytes);
        answer_with_death(pool, index);
    } else {
        worker->job->answer.bytes = bytes;
        worker->job->answered = true;
        worker->job = NULL;
    }
    hand_over(pool, worker);
}

/* false: nothing came in time. */
static bool wait_for_any(Pool *pool, gint64 until)
{
    struct pollfd *poll_of = g_newa(struct pollfd, pool->workers);
    for (unsigned i = 0; i < pool->workers; i++)
        poll_of[i] = (struct pollfd){ .fd = pool->worker[i].job ? pool->worker[i].socket : -1, .events = POLLIN };
    gint64 left = until < 0 ? -1 : MAX(until - g_get_monotonic_time(), 0);
    int ready = poll(poll_of, pool->workers, left < 0 ? -1 : (int)MIN((left + 999) / 1000, G_MAXINT));
    if (ready == 0)
        return false;
    for (unsigned i = 0; ready > 0 && i < pool->workers; i++)
        if (poll_of[i].revents != 0)
            receive_answer(pool, i);
    return true;
}

bool pool_take(Pool *pool, double seconds, PoolAnswer *answer)
{
    Job *first = g_queue_peek_head(&pool->order);
    gint64 until = seconds < 0 ? -1 : g_get_monotonic_time() + (gint64)(seconds * 1e6);
    if (first == NULL)
        return false;
    if (pool->workers == 0) {
        first->answer.bytes = serve(pool, first->number, first->request);
        first->answered = true;
    }
    while (!first->answered)
        if (!wait_for_any(pool, until))
            return false;
    g_queue_pop_head(&pool->order);
    *answer = first->answer;
    first->answer.bytes = NULL;
    free_job(first);
    SANE_NOW_AND_THEN(pool->order.length, pool_assert_sane(pool));
    return true;
}

static unsigned owners_of(const Pool *pool, const Job *job)
{
    unsigned owners = g_queue_find((GQueue *)&pool->waiting, job) != NULL;
    for (unsigned i = 0; i < pool->workers; i++)
        owners += pool->worker[i].job == job;
    return owners;
}

/* Invariants 1 and 2; and no worker is idle while a job waits. */
void pool_assert_sane(const Pool *pool)
{
    uint64_t number = pool->given - pool->order.length, open = 0;
    for (const GList *at = pool->order.head; at != NULL; at = at->next, number++) {
        const Job *job = at->data;
        g_assert(job->number == number && job->answer.job == number);
        g_assert(pool->workers == 0 || owners_of(pool, job) == !job->answered);
        open += !job->answered;
    }
    for (unsigned i = 0; i < pool->workers; i++) {
        g_assert(pool->worker[i].job != NULL || pool->waiting.length == 0);
        open -= pool->worker[i].job != NULL;
    }
    g_assert(pool->workers == 0 || open == pool->waiting.length);
}
