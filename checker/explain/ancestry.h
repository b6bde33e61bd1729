/* ancestry.h - the way that something unwritten took to where it was noticed: back over copies and stores to what nobody wrote.
 *
 * Copies are followed byte by byte. What a core computes is not known: of a store the loads just before it are tried.
 *
 * Errors:      NULL where the way is not found.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* After a run, with contents, that showed the `uninitialised` finding. One sentence or more, g_malloc. */
char *ancestry_of_unwritten(Execution *execution, const Finding *finding);
