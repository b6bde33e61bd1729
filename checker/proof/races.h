/* races.h - unordered accesses to overlapping bytes of one buffer, counted by pair of sites.
 *
 *     races_new -> PairClass: how many pairs are certain races, how many the clocks leave open, a sample of either
 *
 * On the time line of each core of its device an access holds its bytes from `acquire`, the number of the core's steps that come before
 * it, to `release`, the position from which on the core's steps come after it. Two accesses are ordered iff on some time line one is
 * released before the other is acquired.
 *
 * Invariants:  1. every racing pair is in exactly one class, in `certain` or among `open`; no ordered pair is in `certain`.
 * Ownership:   the arena of races_new; whoever has the keys, zero at first, clears them.
 */
#pragma once
#include "order.h"

/* A core's step: its slot. A copy's moment: RACES_COPY | copy * 2 + (1 for the write). */
#define RACES_COPY 0x80000000u

typedef struct OpenPair { uint32_t a, b, next; } OpenPair;      /* codes; next in its class's list, NONE ends it */

typedef struct PairClass {
    uint32_t site[2], decl;                     /* site[0] <= site[1] */
    uint64_t certain, open;
    uint64_t unlisted;                          /* of the open ones, those not in the list */
    uint32_t sample[2];                         /* codes of an early certain pair; NONE: there is none */
    uint32_t sample_age;                        /* the later one's index in the record */
    uint32_t open_first;                        /* list of open pairs */
    uint32_t certain_first;                     /* list of certain ones, where a conflict's order is chosen */
    uint32_t shape_first;                       /* list of the shapes of its pairs */
} PairClass;

/* One of all pairs with the same kinds of steps, on the same regions of one object. */
typedef struct PairShape { uint32_t a, b, next; } PairShape;    /* codes; next in its class's list, NONE ends it */

typedef struct RaceKeys { Intern classes, shapes; } RaceKeys;   /* the numbers of both, see pairs.c */

typedef struct Races {
    const Index *index;
    const Order *order;
    Pile classes, open, listed;                 /* PairClass, in order of discovery; OpenPair; OpenPair, certain ones */
    Pile shapes;                                /* PairShape, certain or open */
    Pile unwritten;                             /* codes of loads that come before every write to their bytes */
    Pile unsure;                                /* loads that may do so, as the record chose an order or a race is exempt */
    uint8_t *racing;                            /* a slot: this swap races; NULL: there is no swap */
    RaceKeys *keys;
    Arena *arena;
} Races;

Races *races_new(const Order *order, RaceKeys *keys, Arena *arena);
Event races_event(const Index *index, uint32_t code);
uint32_t races_region(const Index *index, uint32_t code);       /* and the object: */
uint32_t races_object(const Index *index, uint32_t code);

/* pairs.c */
PairClass *races_class(Races *races, uint32_t site_a, uint32_t site_b, uint32_t decl);         /* valid until the next call */
void races_add_certain(Races *races, PairClass *class, uint32_t a, uint32_t b, uint64_t pairs);
void races_add_open(Races *races, PairClass *class, uint32_t a, uint32_t b);
void races_add_shape(Races *races, PairClass *class, uint32_t a, uint32_t b);

/* An access as races.c and sweep.c compare it: pair by pair, or by sorted sweeps. */
typedef struct RaceAccess {
    uint32_t code, region, site;
    bool write, copy_read;
    uint32_t acquire, release;                  /* on the only core of the device; with several, see RaceAccesses */
} RaceAccess;

typedef struct RaceAccesses {                   /* to one object */
    Races *races;
    uint32_t decl, per_device;
    RaceAccess *access;
    uint32_t *acquire, *release;                /* access * per_device + core of the device; NULL with one core */
} RaceAccesses;

/* sweep.c: all pairs between two ranges of accesses (the same range twice: within it). One core a device, no chains, no conflicts. */
void sweep_ranges(RaceAccesses *accesses, RaceAccess *a, size_t as, RaceAccess *b, size_t bs);
