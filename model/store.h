/* store.h - growing arrays and interned keys in memory that a forked child and its parent share.
 *
 * What a child finds out (program, record, findings) lives in Stores that the parent reserved before the fork, at the same addresses in
 * both. Address space is reserved at once and committed on first touch, so an array never moves and items keep their addresses. Under a
 * limit on address space all reservations shrink in proportion. Large data live here and not in GLib's arrays, so that a memory limit
 * ends in a verdict.
 *
 * base never changes between init and clear.
 *
 * Invariants:  1. count * item_bytes <= reserved_bytes.  2. items beyond count are zero.
 * Ownership:   the process that called init calls clear.
 * Errors:      running out of the reservation or of the limit calls the handler of store_set_limit, which must not return.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NONE UINT32_MAX                         /* "no such id", for every kind of dense id */

typedef struct Store {
    char *base;
    size_t item_bytes, count, reserved_bytes;
    bool own;                                   /* not shared */
} Store;

void store_init(Store *store, size_t item_bytes, size_t items_max);
/* Not shared: after a fork each process has its own copy. Cheap to init and to clear repeatedly: the process keeps reservations for the
 * next Stores of the same size. */
void store_init_own(Store *store, size_t item_bytes, size_t items_max);
void store_clear(Store *store);
void store_reset(Store *store);                 /* count becomes 0; memory is returned and zeroed */
void store_truncate(Store *store, size_t count);        /* drops the items from that one on */
/* In a forked child: from now on no other process sees what it writes, nor does it see what others write. */
void store_make_private(Store *store);
void *store_push(Store *store, size_t items);   /* zeroed; address of the first */
#define STORE(T, store, i) (((T *)(void *)(store)->base)[i])

/* Of what lies beyond count, it looks at the first page. */
void store_assert_sane(const Store *store);

/* All bytes pushed to Stores since the last call of store_set_limit are counted against bytes_max (0: no limit). what: a clause. */
void store_set_limit(size_t bytes_max, void (*exhausted)(const char *what));
void store_run_out(const char *what) __attribute__((noreturn));
/* How much of a reservation the address space allows: all of it, or a share if this process has a limit (ulimit -v). */
size_t store_scale(size_t bytes);
size_t store_bytes_used(void);

/* The hash table of this program: a set of byte strings with dense ids in order of first arrival, so that arrays hold what belongs to them.
 * Where speed does not matter, a GHashTable; states have enumerate/table. Id 0 is the first key. */
typedef struct Intern {
    Store keys, ends, slots;                    /* bytes; end offset of key i; open addressing, id + 1 */
} Intern;

void intern_init(Intern *intern, size_t keys_max, size_t bytes_max);
void intern_init_own(Intern *intern, size_t keys_max, size_t bytes_max);       /* see store_init_own */
void intern_clear(Intern *intern);
void intern_make_private(Intern *intern);
uint32_t intern_add(Intern *intern, const void *key, size_t bytes);
uint32_t intern_find(const Intern *intern, const void *key, size_t bytes);      /* NONE: not found */
const void *intern_get(const Intern *intern, uint32_t id, size_t *bytes);       /* aligned to 8 bytes */
size_t intern_count(const Intern *intern);
void intern_truncate(Intern *intern, size_t count);     /* the keys from that id on are gone */
