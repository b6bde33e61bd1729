/* child.c - fork, handlers, pipes.
 *
 * Handlers run on a stack of their own and only write a few words of shared memory before _exit. Standard output of the child goes to a
 * memory file.
 */
#include "child.h"
#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../model/spin.h"
#include "../../model/store.h"
#include "../facts/limits.h"
#include "alone.h"
#include "globals.h"

enum { HANDLER_STACK = 65536, OUTPUT_READ = 1 << 20, OUTPUT_MANY = 8 << 20 };       /* bytes */
static const double LOOK_SECONDS = 0.1;         /* between two polls of a working child */
static const double GRACE_SECONDS = 1, GRACE_SHARE = 0.03;      /* to end after being told to stop; more after a long search */
static const double GRACE_INTERRUPTED = 0.4;    /* somebody waits */

static ChildControl *own_control;
static const CoroPool *watched;

void child_watch_stacks(const CoroPool *pool)
{
    watched = pool;
}

bool child_told_to_stop(void)
{
    return own_control != NULL && progress_stop(&own_control->progress) != NULL;
}

static void end_on(ChildEnd end, uint32_t core)
{
    own_control->core = core;
    own_control->ended = end;
    _exit(1);
}

static void end_with(ChildEnd end)
{
    end_on(end, core_running ? core_running->id : NONE);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    (void)context;
    uint32_t slot;
    if (number == SIGSEGV && globals_on_fault(info->si_addr))
        return;
    own_control->signal = number;
    if (number == SIGSYS)
        end_with(CHILD_NOT_ALONE);
    own_control->address = (uint64_t)(uintptr_t)info->si_addr;
    end_with(number == SIGSEGV && watched && coro_in_guard(watched, info->si_addr, &slot) ? CHILD_OVERFLOWED : CHILD_CRASHED);
}

static void on_spin(const Core *core)
{
    end_on(CHILD_SPINS, core->id);
}

static void on_exit_called(void)
{
    if (own_control != NULL)
        end_with(CHILD_EXITED);
}

static void on_memory(const char *what)
{
    own_control->exhausted = what;
    end_with(CHILD_OUT_OF_MEMORY);
}

/* GLib reports failed allocations only by its log. */
static void on_log(const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
    if (message != NULL && strstr(message, "failed to allocate") != NULL)
        on_memory("the system had none left");
    g_log_default_handler(domain, level, message, data);
}

struct ThreadStack { char bytes[HANDLER_STACK] __attribute__((aligned(16))); stack_t before; };

ThreadStack *child_begin_thread(void)
{
    if (own_control == NULL)
        return NULL;                            /* no handlers here */
    ThreadStack *stack = g_new(ThreadStack, 1);
    sigaltstack(&(stack_t){ .ss_sp = stack->bytes, .ss_size = HANDLER_STACK }, &stack->before);
    return stack;
}

void child_end_thread(ThreadStack *stack)
{
    if (stack == NULL)
        return;
    sigaltstack(&stack->before, NULL);
    g_free(stack);
}

static void install_handlers(void)
{
    static char stack[HANDLER_STACK] __attribute__((aligned(16)));
    sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof stack }, NULL);
    struct sigaction crash = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK };
    static const int CRASHES[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };
    for (size_t i = 0; i < G_N_ELEMENTS(CRASHES); i++)
        sigaction(CRASHES[i], &crash, NULL);
    signal(SIGINT, SIG_IGN);                    /* the parent decides what an interruption means */
    signal(SIGTERM, SIG_IGN);
    spin_met = on_spin;
    atexit(on_exit_called);
    store_set_limit(0, on_memory);
    g_log_set_default_handler(on_log, NULL);
}

void child_report_to(ChildControl *control)
{
    if (own_control != NULL)
        own_control = control;
}

static void serve_requests(Child *child, ChildServe serve, void *argument, int in, int out)
{
    char request = 0;
    own_control = child->control;
    alone_begin();
    prctl(PR_SET_PDEATHSIG, SIGKILL);           /* an interrupted parent leaves nothing running */
    install_handlers();
    do {
        serve(child->control, argument, request);
        fflush(stdout);
        if (write(out, "d", 1) != 1)
            break;
    } while (read(in, &request, 1) == 1);
    _exit(0);
}

bool child_start(Child *child, ChildControl *control, ChildServe serve, void *argument, char **error)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    *child = (Child){ .control = control, .output = memfd_create("heddle-output", MFD_CLOEXEC) };
    control->ended = CHILD_DONE, control->core = NONE, control->pulse.running = NONE, control->progress = (Progress){ 0 };
    control->phase = PHASE_LOAD, control->exhausted = NULL;
    if (child->output < 0 || pipe(to) != 0 || pipe(from) != 0) {
        *error = g_strdup_printf("cannot start a child process: %s", g_strerror(errno));
        return false;
    }
    fflush(NULL);
    child->pid = fork();
    if (child->pid < 0) {
        *error = g_strdup_printf("cannot start a child process: %s", g_strerror(errno));
        return false;
    }
    if (child->pid == 0) {
        close(to[1]);
        close(from[0]);
        dup2(child->output, STDOUT_FILENO);
        dup2(child->output, STDERR_FILENO);
        serve_requests(child, serve, argument, to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    child->to = to[1], child->from = from[0];
    return true;
}

/* An answer, or a death, came within the time. */
static bool comes_within(const Child *child, double seconds)
{
    struct pollfd answer = { .fd = child->from, .events = POLLIN };
    return poll(&answer, 1, seconds < 0 ? -1 : (int)(seconds * 1000) + 1) > 0;
}

static void tell_to_stop(Child *child, const ChildWatch *watch, double seconds)
{
    volatile int *stop = &child->control->progress.stop;
    if (*stop == STOP_NOT && watch->interrupted != NULL && watch->interrupted())
        *stop = STOP_INTERRUPT;
    if (*stop == STOP_NOT && watch->seconds_max > 0 && seconds >= watch->seconds_max)
        *stop = STOP_TIME;
}

static double grace(const ChildControl *control, double told)
{
    if (control->phase < PHASE_SEARCH)
        return 0;
    return control->progress.stop == STOP_INTERRUPT ? GRACE_INTERRUPTED : GRACE_SECONDS + told * GRACE_SHARE;
}

/* A memory file is memory that no process holds. Of what is printed only the beginning is ever read. */
static void cut_output(const Child *child)
{
    struct stat state;
    if (fstat(child->output, &state) == 0 && (size_t)state.st_blocks * 512 > OUTPUT_MANY)
        (void)!ftruncate(child->output, OUTPUT_READ);
}

/* Before a search says how far it is. */
static void count_steps(ChildControl *control)
{
    if (control->progress.kind > PROGRESS_STEPS || control->pulse.operations == 0)
        return;
    control->progress.kind = PROGRESS_STEPS;
    control->progress.done = control->pulse.operations;
}

/* false: it was told to stop, and is given up. */
static bool watch_over(Child *child, const ChildWatch *watch)
{
    const gint64 start = g_get_monotonic_time();
    double told = -1, seconds = 0;
    while (!comes_within(child, watch->seconds_max > seconds ? MIN(LOOK_SECONDS, watch->seconds_max - seconds) : LOOK_SECONDS)) {
        seconds = (double)(g_get_monotonic_time() - start) / 1e6;
        tell_to_stop(child, watch, seconds);
        cut_output(child);
        if (child->control->progress.stop != STOP_NOT && told < 0)
            told = seconds;
        if (told >= 0 && seconds - told >= grace(child->control, told))
            return false;
        count_steps(child->control);
        if (watch->tick != NULL)
            watch->tick(&child->control->progress, seconds, watch->data);
    }
    return true;
}

void child_tell_phase(const ChildWatch *watch, const char *what)
{
    Progress progress = { 0 };
    progress_phase(&progress, what);
    if (watch != NULL && watch->tick != NULL)
        watch->tick(&progress, 0, watch->data);
}

ChildEnd child_wait(Child *child, const ChildWatch *watch)
{
    char byte;
    if (watch == NULL)
        while (!comes_within(child, -1))
            ;
    else if (!watch_over(child, watch))
        return CHILD_TIMED_OUT;
    if (read(child->from, &byte, 1) == 1)
        return CHILD_DONE;
    int status = 0;
    pid_t pid = child->pid;
    if (child->pid > 0 && waitpid(child->pid, &status, 0) == child->pid)
        child->pid = -1;
    if (child->control->ended != CHILD_DONE)
        return child->control->ended;
    if (limits_killed(pid))
        return CHILD_OUT_OF_MEMORY;
    child->control->core = child->control->pulse.running;
    if (!WIFSIGNALED(status))
        return CHILD_EXITED;                    /* _exit, which runs no handler */
    child->control->signal = WTERMSIG(status);  /* that no handler saw */
    if (WTERMSIG(status) == SIGSYS)
        return CHILD_NOT_ALONE;                 /* the C library held signals off meanwhile */
    return CHILD_CRASHED;
}

void child_ask(Child *child, char request)
{
    ssize_t written = write(child->to, &request, 1);
    (void)written;                              /* a dead child is seen by the wait that follows */
}

static char *read_output(int output)
{
    off_t bytes = lseek(output, 0, SEEK_END);
    if (bytes <= 0)
        return NULL;
    bytes = MIN(bytes, OUTPUT_READ);
    g_autofree char *text = g_malloc0((size_t)bytes + 1);
    if (pread(output, text, (size_t)bytes, 0) != bytes)
        return NULL;
    return g_utf8_make_valid(text, -1);
}

char *child_end(Child *child)
{
    close(child->to);
    if (child->pid > 0) {
        kill(child->pid, SIGKILL);
        waitpid(child->pid, NULL, 0);
    }
    close(child->from);
    char *text = read_output(child->output);
    close(child->output);
    return text;
}

char *child_name_phase(const ChildControl *control, const char *module, const char *program)
{
    switch ((ChildPhase)control->phase) {
    case PHASE_LOAD:
        return g_strdup_printf("the constructors of %s", module);
    case PHASE_PROGRAM:
        return g_strdup_printf("PROGRAM(%s)", program);
    case PHASE_RUN:
        return g_strdup("the recorded run");
    case PHASE_AGAIN:
        return g_strdup("the second run, which the first is compared with,");
    case PHASE_SEARCH:
        return g_strdup("the search");
    case PHASE_REPLAY:
        return g_strdup("the replay of what was found");
    case CHILD_PHASES:
        break;
    }
    return g_strdup("the check");               /* user code may have written there */
}

char *child_tell_limit(const ChildControl *control, ChildEnd end, const char *module, const char *program, double seconds)
{
    g_autofree char *phase = child_name_phase(control, module, program), *in = g_strdup_printf("in %s", phase);
    bool whose = control->phase == PHASE_LOAD || control->phase == PHASE_PROGRAM;
    g_strchomp(in);
    if (g_str_has_suffix(in, ","))
        in[strlen(in) - 1] = '\0';
    if (end == CHILD_OUT_OF_MEMORY && control->exhausted != NULL)
        return g_strdup_printf("memory: %s %s", control->exhausted, in);
    if (end == CHILD_OUT_OF_MEMORY)
        return limits_tell_memory(in);
    if (control->progress.stop == STOP_INTERRUPT)
        return g_strdup_printf("interrupt: %s", in);
    return g_strdup_printf("time: %s did not %s within %g s", phase, whose ? "return" : "end", seconds);
}

const char *child_describe_signal(int number)
{
    switch (number) {
    case SIGSEGV:
        return "segmentation fault (an address outside its memory)";
    case SIGBUS:
        return "bus error";
    case SIGILL: case SIGTRAP:
        return "trap (an array index out of range, or undefined behaviour)";
    case SIGFPE:
        return "arithmetic fault (division by zero)";
    case SIGABRT:
        return "abort (a failed assertion, or a smashed stack)";
    default:
        return g_strsignal(number);
    }
}
