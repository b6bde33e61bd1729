/* idset.c - a set is its sorted items as a byte string in an Intern. */
#include "idset.h"
#include <glib.h>
#include <string.h>
#include "../../model/sane.h"

void idsets_init(IdSets *sets, Reservation *reservation)
{
    reservation_intern(reservation, &sets->keys, 1u << 24, (size_t)1 << 34);
    uint32_t empty = intern_add(&sets->keys, "", 0);
    g_assert(empty == 0);
}

const uint32_t *idsets_items(const IdSets *sets, uint32_t set, uint32_t *count)
{
    size_t bytes;
    const void *items = intern_get(&sets->keys, set, &bytes);
    *count = (uint32_t)(bytes / sizeof(uint32_t));
    return items;
}

/* First index whose item is not below `item`. */
static uint32_t place_of(const uint32_t *items, uint32_t count, uint32_t item)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (items[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool idsets_has(const IdSets *sets, uint32_t set, uint32_t item)
{
    uint32_t count;
    const uint32_t *items = idsets_items(sets, set, &count);
    uint32_t at = place_of(items, count, item);
    return at < count && items[at] == item;
}

uint32_t idsets_with(IdSets *sets, uint32_t set, uint32_t item)
{
    uint32_t count;
    const uint32_t *items = idsets_items(sets, set, &count);
    uint32_t at = place_of(items, count, item);
    if (at < count && items[at] == item)
        return set;
    uint32_t *larger = g_new(uint32_t, count + 1);
    memcpy(larger, items, at * sizeof *larger);
    larger[at] = item;
    memcpy(larger + at + 1, items + at, (count - at) * sizeof *larger);
    uint32_t id = intern_add(&sets->keys, larger, (count + 1) * sizeof *larger);
    g_free(larger);
    SANE_NOW_AND_THEN(intern_count(&sets->keys), idsets_assert_sane(sets));
    return id;
}

void idsets_assert_sane(const IdSets *sets)
{
    for (uint32_t set = 0; set < intern_count(&sets->keys); set++) {
        uint32_t count;
        const uint32_t *items = idsets_items(sets, set, &count);
        g_assert((set == 0) == (count == 0));
        for (uint32_t i = 1; i < count; i++)
            g_assert(items[i - 1] < items[i]);
    }
}
