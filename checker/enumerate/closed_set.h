/* closed_set.h - is a table of states from a checkpoint closed under successors? Then every reachable state is in it, or is reached from
 * the states that are not expanded yet.
 */
#pragma once
#include "frontier.h"

/* The start is in the table, and so is each successor of each expanded state: of all states, or of some thousands of a large table. For
 * tables of whole states: not with --sweep, --hash-compact or --merge-local. */
bool closed_set_check(StateSpace *space, const Frontier *frontier);
