/* random_inside.h - what random_program.c (shape, declarations, launches) and random_ops.c (operations) share. */
#pragma once
#include "random_program.h"

enum { RANDOM_SLOT_BYTES = 4, RANDOM_MEANT_MAX = 16 };

/* A copy that counts on one's own semaphore. */
typedef struct RandomPromise { uint8_t core, index, thing, element; bool by_send; } RandomPromise;

typedef struct RandomMaker {
    RandomProgram *random;
    Rng rng;
    unsigned launch;
    bool careful;                                               /* waits for everything promised */
    int hbm, barrier, vmem, dma, regular, flag_bytes, words;    /* things of this launch; -1: none */
    int scope[4], scopes;                                       /* things that cores may open in this launch */
    int8_t open[RANDOM_CORES_MAX][8];
    uint8_t opens[RANDOM_CORES_MAX];
    bool opened[RANDOM_CORES_MAX][RANDOM_THINGS_MAX];
    int account[RANDOM_THINGS_MAX][RANDOM_CORES_MAX][2];        /* by semaphore: promised and not yet waited for */
    RandomPromise promise[RANDOM_MEANT_MAX];
    unsigned promises;
} RandomMaker;

static inline bool random_chance(RandomMaker *m, unsigned percent)
{
    return rng_below(&m->rng, 100) < percent;
}

static inline unsigned random_pick(RandomMaker *m, unsigned low, unsigned high)
{
    return low + (unsigned)rng_below(&m->rng, high - low + 1);
}

static inline bool random_has(const RandomMaker *m, RandomFeature feature)
{
    return (m->random->features & feature) != 0;
}

void random_add_operation(RandomMaker *m);         /* one, or a whole protocol of some */
void random_settle_jumps(RandomProgram *random);    /* within their launch, and not across the ends of scopes */
void random_end_launch(RandomMaker *m);            /* closes scopes; a careful program takes what is still promised */
