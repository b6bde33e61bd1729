/* columns.h - rows of words in aligned columns; numbers stay left as well, since most columns mix both.
 *
 * Ownership:   a Columns owns its words.
 */
#pragma once
#include <glib.h>

typedef struct Columns {
    unsigned count;
    GPtrArray *words;                           /* of char*, row by row */
} Columns;

void columns_init(Columns *columns, unsigned count);
void columns_clear(Columns *columns);
void columns_add(Columns *columns, const char *word);                 /* copied; the next cell */
void columns_append_to(const Columns *columns, GString *out, const char *indent);
