/* warden.c - a loop of: sleep until a signal or the next look, look at the memory of all processes below.
 *
 * A look at /proc/PID/statm is cheap, and counts pages that processes share several times over; only where that is too much, smaps_rollup
 * tells shares of pages. The nearer the limit, the sooner the next look: memory cannot grow by more than RATE_MAX in between.
 */
#include "warden.h"
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
static const double RATE_MAX = 5e9;             /* bytes a second that processes touch anew */
static const double LOOK_LEAST = 0.001, LOOK_MOST = 0.1;       /* seconds between two looks */
static const double TELL_SHARE = 0.85, KILL_SHARE = 0.94;       /* of the limit */
static const double INSIST_SECONDS = 0.75, KILL_SECONDS = 2;    /* after a signal that was handed on */

typedef struct Process { pid_t id; size_t bytes; } Process;

typedef struct Warden {
    pid_t main;
    LimitsShared *limits;
    size_t page;
    pid_t parent;                               /* whose end is ours; 0: nobody's */
    Process process[PROCESSES_MAX];
    unsigned processes;
    double asked, insisted;                     /* when main was asked to end; 0: it was not */
    double dying;                               /* when `killed` was killed */
    bool paused;                                /* meanwhile the others stand still: they would take what it has not given back */
} Warden;

static double now(void)
{
    return (double)g_get_monotonic_time() / 1e6;
}

/* The beginning of a small file of /proc; empty: there is none. */
static void read_small(const char *path, char *text, size_t bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, text, bytes - 1);
    text[MAX(got, 0)] = '\0';
    if (file >= 0)
        close(file);
}

static size_t cheap_bytes(const Warden *warden, pid_t id)
{
    char path[64], text[256];
    size_t all, resident = 0;
    g_snprintf(path, sizeof path, "/proc/%d/statm", id);
    read_small(path, text, sizeof text);
    return sscanf(text, "%zu %zu", &all, &resident) == 2 ? resident * warden->page : 0;
}

static size_t exact_bytes(pid_t id)
{
    char path[64], text[2048];
    g_snprintf(path, sizeof path, "/proc/%d/smaps_rollup", id);
    read_small(path, text, sizeof text);
    const char *share = strstr(text, "\nPss:");
    return share ? (size_t)g_ascii_strtoull(share + strlen("\nPss:"), NULL, 10) * 1024 : 0;
}

static void find_below(Warden *warden, pid_t id)
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
        for (char *at = text; g_ascii_isdigit(*at) && warden->processes < PROCESSES_MAX; at += strspn(at, " ")) {
            pid_t child = (pid_t)strtol(at, &at, 10);
            warden->process[warden->processes++].id = child;
            find_below(warden, child);
        }
    }
    if (tasks != NULL)
        closedir(tasks);
}

static size_t measure(Warden *warden, bool exact)
{
    size_t sum = 0;
    for (unsigned i = 0; i < warden->processes; i++) {
        Process *process = &warden->process[i];
        process->bytes = exact ? exact_bytes(process->id) : cheap_bytes(warden, process->id);
        sum += process->bytes;
    }
    return sum;
}

static bool is_keeper(const Warden *warden, pid_t id)
{
    for (unsigned i = 0; i < LIMITS_KEEPERS; i++)
        if (warden->limits->keeper[i] == id)
            return true;
    return false;
}

static bool is_below(const Warden *warden, pid_t id)
{
    for (unsigned i = 0; i < warden->processes; i++)
        if (warden->process[i].id == id && warden->process[i].bytes > 0)
            return true;
    return false;
}

/* The largest process, but a keeper only where it has more than all others together. */
static pid_t find_largest(const Warden *warden, size_t sum)
{
    const Process *all = NULL, *other = NULL;
    for (unsigned i = 0; i < warden->processes; i++) {
        const Process *process = &warden->process[i];
        if (all == NULL || process->bytes > all->bytes)
            all = process;
        if (!is_keeper(warden, process->id) && (other == NULL || process->bytes > other->bytes))
            other = process;
    }
    return all->bytes > sum / 2 || other == NULL ? all->id : other->id;
}

static void pause_others(Warden *warden, bool pause)
{
    for (unsigned i = 0; i < warden->processes; i++)
        if (!is_keeper(warden, warden->process[i].id))
            kill(warden->process[i].id, pause ? SIGSTOP : SIGCONT);
    warden->paused = pause;
}

/* The main process has a line to say before it ends. */
static void kill_largest(Warden *warden, size_t sum)
{
    pid_t id = find_largest(warden, sum);
    if (id == warden->limits->killed && now() - warden->dying < KILL_SECONDS)
        return;                                 /* it takes its time */
    bool again = id == warden->limits->killed;
    warden->limits->killed = id, warden->dying = now();
    kill(id, id == warden->main && !again ? INTERRUPT_MEMORY : SIGKILL);
    if (!is_keeper(warden, id))
        pause_others(warden, true);
}

/* Seconds until the next look. */
static double look(Warden *warden)
{
    size_t most = warden->limits->memory_max;
    double begun = now();
    warden->processes = 0;
    if (most == 0)
        return LOOK_MOST;
    find_below(warden, getpid());
    size_t sum = measure(warden, false);
    bool exact = (double)sum > TELL_SHARE * (double)most;
    if (exact)
        sum = measure(warden, true);
    double least = exact ? MAX(LOOK_LEAST, 2 * (now() - begun)) : LOOK_LEAST;
    pid_t killed = warden->limits->killed;
    if (killed != 0 && is_below(warden, killed) && now() - warden->dying < KILL_SECONDS)
        return least;
    if (warden->paused)
        pause_others(warden, false);
    if ((double)sum > KILL_SHARE * (double)most)
        kill_largest(warden, sum);
    else if ((double)sum > TELL_SHARE * (double)most)
        warden->limits->told = find_largest(warden, sum);
    return CLAMP((KILL_SHARE * (double)most - (double)sum) / RATE_MAX, least, LOOK_MOST);
}

static void ask(Warden *warden, int number)
{
    kill(warden->main, number);
    if (warden->asked == 0)
        warden->asked = now();
}

/* Somebody may stand between us and that process. */
static bool is_gone(pid_t process)
{
    return getppid() != process && kill(process, 0) != 0 && errno == ESRCH;
}

static void insist(Warden *warden)
{
    if (warden->parent > 0 && warden->asked == 0 && is_gone(warden->parent))
        ask(warden, SIGTERM);
    if (warden->asked == 0)
        return;
    double seconds = now() - warden->asked;
    if (seconds > KILL_SECONDS)
        kill(warden->main, SIGKILL);
    else if (seconds > INSIST_SECONDS && warden->insisted == 0)
        ask(warden, SIGTERM), warden->insisted = now();
}

/* All that is left below us, also what was left behind by others: it came to us. */
static void kill_the_rest(Warden *warden)
{
    for (;;) {
        warden->processes = 0;
        find_below(warden, getpid());
        for (unsigned i = 0; i < warden->processes; i++)
            kill(warden->process[i].id, SIGKILL);
        while (waitpid(-1, NULL, warden->processes > 0 ? 0 : WNOHANG) > 0)
            ;
        if (warden->processes == 0)
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

/* What has ended is taken note of; true: it was the main process. */
static bool reap(Warden *warden, int *status)
{
    int one;
    for (pid_t id; (id = waitpid(-1, &one, WNOHANG)) > 0;)
        if (id == warden->main) {
            *status = one;
            return true;
        }
    return false;
}

static G_GNUC_NORETURN void watch(Warden *warden, const sigset_t *signals)
{
    int status = 0;
    for (double seconds = LOOK_MOST; !reap(warden, &status); seconds = look(warden)) {
        const struct timespec until = { 0, (long)(seconds * 1e9) };
        siginfo_t info;
        int number = sigtimedwait(signals, &info, &until);
        if (number == SIGINT || number == SIGTERM)
            ask(warden, number);
        insist(warden);
    }
    kill_the_rest(warden);
    end_like(status);
}

void warden_begin(void)
{
    static Warden warden;
    sigset_t signals, before;
    const char *parent = g_getenv("HEDDLE_PARENT");
    pid_t self = getpid();
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    warden = (Warden){ .limits = limits_share(), .page = (size_t)sysconf(_SC_PAGESIZE), .parent = parent ? (pid_t)atoi(parent) : 0 };
    if (warden.limits == NULL || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        return;
    sigprocmask(SIG_BLOCK, &signals, &before);
    warden.main = fork();
    if (warden.main > 0) {
        setpriority(PRIO_PROCESS, 0, URGENT);   /* where it is allowed: a look must not wait for who is looked at */
        watch(&warden, &signals);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    if (warden.main == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        limits_keep(getpid());
        interrupt_install();
        interrupt_end_with(self);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}
