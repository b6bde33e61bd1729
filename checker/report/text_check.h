/* text_check.h - the report of one check as text. */
#pragma once
#include "text.h"

/* schedules: of char*, for each finding of the outcome the path of its schedule or NULL. NULL: none were written. */
void text_check(Text *text, const CheckResult *result, const GPtrArray *schedules);
