/* message.h - a finding in sentences.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include "../check/check.h"

/* One sentence without a full stop. */
char *message_text(const CheckResult *result, const Finding *finding);
/* What helps to understand it; the search's own words, or for a deadlock what the record shows. NULL: nothing. */
char *message_why(const CheckResult *result, const Finding *finding);
/* Where somebody must be late for the fault to show on a real machine, one line each; NULL: it is not known. g_ptr_array_unref. */
GPtrArray *message_delays(const Program *program, const Finding *finding);
/* How often the schedule goes from one agent to another. */
unsigned message_switches(const Finding *finding);
/* The same for findings of different sizes of one program that are the same fault at the same lines. */
char *message_key(const Program *program, const Finding *finding);
