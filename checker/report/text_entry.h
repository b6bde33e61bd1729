/* text_entry.h - an entry as text: headline and source lines, cause, repair, how to see it; then, in a line each, its other symptoms.
 */
#pragma once
#include "entry.h"
#include "text.h"

/* A check that reported its first finding before has only what is new of it printed. */
void text_entry(Text *text, const CheckResult *result, const GPtrArray *entries, guint number, const GPtrArray *schedules);
void text_entry_name(Text *text, const CheckResult *result, const Entry *entry);        /* "race at kernel.c:18 and kernel.c:20" */
/* The size of the check that told of all its findings; NULL: some are new. */
const char *text_told(const Text *text, const CheckResult *result, const Entry *entry);
