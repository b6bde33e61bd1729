/* store.c - reserved mappings that never move, and a hash set on top of them.
 *
 * A Store is one MAP_SHARED | MAP_NORESERVE mapping of its whole reservation; the kernel commits pages at first touch, and a page never
 * touched reads as zero. One that is not shared is MAP_PRIVATE, and its mapping is kept, all zero, when it is cleared: a search over few
 * executions takes less time than a dozen mappings do. An Intern is an open-addressing table (linear probing, XXH3 hashes, at most half
 * full) whose slots store half of the hash beside the id, so that a probe compares a key only if it almost certainly is the right one.
 */
#include "store.h"
#include "sane.h"
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define RESET_BY_WRITING_MAX 65536              /* up to this size zeroing is cheaper than returning pages and faulting them in again */
#define SLOTS_MIN 64
enum { KEPT_MAX = 64 };

static const size_t RESERVED_ALL = (size_t)4 << 40;     /* the most that a process with nested checks reserves */
static const size_t RESERVED_LEAST = (size_t)1 << 20;   /* a larger Store is not scaled below this */

static size_t live_bytes;                       /* pushed to all Stores of this process and not yet reset or cleared */
static size_t live_bytes_before, limit_bytes;   /* at the last store_set_limit; 0: no limit */
static void (*limit_handler)(const char *what);

static size_t round_to_pages(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

size_t store_scale(size_t bytes)
{
    static size_t space;                        /* determined once: forked processes scale alike */
    if (space == 0) {
        struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
        getrlimit(RLIMIT_AS, &limit);
        space = limit.rlim_cur == RLIM_INFINITY ? RESERVED_ALL : MIN(limit.rlim_cur, RESERVED_ALL);
    }
    if (space == RESERVED_ALL)
        return bytes;
    size_t scaled = (size_t)((double)bytes * ((double)space / (double)RESERVED_ALL));
    return MIN(bytes, MAX(round_to_pages(scaled), RESERVED_LEAST));
}

void store_run_out(const char *what)
{
    if (limit_handler)
        limit_handler(what);
    fprintf(stderr, "heddle: memory: %s\n", what);
    exit(2);
}

static const char NO_SPACE[] = "the address space that ulimit -v leaves is used up";

/* Why a table is full: it may have been scaled down. */
static const char *full(void)
{
    static const char table[] = "a table is full: the program is too large";
    return store_scale(RESERVED_ALL) < RESERVED_ALL ? NO_SPACE : table;
}


/* A Store may have grown in a child, which did its own accounting: what is freed can exceed what was counted here. */
static void account_less(size_t bytes)
{
    live_bytes -= MIN(bytes, live_bytes);
    live_bytes_before = MIN(live_bytes_before, live_bytes);
}

static void *reserve(size_t bytes, int sharing)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        store_run_out(NO_SPACE);
    return base;
}

static size_t size_of(size_t item_bytes, size_t items_max)
{
    g_assert(item_bytes > 0 && items_max < SIZE_MAX / 2 / item_bytes);
    return store_scale(MAX(round_to_pages(item_bytes * items_max), 4096));
}

void store_init(Store *store, size_t item_bytes, size_t items_max)
{
    size_t bytes = size_of(item_bytes, items_max);
    *store = (Store){ .base = reserve(bytes, MAP_SHARED), .item_bytes = item_bytes, .reserved_bytes = bytes };
}

/* Free mappings. A thread that finds the list in use does without it; so does a child that was forked at that moment. */
static struct { void *base; size_t bytes; } kept[KEPT_MAX];
static unsigned kept_count;
static bool kept_in_use;

static void *take_kept(size_t bytes)
{
    void *base = NULL;
    if (__atomic_test_and_set(&kept_in_use, __ATOMIC_ACQUIRE))
        return NULL;
    for (unsigned i = kept_count; i-- > 0 && base == NULL;)
        if (kept[i].bytes == bytes) {
            base = kept[i].base;
            kept[i] = kept[--kept_count];
        }
    __atomic_clear(&kept_in_use, __ATOMIC_RELEASE);
    return base;
}

static bool keep(void *base, size_t bytes)
{
    if (__atomic_test_and_set(&kept_in_use, __ATOMIC_ACQUIRE))
        return false;
    bool room = kept_count < KEPT_MAX;
    if (room)
        kept[kept_count].base = base, kept[kept_count++].bytes = bytes;
    __atomic_clear(&kept_in_use, __ATOMIC_RELEASE);
    return room;
}

void store_init_own(Store *store, size_t item_bytes, size_t items_max)
{
    size_t bytes = size_of(item_bytes, items_max);
    void *base = take_kept(bytes);
    if (base == NULL) {
        base = reserve(bytes, MAP_PRIVATE);
        madvise(base, bytes, MADV_NOHUGEPAGE);  /* most are nearly empty */
    }
    *store = (Store){ .base = base, .item_bytes = item_bytes, .reserved_bytes = bytes, .own = true };
}

static void make_zero(Store *store, size_t used)
{
    if (used > RESET_BY_WRITING_MAX && madvise(store->base, round_to_pages(used), store->own ? MADV_DONTNEED : MADV_REMOVE) == 0)
        return;
    memset(store->base, 0, used);
}

void store_clear(Store *store)
{
    size_t used = MIN(store->count * store->item_bytes, store->reserved_bytes);
    if (store->base)
        account_less(used);
    if (store->own)
        make_zero(store, used);
    if (store->base && !(store->own && keep(store->base, store->reserved_bytes)))
        munmap(store->base, store->reserved_bytes);
    *store = (Store){ 0 };
}

void store_reset(Store *store)
{
    size_t used = MIN(store->count * store->item_bytes, store->reserved_bytes);
    account_less(used);
    store->count = 0;
    make_zero(store, used);
    SANE(store_assert_sane(store));
}

void store_truncate(Store *store, size_t count)
{
    size_t bytes = (store->count - count) * store->item_bytes;
    account_less(bytes);
    store->count = count;
    memset(store->base + count * store->item_bytes, 0, bytes);
}

/* Copies the used part to a private mapping, which then replaces the shared one. */
void store_make_private(Store *store)
{
    size_t used = store->count * store->item_bytes, size = store->reserved_bytes;
    char *base = store->base;                   /* the Store itself may lie inside */
    void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        store_run_out(NO_SPACE);
    memcpy(copy, base, used);
    if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, base) == MAP_FAILED)
        store_run_out(NO_SPACE);
}

void *store_push(Store *store, size_t items)
{
    size_t used = store->count * store->item_bytes, left = store->reserved_bytes - used;
    if (items > left / store->item_bytes)
        store_run_out(full());
    size_t bytes = items * store->item_bytes;
    live_bytes += bytes;
    if (limit_bytes && live_bytes - live_bytes_before > limit_bytes)
        store_run_out("the limit is reached");
    SANE_NOW_AND_THEN(store->count, store_assert_sane(store));
    store->count += items;
    return store->base + used;
}

void store_assert_sane(const Store *store)
{
    size_t used = store->count * store->item_bytes;
    g_assert(store->item_bytes > 0 && store->count <= store->reserved_bytes / store->item_bytes);
    g_assert(sane_is_zero(store->base + used, MIN(round_to_pages(used + 1), store->reserved_bytes) - used));
}

void store_set_limit(size_t bytes_max, void (*exhausted)(const char *what))
{
    live_bytes_before = live_bytes;
    limit_bytes = bytes_max;
    limit_handler = exhausted;
}

size_t store_bytes_used(void)
{
    return live_bytes - live_bytes_before;
}

static size_t align_key(size_t offset)
{
    return (offset + 7) & ~(size_t)7;
}

static void init_intern(Intern *intern, size_t keys_max, size_t bytes_max, void (*init)(Store *, size_t, size_t))
{
    g_assert(keys_max > 0 && keys_max < NONE);
    size_t slots_max = SLOTS_MIN;
    while (slots_max < keys_max * 2)
        slots_max *= 2;
    init(&intern->keys, 1, bytes_max + keys_max * 8);
    init(&intern->ends, sizeof(size_t), keys_max);
    init(&intern->slots, sizeof(uint64_t), slots_max);
}

void intern_init(Intern *intern, size_t keys_max, size_t bytes_max)
{
    init_intern(intern, keys_max, bytes_max, store_init);
}

void intern_init_own(Intern *intern, size_t keys_max, size_t bytes_max)
{
    init_intern(intern, keys_max, bytes_max, store_init_own);
}

void intern_clear(Intern *intern)
{
    store_clear(&intern->keys);
    store_clear(&intern->ends);
    store_clear(&intern->slots);
}

void intern_make_private(Intern *intern)
{
    store_make_private(&intern->keys);
    store_make_private(&intern->ends);
    store_make_private(&intern->slots);
}

size_t intern_count(const Intern *intern)
{
    return intern->ends.count;
}

const void *intern_get(const Intern *intern, uint32_t id, size_t *bytes)
{
    g_assert(id < intern->ends.count);
    size_t start = id ? align_key(STORE(size_t, &intern->ends, id - 1)) : 0;
    if (bytes)
        *bytes = STORE(size_t, &intern->ends, id) - start;
    return intern->keys.base + start;
}

static uint32_t slot_hash(const void *key, size_t bytes)
{
    return (uint32_t)(XXH3_64bits(key, bytes) >> 32);
}

static void lay_out_slots(Intern *intern)
{
    Store *slots = &intern->slots;
    memset(slots->base, 0, slots->count * sizeof(uint64_t));
    uint64_t *table = (uint64_t *)(void *)slots->base;
    size_t mask = slots->count - 1;
    for (uint32_t id = 0; id < intern->ends.count; id++) {
        size_t bytes;
        const void *key = intern_get(intern, id, &bytes);
        uint32_t hash = slot_hash(key, bytes);
        size_t at = hash & mask;
        while (table[at])
            at = (at + 1) & mask;
        table[at] = (uint64_t)hash << 32 | (id + 1);
    }
}

/* In place: the reservation holds the largest size that the table can have. */
static void intern_grow(Intern *intern)
{
    store_push(&intern->slots, intern->slots.count ? intern->slots.count : SLOTS_MIN);
    lay_out_slots(intern);
}

void intern_truncate(Intern *intern, size_t count)
{
    if (count == intern->ends.count)
        return;
    store_truncate(&intern->keys, count ? STORE(size_t, &intern->ends, count - 1) : 0);
    store_truncate(&intern->ends, count);
    lay_out_slots(intern);
}

/* The end is written last, so a child that dies halfway leaves no incomplete key. */
static uint32_t intern_append(Intern *intern, const void *key, size_t bytes)
{
    size_t id = intern->ends.count;
    size_t start = id ? align_key(STORE(size_t, &intern->ends, id - 1)) : 0;
    if (intern->keys.count < start + bytes)
        store_push(&intern->keys, start + bytes - intern->keys.count);
    if (bytes)
        memcpy(intern->keys.base + start, key, bytes);
    if (id + 1 >= NONE)
        store_run_out(full());
    *(size_t *)store_push(&intern->ends, 1) = start + bytes;
    return (uint32_t)id;
}

/* The slot of the key, or the free slot where it belongs. */
static uint64_t *slot_of(const Intern *intern, const void *key, size_t bytes, uint32_t hash)
{
    uint64_t *table = (uint64_t *)(void *)intern->slots.base;
    size_t mask = intern->slots.count - 1, at = hash & mask;
    for (; table[at]; at = (at + 1) & mask) {
        if (table[at] >> 32 != hash)
            continue;
        size_t length;
        const void *present = intern_get(intern, (uint32_t)table[at] - 1, &length);
        if (length == bytes && (bytes == 0 || memcmp(present, key, bytes) == 0))
            break;
    }
    return &table[at];
}

uint32_t intern_find(const Intern *intern, const void *key, size_t bytes)
{
    return intern->slots.count == 0 ? NONE : (uint32_t)*slot_of(intern, key, bytes, slot_hash(key, bytes)) - 1;
}

uint32_t intern_add(Intern *intern, const void *key, size_t bytes)
{
    if (intern->slots.count < (intern->ends.count + 1) * 2)
        intern_grow(intern);
    uint32_t hash = slot_hash(key, bytes);
    uint64_t *slot = slot_of(intern, key, bytes, hash);
    if (*slot == 0)
        *slot = (uint64_t)hash << 32 | (intern_append(intern, key, bytes) + 1);
    return (uint32_t)*slot - 1;
}
