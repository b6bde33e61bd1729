/* paths.c - by the letters of canonical paths: links are not followed. */
#include "paths.h"
#include <glib.h>
#include <string.h>

char *paths_root(const char *source_root)
{
    return g_canonicalize_filename(source_root ? source_root : ".", NULL);
}

char *paths_told(const char *root, const char *file, bool *relative)
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

char *paths_in_text(const char *root, const char *text)
{
    g_autofree char *prefix = g_strconcat(root, "/", NULL);
    g_autoptr(GString) told = g_string_new(text);
    if (strlen(root) > 1)
        g_string_replace(told, prefix, "", 0);
    return g_strdup(told->str);
}
