/* closed_set.h - does a table of states that somebody hands us hold together? Then nothing that can be reached is missing but behind the
 * states that are still to be expanded.
 */
#pragma once
#include "frontier.h"

/* The start is in the table, and so is each successor of each state that is not to come: of all, or of some thousands of a large table.
 * For tables of whole states: not where they are forgotten or hashed, and not where steps are done at once. */
bool closed_set_check(StateSpace *space, const Frontier *frontier);
