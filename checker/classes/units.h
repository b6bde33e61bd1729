/* units.h - divides the search over classes into units that run in parallel.
 *
 *     one unit: the whole search -> its budget of classes is used up -> divided: nodes, and units below them -> rounds -> no unit left
 *
 * A *unit* is one depth-first search below a given choice; the frames above that choice are *nodes*, which several units share. In each
 * round every unit visits `budget` classes. Then, unit by unit, the results are added to the totals, and the reversed runs that begin at
 * nodes are inserted into their wakeup trees. Branches of nodes that have not begun become units; while there are fewer units than the
 * maximum, one of them turns its frames into nodes, down to the first frame with a branch that another unit can begin. Nothing else
 * decides the number of units and their progress, so the outcome is the same for any number of workers.
 *
 * A branch begins only when all branches that sleep in it are done: what sleeps in it is covered by others, but they find part of that by
 * reversing races into the branch itself, which happens before it begins if one unit does everything. So a branch begins beside unfinished
 * ones only if it commutes with none of them, so that none sleeps in it. Nor may it commute with one before it in the tree, since either
 * could then sleep in the other. A reversed run that reaches a node after a branch began comes from a branch that does not sleep in it;
 * the branch does not need it, just as if it had been the first to be tried.
 *
 * Invariants:  1. begun branches sleep in those that began later, where they commute; all sleepers of a unit are done.
 *              2. for each race of a visited run: at the node where the reversed run begins, a begun branch, a sleeper or a branch of the
 *              tree can come first in it. A unit that cannot establish this hands the reversed run over, even after one that covers it:
 *              that one may yet be dropped in favour of a branch that covers only it.
 *              3. a reversed run is inserted into a node's tree only if no sleeper there, begun branches included, can come first in it:
 *              nothing is asleep at its end, so no run is cut off as redundant.
 *              4. nodes change between rounds only.
 * Ownership:   Units owns the explorers.
 */
#pragma once
#include "class_results.h"

typedef struct Units {
    Shared shared;
    GPtrArray *live, *idle;                     /* Explorer */
    Totals totals;
    Shapes shapes;
    uint64_t rounds;
    bool cut;                                   /* a limit shortened a round: a search without it has other rounds from here on */
} Units;

Units *units_new(UnrollSource *source, const ClassesOptions *options);
void units_free(Units *units);
void units_forget(Units *units);                /* back to the start */

/* Checks of a search read from a file. Chained: nodes (uint32_t) lead from the start along these choices (uint32_t agents). Fit: each open
 * branch of a node belongs to a unit or a node below, and each unit to an open branch. */
bool units_are_chained(const Units *units, const GArray *nodes, const GArray *agents);
bool units_fit(const Units *units);
void units_assert_sane(const Units *units);     /* between rounds; of invariants 1 and 3, what one state tells */

/* estimate.c: the number of classes, by the shape of the search tree so far. */
Estimate units_estimate(const Units *units);

Explorer *units_add(Units *units);              /* a new one, not begun */

/* One round: how many classes each unit visits. cut: the limit leaves less than a whole round. */
typedef struct Round { GPtrArray *live; uint64_t budget, extra; bool cut; gint next; } Round;
Round units_plan_round(const Units *units);
void units_run_round(Units *units, Round *round);
