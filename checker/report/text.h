/* text.h - the report for people: a line for each check, what is wrong in sentences with source lines, a closing table.
 *
 *     text_check, for each check in turn -> text_summary
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
    GHashTable *reported;                          /* message_key, or advice -> title of the check that told it in full; looked up only */
    uint32_t narrated;                           /* bit per FaultId: how one came about was told */
    uint32_t helped;                            /* bit per FaultId: its usual repairs were printed */
} Text;

typedef enum TextColor { TEXT_PLAIN, TEXT_GOOD, TEXT_BAD, TEXT_WARN, TEXT_FAINT, TEXT_STRONG } TextColor;

extern const char *const text_colors[];         /* by TextColor, then the one that ends a color; ended by NULL */

void text_init(Text *text, bool color, bool quiet, bool verbose);
void text_clear(Text *text);
void text_colored(Text *text, TextColor color, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Words broken into lines of at most 110 columns, each after `indent` spaces; `lead` stands before the first word. */
void text_wrapped(Text *text, unsigned indent, const char *lead, const char *words);
/* schedules: of char*, the path of each finding's schedule or NULL, in the order of the outcome's findings. NULL: none were written. */
void text_check(Text *text, const CheckResult *result, const GPtrArray *schedules);
/* One finding alone, for replay. */
void text_finding(Text *text, const CheckResult *result, const Finding *finding, const char *schedule);
char *text_title(const CheckResult *result);                    /* "all_gather, 4 devices, rows=8" */
