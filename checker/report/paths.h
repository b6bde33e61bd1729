/* paths.h - names files relative to a root in reports for tools, so that a report is valid on another machine.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include <stdbool.h>

char *paths_root(const char *source_root);      /* absolute; source_root NULL: the working folder */
/* Relative to the root if the file is below it, else absolute; a name that is no file here (of a built-in kernel) is unchanged.
 * relative: whether the result is relative. */
char *paths_shown(const char *root, const char *file, bool *relative);
char *paths_from_file(const char *file);        /* the working folder, relative to the folder of that file: "../.." */
char *paths_in_text(const char *root, const char *text);        /* the text, with absolute paths below the root made relative */
