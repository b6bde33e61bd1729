/* compile_cache.c - one file an entry, written whole or not at all. */
#include "compile_cache.h"
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAGIC "heddle module 1\n"
enum { ROOM_BYTES = 256 << 20, ENTRIES_MAX = 4096 };

typedef struct Head {
    char magic[sizeof MAGIC];
    uint64_t checksum;                          /* of all that follows */
    uint64_t output, side, said;                /* bytes; side UINT64_MAX: there was none */
} Head;

/* What the compiler heeds beside its command. */
static const char *const environment[] = {
    "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LD_RUN_PATH", "LC_ALL", "LC_MESSAGES", "LC_CTYPE",
    "LANG", NULL
};

static void add(XXH3_state_t *state, const char *text)
{
    XXH3_128bits_update(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* The file that a name of a program stands for, as it is now. False: it is none. */
static bool add_program(XXH3_state_t *state, const char *name)
{
    g_autofree char *path = g_find_program_in_path(name);
    struct stat now;
    if (path == NULL || stat(path, &now) != 0)
        return false;
    g_autofree char *facts = g_strdup_printf("%s %llu %lld %lld.%09ld", path, (unsigned long long)now.st_ino, (long long)now.st_size,
                                             (long long)now.st_mtim.tv_sec, now.st_mtim.tv_nsec);
    add(state, facts);
    return true;
}

/* Does the word, other than the source, make the compiler read nothing but the text? */
static bool is_harmless(const char *word)
{
    static const char *const start[] = { "-D", "-U", "-I", "-O", "-W", "-f", "-m", "-g", "-std=", "-pedantic", NULL };
    static const char *const never[] = { "-Wl,", "-Wa,", "-Wp,", "-fplugin", "-fprofile", "-fauto-profile", "-fuse-ld", NULL };
    static const char *const whole[] = { "-shared", "-lm", "-w", "-S", "-o", NULL };
    bool harmless = g_strv_contains(whole, word);
    for (const char *const *each = start; *each != NULL; each++)
        harmless |= g_str_has_prefix(word, *each);
    for (const char *const *each = never; *each != NULL; each++)
        harmless &= !g_str_has_prefix(word, *each);
    return harmless;
}

/* Paths of files that are made, which differ each time, are no part of the key. */
static bool add_command(XXH3_state_t *state, char *const *argv, guint source)
{
    bool good = true, program = true;
    for (guint i = 0; argv[i] != NULL && good; i++) {
        bool output = i > 0 && strcmp(argv[i - 1], "-o") == 0;
        program &= argv[i][0] != '-';
        good = program ? add_program(state, argv[i]) : output || i == source || is_harmless(argv[i]);
        g_autofree char *word = g_strndup(argv[i], g_str_has_prefix(argv[i], "-fdump-") ? strcspn(argv[i], "=") : strlen(argv[i]));
        if (!output && !(i == source && g_str_has_suffix(word, ".s")))
            add(state, word);
    }
    return good;
}

char *compile_cache_key(char *const *argv, const char *text)
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    add(&state, MAGIC);
    guint words = g_strv_length((char **)argv);
    g_autofree char *folder = g_get_current_dir();
    add(&state, folder);
    for (const char *const *name = environment; *name != NULL; name++)
        add(&state, g_getenv(*name));
    if (words < 2 || strstr(text, "incbin") != NULL || !add_command(&state, argv, words - 2))
        return NULL;
    add(&state, text);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return g_strdup_printf("%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

static char *folder_of_entries(void)
{
    return g_build_filename(g_get_user_cache_dir(), "heddle", "modules", NULL);
}

static char *take(const char **at, uint64_t bytes)
{
    char *part = g_malloc(bytes + 1);
    memcpy(part, *at, bytes);
    part[bytes] = '\0', *at += bytes;
    return part;
}

static bool is_whole(const char *data, gsize bytes, Head *head)
{
    if (bytes < sizeof *head)
        return false;
    memcpy(head, data, sizeof *head);
    uint64_t rest = bytes - sizeof *head, side = head->side == UINT64_MAX ? 0 : head->side;
    const size_t from = offsetof(Head, output);
    return memcmp(head->magic, MAGIC, sizeof MAGIC) == 0 && XXH3_64bits(data + from, bytes - from) == head->checksum && head->output <= rest
        && side <= rest - head->output && head->said == rest - head->output - side;
}

bool compile_cache_find(const char *key, Compiled *compiled)
{
    g_autofree char *folder = folder_of_entries(), *path = g_build_filename(folder, key, NULL), *data = NULL;
    gsize bytes;
    Head head;
    if (!g_file_get_contents(path, &data, &bytes, NULL) || !is_whole(data, bytes, &head))
        return false;
    (void)utimensat(AT_FDCWD, path, NULL, 0);   /* the oldest are those unused for longest */
    const char *at = data + sizeof head;
    compiled->output = take(&at, head.output), compiled->output_bytes = head.output;
    compiled->side_bytes = head.side == UINT64_MAX ? 0 : head.side;
    compiled->side = head.side == UINT64_MAX ? NULL : take(&at, head.side);
    compiled->said = take(&at, head.said), compiled->said_bytes = head.said;
    return true;
}

typedef struct Aged { char *path; int64_t when, bytes; } Aged;

static gint compare_ages(gconstpointer a, gconstpointer b)
{
    const Aged *x = a, *y = b;
    return x->when < y->when ? -1 : x->when > y->when;
}

static void free_aged(gpointer data)
{
    g_free(((Aged *)data)->path);
}

/* Makes the folder half full if it is too full. */
static void make_room(const char *folder)
{
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Aged));
    g_array_set_clear_func(entries, free_aged);
    g_autoptr(GDir) open = g_dir_open(folder, 0, NULL);
    int64_t all = 0;
    for (const char *name; open != NULL && (name = g_dir_read_name(open)) != NULL;) {
        Aged entry = { .path = g_build_filename(folder, name, NULL) };
        struct stat now;
        if (stat(entry.path, &now) == 0)
            entry.when = now.st_mtim.tv_sec, entry.bytes = now.st_size;
        all += entry.bytes;
        g_array_append_val(entries, entry);
    }
    if (all <= ROOM_BYTES && entries->len <= ENTRIES_MAX)
        return;
    g_array_sort(entries, compare_ages);
    for (guint i = 0, left = entries->len; i < entries->len && (all > ROOM_BYTES / 2 || left > ENTRIES_MAX / 2); i++, left--) {
        const Aged *oldest = &g_array_index(entries, Aged, i);
        unlink(oldest->path);
        all -= oldest->bytes;
    }
}

void compile_cache_keep(const char *key, const Compiled *compiled)
{
    g_autofree char *folder = folder_of_entries(), *path = g_build_filename(folder, key, NULL);
    Head head = { .output = compiled->output_bytes, .side = compiled->side ? compiled->side_bytes : UINT64_MAX,
                  .said = compiled->said_bytes };
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    g_autoptr(GByteArray) data = g_byte_array_new();
    g_byte_array_append(data, (const guint8 *)&head, sizeof head);
    g_byte_array_append(data, (const guint8 *)compiled->output, (guint)compiled->output_bytes);
    g_byte_array_append(data, (const guint8 *)(compiled->side ? compiled->side : ""), (guint)compiled->side_bytes);
    g_byte_array_append(data, (const guint8 *)compiled->said, (guint)compiled->said_bytes);
    const size_t from = offsetof(Head, output);
    const uint64_t checksum = XXH3_64bits(data->data + from, data->len - from);
    memcpy(data->data + offsetof(Head, checksum), &checksum, sizeof checksum);
    if (g_mkdir_with_parents(folder, 0700) == 0 && g_file_set_contents(path, (const char *)data->data, data->len, NULL))
        make_room(folder);
}

void compiled_clear(Compiled *compiled)
{
    g_free(compiled->output);
    g_free(compiled->side);
    g_free(compiled->said);
    *compiled = (Compiled){ 0 };
}
