/* infile.c - opening never blocks: a pipe without a writer is at its end at once. */
#include "infile.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES_MAX = 1 << 30, CHUNK = 1 << 16 };

/* -1 and *error: missing, unreadable, or of another kind. */
static int open_kind(const char *path, bool pipes, char **error)
{
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &info) != 0)
        *error = g_strdup(g_strerror(errno));
    else if (S_ISDIR(info.st_mode))
        *error = g_strdup(g_strerror(EISDIR));
    else if (!S_ISREG(info.st_mode) && !(pipes && S_ISFIFO(info.st_mode)))
        *error = g_strdup("it is not a regular file");
    if (*error == NULL)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* The number of bytes read; 0: the end; -1: errno says why. */
static ssize_t read_some(int file, guint8 *into)
{
    for (;;) {
        ssize_t got = read(file, into, CHUNK);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            return got;
        if (errno == EAGAIN)
            poll(&(struct pollfd){ .fd = file, .events = POLLIN }, 1, -1);
    }
}

char *infile_read(const char *path, gsize *bytes, char **error)
{
    *error = NULL;
    int file = open_kind(path, true, error);
    if (file < 0)
        return NULL;
    g_autoptr(GByteArray) text = g_byte_array_new();
    ssize_t got = 1;
    while (got > 0 && text->len <= BYTES_MAX) {
        guint at = text->len;
        g_byte_array_set_size(text, at + CHUNK);
        got = read_some(file, text->data + at);
        g_byte_array_set_size(text, at + (guint)MAX(got, 0));
    }
    if (got != 0)
        *error = got < 0 ? g_strdup(g_strerror(errno)) : g_strdup_printf("it is larger than %d MiB", BYTES_MAX >> 20);
    close(file);
    if (*error != NULL)
        return NULL;
    if (bytes != NULL)
        *bytes = text->len;
    g_byte_array_append(text, (const guint8 *)"", 1);
    return (char *)g_byte_array_free(g_steal_pointer(&text), FALSE);
}

GMappedFile *infile_map(const char *path, char **error)
{
    g_autoptr(GError) problem = NULL;
    *error = NULL;
    int file = open_kind(path, false, error);
    if (file < 0)
        return NULL;
    GMappedFile *mapped = g_mapped_file_new_from_fd(file, FALSE, &problem);
    if (mapped == NULL)
        *error = g_strdup(problem->message);
    close(file);
    return mapped;
}
