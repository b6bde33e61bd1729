/* reservation.c - a bump pointer over a private mapping. */
#include "reservation.h"
#include <sys/mman.h>
#include "../../model/sane.h"

#define LOT_BYTES ((size_t)1 << 43)

enum { WIPE_BYTES_MAX = 1 << 16, QUARTER = 4 };
static const size_t SHARE_LEAST = (size_t)1 << 16;

/* If address space is limited, one search gets a quarter of it. */
static size_t share(size_t bytes)
{
    size_t scaled = store_scale(bytes);
    return scaled == bytes ? bytes : MAX((scaled / QUARTER + 4095) & ~(size_t)4095, SHARE_LEAST);
}

void reservation_open(Reservation *reservation)
{
    *reservation = (Reservation){.stores = g_ptr_array_new()};
    reservation->bytes = share(LOT_BYTES);
    reservation->base = mmap(NULL, reservation->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reservation->base == MAP_FAILED)
        store_run_out("no address space is left for the tables of an enumeration");
}

void reservation_store(Reservation *reservation, Store *store, size_t item_bytes, size_t items_max)
{
    size_t bytes = (item_bytes * items_max + 4095) & ~(size_t)4095;
    bytes = share(bytes);
    g_assert(bytes > 0);
    if (bytes > reservation->bytes - reservation->used)
        store_run_out("no address space is left for the tables of an enumeration");
    *store = (Store){.base = reservation->base + reservation->used, .item_bytes = item_bytes, .reserved_bytes = bytes};
    reservation->used += bytes;
    g_ptr_array_add(reservation->stores, store);
    SANE_NOW_AND_THEN(reservation->stores->len, reservation_assert_sane(reservation));
}

static void assert_apart(const Store *one, const Store *other)
{
    g_assert(one == other || one->base + one->reserved_bytes <= other->base || other->base + other->reserved_bytes <= one->base);
}

void reservation_assert_sane(const Reservation *reservation)
{
    g_assert(reservation->used <= reservation->bytes);
    for (guint i = 0; i < reservation->stores->len; i++) {
        const Store *store = g_ptr_array_index(reservation->stores, i);
        g_assert(store->base >= reservation->base && store->count * store->item_bytes <= store->reserved_bytes);
        g_assert(store->base + store->reserved_bytes <= reservation->base + reservation->used);
        for (guint j = 0; j < i; j++)
            assert_apart(store, g_ptr_array_index(reservation->stores, j));
    }
}

void reservation_intern(Reservation *reservation, Intern *intern, size_t keys_max, size_t bytes_max)
{
    size_t slots_max = 64;
    while (slots_max < keys_max * 2)
        slots_max *= 2;
    reservation_store(reservation, &intern->keys, 1, bytes_max + keys_max * 8);
    reservation_store(reservation, &intern->ends, sizeof(size_t), keys_max);
    reservation_store(reservation, &intern->slots, sizeof(uint64_t), slots_max);
}

void reservation_give_up(Store *store)
{
    if (store->base == NULL)
        return;
    if (store->count * store->item_bytes <= WIPE_BYTES_MAX)
        store_reset(store);                     /* no system call */
    else
        store_clear(store);
}

void reservation_empty(Intern *intern)
{
    store_reset(&intern->keys);
    store_reset(&intern->ends);
    store_reset(&intern->slots);
}

void reservation_close(Reservation *reservation)
{
    for (guint i = 0; i < reservation->stores->len; i++)
        reservation_give_up(g_ptr_array_index(reservation->stores, i));
    g_ptr_array_free(reservation->stores, TRUE);
    munmap(reservation->base, reservation->bytes);
    *reservation = (Reservation){0};
}
