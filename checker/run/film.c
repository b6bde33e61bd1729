/* film.c - four arrays with their lengths in front. A child may have damaged anything, so whoever loads them looks at each id. */
#include "film.h"
#include <string.h>

enum { ARRAYS = 4 };

static void arrays_of(const Record *record, const Store *array[ARRAYS])
{
    array[0] = &record->steps, array[1] = &record->copies, array[2] = &record->raised, array[3] = &record->ends;
}

GBytes *film_save(const Record *record)
{
    const Store *array[ARRAYS];
    GByteArray *out = g_byte_array_new();
    guint8 eager = record->eager;
    arrays_of(record, array);
    g_byte_array_append(out, &eager, 1);
    for (unsigned i = 0; i < ARRAYS; i++) {
        uint64_t count = array[i]->count;
        g_byte_array_append(out, (const guint8 *)&count, sizeof count);
        g_byte_array_append(out, (const guint8 *)array[i]->base, (guint)(count * array[i]->item_bytes));
    }
    return g_byte_array_free_to_bytes(out);
}

static bool load_array(Store *array, const char **at, size_t *left)
{
    uint64_t count = 0;
    if (*left < sizeof count)
        return false;
    memcpy(&count, *at, sizeof count);
    *at += sizeof count, *left -= sizeof count;
    if (count > *left / array->item_bytes)
        return false;
    size_t bytes = count * array->item_bytes;
    if (bytes > 0)
        memcpy(store_push(array, count), *at, bytes);
    *at += bytes, *left -= bytes;
    return true;
}

Record *film_load(Program *program, GBytes *film)
{
    gsize left;
    const char *at = g_bytes_get_data(film, &left), *why;
    Record *record = record_new(program);
    const Store *array[ARRAYS];
    arrays_of(record, array);
    bool good = left > 0;
    if (good)
        record->eager = *at++ != 0, left--;
    for (unsigned i = 0; i < ARRAYS && good; i++)
        good = load_array((Store *)array[i], &at, &left);
    if (good && left == 0 && record_check(record, &why))
        return record;
    record_free(record);
    return NULL;
}
