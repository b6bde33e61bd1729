/* statistic.h - a weighted order statistic, column by column: how many steps precede a wait that can choose among signals.
 *
 * Given signals, each with a clock and an increment, the smallest t such that those with an entry <= t give at least the total: whatever the
 * wait can do without, the signals with the largest entries first, is dropped.
 */
#pragma once
#include "arena.h"

#define LANES 16                                /* columns come in multiples of it, so that inner loops have a known length */

typedef struct Statistic {
    Pile values, incs;                          /* signal after signal: width entries; increment */
    uint32_t width;
    size_t signals;
    int64_t sum;                                /* of all increments */
} Statistic;

void statistic_init(Statistic *statistic, Arena *arena);
void statistic_begin(Statistic *statistic, uint32_t width);
/* values NULL: all zero; own: the column whose entry is own_entry instead, UINT32_MAX: none. */
void statistic_add(Statistic *statistic, const int32_t *values, uint32_t own, int32_t own_entry, uint32_t inc);
/* Raises each column of `to` to the statistic for `total` (<= sum). */
void statistic_raise(const Statistic *statistic, int64_t total, int32_t *to);
