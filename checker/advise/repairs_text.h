/* repairs_text.h - statements of the author's file, found and changed as text.
 *
 * A statement is the text of a line, with the next lines if its brackets close there. Knows C with the macros of Pallas, and of Python what
 * is written alike: lines that are moved or left out.
 *
 * Ownership:   texts belong to the caller (g_free), statements too (statement_clear).
 * Errors:      what is not understood is not changed: false, or NULL.
 */
#pragma once
#include "../check/repair.h"
#include "../report/source.h"

typedef struct Statement {
    Source *source;
    char *file;
    unsigned line;
    char *old;                                  /* of one or more lines; NULL: not to be had */
    GString *text;                              /* as changed */
} Statement;

typedef struct TextSpan { gsize begin, end; } TextSpan;

Statement statement_at(Source *source, const char *file, unsigned line);
void statement_clear(Statement *statement);
/* The nth call of a name that matches: from its name to its closing bracket. */
bool statement_find_call(const Statement *statement, const char *names, unsigned nth, TextSpan *call);
bool statement_argument(const Statement *statement, TextSpan call, unsigned index, TextSpan *argument);
char *statement_text(const Statement *statement, TextSpan span);
void statement_replace(Statement *statement, TextSpan span, const char *text);
bool statement_is_alone(const Statement *statement);            /* one statement on lines of its own */
void statement_tell(const Statement *statement, Repair *repair);        /* the lines that differ */
void statement_tell_moved(const Statement *statement, Repair *repair, unsigned before);        /* to before that line; no change of text */
void statement_tell_removed(const Statement *statement, Repair *repair);
void statement_tell_put(Repair *repair, const char *file, unsigned before, const char *like, const char *text);
unsigned statement_behind(const Statement *statement);          /* the line after it */
/* `text` plus `by` as an expression, without what cancels out. */
char *text_plus(const char *text, int64_t by);
/* The first lines of a definition of the variable in the same function, above the line. 0: none. */
unsigned text_find_definition(Source *source, const char *file, unsigned line, const char *variable);
unsigned text_end_of_function(Source *source, const char *file, unsigned line);
unsigned text_begin_of_function(Source *source, const char *file, unsigned line);
