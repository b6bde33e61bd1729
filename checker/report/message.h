/* message.h - a finding in sentences.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include "../check/check.h"

/* One sentence without a full stop. */
char *message_text(const CheckResult *result, const Finding *finding);
/* " (one of at most 6 such pairs)"; empty if it is the only one. */
char *message_count(const Finding *finding);
/* An explanation: that of the search, or, for a deadlock, from the record. NULL: none. */
char *message_why(const CheckResult *result, const Finding *finding);
/* Under which orders of copies it holds: "only if copies of one link may overtake ..."; NULL: under each, and that goes without saying. */
char *message_holds(const CheckResult *result, const Finding *finding);
const char *message_holds_briefly(const Finding *finding);     /* NULL: under each */
/* Which agents must be slow for the fault to show on a real machine, one line each; NULL: unknown. g_ptr_array_unref. */
GPtrArray *message_delays(const Program *program, const Finding *finding);
/* Context switches of the schedule: how often the next move is of another agent. */
unsigned message_switches(const Finding *finding);
/* Equal for findings of one program, at any size, that are the same fault at the same lines. */
char *message_key(const Program *program, const Finding *finding);
