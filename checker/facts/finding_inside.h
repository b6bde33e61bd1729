/* finding_inside.h - shared by finding.c and instances.c. */
#pragma once
#include "finding.h"

/* Adds what the other counts. summed: they are of different executions. */
void instances_merge(Finding *kept, const Finding *other, bool summed);
