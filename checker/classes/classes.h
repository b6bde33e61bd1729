/* classes.h - explores the conflicts of a program, proves the orders inside each class.
 *
 * A *class* is the order chosen on each contended object, for steps that do not commute: adds commute with adds, looks with looks, nothing
 * else. All that is free of conflict is run at once; only steps on contended objects are chosen. Each class is visited once, and the record
 * of its run goes to the proof, which decides everything that the class leaves open.
 *
 * Method: optimal dynamic partial order reduction with wakeup trees (Abdulla, Aronis, Jonsson, Sagonas). It departs from the paper in four
 * points.
 * 1. Steps are enabled by counts, and so by either of several others. What can be done without a step is found by running it, not read off
 *    a happens-before order; bits of that order are used where program order and chosen orders are all there is.
 * 2. A step that waits for a condition on a value may be turned off and on again by steps between: each moment at which it could have gone
 *    is tried.
 * 3. A look that brings a polling core back to the state it was in is no step; a longer loop of looks sleeps until something that it saw
 *    changes.
 * 4. The search is divided among workers, see units.h. Workers are threads: they share what is known of the program, so that each part of a
 *    kernel is run once whoever asks for it, and by one thread at a time.
 *
 * Ownership:   the outcome belongs to the caller; the source is borrowed.
 * Errors:      limits end the search with their names in the outcome. An interrupted search that is resumed goes through the same rounds as
 *              one that is not interrupted, and ends with the same outcome.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/unroll.h"
#include "classes_options.h"

/* Has a run seen conflicts, or what may be some in another run? Then the proof of its record does not decide the program. */
bool classes_needed(const Record *record);
/* NULL: what is to be resumed is not of this program, as *error says (g_malloc); without `resumed` error may be NULL. */
Outcome *classes_run(UnrollSource *source, const ClassesOptions *options, char **error);
