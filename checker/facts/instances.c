/* instances.c - sets as sorted arrays. */
#include "instances.h"
#include <stdlib.h>
#include "../../model/rng.h"
#include "finding_inside.h"

static uint64_t hash_place(const Place *place)
{
    uint64_t step = rng_mix((uint64_t)place->core << 32 | place->position);
    return rng_mix(step ^ ((uint64_t)place->copy << 8 | place->kind));
}

uint64_t instance_of(const Finding *finding, const Place *place)
{
    uint64_t hash = rng_mix((uint64_t)finding->id << 2 | (finding->id == FAULT_LIFETIME && finding->have > 0));
    for (unsigned i = 0; i < finding->places; i++)
        hash += hash_place(&place[i]);
    return finding->object_is_semaphore ? rng_mix(hash ^ finding->object) : hash;
}

void instances_add(Finding *finding, uint64_t instance)
{
    if (finding->instances == NULL)
        finding->instances = g_array_new(FALSE, FALSE, sizeof instance);
    g_array_append_val(finding->instances, instance);
}

static gint compare(gconstpointer left, gconstpointer right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static guint listed(const Finding *finding)
{
    return finding->instances != NULL ? finding->instances->len : finding->count == 1;
}

/* A single one is its places. */
static void append_instances(GArray *all, const Finding *finding)
{
    uint64_t own = instance_of(finding, finding->place);
    if (finding->instances != NULL)
        g_array_append_vals(all, finding->instances->data, finding->instances->len);
    else if (finding->count == 1)
        g_array_append_val(all, own);
}

/* Makes its list a sorted set. */
static void sort_instances(Finding *finding)
{
    guint fresh = 0;
    if (finding->instances != NULL && finding->instances_sorted)
        return;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    append_instances(all, finding);
    g_array_sort(all, compare);
    for (guint i = 0; i < all->len; i++)
        if (fresh == 0 || g_array_index(all, uint64_t, i) != g_array_index(all, uint64_t, fresh - 1))
            g_array_index(all, uint64_t, fresh++) = g_array_index(all, uint64_t, i);
    g_array_set_size(all, fresh);
    g_clear_pointer(&finding->instances, g_array_unref);
    finding->instances = all, finding->instances_sorted = true;
}

/* Executions of one class after the other mostly list what is known. */
void instances_merge(Finding *kept, const Finding *other, bool summed)
{
    uint64_t unlisted = kept->count - listed(kept) + other->count - listed(other);
    g_autoptr(GArray) more = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    append_instances(more, other);
    sort_instances(kept);
    const guint known = kept->instances->len;
    for (guint i = 0; i < more->len; i++)
        if (bsearch(&g_array_index(more, uint64_t, i), kept->instances->data, known, sizeof(uint64_t), compare) == NULL)
            g_array_append_val(kept->instances, g_array_index(more, uint64_t, i));
    kept->instances_sorted = kept->instances->len == known;
    sort_instances(kept);
    kept->count = kept->instances->len + unlisted;
    kept->at_most |= other->at_most || (summed && unlisted > 0);
}
