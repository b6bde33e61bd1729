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

/* Besides outcome: verdict, error, warning, results checked?, seconds, peak bytes, captured, results, advice (id, message, places),
 * tried. */
#define RESULT "(imsmsbdtmsmaya(imsay)mas)"

/* In shared memory. */
typedef struct Answer {
    Store home, outcome, rest;                  /* this struct; from outcome_save; a GVariant RESULT */
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

static GVariant *optional_text(const char *text)
{
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    return g_variant_new("ms", valid);
}

static GVariant *optional_bytes(GBytes *bytes)
{
    return g_variant_new_maybe(G_VARIANT_TYPE("ay"), bytes ? g_variant_new_from_bytes(G_VARIANT_TYPE("ay"), bytes, TRUE) : NULL);
}

static GVariant *advice_to_variant(const GPtrArray *advice)
{
    GVariantBuilder list;
    g_variant_builder_init(&list, G_VARIANT_TYPE("a(imsay)"));
    for (guint i = 0; i < advice->len; i++) {
        const Advice *one = g_ptr_array_index(advice, i);
        GVariant *places = g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, one->place, one->places * sizeof *one->place, 1);
        g_variant_builder_add(&list, "(i@ms@ay)", (gint32)one->id, optional_text(one->message), places);
    }
    return g_variant_builder_end(&list);
}

static GVariant *tried_to_variant(const GPtrArray *tried)
{
    if (tried == NULL)
        return g_variant_new_maybe(G_VARIANT_TYPE("as"), NULL);
    return g_variant_new_maybe(NULL, g_variant_new_strv((const char *const *)tried->pdata, tried->len));
}

static void save_result(const CheckResult *result, Made *made)
{
    g_autoptr(GVariant) rest = g_variant_ref_sink(g_variant_new("(i@ms@msbdt@ms@may@a(imsay)@mas)", (gint32)result->verdict,
        optional_text(result->error), optional_text(result->warning), result->results_checked, result->seconds,
        (guint64)result->peak_bytes, optional_text(result->captured), optional_bytes(result->results), advice_to_variant(result->advice),
        tried_to_variant(result->tried)));
    if (result->outcome != NULL)
        outcome_save(result->outcome, &made->answer->outcome);
    g_variant_store(rest, store_push(&made->answer->rest, g_variant_get_size(rest)));
}

static void load_advice(GPtrArray *advice, GVariant *list)
{
    g_ptr_array_set_size(advice, 0);
    for (gsize i = 0; i < g_variant_n_children(list); i++) {
        gint32 id;
        g_autoptr(GVariant) places = NULL;
        Advice *one = g_new0(Advice, 1);
        g_variant_get_child(list, i, "(ims@ay)", &id, &one->message, &places);
        one->id = (AdviceId)id, one->places = (unsigned)(g_variant_get_size(places) / sizeof *one->place);
        if (one->places > 0)
            memcpy(one->place, g_variant_get_data(places), one->places * sizeof *one->place);
        g_ptr_array_add(advice, one);
    }
}

static void load_result(CheckResult *result, const Made *made)
{
    g_autoptr(GBytes) bytes = g_bytes_new(made->answer->rest.base, made->answer->rest.count);
    g_autoptr(GVariant) rest = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(RESULT), bytes, TRUE));
    g_autoptr(GVariant) results = NULL, advice = NULL, tried = NULL;
    gint32 verdict;
    guint64 peak;
    gboolean results_checked;
    g_variant_get(rest, "(imsmsbdtms@may@a(imsay)@mas)", &verdict, &result->error, &result->warning, &results_checked, &result->seconds,
                  &peak, &result->captured, &results, &advice, &tried);
    result->verdict = (Verdict)verdict, result->results_checked = results_checked, result->peak_bytes = peak;
    g_autoptr(GVariant) array = g_variant_get_maybe(results), words = g_variant_get_maybe(tried);
    result->results = array ? g_variant_get_data_as_bytes(array) : NULL;
    load_advice(result->advice, advice);
    if (words != NULL)
        result->tried = g_ptr_array_new_with_free_func(g_free);
    for (gsize i = 0; words != NULL && i < g_variant_n_children(words); i++) {
        char *text;
        g_variant_get_child(words, i, "s", &text);
        g_ptr_array_add(result->tried, text);
    }
    if (made->answer->outcome.count > 0)
        result->outcome = outcome_load(&made->answer->outcome);
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
    if (made->answer->rest.count > 0) {
        load_result(made->result, made);
        if (ended_for_memory(made->result) && !interrupt_requested())
            make_again_here(queue, made);
        return;
    }
    made->result->verdict = VERDICT_ERROR;
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
