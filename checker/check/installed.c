/* installed.c - searches the executable's folder, the one above it, and the prefix. */
#include "installed.h"
#include <glib.h>

#ifndef HEDDLE_PREFIX
#define HEDDLE_PREFIX "/usr/local"
#endif

char *installed_find(const char *folder, const char *file, char **error)
{
    g_autofree char *executable = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *home = g_path_get_dirname(executable ? executable : "/"), *above = g_path_get_dirname(home);
    const char *const root[] = { home, above, HEDDLE_PREFIX };
    for (size_t i = 0; i < G_N_ELEMENTS(root); i++) {
        g_autofree char *path = g_build_filename(root[i], folder, file, NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return g_build_filename(root[i], folder, NULL);
    }
    *error = g_strdup_printf("%s%s%s is neither beside %s nor in " HEDDLE_PREFIX "; run make install", folder, file ? "/" : "",
                             file ? file : "", executable ? executable : "heddle");
    return NULL;
}
