/* limits.c - the shared words, and how much memory is free: /proc/meminfo and the limits of control groups, versions 1 and 2. */
#include "limits.h"
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static LimitsShared *shared;

LimitsShared *limits_share(void)
{
    if (shared == NULL) {
        void *at = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        shared = at == MAP_FAILED ? NULL : at;
    }
    return shared;
}

void limits_set_memory(size_t bytes_max)
{
    if (shared != NULL)
        shared->memory_max = bytes_max;
}

bool limits_told(void)
{
    return shared != NULL && shared->told != 0 && shared->told == getpid();
}

bool limits_killed(pid_t process)
{
    return shared != NULL && process > 0 && shared->killed == process;
}

pid_t limits_last_killed(void)
{
    return shared != NULL ? shared->killed : 0;
}

static void replace_keeper(pid_t from, pid_t to)
{
    bool done = shared == NULL;
    for (unsigned i = 0; i < LIMITS_KEEPERS && !done; i++) {
        pid_t expected = from;
        done = __atomic_compare_exchange_n(&shared->keeper[i], &expected, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
}

void limits_keep(pid_t process)
{
    replace_keeper(0, process);
}

void limits_keep_no_more(pid_t process)
{
    replace_keeper(process, 0);
}

/* The number after `name` in a file of lines "name number"; name "": the file's only word. SIZE_MAX: there is none. */
static size_t number_in(const char *path, const char *name)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return SIZE_MAX;
    for (const char *line = text; line != NULL; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (g_str_has_prefix(line, name) && g_ascii_isdigit(line[strlen(name) + strspn(line + strlen(name), " ")]))
            return (size_t)g_ascii_strtoull(line + strlen(name), NULL, 10);
    return SIZE_MAX;
}

/* What a control group leaves: its limit less what it uses now and could not give back. */
static size_t left_in(const char *folder, const char *limit, const char *usage)
{
    g_autofree char *limit_path = g_build_filename(folder, limit, NULL), *usage_path = g_build_filename(folder, usage, NULL);
    g_autofree char *stat_path = g_build_filename(folder, "memory.stat", NULL);
    size_t most = number_in(limit_path, ""), used = number_in(usage_path, "");
    size_t file = number_in(stat_path, "total_inactive_file ");
    if (file == SIZE_MAX)
        file = number_in(stat_path, "inactive_file ");
    if (most == SIZE_MAX || used == SIZE_MAX)
        return SIZE_MAX;
    used -= file != SIZE_MAX ? MIN(file, used) : 0;
    return most > used ? most - used : 0;
}

/* The group of a line of /proc/self/cgroup and all above it; in a container that path may only exist without its beginning. */
static size_t left_in_groups(const char *root, const char *path, const char *limit, const char *usage)
{
    size_t left = left_in(root, limit, usage);
    for (g_autofree char *at = g_strdup(path); strlen(at) > 1;) {
        g_autofree char *folder = g_build_filename(root, at, NULL);
        left = MIN(left, left_in(folder, limit, usage));
        char *above = g_path_get_dirname(at);
        g_free(at);
        at = above;
    }
    return left;
}

static size_t free_in_groups(void)
{
    g_autofree char *text = NULL;
    size_t left = SIZE_MAX;
    if (!g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL))
        return left;
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; line[i] != NULL; i++) {
        g_auto(GStrv) part = g_strsplit(line[i], ":", 3);
        if (g_strv_length(part) != 3)
            continue;
        g_auto(GStrv) controller = g_strsplit(part[1], ",", -1);
        if (part[1][0] == '\0')
            left = MIN(left, left_in_groups("/sys/fs/cgroup", part[2], "memory.max", "memory.current"));
        else if (g_strv_contains((const char *const *)controller, "memory"))
            left = MIN(left, left_in_groups("/sys/fs/cgroup/memory", part[2], "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
    return left;
}

size_t limits_free_memory(void)
{
    size_t available = number_in("/proc/meminfo", "MemAvailable:");
    size_t left = MIN(available == SIZE_MAX ? available : available * 1024, free_in_groups());
    return left == SIZE_MAX ? 0 : MAX(left / 4 * 3, 1);
}

Deadline deadline_in(double seconds)
{
    return (Deadline){ .at = seconds > 0 ? g_get_monotonic_time() + (int64_t)(seconds * 1e6) : 0, .seconds = seconds };
}

double deadline_left(const Deadline *deadline)
{
    static const double least = 0.001;
    return deadline->at == 0 ? 0 : MAX((double)(deadline->at - g_get_monotonic_time()) / 1e6, least);
}

bool deadline_over(const Deadline *deadline)
{
    return deadline->at != 0 && g_get_monotonic_time() >= deadline->at;
}

static Deadline preparation;
static bool given_up;

void limits_begin_preparation(double seconds)
{
    preparation = deadline_in(seconds);
}

const Deadline *limits_preparation(void)
{
    return &preparation;
}

void limits_give_up(void)
{
    given_up = true;
}

bool limits_given_up(void)
{
    return given_up;
}

char *limits_tell_memory(const char *where)
{
    g_autofree char *size = limits_size(shared != NULL ? shared->memory_max : 0);
    return g_strdup_printf("memory: the limit of %s was reached %s; raise --memory", size, where);
}

char *limits_size(size_t bytes)
{
    double mega = (double)bytes / (1 << 20);
    return mega < 1024 ? g_strdup_printf("%.4g MB", mega) : g_strdup_printf("%.4g GB", mega / 1024);
}
