/* ancestry.h - where an unwritten value comes from: back through copies and stores to bytes that nothing wrote.
 *
 * Copies are followed byte by byte. How a core computes a stored value is unknown, so the loads just before the store are tried.
 *
 * Errors:      NULL if no source is found.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* To be called after a run with contents that showed the `uninitialised` finding. One or more sentences, g_malloc. */
char *ancestry_of_unwritten(Execution *execution, const Finding *finding);
/* The same of an element that is not the expected one, back to an input or to what a core computed. */
char *ancestry_of_result(Execution *execution, const Finding *finding);
