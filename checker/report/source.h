/* source.h - source lines for reports to quote, if the file is still where the compiler saw it.
 *
 * Ownership:   a Source keeps the files it has read until source_free.
 * Errors:      an unreadable file, or one that is not text, has no lines.
 */
#pragma once
#include <glib.h>

typedef struct Source Source;

Source *source_new(void);
void source_free(Source *source);
unsigned source_count(Source *source, const char *file);       /* number of lines; 0: unreadable */
const char *source_line(Source *source, const char *file, unsigned line);       /* from 1; NULL: not to be had, or empty */
