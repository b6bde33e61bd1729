/* statistic.c - bisection over entries, all columns of a block at once.
 *
 * Entries already reached stay: the search is between what the row has anyway and the largest entry of any signal. Counting how much lies
 * at or below a guess is a plain loop over signals without branches; a dozen guesses settle a column, and sorting would cost as much.
 */
#include "statistic.h"

#include <glib.h>
#include <string.h>

void statistic_init(Statistic *statistic, Arena *arena)
{
    *statistic = (Statistic){ 0 };
    pile_init(&statistic->values, arena, sizeof(int32_t));
    pile_init(&statistic->incs, arena, sizeof(uint32_t));
}

void statistic_begin(Statistic *statistic, uint32_t width)
{
    statistic->width = width;
    statistic->signals = 0;
    statistic->sum = 0;
    statistic->values.count = statistic->incs.count = 0;
}

void statistic_add(Statistic *statistic, const int32_t *values, uint32_t own, int32_t own_entry, uint32_t inc)
{
    int32_t *to = pile_push(&statistic->values, statistic->width);
    if (values)
        memcpy(to, values, statistic->width * sizeof *to);
    else
        memset(to, 0, statistic->width * sizeof *to);
    if (own != UINT32_MAX)
        to[own] = own_entry;
    *(uint32_t *)pile_push(&statistic->incs, 1) = inc;
    statistic->signals++;
    statistic->sum += inc;
}

/* sum[i] = what signals with an entry <= guess[i] give. */
static void count_below(const Statistic *statistic, uint32_t column, const int32_t *guess, int64_t *sum)
{
    const int32_t *values = (const int32_t *)pile_base(&statistic->values) + column;
    const uint32_t *inc = pile_base(&statistic->incs);
    memset(sum, 0, LANES * sizeof *sum);
    for (size_t s = 0; s < statistic->signals; s++, values += statistic->width)
        for (uint32_t i = 0; i < LANES; i++)
            sum[i] += values[i] <= guess[i] ? inc[s] : 0;
}

static void largest_entries(const Statistic *statistic, uint32_t column, int32_t *largest)
{
    const int32_t *values = (const int32_t *)pile_base(&statistic->values) + column;
    for (size_t s = 0; s < statistic->signals; s++, values += statistic->width)
        lanes_raise(largest, values);
}

void statistic_raise(const Statistic *statistic, int64_t total, int32_t *to)
{
    g_assert(total > 0 && total <= statistic->sum);
    for (uint32_t column = 0; column < statistic->width; column += LANES, to += LANES) {
        int32_t low[LANES], guess[LANES];
        _Alignas(Lanes) int32_t high[LANES];
        int64_t sum[LANES];
        memcpy(low, to, sizeof low);
        memcpy(high, to, sizeof high);
        largest_entries(statistic, column, high);
        for (bool open = true; open;) {         /* the answer is in low .. high; enough lies at or below high */
            open = false;
            for (uint32_t i = 0; i < LANES; i++)
                guess[i] = low[i] + (high[i] - low[i]) / 2;
            count_below(statistic, column, guess, sum);
            for (uint32_t i = 0; i < LANES; i++) {
                if (sum[i] >= total)
                    high[i] = guess[i];
                else
                    low[i] = guess[i] + 1;
                open |= low[i] < high[i];
            }
        }
        memcpy(to, high, sizeof high);
    }
}
