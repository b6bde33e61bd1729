/* rewind.h - a program as it was: what runs have added since is gone, so that one more search begins with the ids of the first one.
 *
 *     rewind_mark -> runs, a search -> rewind_to -> runs, a search that a process of its own can do again
 *
 * What runs showed of launches stays. Nobody may hold ids that are gone; what was remembered by them is of another generation.
 */
#pragma once
#include "program.h"

typedef struct Rewind { size_t interns[5], stores[8]; uint32_t objects, semaphores; } Rewind;

Rewind rewind_mark(const Program *program);
void rewind_to(Program *program, const Rewind *mark);           /* no effect where races are marked (racing.h), by such ids */
