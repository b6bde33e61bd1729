/* outfile.c - writes to a temporary file beside the target, then renames it: in POSIX a rename is atomic. */
#include "outfile.h"
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct Outfile {
    char *path, *target, *beside;               /* as given; absolute; the temporary file, NULL: none, for a device or a pipe */
    int descriptor;
    const char *text;
    size_t bytes;
};

Outfile *outfile_open(const char *path, char **error)
{
    Outfile *outfile = g_new0(Outfile, 1);
    GStatBuf info;
    bool exists = !g_stat(path, &info);
    outfile->path = g_strdup(path), outfile->target = g_canonicalize_filename(path, NULL);
    if (!strcmp(path, "-")) {
        outfile->descriptor = STDOUT_FILENO;
        return outfile;
    }
    if (exists && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        outfile->descriptor = -1;
    } else if (exists && !S_ISREG(info.st_mode)) {
        outfile->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    } else if (exists && access(path, W_OK)) {
        outfile->descriptor = -1;
    } else {
        outfile->beside = g_strdup_printf("%s.XXXXXX", outfile->target);
        outfile->descriptor = g_mkstemp_full(outfile->beside, O_WRONLY | O_CLOEXEC, 0666);
    }
    if (outfile->descriptor < 0) {
        *error = g_strdup_printf("cannot write %s: %s", path, g_strerror(errno));
        g_free(outfile->beside);
        g_free(outfile->target);
        g_free(outfile->path);
        g_clear_pointer(&outfile, g_free);
    }
    return outfile;
}

void outfile_set(Outfile *outfile, const char *text, size_t bytes)
{
    outfile->text = text;
    outfile->bytes = bytes;
}

bool outfile_commit(Outfile *outfile)
{
    for (size_t done = 0; done < outfile->bytes; ) {
        ssize_t written = write(outfile->descriptor, outfile->text + done, outfile->bytes - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        done += written;
    }
    return !outfile->beside || !rename(outfile->beside, outfile->target);
}

bool outfile_close(Outfile *outfile, bool keep, char **error)
{
    bool good = !keep || outfile_commit(outfile);
    if (!good)
        *error = g_strdup_printf("cannot write %s: %s", outfile->path, g_strerror(errno));
    if (outfile->beside && (!keep || !good))
        g_unlink(outfile->beside);
    if (outfile->descriptor != STDOUT_FILENO)
        close(outfile->descriptor);
    g_free(outfile->beside);
    g_free(outfile->target);
    g_free(outfile->path);
    g_free(outfile);
    return good;
}
