/* table.h - rows of words in aligned columns; numbers stay left as well, since most columns mix both.
 *
 * Ownership:   a Table owns its words.
 */
#pragma once
#include <glib.h>

typedef struct Table {
    unsigned columns;
    GPtrArray *words;                           /* of char*, row by row */
} Table;

void table_init(Table *table, unsigned columns);
void table_clear(Table *table);
void table_add(Table *table, const char *word);                 /* copied; the next cell */
void table_append_to(const Table *table, GString *out, const char *indent);
