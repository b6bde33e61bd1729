/* infile.h - a file that somebody gives us, read in one piece: a regular file, or a pipe that somebody writes to, of a size that fits.
 *
 * Nobody's file makes us wait for ever or fill the memory: folders, devices and pipes without a writer are refused.
 *
 * Errors:      NULL and why in *error (g_malloc), to stand behind the path and a colon.
 */
#pragma once
#include <glib.h>

char *infile_read(const char *path, gsize *bytes, char **error);        /* g_malloc, with a zero behind the end; bytes may be NULL */
GMappedFile *infile_map(const char *path, char **error);                /* regular files only */
