/* installed.h - the files that come with this executable. A build folder is laid out as an installation is, but has no bin/.
 *
 * Errors:      NULL and one line in *error: the file is nowhere.
 */
#pragma once

/* The folder of that name, such as "share/heddle", that holds the file (NULL: that exists). g_malloc. */
char *installed_find(const char *folder, const char *file, char **error);
