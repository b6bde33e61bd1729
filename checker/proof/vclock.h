/* vclock.h - must-precede vector clocks: for each core, how many of its steps come before an event in every execution.
 *
 * Only the entries that are used are kept: at a signal, those of the device that owns the semaphore; at the start of a copy, those of the
 * target device and, if devices have several cores, of its own; at accesses and frees, those of the own device.
 *
 * Invariants:  1. what clocks_entry knows is exact: a core's step precedes the event iff its position is below the entry.
 */
#pragma once
#include "index.h"

typedef struct Clocks {
    const Index *index;
    uint32_t *toward, *home;                    /* copy * per_device + core of the device: at its start, which it includes */
    uint32_t *signal_toward;                    /* signal * per_device + core of the owner's device; signals by a core's step only */
    uint32_t *slot_home;                        /* slot * per_device + core: before that step; NULL if devices have one core */
    struct Learnt *learnt;                      /* other entries, asked for later: open addressing */
    size_t learnt_size, learnt_count;
    uint32_t passes;                            /* over the rows: the maximum over all blocks of columns */
} Clocks;

Clocks *clocks_new(const Index *index, Arena *arena);

/* Computes more entries for clocks_entry. Sorts the list in place. */
void clocks_learn(Clocks *clocks, Asked *asked, size_t askeds, Arena *arena);

/* How many steps of `core` must come before the event (of a copy's moment: its start counts). False: not kept. */
bool clocks_entry(const Clocks *clocks, const Event *event, uint32_t core, uint32_t *entry);
/* The same at a signal, its own step or start included; core: one of the device that owns the semaphore. */
uint32_t clocks_at_signal(const Clocks *clocks, uint32_t signal, uint32_t core);
