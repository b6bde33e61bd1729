/* story.h - a finding in sentences: what went wrong, and for whom it is no fault.
 *
 * Ownership:   results belong to the caller (g_free), but for story_exemption's.
 */
#pragma once
#include "../check.h"

/* One sentence without a full stop. */
char *story_message(const CheckResult *result, const Finding *finding);
/* What helps to understand it; the search's own words, or for a deadlock what the record shows. NULL: nothing. */
char *story_why(const CheckResult *result, const Finding *finding);
/* The reason that the program gives for not minding; NULL: it does mind. */
const char *story_exemption(const Program *program, const Finding *finding);
/* How often the schedule goes from one agent to another. */
unsigned story_switches(const Finding *finding);
/* A move in words: "device 1", "copy 3 of device 1: write". */
char *story_move(const Program *program, const Move *move);
/* The same for findings of different sizes of one program that are the same fault at the same lines. */
char *story_key(const Program *program, const Finding *finding);
