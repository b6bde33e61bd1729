/* fingerprint.h - what stays the same about a fault when sizes change and lines move, so that tools see one and the same alert.
 *
 * Made from the program, the fault, the name of the buffer or semaphore, and the text of the source lines; of equal lines in a file, which
 * of them it is. Where the source is not to be had its file and line stand in.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once
#include "../check/check.h"
#include "source.h"

char *fingerprint_finding(Source *source, const CheckResult *result, const Finding *finding);         /* 16 hex digits */
