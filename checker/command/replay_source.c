/* replay_source.c - prefers an unchanged file to one that has only the same name. */
#include "replay_source.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Makes the paths of the command line absolute, before the folder changes. */
static void keep_names(const Options *options)
{
    for (guint i = 0; options->include && i < options->include->len; i++) {
        char *name = options->include->pdata[i];
        options->include->pdata[i] = g_canonicalize_filename(name, NULL);
        g_free(name);
    }
}

static char *go_to(const Session *session, const char *folder)
{
    keep_names(session->options);
    return chdir(folder) ? g_strdup_printf("cannot enter %s: %s", folder, g_strerror(errno)) : NULL;
}

/* --source: the folder in which the recorded path names that file; NULL: none, the file has another name now. */
static char *folder_of(const char *path, const char *source)
{
    g_autofree char *tail = g_strconcat("/", source, NULL);
    if (g_path_is_absolute(source) || !g_str_has_suffix(path, tail))
        return NULL;
    return strlen(path) == strlen(tail) ? g_strdup("/") : g_strndup(path, strlen(path) - strlen(tail));
}

static char *take_given(const Session *session, ScheduleHeader *header)
{
    const char *given = session->options->source;
    if (!g_file_test(given, G_FILE_TEST_IS_REGULAR))
        return g_strdup_printf("--source %s: no such file", given);
    g_autofree char *path = g_canonicalize_filename(given, NULL), *folder = folder_of(path, header->source);
    if (folder)
        return go_to(session, folder);
    g_free(header->source);
    header->source = g_strdup(given);
    return NULL;
}

char *replay_source_find(const Session *session, const char *schedule, ScheduleHeader *header)
{
    if (session->options->source)
        return take_given(session, header);
    g_autofree char *path = g_canonicalize_filename(schedule, NULL), *beside = g_path_get_dirname(path);
    g_autofree char *there = header->folder ? g_canonicalize_filename(header->folder, beside) : NULL;
    g_autofree char *other = there ? g_build_filename(there, header->source, NULL) : NULL;
    bool here = g_file_test(header->source, G_FILE_TEST_IS_REGULAR), is_there = other && g_file_test(other, G_FILE_TEST_IS_REGULAR);
    if (is_there && (!here || (!schedule_is_of(header, header->source) && schedule_is_of(header, other))))
        return go_to(session, there);
    if (here)
        return NULL;
    return other ? g_strdup_printf("%s needs %s, which is neither here nor at %s: name the file with --source FILE", schedule,
                                   header->source, other)
        : g_strdup_printf("%s needs %s, which is not here: name the file with --source FILE", schedule, header->source);
}
