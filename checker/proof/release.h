/* release.h - the release of a copy's signal: the first wait that needs the last part of it.
 *
 * A copy orders other steps only by its signals. So its write comes before b exactly if that wait does; its read, which has two effects,
 * at least if the wait for its send signal does.
 *
 * Ownership:   the arena of releases_new.
 */
#pragma once
#include "vclock.h"

typedef struct Releases {
    uint32_t *at;                               /* copy * 2 + end: position + 1 of that wait; NONE: none is known */
    uint32_t *by;                               /* copy * 2 + end: on which core, where copies are chained; NULL: the semaphore's waiter */
    uint8_t *alone;                             /* copy * 2 + 1: its write acts through one semaphore only; NULL: copies are not chained */
    uint32_t *waiter;                           /* a semaphore: the only core that waits on it; NONE: no core, or several */
    uint8_t *shared;                            /* a semaphore: several cores wait on it without taking; no releases are computed for it */
} Releases;

/* The core of the wait in `at`. */
static inline uint32_t releases_core(const Releases *releases, uint32_t semaphore, uint32_t copy_end)
{
    return releases->by ? releases->by[copy_end] : releases->waiter[semaphore];
}

Releases *releases_new(const Index *index, const Clocks *clocks, Arena *arena);
