/* one_file.c - a folder in the place for temporary files. */
#include "one_file.h"
#include <glib/gstdio.h>

char *one_file_folder, *one_file;

int one_file_set_up(void **state)
{
    (void)state;
    one_file_folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
    one_file = one_file_folder != NULL ? g_build_filename(one_file_folder, "file", NULL) : NULL;
    return one_file_folder == NULL;
}

int one_file_tear_down(void **state)
{
    (void)state;
    g_unlink(one_file);
    int left = g_rmdir(one_file_folder);
    g_free(one_file);
    g_free(one_file_folder);
    return left;
}
