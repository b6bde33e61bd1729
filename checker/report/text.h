/* text.h - the report for people: a line for each check, and faults in sentences with source lines.
 *
 *     text_init -> text_check for each check -> text_clear
 *
 * Ownership:   a Text appends to `out`, which the caller prints and empties; results stay the caller's.
 */
#pragma once
#include "../check/check.h"
#include "source.h"

typedef struct Text {
    GString *out;
    bool color, quiet, verbose;
    Source *source;
    GHashTable *reported;                          /* message_key, or advice -> title of the check that printed it; looked up only */
    uint32_t narrated;                           /* bit per FaultId: the narrative of one was printed */
    uint32_t helped;                            /* bit per FaultId: its usual repairs were printed */
} Text;

typedef enum TextColor { TEXT_PLAIN, TEXT_GOOD, TEXT_BAD, TEXT_WARN, TEXT_FAINT, TEXT_STRONG } TextColor;

extern const char *const text_colors[];         /* by TextColor, then the one that ends a color; ended by NULL */

void text_init(Text *text, bool color, bool quiet, bool verbose);
void text_clear(Text *text);
void text_colored(Text *text, TextColor color, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Breaks words into lines of at most 110 columns, indented by `indent`; `lead` precedes the first word. */
void text_wrapped(Text *text, unsigned indent, const char *lead, const char *words);
/* schedules: of char*, for each finding of the outcome the path of its schedule or NULL. NULL: none were written. */
void text_check(Text *text, const CheckResult *result, const GPtrArray *schedules);
/* One finding alone, for replay. */
void text_finding(Text *text, const CheckResult *result, const Finding *finding, const char *schedule);
char *text_title(const CheckResult *result);                    /* "all_gather, 4 devices, rows=8" */
