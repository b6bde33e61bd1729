/* check_queue.c - up to `workers` processes. Finished checks wait for their turn, so that a long check does not hold up later ones.
 *
 * A pipe to each process, to which nobody writes, closes when the process ends.
 */
#include "check_queue.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../facts/outcome.h"
#include "check.h"
#include "check_parts.h"
#include "interrupt.h"
#include "worker.h"

enum { AHEAD = 8 };                             /* times `workers`: the most checks that are started and not yet returned */

/* In shared memory. */
typedef struct Answer {
    Store home, outcome, rest;                  /* this struct; from outcome_save; of carry_rest */
    bool elsewhere;                             /* the result has a program that only that process has: repeat the check here */
} Answer;

typedef struct Made {
    const CheckSpec *spec;
    CheckResult *result;                        /* NULL: not started */
    WorkerShared *shared;
    Answer *answer;
    pid_t pid;                                  /* 0: no process */
    bool short_of_memory;                       /* it, or its child, was killed while others used memory too */
    int ended;                                  /* read end of its pipe */
} Made;

struct CheckQueue {
    unsigned workers, running, added;
    CheckFinish finish;
    const void *data;
    GQueue all;                                 /* of Made, not yet returned, in order */
};

static Answer *answer_new(void)
{
    Store home;
    store_init(&home, sizeof(Answer), 1);
    Answer *answer = store_push(&home, 1);
    answer->home = home;
    store_init(&answer->outcome, 1, (size_t)1 << 34);
    store_init(&answer->rest, 1, (size_t)1 << 36);
    return answer;
}

static void answer_free(Answer *answer)
{
    store_clear(&answer->outcome);
    store_clear(&answer->rest);
    Store home = answer->home;
    store_clear(&home);
}

CheckQueue *check_queue_new(unsigned workers, CheckFinish finish, const void *data)
{
    CheckQueue *queue = g_new0(CheckQueue, 1);
    queue->workers = workers, queue->finish = finish, queue->data = data;
    g_queue_init(&queue->all);
    return queue;
}

void check_queue_add(CheckQueue *queue, const CheckSpec *spec)
{
    Made *made = g_new0(Made, 1);
    made->spec = spec;
    g_queue_push_tail(&queue->all, made);
    queue->added++;
}

static void carry_advice(Codec *codec, Advice *advice)
{
    CODEC_PLAIN(codec, advice->id);
    codec_text(codec, &advice->message);
    CODEC_PLAIN(codec, advice->places);
    CODEC_PLAIN(codec, advice->place);
}

static void carry_inputs(Codec *codec, InputTally **inputs)
{
    bool many = *inputs != NULL;
    codec_bool(codec, &many);
    if (many && *inputs == NULL)
        *inputs = g_new0(InputTally, 1);
    if (many)
        CODEC_PLAIN(codec, **inputs);
}

static void carry_rest(Codec *codec, CheckResult *result)
{
    CODEC_PLAIN(codec, result->verdict);
    codec_text(codec, &result->error);
    codec_text(codec, &result->warning);
    codec_bool(codec, &result->results_checked);
    CODEC_PLAIN(codec, result->seconds);
    CODEC_PLAIN(codec, result->peak_bytes);
    codec_text(codec, &result->captured);
    codec_bytes(codec, &result->results);
    carry_inputs(codec, &result->inputs);
    repairs_carry(codec, &result->tried);
    uint64_t advice = codec_count(codec, result->advice->len);
    for (uint64_t i = 0; i < advice && !codec->bad; i++) {
        if (codec_reads(codec))
            g_ptr_array_add(result->advice, g_new0(Advice, 1));
        carry_advice(codec, g_ptr_array_index(result->advice, i));
    }
}

static void save_result(CheckResult *result, Made *made)
{
    if (result->outcome != NULL)
        outcome_save(result->outcome, &made->answer->outcome);
    Codec codec = codec_to_store(&made->answer->rest);
    carry_rest(&codec, result);
}

/* false: the process died before the end of it. */
static bool load_result(CheckResult *result, const Made *made)
{
    g_ptr_array_set_size(result->advice, 0);
    Codec codec = codec_from(made->answer->rest.base, made->answer->rest.count);
    carry_rest(&codec, result);
    if (made->answer->outcome.count > 0)
        result->outcome = outcome_load(&made->answer->outcome);
    return codec_is_over(&codec);
}

static CheckResult *make_here(const CheckQueue *queue, const CheckSpec *spec)
{
    CheckResult *result = check_run(spec);
    if (queue->finish != NULL)
        queue->finish(result, queue->data);
    return result;
}

static G_GNUC_NORETURN void make_in_child(const CheckQueue *queue, Made *made, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)                    /* the parent died before prctl */
        _exit(1);
    CheckSpec spec = *made->spec;
    spec.watch = NULL;                          /* only the main process shows progress */
    spec.workers = MAX(queue->workers / queue->added, 1);
    spec.limits.memory /= MIN(queue->workers, queue->added);
    made->result->spec = made->shared->spec = &spec;
    check_complete(made->result, made->shared);
    if (queue->finish != NULL)
        queue->finish(made->result, queue->data);
    made->answer->elsewhere = made->result->program != made->shared->program;
    save_result(made->result, made);
    _exit(0);
}

static void begin(CheckQueue *queue, Made *made)
{
    int ends[2];
    made->result = check_begin(made->spec, &made->shared);
    made->answer = answer_new();
    if (pipe(ends) != 0)
        return;
    fflush(NULL);
    pid_t parent = getpid();
    made->pid = fork();
    if (made->pid == 0) {
        close(ends[0]);
        make_in_child(queue, made, parent);
    }
    close(ends[1]);
    made->ended = ends[0];
    if (made->pid < 0) {
        close(ends[0]);
        made->pid = 0;
        return;
    }
    limits_keep(made->pid);
    queue->running++;
}

static void end(CheckQueue *queue, Made *made)
{
    close(made->ended);
    while (waitpid(made->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    made->short_of_memory = limits_killed(made->pid);
    limits_keep_no_more(made->pid);
    made->pid = 0;
    queue->running--;
}

static void begin_more(CheckQueue *queue)
{
    guint ahead = 0;
    for (GList *at = queue->all.head; at != NULL && queue->running < queue->workers && ahead++ < queue->workers * AHEAD; at = at->next) {
        Made *made = at->data;
        if (made->result == NULL)
            begin(queue, made);
    }
}

/* Waits until a process has ended. */
static void wait_for_one(CheckQueue *queue)
{
    g_autofree struct pollfd *poll_of = g_new(struct pollfd, queue->running);
    g_autofree Made **of = g_new(Made *, queue->running);
    nfds_t count = 0;
    for (GList *at = queue->all.head; at != NULL && count < queue->running; at = at->next)
        if (((Made *)at->data)->pid > 0) {
            of[count] = at->data;
            poll_of[count] = (struct pollfd){ .fd = of[count]->ended, .events = POLLIN };
            count++;
        }
    if (poll(poll_of, count, -1) > 0)
        for (nfds_t i = 0; i < count; i++)
            if (poll_of[i].revents != 0)
                end(queue, of[i]);
}

static void make_again_here(CheckQueue *queue, Made *made)
{
    while (queue->running > 0)
        wait_for_one(queue);
    check_result_free(made->result);
    made->result = make_here(queue, made->spec);
}

static bool ended_for_memory(const CheckResult *result)
{
    for (guint i = 0; result->outcome != NULL && i < result->outcome->limits->len; i++)
        if (strcmp(g_ptr_array_index(result->outcome->limits, i), "memory") == 0)
            return true;
    return false;
}

/* A check that ran out of memory beside others is repeated alone. If its process died before saving the result, that is an error. */
static void conclude(CheckQueue *queue, Made *made)
{
    if (made->answer->elsewhere || made->short_of_memory) {
        make_again_here(queue, made);
        return;
    }
    if (load_result(made->result, made)) {
        if (ended_for_memory(made->result) && !interrupt_requested())
            make_again_here(queue, made);
        return;
    }
    made->result->verdict = VERDICT_ERROR;
    g_free(made->result->error);
    made->result->error = g_strdup("internal error: the process that made this check died; -j 1 makes it here");
}

static void free_made(Made *made)
{
    if (made->shared != NULL) {
        worker_shared_free(made->shared);
        answer_free(made->answer);
    }
    g_free(made);
}

CheckResult *check_queue_next(CheckQueue *queue)
{
    Made *first = g_queue_peek_head(&queue->all);
    CheckResult *result;
    if (queue->workers <= 1 || queue->added == 1) {
        result = make_here(queue, first->spec);
    } else {
        begin_more(queue);
        while (first->pid > 0) {
            wait_for_one(queue);
            begin_more(queue);
        }
        conclude(queue, first);
        result = first->result;
    }
    g_queue_pop_head(&queue->all);
    free_made(first);
    return result;
}

void check_queue_free(CheckQueue *queue)
{
    if (queue == NULL)
        return;
    for (Made *made; (made = g_queue_pop_head(&queue->all)) != NULL; free_made(made)) {
        if (made->pid > 0) {
            kill(made->pid, SIGKILL);
            end(queue, made);
        }
        if (made->result != NULL)
            check_result_free(made->result);
    }
    g_free(queue);
}
