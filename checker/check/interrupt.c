/* interrupt.c - keeps all data of the handler in static memory. In a forked child the handler restores the signal's default effect.
 */
#include "interrupt.h"
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "exit_code.h"

#define PATHS_MAX 4096
#define SAME_SECONDS 0.5

static struct { char *path; bool folder; } registered[PATHS_MAX];
static unsigned registered_count, held;
static char closing[202], memory_line[202];
static pid_t above, group;
static void (*commit_function)(void *);
static void *commit_data;
static pid_t owner;
static volatile sig_atomic_t postponed, requested;
static struct timespec requested_at;
static sigset_t signals, signals_before;

void interrupt_hold(void)
{
    if (held++ == 0)
        sigprocmask(SIG_BLOCK, &signals, &signals_before);
}

void interrupt_release(void)
{
    g_assert(held > 0);
    if (--held == 0)
        sigprocmask(SIG_SETMASK, &signals_before, NULL);
}

void interrupt_register(const char *path, bool folder)
{
    interrupt_hold();
    g_assert(registered_count < PATHS_MAX);
    registered[registered_count].folder = folder;
    registered[registered_count++].path = g_strdup(path);
    interrupt_release();
}

void interrupt_remove_registered(void)
{
    if (getpid() != owner)
        return;
    for (int folders = 0; folders < 2; folders++)
        for (unsigned i = 0; i < registered_count; i++)
            if (registered[i].folder == folders)
                (void)(folders ? rmdir(registered[i].path) : unlink(registered[i].path));
}

static void set_line(char *line, size_t bytes, const char *text)
{
    interrupt_hold();
    g_strlcpy(line, text, bytes - 1);
    strcat(line, "\n");
    interrupt_release();
}

void interrupt_set_closing(const char *line)
{
    set_line(closing, sizeof closing, line);
}

void interrupt_set_memory_line(const char *line)
{
    set_line(memory_line, sizeof memory_line, line);
}

void interrupt_end_with(pid_t process)
{
    above = process;
}

void interrupt_set_group(pid_t processes)
{
    group = processes;
}

void interrupt_set_commit(void (*commit)(void *), void *data)
{
    interrupt_hold();
    commit_function = commit;
    commit_data = data;
    interrupt_release();
}

void interrupt_postpone(void)
{
    postponed = 1;
}

void interrupt_postpone_no_more(void)
{
    postponed = 0;
}

bool interrupt_requested(void)
{
    return requested;
}

/* timeout(1) signals a process, and then its whole group: both count as one. */
static bool comes_with_the_first(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - requested_at.tv_sec) + (double)(now.tv_nsec - requested_at.tv_nsec) / 1e9 < SAME_SECONDS;
}

static void handle(int number)
{
    if (getpid() != owner) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    bool memory = number == INTERRUPT_MEMORY, orphan = above != 0 && getppid() != above;
    if (!memory && !orphan && postponed && !requested) {
        requested = 1;
        clock_gettime(CLOCK_MONOTONIC, &requested_at);
        return;
    }
    if (!memory && !orphan && requested && comes_with_the_first())
        return;
    const char *line = memory ? memory_line : closing;
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        closing[0] = 0;                         /* standard error is closed: the exit code still tells */
    if (commit_function)
        commit_function(commit_data);
    interrupt_remove_registered();
    if (group > 0)
        kill(-group, SIGKILL);
    _exit(memory ? EXIT_BOUNDED : EXIT_INTERRUPTED);
}

void interrupt_install(void)
{
    owner = getpid();
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, INTERRUPT_MEMORY);
    struct sigaction action = {.sa_handler = handle, .sa_mask = signals};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(INTERRUPT_MEMORY, &action, NULL);
    signal(SIGPIPE, SIG_IGN);                   /* a closed pipe is a failed write, and cleanup still runs */
    signal(SIGXFSZ, SIG_IGN);                   /* so is a file at its size limit (ulimit -f) */
    interrupt_set_closing("heddle: interrupted");
    interrupt_set_memory_line("heddle: memory: the limit was reached");
}
