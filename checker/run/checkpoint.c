/* checkpoint.c - the file: a line of magic, the identity with its length in front, the search's bytes, then their number and the checksum
 * (XXH3, 64 bits) of all that precedes it.
 */
#include "checkpoint.h"
#include "infile.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { PAUSE = 20, MAGIC_BYTES = sizeof CHECKPOINT_MAGIC - 1, TAIL_BYTES = 2 * sizeof(uint64_t) };

struct Checkpoint {
    char *path, *part, *locked, *identity, *failure;
    int lock;                                   /* the open FILE.lock */
    FILE *file;
    XXH3_state_t *checksum;
    uint64_t bytes;                             /* put since begin */
    gint64 began, next;
};

/* What follows it is aligned to 8 bytes in the file. */
static char *pad(const char *identity)
{
    GString *text = g_string_new(identity);
    while ((MAGIC_BYTES + sizeof(uint64_t) + text->len) % 8 != 0)
        g_string_append_c(text, '\n');
    return g_string_free(text, FALSE);
}

/* Locks of this kind are not inherited: processes that a search starts do not hold them. */
static bool take_lock(int file, pid_t *holder)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(file, F_SETLK, &lock) == 0)
        return true;
    *holder = (errno == EACCES || errno == EAGAIN) && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
    return errno == ENOLCK || errno == EOPNOTSUPP || errno == EINVAL;
}

static bool is_still(int file, const char *path)
{
    struct stat opened, named;
    return fstat(file, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/* false: there is an error. Whoever held it before may have removed the file after we opened it: then there is another one. */
static bool lock(Checkpoint *checkpoint, char **error)
{
    for (;;) {
        pid_t holder = 0;
        checkpoint->lock = open(checkpoint->locked, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (checkpoint->lock < 0)
            *error = g_strdup_printf("cannot write the checkpoint %s: %s: %s", checkpoint->path, checkpoint->locked, g_strerror(errno));
        else if (!take_lock(checkpoint->lock, &holder))
            *error = g_strdup_printf("another heddle (process %d) is writing the checkpoint %s: wait for its end, or name another file",
                                     (int)holder, checkpoint->path);
        if (*error != NULL || is_still(checkpoint->lock, checkpoint->locked))
            return *error == NULL;
        close(checkpoint->lock);
    }
}

static void unlock(Checkpoint *checkpoint)
{
    unlink(checkpoint->locked);
    close(checkpoint->lock);
}

static void free_parts(Checkpoint *checkpoint)
{
    XXH3_freeState(checkpoint->checksum);
    g_free(checkpoint->path);
    g_free(checkpoint->part);
    g_free(checkpoint->locked);
    g_free(checkpoint->identity);
    g_free(checkpoint->failure);
    g_free(checkpoint);
}

Checkpoint *checkpoint_new(const char *path, const char *identity, char **error)
{
    Checkpoint *checkpoint = g_new0(Checkpoint, 1);
    checkpoint->path = g_strdup(path);
    checkpoint->part = g_strdup_printf("%s.part", path);
    checkpoint->locked = g_strdup_printf("%s.lock", path);
    checkpoint->identity = pad(identity);
    checkpoint->checksum = XXH3_createState();
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        *error = g_strdup_printf("cannot write the checkpoint %s: it is not a regular file", path);
    } else if (lock(checkpoint, error)) {
        FILE *probe = fopen(checkpoint->part, "ae");
        if (probe != NULL) {
            fclose(probe);
            unlink(checkpoint->part);
            return checkpoint;
        }
        *error = g_strdup_printf("cannot write the checkpoint %s: %s", path, g_strerror(errno));
        unlock(checkpoint);
    } else if (checkpoint->lock >= 0) {
        close(checkpoint->lock);
    }
    free_parts(checkpoint);
    return NULL;
}

void checkpoint_free(Checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    g_assert(checkpoint->file == NULL);
    unlock(checkpoint);
    free_parts(checkpoint);
}

bool checkpoint_due(const Checkpoint *checkpoint)
{
    return checkpoint != NULL && g_get_monotonic_time() >= checkpoint->next;
}

static void fail(Checkpoint *checkpoint)
{
    if (checkpoint->failure == NULL)
        checkpoint->failure = g_strdup_printf("cannot write the checkpoint %s: %s", checkpoint->path, g_strerror(errno));
}

static void write_out(Checkpoint *checkpoint, const void *data, size_t bytes)
{
    if (checkpoint->failure != NULL || bytes == 0)
        return;
    XXH3_64bits_update(checkpoint->checksum, data, bytes);
    if (fwrite(data, 1, bytes, checkpoint->file) != bytes)
        fail(checkpoint);
}

void checkpoint_begin(Checkpoint *checkpoint)
{
    g_assert(checkpoint->file == NULL);
    checkpoint->began = g_get_monotonic_time();
    checkpoint->bytes = 0;
    g_clear_pointer(&checkpoint->failure, g_free);
    XXH3_64bits_reset(checkpoint->checksum);
    checkpoint->file = fopen(checkpoint->part, "wbe");
    if (checkpoint->file == NULL) {
        fail(checkpoint);
        return;
    }
    const uint64_t length = strlen(checkpoint->identity);
    write_out(checkpoint, CHECKPOINT_MAGIC, MAGIC_BYTES);
    write_out(checkpoint, &length, sizeof length);
    write_out(checkpoint, checkpoint->identity, length);
}

void checkpoint_put(Checkpoint *checkpoint, const void *data, size_t bytes)
{
    checkpoint->bytes += bytes;
    write_out(checkpoint, data, bytes);
}

static void put_into(void *checkpoint, const void *data, size_t bytes) { checkpoint_put(checkpoint, data, bytes); }

Codec checkpoint_codec(Checkpoint *checkpoint) { return codec_to(put_into, checkpoint); }

bool checkpoint_commit(Checkpoint *checkpoint)
{
    const uint64_t bytes = checkpoint->bytes;
    write_out(checkpoint, &bytes, sizeof bytes);
    const uint64_t checksum = XXH3_64bits_digest(checkpoint->checksum);
    write_out(checkpoint, &checksum, sizeof checksum);
    if (checkpoint->file != NULL && fclose(checkpoint->file) != 0)
        fail(checkpoint);
    if (checkpoint->failure == NULL && rename(checkpoint->part, checkpoint->path) != 0)
        fail(checkpoint);
    if (checkpoint->file != NULL && checkpoint->failure != NULL)
        unlink(checkpoint->part);
    checkpoint->file = NULL;
    const gint64 now = g_get_monotonic_time();
    checkpoint->next = now + MAX(G_USEC_PER_SEC, PAUSE * (now - checkpoint->began));
    return checkpoint->failure == NULL;
}

const char *checkpoint_failure(const Checkpoint *checkpoint)
{
    return checkpoint->failure;
}

static uint64_t number_at(const char *at)
{
    uint64_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

/* The first line of `ours` whose key has another value in `theirs`, or none. */
static char *first_difference(const char *ours, const char *theirs)
{
    g_auto(GStrv) mine = g_strsplit(ours, "\n", -1), other = g_strsplit(theirs, "\n", -1);
    for (unsigned i = 0; mine[i] != NULL; i++) {
        if (g_strv_contains((const char *const *)other, mine[i]))
            continue;
        g_autofree char *key = g_strndup(mine[i], strcspn(mine[i], " "));
        size_t length = strlen(key);
        for (unsigned k = 0; other[k] != NULL; k++)
            if (strncmp(other[k], key, length) == 0 && other[k][length] == ' ')
                return g_strdup_printf("%s was %s there and is %s here", key, other[k] + length + 1,
                                       mine[i][length] ? mine[i] + length + 1 : "nothing");
        return g_strdup_printf("it knows no %s", key);
    }
    return g_strdup("it has settings that this check lacks");
}

static bool is_of_another_version(const char *data)
{
    return memcmp(data, CHECKPOINT_MAGIC, MAGIC_BYTES - 2) == 0 && g_ascii_isdigit(data[MAGIC_BYTES - 2]) && data[MAGIC_BYTES - 1] == '\n';
}

static char *problem_of(const char *path, const char *data, size_t bytes, const char *identity)
{
    const size_t head = MAGIC_BYTES + sizeof(uint64_t), length = strlen(identity);
    if (bytes < MAGIC_BYTES || memcmp(data, CHECKPOINT_MAGIC, MAGIC_BYTES) != 0)
        return bytes >= MAGIC_BYTES && is_of_another_version(data)
            ? g_strdup_printf("%s is a checkpoint of another version of heddle: start again, without --resume", path)
            : g_strdup_printf("%s is not a checkpoint of heddle", path);
    if (bytes < head + TAIL_BYTES || XXH3_64bits(data, bytes - sizeof(uint64_t)) != number_at(data + bytes - sizeof(uint64_t)))
        return g_strdup_printf("%s is damaged (its checksum is wrong): start again, without --resume", path);
    const uint64_t their_length = number_at(data + MAGIC_BYTES), put = number_at(data + bytes - TAIL_BYTES);
    if (their_length > bytes - head - TAIL_BYTES || put != bytes - head - TAIL_BYTES - their_length)
        return g_strdup_printf("%s is damaged (its lengths are wrong): start again, without --resume", path);
    if (their_length == length && memcmp(data + head, identity, length) == 0)
        return NULL;
    g_autofree char *theirs = g_strndup(data + head, their_length), *difference = first_difference(identity, theirs);
    return g_strdup_printf("%s belongs to another check: %s", path, difference);
}

char *checkpoint_peek(const char *path, const char *key)
{
    g_autofree char *error = NULL;
    GMappedFile *file = infile_map(path, &error);
    if (file == NULL)
        return NULL;
    const char *data = g_mapped_file_get_contents(file);
    const size_t bytes = g_mapped_file_get_length(file), head = MAGIC_BYTES + sizeof(uint64_t), length = strlen(key);
    char *said = NULL;
    if (bytes >= head && memcmp(data, CHECKPOINT_MAGIC, MAGIC_BYTES) == 0 && number_at(data + MAGIC_BYTES) <= bytes - head) {
        g_autofree char *identity = g_strndup(data + head, number_at(data + MAGIC_BYTES));
        g_auto(GStrv) lines = g_strsplit(identity, "\n", -1);
        for (unsigned i = 0; lines[i] != NULL && said == NULL; i++)
            said = strncmp(lines[i], key, length) == 0 && lines[i][length] == ' ' ? g_strdup(lines[i] + length + 1) : NULL;
    }
    g_mapped_file_unref(file);
    return said;
}

GBytes *checkpoint_read(const char *path, const char *check, char **error)
{
    g_autofree char *identity = pad(check), *problem = NULL;
    GMappedFile *file = infile_map(path, &problem);
    if (file == NULL) {
        *error = access(path, F_OK) != 0 && errno == ENOENT
            ? g_strdup_printf("there is no file %s to resume from; --checkpoint %s makes one", path, path)
            : g_strdup_printf("cannot read the checkpoint %s: %s", path, problem);
        return NULL;
    }
    const char *data = g_mapped_file_get_contents(file);
    const size_t bytes = g_mapped_file_get_length(file), head = MAGIC_BYTES + sizeof(uint64_t) + strlen(identity);
    *error = problem_of(path, data, bytes, identity);
    GBytes *all = g_mapped_file_get_bytes(file);
    GBytes *mine = *error ? NULL : g_bytes_new_from_bytes(all, head, bytes - head - TAIL_BYTES);
    g_bytes_unref(all);
    g_mapped_file_unref(file);
    return mine;
}
