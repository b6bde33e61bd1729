/* release.h - when a copy's signal is known to have been given: the first wait that cannot do without its last part.
 *
 * Nothing that a copy does orders others but its signals. So its write is done before b exactly when that wait is; its read, which has two
 * effects, at least when the wait for its send signal is.
 *
 * Ownership:   the arena of releases_new.
 */
#pragma once
#include "vclock.h"

typedef struct Releases {
    uint32_t *at;                               /* copy * 2 + end: position + 1 of that wait; NONE: never, as far as this tells */
    uint32_t *by;                               /* copy * 2 + end: on which core, where copies are chained; NULL: the semaphore's waiter */
    uint8_t *alone;                             /* copy * 2 + 1: its write acts through one semaphore only; NULL: copies are not chained */
    uint32_t *waiter;                           /* a semaphore: the only core that waits on it; NONE: nobody, or several cores do */
    uint8_t *shared;                            /* a semaphore: several cores wait, without taking; releases are not worked out there */
} Releases;

/* The core on which `at` is. */
static inline uint32_t releases_core(const Releases *releases, uint32_t semaphore, uint32_t copy_end)
{
    return releases->by ? releases->by[copy_end] : releases->waiter[semaphore];
}

Releases *releases_new(const Index *index, const Clocks *clocks, Arena *arena);
