/* text.h - the report for people: a line for each check, and what is wrong in sentences with source lines.
 *
 *     text_init -> text_check (text_check.h) for each check -> text_clear
 *
 * What an earlier check of the program reported is not told again.
 *
 * Ownership:   a Text appends to `out`, which the caller prints and empties; results stay the caller's.
 */
#pragma once
#include "../check/check.h"
#include "source.h"

enum { TEXT_WIDTH = 80 };                       /* columns, unless there is a terminal */

typedef struct Text {
    GString *out;
    unsigned width;                             /* columns */
    bool color, quiet, verbose, story;          /* story: also how each fault happens */
    Source *source;
    GHashTable *reported;                       /* message_key, or advice -> size of the check that printed it; looked up only */
    uint32_t helped;                            /* bit per FaultId: what usually helps was printed */
} Text;

typedef enum TextColor { TEXT_PLAIN, TEXT_GOOD, TEXT_BAD, TEXT_WARN, TEXT_FAINT, TEXT_STRONG } TextColor;

extern const char *const text_colors[];         /* by TextColor, then the one that ends a color; ended by NULL */

void text_init(Text *text, bool color, bool quiet, bool verbose);
void text_clear(Text *text);
void text_colored(Text *text, TextColor color, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Breaks words into lines of the text's width, indented by `indent`; `lead` precedes the first word. */
void text_wrapped(Text *text, unsigned indent, const char *lead, const char *words);
/* The same after something that was printed up to `column`. */
void text_flow(Text *text, unsigned column, unsigned indent, const char *words);
char *text_size(const CheckSpec *spec);                         /* "4 devices, rows=8" */
char *text_title(const CheckResult *result);                    /* "all_gather, 4 devices, rows=8" */
void text_report(Text *text, const CheckResult *result, const char *key);       /* notes that this check printed it, if it is the first */
