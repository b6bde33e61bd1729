/* diff.h - a repair as a unified diff of the author's files, which patch(1) takes.
 *
 * Ownership:   the result belongs to the caller (g_free).
 */
#pragma once
#include "../check/repair.h"
#include "source.h"

char *diff_text(const Repair *repair, Source *source);          /* NULL: its lines are not known */
