/* rng.h - a seeded generator (SplitMix64, xoshiro256**: Blackman and Vigna), the same on every machine. */
#pragma once
#include <stdint.h>

typedef struct Rng { uint64_t state[4]; } Rng;

void rng_init(Rng *rng, uint64_t seed);
uint64_t rng_next(Rng *rng);
uint64_t rng_below(Rng *rng, uint64_t bound);                   /* uniform on [0, bound), without bias; bound >= 1 */
int64_t rng_between(Rng *rng, int64_t least, int64_t greatest);         /* uniform on [least, greatest] */
uint64_t rng_mix(uint64_t value);                               /* a fixed bijection that scatters bits */
