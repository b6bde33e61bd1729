/* places.h - where a finding is shown by reports that want a place for each: its own places; of a deadlock the cores that are stuck; of
 * what shows only at the end of the program the last step of the core that has it.
 *
 * Ownership:   the result belongs to the caller.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"

GArray *places_shown(const CheckResult *result, const Finding *finding, guint most);    /* of Place, at most so many */
