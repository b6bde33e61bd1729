/* paths.c - compares canonical paths as text; symbolic links are not followed. */
#include "paths.h"
#include <glib.h>
#include <string.h>

char *paths_root(const char *source_root)
{
    return g_canonicalize_filename(source_root ? source_root : ".", NULL);
}

char *paths_shown(const char *root, const char *file, bool *relative)
{
    g_autofree char *path = g_canonicalize_filename(file, NULL);
    size_t length = strlen(root);
    bool inside = g_str_has_prefix(path, root) && (path[length] == '/' || length == 1);
    bool elsewhere = !g_path_is_absolute(file) && !g_file_test(file, G_FILE_TEST_EXISTS);
    *relative = inside || elsewhere;
    if (elsewhere)
        return g_strdup(file);
    return g_strdup(inside ? path + length + (length > 1) : path);
}

/* May the character be part of a path? */
static bool is_of_path(char c)
{
    return g_ascii_isalnum(c) || strchr("/._-", c) != NULL || (c & 0x80);
}

char *paths_in_text(const char *root, const char *text)
{
    g_autofree char *prefix = g_strconcat(root, "/", NULL);
    GString *told = g_string_new(NULL);
    const char *at = text;
    for (const char *found; strlen(root) > 1 && (found = strstr(at, prefix)) != NULL; at = found + strlen(prefix)) {
        bool begins = found == text || !is_of_path(found[-1]);
        g_string_append_len(told, at, found - at + (begins ? 0 : (gssize)strlen(prefix)));
    }
    g_string_append(told, at);
    return g_string_free(told, FALSE);
}

char *paths_from_file(const char *file)
{
    g_autofree char *path = g_canonicalize_filename(file, NULL), *here = g_canonicalize_filename(".", NULL);
    g_auto(GStrv) from = g_strsplit(path + 1, "/", -1), to = g_strsplit(here + 1, "/", -1);
    guint same = 0, folders = g_strv_length(from) - 1;
    while (same < folders && to[same] != NULL && strcmp(from[same], to[same]) == 0)
        same++;
    GString *told = g_string_new(NULL);
    for (guint i = same; i < folders; i++)
        g_string_append(told, told->len ? "/.." : "..");
    for (guint i = same; to[i] != NULL && *to[i]; i++)
        g_string_append_printf(told, "%s%s", told->len ? "/" : "", to[i]);
    if (told->len == 0)
        g_string_append_c(told, '.');
    return g_string_free(told, FALSE);
}
