/* installed.h - finds the files that come with this executable. A build folder has the layout of an installation, without bin/.
 *
 * Errors:      NULL and one line in *error: the file is not found.
 */
#pragma once

/* The folder of that name, such as "share/heddle", that contains the file; file NULL: that exists. g_malloc. */
char *installed_find(const char *folder, const char *file, char **error);
