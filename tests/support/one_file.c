/* one_file.c - a folder in the place for temporary files. */
#include "one_file.h"
#include <glib/gstdio.h>

char *one_file_make(const char *name, char **file)
{
    char *folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
    *file = folder != NULL ? g_build_filename(folder, name, NULL) : NULL;
    return folder;
}

int one_file_remove(char *folder, char *file)
{
    g_unlink(file);
    int left = g_rmdir(folder);
    g_free(file);
    g_free(folder);
    return left;
}
