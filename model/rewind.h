/* rewind.h - takes back what runs have added to a program, so that another search begins with the same ids as the first one.
 *
 *     rewind_mark -> runs, a search -> rewind_to -> runs, a search that another process can repeat
 *
 * What runs showed of launches is kept. Ids after the mark become invalid; the generation changes, which invalidates caches by id.
 */
#pragma once
#include "program.h"

typedef struct Rewind { size_t interns[5], stores[8]; uint32_t objects, semaphores; } Rewind;

Rewind rewind_mark(const Program *program);
void rewind_to(Program *program, const Rewind *mark);           /* no effect if races are marked (racing.h), as marks contain ids */
