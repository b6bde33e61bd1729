/* statistic.c - the weighted order statistic by narrowing an interval, for all columns of a block at once.
 *
 * For a guess in each column one scan over the signals computes how much lies at or below it, and the next larger entry. The first guesses
 * are the smallest candidates, which mostly include the answer; then the interval is halved. Increments are divided by their greatest
 * common divisor, so that sums nearly always fit 32 bits and a scan takes a few vector operations a signal.
 */
#include "statistic.h"

#include <glib.h>
#include <string.h>

enum { SMALLEST_FIRST = 3 };                    /* guesses at the lower end before halving */

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
    statistic->divisor = 0;
    statistic->values.count = statistic->incs.count = 0;
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
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
    if (inc != statistic->divisor)
        statistic->divisor = greatest_common_divisor(inc, statistic->divisor);
}

typedef struct Scan {                           /* of LANES columns */
    _Alignas(Lanes) int32_t guess[LANES], next[LANES];          /* next: the smallest entry above the guess */
    int64_t sum[LANES];                         /* increments of signals at or below the guess, in units of the divisor */
} Scan;

static void scan_narrow(const Statistic *statistic, uint32_t column, Scan *scan)
{
    enum { VECTORS = LANES * sizeof(int32_t) / sizeof(Lanes) };
    const int32_t *values = (const int32_t *)pile_base(&statistic->values) + column;
    const uint32_t *inc = pile_base(&statistic->incs);
    Lanes sum[VECTORS] = { 0 };
    Lanes *next = (Lanes *)scan->next;
    const Lanes *guess = (const Lanes *)scan->guess;
    for (size_t s = 0; s < statistic->signals; s++, values += statistic->width) {
        int32_t part = (int32_t)(inc[s] / statistic->divisor);
        for (unsigned v = 0; v < VECTORS; v++) {
            Lanes value = ((const Lanes *)values)[v], above = value > guess[v], nearer = above & (value < next[v]);
            sum[v] += ~above & part;
            next[v] = (value & nearer) | (next[v] & ~nearer);
        }
    }
    for (unsigned i = 0; i < LANES; i++)
        scan->sum[i] = ((const int32_t *)sum)[i];
}

static void scan_wide(const Statistic *statistic, uint32_t column, Scan *scan)
{
    const int32_t *values = (const int32_t *)pile_base(&statistic->values) + column;
    const uint32_t *inc = pile_base(&statistic->incs);
    memset(scan->sum, 0, sizeof scan->sum);
    for (size_t s = 0; s < statistic->signals; s++, values += statistic->width)
        for (unsigned i = 0; i < LANES; i++) {
            if (values[i] <= scan->guess[i])
                scan->sum[i] += inc[s] / statistic->divisor;
            else
                scan->next[i] = MIN(scan->next[i], values[i]);
        }
}

static void scan_signals(const Statistic *statistic, uint32_t column, Scan *scan)
{
    if (statistic->sum / statistic->divisor <= INT32_MAX)
        scan_narrow(statistic, column, scan);
    else
        scan_wide(statistic, column, scan);
}

static void largest_entries(const Statistic *statistic, uint32_t column, int32_t *largest)
{
    const int32_t *values = (const int32_t *)pile_base(&statistic->values) + column;
    for (size_t s = 0; s < statistic->signals; s++, values += statistic->width)
        lanes_raise(largest, values);
}

typedef enum Guess { GUESS_LOW, GUESS_BELOW_HIGH, GUESS_MIDDLE } Guess;

/* Invariant: the answer is in low .. high, and enough lies at or below high. True: some column is still open. */
static bool narrow(const Statistic *statistic, uint32_t column, int64_t total, int32_t *low, int32_t *high, Guess guess)
{
    Scan at;
    bool open = false;
    for (unsigned i = 0; i < LANES; i++) {
        int32_t below_high = MAX(high[i] - 1, low[i]);
        at.guess[i] = guess == GUESS_LOW ? low[i] : guess == GUESS_BELOW_HIGH ? below_high : low[i] + (high[i] - low[i]) / 2;
        at.next[i] = high[i];
    }
    scan_signals(statistic, column, &at);
    for (unsigned i = 0; i < LANES; i++) {
        if (low[i] >= high[i])
            continue;
        if (at.sum[i] >= total)
            high[i] = at.guess[i];
        else
            low[i] = at.next[i];
        open |= low[i] < high[i];
    }
    return open;
}

static bool all_equal(const int32_t *low, const int32_t *high)
{
    bool equal = true;
    for (unsigned i = 0; i < LANES; i++)
        equal &= low[i] >= high[i];
    return equal;
}

void statistic_raise(const Statistic *statistic, int64_t total, int32_t *to, const int32_t *most)
{
    g_assert(total > 0 && total <= statistic->sum);
    total = (total + statistic->divisor - 1) / statistic->divisor;
    for (uint32_t column = 0; column < statistic->width; column += LANES, to += LANES) {
        _Alignas(Lanes) int32_t low[LANES], high[LANES];
        memcpy(low, to, sizeof low);
        memcpy(high, most ? most + column : to, sizeof high);
        if (!most)
            largest_entries(statistic, column, high);
        bool open = !all_equal(low, high);
        if (open && most)                       /* usually the result equals `most` */
            open = narrow(statistic, column, total, low, high, GUESS_BELOW_HIGH);
        for (unsigned guesses = 0; open; guesses++)
            open = narrow(statistic, column, total, low, high, guesses < SMALLEST_FIRST ? GUESS_LOW : GUESS_MIDDLE);
        lanes_raise(to, high);
    }
}
