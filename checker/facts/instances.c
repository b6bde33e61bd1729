/* instances.c - sets as sorted arrays. */
#include "instances.h"
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

/* Appends them; a single one is its places. Returns how many are not listed. */
static uint64_t list_instances(GArray *all, const Finding *finding)
{
    uint64_t own = instance_of(finding, finding->place);
    if (finding->instances != NULL)
        g_array_append_vals(all, finding->instances->data, finding->instances->len);
    else if (finding->count == 1)
        g_array_append_val(all, own);
    return finding->count - MIN(finding->count, finding->instances != NULL ? finding->instances->len : finding->count == 1);
}

void instances_merge(Finding *kept, const Finding *other, bool summed)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    uint64_t unlisted = list_instances(all, kept) + list_instances(all, other);
    guint fresh = 0;
    g_array_sort(all, compare);
    for (guint i = 0; i < all->len; i++)
        if (fresh == 0 || g_array_index(all, uint64_t, i) != g_array_index(all, uint64_t, fresh - 1))
            g_array_index(all, uint64_t, fresh++) = g_array_index(all, uint64_t, i);
    g_array_set_size(all, fresh);
    if (kept->instances != NULL)
        g_array_unref(kept->instances);
    kept->instances = all;
    kept->count = fresh + unlisted;
    kept->at_most |= other->at_most || (summed && unlisted > 0);
}
