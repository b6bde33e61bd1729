/* repairs_diff.h - shared by the parts of repairs_diff: how operations stand in the source. */
#pragma once
#include "repairs.h"
#include "repairs_text.h"

#define COPIES "\\w*async_(?:remote_)?copy"     /* the calls that make copies */

bool diff_find_step(const Repairs *r, const Statement *statement, const EditWhere *where, TextSpan *call);
const Op *diff_find_op(const Repairs *r, const EditWhere *where);       /* NULL: none */
/* What the source calls the device that each core is to name there. NULL: it has no word for it. g_free. */
char *diff_device_in_source(const Repairs *r, const char *file, unsigned line, const uint32_t *target);
void diff_tell_device(const Repairs *r, const Edit *edit, Repair *repair);
