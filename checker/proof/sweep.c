/* sweep.c - large groups of accesses on one time line: pairs are counted by sorting, so a million racing pairs cost no more than none.
 *
 * First a sweep in order of acquisition, with the latest release so far of writes and of all accesses, decides whether any pair overlaps.
 * Only then are accesses split by site and the pairs of two such bundles counted: all pairs, less those where one is released before the
 * other is acquired, by two merges of sorted lists. If a copy's read comes first and is not released, but its copy must have started, the
 * clocks leave the pair open; those are counted by a third merge.
 */
#include <glib.h>

#include "races.h"

typedef struct Bundle { RaceAccess *access; size_t count; uint32_t *release; } Bundle; /* one site, one kind; in order of acquisition */

static gint compare_acquire(gconstpointer left, gconstpointer right)
{
    const RaceAccess *a = left, *b = right;
    if (a->acquire != b->acquire)
        return a->acquire < b->acquire ? -1 : 1;
    return (a->code > b->code) - (a->code < b->code);
}

static int compare_kind(const RaceAccess *a, const RaceAccess *b)
{
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    int a_kind = a->write * 2 + a->copy_read, b_kind = b->write * 2 + b->copy_read;
    return a_kind - b_kind;
}

static gint compare_bundle(gconstpointer left, gconstpointer right)
{
    int kind = compare_kind(left, right);
    return kind ? kind : compare_acquire(left, right);
}

static gint compare_release(gconstpointer left, gconstpointer right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Both ranges in order of acquisition: does any pair overlap in time, one of it a write? */
static bool any_overlap(const RaceAccess *a, size_t as, const RaceAccess *b, size_t bs)
{
    uint32_t latest[2] = { 0, 0 }, latest_write[2] = { 0, 0 };
    bool same = a == b;
    for (size_t i = 0, j = 0; i < as || (!same && j < bs);) {
        bool left = same || j == bs || (i < as && a[i].acquire <= b[j].acquire);
        const RaceAccess *now = left ? &a[i++] : &b[j++];
        unsigned side = left ? 0 : 1, other = same ? 0 : 1 - side;
        if ((now->write ? latest[other] : latest_write[other]) > now->acquire)
            return true;
        latest[side] = MAX(latest[side], now->release);
        if (now->write)
            latest_write[side] = MAX(latest_write[side], now->release);
    }
    return false;
}

static size_t split(RaceAccess *access, size_t count, Bundle *bundle, Arena *scratch)
{
    size_t bundles = 0;
    qsort(access, count, sizeof *access, compare_bundle);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_kind(&access[i - 1], &access[i]) != 0)
            bundle[bundles++] = (Bundle){ .access = &access[i] };
        bundle[bundles - 1].count++;
    }
    for (size_t b = 0; b < bundles; b++) {
        bundle[b].release = ARENA_NEW(uint32_t, scratch, bundle[b].count);
        for (size_t i = 0; i < bundle[b].count; i++)
            bundle[b].release[i] = bundle[b].access[i].release;
        qsort(bundle[b].release, bundle[b].count, sizeof(uint32_t), compare_release);
    }
    return bundles;
}

/* Pairs (g, h) with release(g) <= acquire(h). */
static uint64_t count_ordered(const Bundle *g, const Bundle *h)
{
    uint64_t pairs = 0;
    for (size_t i = 0, below = 0; i < h->count; i++) {
        while (below < g->count && g->release[below] <= h->access[i].acquire)
            below++;
        pairs += below;
    }
    return pairs;
}

/* Pairs (g, h) with acquire(g) <= acquire(h). */
static uint64_t count_begun(const Bundle *g, const Bundle *h)
{
    uint64_t pairs = 0;
    for (size_t i = 0, below = 0; i < h->count; i++) {
        while (below < g->count && g->access[below].acquire <= h->access[i].acquire)
            below++;
        pairs += below;
    }
    return pairs;
}

/* The earliest certain pair in which g holds when h is acquired; NULL: none. g: no copy's read. */
static const RaceAccess *earliest_holder(const Bundle *g, const Bundle *h, const RaceAccess **held)
{
    const RaceAccess *longest = NULL;
    for (size_t i = 0, j = 0; i < h->count; i++) {
        const RaceAccess *now = &h->access[i];
        while (j < g->count && &g->access[j] != now
               && (now->copy_read ? g->access[j].acquire < now->acquire : g->access[j].acquire <= now->acquire)) {
            if (!longest || g->access[j].release > longest->release)
                longest = &g->access[j];
            j++;
        }
        if (longest && longest != now && longest->release > now->acquire) {
            *held = now;
            return longest;
        }
    }
    return NULL;
}

static void list_open(RaceAccesses *accesses, PairClass *class, const Bundle *g, const Bundle *h)
{
    for (size_t i = 0; i < h->count; i++)
        for (size_t j = 0; j < g->count && g->access[j].acquire <= h->access[i].acquire; j++)
            if (g->access[j].release > h->access[i].acquire)
                races_add_open(accesses->races, class, g->access[j].code, h->access[i].code);
}

static void add_certain(RaceAccesses *accesses, PairClass *class, const Bundle *g, const Bundle *h, uint64_t pairs)
{
    const RaceAccess *held = NULL, *holder = g->access->copy_read ? NULL : earliest_holder(g, h, &held);
    if (!holder && !h->access->copy_read)
        holder = earliest_holder(h, g, &held);
    g_assert(holder);
    races_add_certain(accesses->races, class, holder->code, held->code, pairs);
}

static void compare_bundles(RaceAccesses *accesses, const Bundle *g, const Bundle *h)
{
    if (!g->access->write && !h->access->write)
        return;
    bool same = g->access == h->access;
    uint64_t all = same ? (uint64_t)g->count * (g->count - 1) / 2 : (uint64_t)g->count * h->count;
    uint64_t before = count_ordered(g, h), after = same ? 0 : count_ordered(h, g);
    uint64_t open = 0;
    if (g->access->copy_read)
        open += count_begun(g, h) - before;
    if (!same && h->access->copy_read)
        open += count_begun(h, g) - after;
    uint64_t certain = all - before - after - open;
    if (certain + open == 0)
        return;
    PairClass *class = races_class(accesses->races, g->access->site, h->access->site, accesses->decl);
    races_add_shape(accesses->races, class, g->access->code, h->access->code);
    if (certain > 0)
        add_certain(accesses, class, g, h, certain);
    if (open > 0)
        list_open(accesses, class, g->access->copy_read ? g : h, g->access->copy_read ? h : g);
}

void sweep_ranges(RaceAccesses *accesses, RaceAccess *a, size_t as, RaceAccess *b, size_t bs)
{
    bool same = a == b;
    qsort(a, as, sizeof *a, compare_acquire);
    if (!same)
        qsort(b, bs, sizeof *b, compare_acquire);
    if (!any_overlap(a, as, b, bs))
        return;
    Arena scratch;
    arena_init(&scratch, accesses->races->arena->budget);
    Bundle *left = ARENA_NEW(Bundle, &scratch, as), *right = same ? left : ARENA_NEW(Bundle, &scratch, bs);
    size_t lefts = split(a, as, left, &scratch), rights = same ? lefts : split(b, bs, right, &scratch);
    for (size_t i = 0; i < lefts; i++)
        for (size_t j = same ? i : 0; j < rights; j++)
            compare_bundles(accesses, &left[i], &right[j]);
    arena_clear(&scratch);
}
