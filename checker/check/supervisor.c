/* supervisor.c - a loop: sleep until a signal or the next measurement, then measure the memory of all processes below.
 *
 * /proc/PID/statm is cheap, but counts a shared page once for each process. Only when that sum nears the limit is smaps_rollup read, which
 * divides shared pages among their processes. The interval shrinks near the limit, because memory can grow by RATE_MAX.
 */
#include "supervisor.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../facts/limits.h"
#include "exit_code.h"
#include "interrupt.h"

enum { PROCESSES_MAX = 4096, URGENT = -10 };
static const double RATE_MAX = 5e9;             /* bytes a second: the fastest growth */
static const double LOOK_LEAST = 0.001, LOOK_MOST = 0.1;       /* seconds between two measurements */
static const double TELL_SHARE = 0.85, KILL_SHARE = 0.94;       /* of the limit */
static const double INSIST_SECONDS = 0.75, KILL_SECONDS = 2;    /* after a forwarded signal: repeat it, kill */

typedef struct Process { pid_t id; size_t bytes; } Process;

typedef struct Supervisor {
    pid_t main;
    LimitsShared *limits;
    size_t page;
    pid_t parent;                               /* the supervisor ends when it does; 0: none */
    Process process[PROCESSES_MAX];
    unsigned processes;
    double asked, insisted;                     /* when main was first signalled, and again; 0: not */
    double dying;                               /* when limits->killed was killed */
    bool paused;                                /* the others are stopped, so that they do not take the memory that it frees */
} Supervisor;

static double now(void)
{
    return (double)g_get_monotonic_time() / 1e6;
}

/* The beginning of a small file of /proc; empty if there is none. */
static void read_small(const char *path, char *text, size_t bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, bytes - 1);
    text[MAX(got, 0)] = '\0';
    if (file >= 0)
        close(file);
}

static size_t cheap_bytes(const Supervisor *supervisor, pid_t id)
{
    char path[64], text[256];
    size_t all, resident = 0;
    g_snprintf(path, sizeof path, "/proc/%d/statm", id);
    read_small(path, text, sizeof text);
    return sscanf(text, "%zu %zu", &all, &resident) == 2 ? resident * supervisor->page : 0;
}

static size_t exact_bytes(pid_t id)
{
    char path[64], text[2048];
    g_snprintf(path, sizeof path, "/proc/%d/smaps_rollup", id);
    read_small(path, text, sizeof text);
    const char *share = strstr(text, "\nPss:");
    return share ? (size_t)g_ascii_strtoull(share + strlen("\nPss:"), NULL, 10) * 1024 : 0;
}

static void find_below(Supervisor *supervisor, pid_t id)
{
    char folder[64];
    g_snprintf(folder, sizeof folder, "/proc/%d/task", id);
    DIR *tasks = opendir(folder);
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char path[400], text[16384];
        if (task->d_name[0] == '.')
            continue;
        g_snprintf(path, sizeof path, "%s/%s/children", folder, task->d_name);
        read_small(path, text, sizeof text);
        for (char *at = text; g_ascii_isdigit(*at) && supervisor->processes < PROCESSES_MAX; at += strspn(at, " ")) {
            pid_t child = (pid_t)strtol(at, &at, 10);
            supervisor->process[supervisor->processes++].id = child;
            find_below(supervisor, child);
        }
    }
    if (tasks != NULL)
        closedir(tasks);
}

static size_t measure(Supervisor *supervisor, bool exact)
{
    size_t sum = 0;
    for (unsigned i = 0; i < supervisor->processes; i++) {
        Process *process = &supervisor->process[i];
        process->bytes = exact ? exact_bytes(process->id) : cheap_bytes(supervisor, process->id);
        sum += process->bytes;
    }
    return sum;
}

static bool is_keeper(const Supervisor *supervisor, pid_t id)
{
    for (unsigned i = 0; i < LIMITS_KEEPERS; i++)
        if (supervisor->limits->keeper[i] == id)
            return true;
    return false;
}

static bool is_below(const Supervisor *supervisor, pid_t id)
{
    for (unsigned i = 0; i < supervisor->processes; i++)
        if (supervisor->process[i].id == id && supervisor->process[i].bytes > 0)
            return true;
    return false;
}

/* The largest process; a keeper only if it has more than half of all memory. */
static pid_t find_largest(const Supervisor *supervisor, size_t sum)
{
    const Process *all = NULL, *other = NULL;
    for (unsigned i = 0; i < supervisor->processes; i++) {
        const Process *process = &supervisor->process[i];
        if (all == NULL || process->bytes > all->bytes)
            all = process;
        if (!is_keeper(supervisor, process->id) && (other == NULL || process->bytes > other->bytes))
            other = process;
    }
    return all->bytes > sum / 2 || other == NULL ? all->id : other->id;
}

static void pause_others(Supervisor *supervisor, bool pause)
{
    for (unsigned i = 0; i < supervisor->processes; i++)
        if (!is_keeper(supervisor, supervisor->process[i].id))
            kill(supervisor->process[i].id, pause ? SIGSTOP : SIGCONT);
    supervisor->paused = pause;
}

/* The main process is asked to end first: it has a line to print. */
static void kill_largest(Supervisor *supervisor, size_t sum)
{
    pid_t id = find_largest(supervisor, sum);
    if (id == supervisor->limits->killed && now() - supervisor->dying < KILL_SECONDS)
        return;                                 /* it is still exiting */
    bool again = id == supervisor->limits->killed;
    supervisor->limits->killed = id, supervisor->dying = now();
    kill(id, id == supervisor->main && !again ? INTERRUPT_MEMORY : SIGKILL);
    if (!is_keeper(supervisor, id))
        pause_others(supervisor, true);
}

/* Returns the seconds until the next measurement. */
static double measure_and_act(Supervisor *supervisor)
{
    size_t most = supervisor->limits->memory_max;
    double begun = now();
    supervisor->processes = 0;
    if (most == 0)
        return LOOK_MOST;
    find_below(supervisor, getpid());
    size_t sum = measure(supervisor, false);
    bool exact = (double)sum > TELL_SHARE * (double)most;
    if (exact)
        sum = measure(supervisor, true);
    double least = exact ? MAX(LOOK_LEAST, 2 * (now() - begun)) : LOOK_LEAST;
    pid_t killed = supervisor->limits->killed;
    if (killed != 0 && is_below(supervisor, killed) && now() - supervisor->dying < KILL_SECONDS)
        return least;
    if (supervisor->paused)
        pause_others(supervisor, false);
    if ((double)sum > KILL_SHARE * (double)most)
        kill_largest(supervisor, sum);
    else if ((double)sum > TELL_SHARE * (double)most)
        supervisor->limits->told = find_largest(supervisor, sum);
    return CLAMP((KILL_SHARE * (double)most - (double)sum) / RATE_MAX, least, LOOK_MOST);
}

static void ask(Supervisor *supervisor, int number)
{
    kill(supervisor->main, number);
    if (supervisor->asked == 0)
        supervisor->asked = now();
}

/* The process need not be our parent: a wrapper may stand in between. */
static bool is_gone(pid_t process)
{
    return getppid() != process && kill(process, 0) != 0 && errno == ESRCH;
}

static void insist(Supervisor *supervisor)
{
    if (supervisor->parent > 0 && supervisor->asked == 0 && is_gone(supervisor->parent))
        ask(supervisor, SIGTERM);
    if (supervisor->asked == 0)
        return;
    double seconds = now() - supervisor->asked;
    if (seconds > KILL_SECONDS)
        kill(supervisor->main, SIGKILL);
    else if (seconds > INSIST_SECONDS && supervisor->insisted == 0)
        ask(supervisor, SIGTERM), supervisor->insisted = now();
}

/* All descendants, orphans included: the supervisor is their subreaper. */
static void kill_the_rest(Supervisor *supervisor)
{
    for (;;) {
        supervisor->processes = 0;
        find_below(supervisor, getpid());
        for (unsigned i = 0; i < supervisor->processes; i++)
            kill(supervisor->process[i].id, SIGKILL);
        while (waitpid(-1, NULL, supervisor->processes > 0 ? 0 : WNOHANG) > 0)
            ;
        if (supervisor->processes == 0)
            return;
    }
}

static G_GNUC_NORETURN void end_like(int status)
{
    if (WIFSIGNALED(status)) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        signal(WTERMSIG(status), SIG_DFL);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_ERROR);
}

/* Returns true if the main process has ended. */
static bool reap(Supervisor *supervisor, int *status)
{
    int one;
    for (pid_t id; (id = waitpid(-1, &one, WNOHANG)) > 0;)
        if (id == supervisor->main) {
            *status = one;
            return true;
        }
    return false;
}

static G_GNUC_NORETURN void watch(Supervisor *supervisor, const sigset_t *signals)
{
    int status = 0;
    for (double seconds = LOOK_MOST; !reap(supervisor, &status); seconds = measure_and_act(supervisor)) {
        const struct timespec until = { 0, (long)(seconds * 1e9) };
        siginfo_t info;
        int number = sigtimedwait(signals, &info, &until);
        if (number == SIGINT || number == SIGTERM)
            ask(supervisor, number);
        insist(supervisor);
    }
    kill_the_rest(supervisor);
    end_like(status);
}

void supervisor_begin(void)
{
    static Supervisor supervisor;
    sigset_t signals, before;
    const char *parent = g_getenv("HEDDLE_PARENT");
    pid_t self = getpid();
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    supervisor = (Supervisor){ .limits = limits_share(), .page = (size_t)sysconf(_SC_PAGESIZE),
                               .parent = parent ? (pid_t)atoi(parent) : 0 };
    if (supervisor.limits == NULL || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return;
    sigprocmask(SIG_BLOCK, &signals, &before);
    supervisor.main = fork();
    if (supervisor.main > 0) {
        setpriority(PRIO_PROCESS, 0, URGENT);   /* if permitted: a busy machine must not delay a measurement */
        watch(&supervisor, &signals);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (supervisor.main == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        limits_keep(getpid());
        interrupt_install();
        interrupt_end_with(self);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}
