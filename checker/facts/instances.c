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

static void drop_repeated(GArray *sorted)
{
    guint fresh = 0;
    for (guint i = 0; i < sorted->len; i++)
        if (fresh == 0 || g_array_index(sorted, uint64_t, i) != g_array_index(sorted, uint64_t, fresh - 1))
            g_array_index(sorted, uint64_t, fresh++) = g_array_index(sorted, uint64_t, i);
    g_array_set_size(sorted, fresh);
}

static bool is_known(const GArray *sorted, uint64_t instance)
{
    return bsearch(&instance, sorted->data, sorted->len, sizeof instance, compare) != NULL;
}

void instances_merge(Finding *kept, const Finding *other, bool summed)
{
    uint64_t unlisted = kept->count - listed(kept) + other->count - listed(other);
    g_autoptr(GArray) fresh = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    bool sorted = kept->instances != NULL && kept->instances_sorted;
    append_instances(fresh, other);
    if (sorted) {
        guint more = 0;
        for (guint i = 0; i < fresh->len; i++)
            if (!is_known(kept->instances, g_array_index(fresh, uint64_t, i)))
                g_array_index(fresh, uint64_t, more++) = g_array_index(fresh, uint64_t, i);
        g_array_set_size(fresh, more);
    } else if (kept->instances == NULL) {
        GArray *all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        append_instances(all, kept);
        kept->instances = all;
    }
    g_array_append_vals(kept->instances, fresh->data, fresh->len);
    if (fresh->len > 0 || !sorted) {
        g_array_sort(kept->instances, compare);
        drop_repeated(kept->instances);
    }
    kept->instances_sorted = true;
    kept->count = kept->instances->len + unlisted;
    kept->at_most |= other->at_most || (summed && unlisted > 0);
}
