/* paths.h - how files are named in reports for tools: relative to a root, so that a report means the same on another machine.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include <stdbool.h>

char *paths_root(const char *source_root);      /* absolute; NULL: the working folder */
/* Below the root what follows it, elsewhere the absolute path; a name that is no file here (built-in kernels) stays as it is.
 * relative: which of the two it became. */
char *paths_shown(const char *root, const char *file, bool *relative);
char *paths_from_file(const char *file);        /* the working folder, as seen from the folder of that file: "../.." */
char *paths_in_text(const char *root, const char *text);        /* sentences that name files below the root by their absolute paths */
