/* step_words.h - a step in words: "the flag store of 1 by device 0 at kernel.c:12".
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include "record.h"

const char *ordinal_end(uint32_t number);        /* "st" of 1, "nd" of 2, ... */
char *step_words(const Program *program, const Step *step);
/* " (the 2nd time)" if its core does that several times, else "". step: of the record. */
char *step_words_time(const Record *record, const Step *step);
