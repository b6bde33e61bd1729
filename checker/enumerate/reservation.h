/* reservation.h - one reservation of address space that holds all Stores of a search: opening and closing it costs two system calls.
 *
 * Private memory, unlike a Store's own: only the searching process reads it. What is pushed still counts as bytes of Stores.
 *
 * Invariants:  1. Stores and Interns cut from a reservation lie within what is used of it, and no two share a byte.  2. they are never
 *              cleared one by one.
 * Errors:      address space that cannot be reserved aborts, as for Stores.
 */
#pragma once
#include <glib.h>
#include "../../model/store.h"

typedef struct Reservation {
    char *base;
    size_t bytes;
    size_t used;
    GPtrArray *stores;                          /* of Store, which their owners hold */
} Reservation;

void reservation_open(Reservation *reservation);
void reservation_close(Reservation *reservation);                       /* before the owners of its Stores are freed */
void reservation_store(Reservation *reservation, Store *store, size_t item_bytes, size_t items_max);
void reservation_intern(Reservation *reservation, Intern *intern, size_t keys_max, size_t bytes_max);
/* Empties a Store and discards its memory; pointers into it are invalid. */
void reservation_give_up(Store *store);
void reservation_empty(Intern *intern);
void reservation_assert_sane(const Reservation *reservation);
