/* outfile.h - one report on its way to its file: either the whole of it appears under its name, or nothing does.
 *
 *     outfile_open -> outfile_set, again after each check -> outfile_close (or, in the handler of a signal, outfile_commit)
 *
 * Opened before the first check, so that a path that cannot be written is known before the work and not after it. A regular file is
 * written beside its name and renamed; standard output, pipes and devices get the text at commit.
 *
 * Ownership:   the text given to outfile_set is borrowed until the next set.
 * Errors:      NULL and one line in *error.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct Outfile Outfile;

Outfile *outfile_open(const char *path, char **error);          /* "-": standard output */
void outfile_set(Outfile *outfile, const char *text, size_t bytes);
bool outfile_commit(Outfile *outfile);                          /* async-signal-safe; false: errno says why */
bool outfile_close(Outfile *outfile, bool keep, char **error);   /* commits if keep; frees */
