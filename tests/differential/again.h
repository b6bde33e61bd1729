/* again.h - a search once more: by another number of workers; or cut short, and gone on from its checkpoint by a search that begins with
 * nothing. The outcome must be the same, to the last move of each schedule.
 */
#pragma once
#include "../../checker/classes/classes.h"
#include "../../checker/enumerate/enumerate.h"

/* NULL: the same as `expected`, which a search with these options gave. Else what differs, in one line. g_malloc. `cut`: where it is cut
 * short, in states or classes; 0: it is not. */
char *again_by_states(Program *program, const EnumerateOptions *options, uint64_t cut, const Outcome *expected);
char *again_by_classes(Program *program, const ClassesOptions *options, uint64_t cut, const Outcome *expected);
