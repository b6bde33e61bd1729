/* classes.h - explores the conflicts of a program, and proves the orders inside each class.
 *
 * A *class*, a Mazurkiewicz trace, is the order on each contended object of the steps that do not commute: adds commute with adds, looks
 * with looks, nothing else. Steps free of conflict run at once; only steps on contended objects are choices. Each class is visited once,
 * and the record of its run goes to the proof, which decides everything that the class leaves open.
 *
 * Method: optimal dynamic partial order reduction with wakeup trees (Abdulla, Aronis, Jonsson, Sagonas). It departs from the paper in four
 * points.
 * 1. Counts enable steps, so a step may be enabled by any of several others. What is possible without a step is found by execution, not
 *    read off happens-before; its bits decide only where program order and the chosen orders are all of it.
 * 2. Other steps may disable a waiting step and enable it again: each point at which it was enabled is tried.
 * 3. A look that leaves a polling core in the same state is not a step; a longer polling loop sleeps until something that it observed
 *    changes.
 * 4. The search is divided among workers, see units.h. Workers are threads that share what is known of the program: each part of a kernel
 *    runs once, by one thread at a time.
 *
 * Ownership:   the outcome belongs to the caller; the source is borrowed.
 * Errors:      a limit ends the search, and the outcome names it. A resumed search goes through the same rounds as an uninterrupted one,
 *              and ends with the same outcome.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/unroll.h"
#include "classes_options.h"

/* Does the run have conflicts, or steps that may conflict in another run? Then the proof of its record does not decide the program. */
bool classes_needed(const Record *record);
/* NULL: the checkpoint is of another program, as *error says (g_malloc); without `resumed` error may be NULL. */
Outcome *classes_run(UnrollSource *source, const ClassesOptions *options, char **error);
