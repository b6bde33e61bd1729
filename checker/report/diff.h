/* diff.h - a repair as a unified diff of the author's files, which patch(1) takes.
 *
 * Ownership:   results belong to the caller; lines belong to the repair.
 */
#pragma once
#include "../check/repair.h"
#include "source.h"

GPtrArray *diff_lines(const Repair *repair);      /* of RepairLine: as they stand in the files */
char *diff_text(const Repair *repair, Source *source);          /* NULL: its lines are not known */
