/* lot.h - one reservation of address space out of which all Stores of a search are cut: opening and closing it costs two system calls.
 *
 * Private memory, unlike a Store's own: nobody but the searching process looks at it. What is pushed still counts as bytes of Stores.
 *
 * Invariants:  1. Stores and Interns cut from a lot are never cleared one by one.
 * Errors:      address space that cannot be reserved aborts, as for Stores.
 */
#pragma once
#include <glib.h>
#include "../../model/store.h"

typedef struct Lot {
    char *base;
    size_t bytes;
    size_t used;
    GPtrArray *stores;                          /* of Store, where their owners keep them */
} Lot;

void lot_open(Lot *lot);
void lot_close(Lot *lot);                       /* before the owners of its Stores are freed */
void lot_store(Lot *lot, Store *store, size_t item_bytes, size_t items_max);
void lot_intern(Lot *lot, Intern *intern, size_t keys_max, size_t bytes_max);
/* Empties a Store, whose memory is given up; what it pointed to is gone. */
void lot_give_up(Store *store);
void lot_empty(Intern *intern);
