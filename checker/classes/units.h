/* units.h - the search over classes divided into units, which are worked on at the same time.
 *
 *     one unit: all of it -> its budget of classes is used up -> divided: nodes, and units below them -> rounds -> no unit left
 *
 * A *unit* is one depth-first search below a given pick; the frames above that pick are *nodes*, which several units share. In each round
 * every unit goes on until it has seen `budget` classes. Then, one unit after the other: what it found is added up, and the turned runs
 * that begin at nodes are put into their wakeup trees. Branches of nodes that nobody has begun become units; while there are fewer units
 * than there may be, one of them gives its frames up to the first with a branch that somebody else can begin. How many units there are and
 * how far they go depends on nothing else, so that the outcome is the same for any number of workers.
 *
 * A branch begins only when all those are done which it lets sleep: what sleeps in it is covered by others, but part of what they cover
 * they find by turning round races into the branch itself, as they do before it begins when one unit does all. So a branch begins beside
 * others that are not done only if it commutes with none of them, and none of them sleeps in it; nor may it commute with one that stands
 * before it in the tree, for in which of the two would the other sleep? Turned runs that reach a node too late for a branch that began are
 * those of branches that do not sleep in it, which it can do without, as it does if it is the first to be tried.
 *
 * Invariants:  1. branches that began sleep in those that began later, where they commute; all that sleeps in a unit is done.
 *              2. for each race of a run that was seen, at the node where the turned run begins something that was begun, sleeps or is in
 *              the tree can come first in it. A unit that does not see that this is so hands the turned run over, even if it handed over
 *              one that covers it: that one may yet be dropped in favour of a branch which covers it alone.
 *              3. a turned run is put into a node's tree only if nothing that sleeps there, begun branches included, can come first in it:
 *              when it is run, nothing is asleep at its end, and no run is cut off as redundant.
 *              4. nodes change between rounds only.
 * Ownership:   Units owns the explorers.
 */
#pragma once
#include "digest.h"

typedef struct Units {
    Shared shared;
    GPtrArray *live, *idle;                     /* Explorer */
    Sum sum;
    Shapes shapes;
    uint64_t rounds;
    bool cut;                                   /* a round was made smaller by a limit: no other search goes through what follows */
} Units;

Units *units_new(UnrollSource *source, const ClassesOptions *options);
void units_free(Units *units);
void units_forget(Units *units);                /* back to the start */

/* Of a search that was read from a file. Chained: nodes (uint32_t) lead from the start along these picks (uint32_t agents). Fit: each
 * branch that is open at a node is somebody's, and nobody is elsewhere. */
bool units_are_chained(const Units *units, const GArray *nodes, const GArray *agents);
bool units_fit(const Units *units);

/* estimate.c: how many classes there are, by the shape of the search tree so far. */
Estimate units_estimate(const Units *units);

Explorer *units_add(Units *units);              /* one that has not begun */

/* One round: how many classes each unit may see. cut: what is left of the limit is less than a whole round. */
typedef struct Round { GPtrArray *live; uint64_t budget, extra; bool cut; gint next; } Round;
Round units_plan_round(const Units *units);
void units_run_round(Units *units, Round *round);
