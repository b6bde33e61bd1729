/* statistic.h - a weighted order statistic, column by column: how many steps precede a wait that can choose among signals.
 *
 * Of signals with a clock and an increment each: the smallest t such that those with an entry <= t give at least the total. The wait can do
 * without the signals with larger entries.
 */
#pragma once
#include "arena.h"

#define LANES 16                                /* columns come in multiples of it; all rows of values are aligned to it */
typedef int32_t Lanes __attribute__((vector_size(16)));         /* every common CPU has registers of this width */

/* to[i] = max(to[i], from[i]) for LANES columns; both aligned to a vector. */
static inline void lanes_raise(int32_t *to, const int32_t *from)
{
    Lanes *t = (Lanes *)to;
    const Lanes *f = (const Lanes *)from;
    for (unsigned i = 0; i < LANES * sizeof(int32_t) / sizeof(Lanes); i++) {
        Lanes larger = f[i] > t[i];             /* all ones where it is */
        t[i] = (f[i] & larger) | (t[i] & ~larger);
    }
}

typedef struct Statistic {
    Pile values, incs;                          /* signal after signal: width entries; increment */
    uint32_t width;
    size_t signals;
    int64_t sum;                                /* of all increments */
    uint32_t divisor;                           /* of all increments */
} Statistic;

void statistic_init(Statistic *statistic, Arena *arena);
void statistic_begin(Statistic *statistic, uint32_t width);
/* values NULL: all zero; own: the column whose entry is own_entry instead, UINT32_MAX: none. */
void statistic_add(Statistic *statistic, const int32_t *values, uint32_t own, int32_t own_entry, uint32_t inc);
/* Raises each column of `to` to the statistic for `total` (<= sum). most: upper bounds of the result, NULL: none are known. */
void statistic_raise(const Statistic *statistic, int64_t total, int32_t *to, const int32_t *most);
