/* infile.h - reads a file of the user in one piece: a regular file, or a pipe with a writer, of limited size.
 *
 * No file blocks for ever or fills the memory: folders, devices and pipes without a writer are refused.
 *
 * Errors:      NULL and the reason in *error (g_malloc), to follow the path and a colon.
 */
#pragma once
#include <glib.h>

char *infile_read(const char *path, gsize *bytes, char **error);        /* g_malloc, with a terminating zero; bytes may be NULL */
GMappedFile *infile_map(const char *path, char **error);                /* regular files only */
