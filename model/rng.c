/* rng.c - xoshiro256** for the sequence, SplitMix64 to spread a seed over its 256 bits and as the mixing function (Blackman and Vigna,
 * "Scrambled linear pseudorandom number generators"). Bounded numbers: multiply and take the high half, rejecting the few low values that
 * would bias the result (Lemire).
 */
#include "rng.h"
#include <glib.h>

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

uint64_t rng_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

void rng_init(Rng *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        rng->state[i] = rng_mix(seed += UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t rng_next(Rng *rng)
{
    uint64_t *s = rng->state, result = rotate_left(s[1] * 5, 7) * 9, shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(Rng *rng, uint64_t bound)
{
    g_assert(bound >= 1);
    uint64_t reject = -bound % bound;           /* 2^64 mod bound */
    for (;;) {
        __uint128_t product = (__uint128_t)rng_next(rng) * bound;
        if ((uint64_t)product >= reject)
            return (uint64_t)(product >> 64);
    }
}

int64_t rng_between(Rng *rng, int64_t least, int64_t greatest)
{
    uint64_t span = (uint64_t)greatest - (uint64_t)least;
    return (int64_t)((uint64_t)least + (span == UINT64_MAX ? rng_next(rng) : rng_below(rng, span + 1)));
}
