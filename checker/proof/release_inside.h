/* release_inside.h - what release.c and chain.c share while they process one semaphore. */
#pragma once
#include "release.h"

typedef struct SignalGiven { uint32_t after, inc, copy_end; } SignalGiven; /* after: how many of the waiter's steps come before it */

typedef struct Releaser {
    const Index *index;
    const Clocks *clocks;
    Releases *releases;
    Pile given, stack;                          /* SignalGiven, in order of `after`; indices of waits, nearest on top */
    Pile slack;                                 /* int64_t, a wait: its slack; chain.c: less what the chain gives */
    struct Chains *chains;
} Releaser;

/* The part that a copy signals at completion. */
uint32_t release_last_part(const Index *index, uint32_t inc);
void release_push_wait(Releaser *releaser, uint32_t wait);
/* The nearest wait on the stack with less slack than `part`, NONE. */
uint32_t release_nearest_short(const Releaser *releaser, int64_t part);

/* chain.c: the same where copies are chained. */
void chain_begin(Releaser *releaser, Arena *arena, Arena *scratch);
void chain_release(Releaser *releaser, uint32_t semaphore);
void chain_end(Releaser *releaser);
