/* access.c - accesses interned by object and region; those of one object form a chain, which each new one searches for rivals. */
#include "access.h"
#include <glib.h>
#include "../../model/sane.h"

enum { ACCESSES_MAX = 1 << 22, OBJECTS_MAX = 1 << 26 };

void accesses_init(Accesses *accesses, const Program *program, Reservation *reservation)
{
    *accesses = (Accesses){.program = program, .generation = 1};
    reservation_intern(reservation, &accesses->keys, ACCESSES_MAX, (size_t)ACCESSES_MAX * 16);
    reservation_store(reservation, &accesses->all, sizeof(Access), ACCESSES_MAX);
    reservation_store(reservation, &accesses->next_of_object, sizeof(uint32_t), ACCESSES_MAX);
    reservation_store(reservation, &accesses->last_of_object, sizeof(uint32_t), OBJECTS_MAX);
}

bool accesses_overlap(const Accesses *accesses, uint32_t a, uint32_t b)
{
    const Access *one = accesses_get(accesses, a), *other = accesses_get(accesses, b);
    if (one->object != other->object)
        return false;
    return one->region == other->region ? one->region != 0      /* the empty one */
        : region_overlaps(program_get_region(accesses->program, one->region), program_get_region(accesses->program, other->region));
}

bool accesses_rivals(const Accesses *accesses, uint32_t a, uint32_t b)
{
    return (accesses_get(accesses, a)->write || accesses_get(accesses, b)->write) && accesses_overlap(accesses, a, b);
}

static uint32_t first_of_object(const Accesses *accesses, uint32_t object)
{
    return object < accesses->last_of_object.count ? STORE(uint32_t, &accesses->last_of_object, object) : 0;
}

static void give_bit(Accesses *accesses, Access *access)
{
    if (access->bit != NONE)
        return;
    access->bit = accesses->bits++;
    accesses->generation++;
}

/* Two cores may conflict by these two accesses: both get bits. */
static void look_for_rivals(Accesses *accesses, uint32_t id)
{
    Access *access = &STORE(Access, &accesses->all, id);
    for (uint32_t at = first_of_object(accesses, access->object); at; at = STORE(uint32_t, &accesses->next_of_object, at - 1)) {
        Access *other = &STORE(Access, &accesses->all, at - 1);
        bool two_cores = access->many || other->many || access->core != other->core;
        if (two_cores && accesses_rivals(accesses, id, at - 1)) {
            give_bit(accesses, access);
            give_bit(accesses, other);
        }
    }
}

uint32_t accesses_add(Accesses *accesses, uint32_t core, uint32_t object, uint32_t region, bool write)
{
    uint32_t key[3] = {object, region, write};
    uint32_t id = intern_add(&accesses->keys, key, sizeof key);
    if (id < accesses->all.count) {
        Access *access = &STORE(Access, &accesses->all, id);
        if (!access->many && access->core != core) {
            access->many = true;
            look_for_rivals(accesses, id);
            SANE_NOW_AND_THEN(accesses->all.count, accesses_assert_sane(accesses));
        }
        return id;
    }
    *(Access *)store_push(&accesses->all, 1) = (Access){.object = object, .region = region, .write = write, .core = core, .bit = NONE};
    if (object >= accesses->last_of_object.count)
        store_push(&accesses->last_of_object, object + 1 - accesses->last_of_object.count);
    *(uint32_t *)store_push(&accesses->next_of_object, 1) = first_of_object(accesses, object);
    STORE(uint32_t, &accesses->last_of_object, object) = id + 1;
    look_for_rivals(accesses, id);
    SANE_NOW_AND_THEN(accesses->all.count, accesses_assert_sane(accesses));
    return id;
}

static bool has_rival_elsewhere(const Accesses *accesses, uint32_t id)
{
    const Access *access = accesses_get(accesses, id);
    bool any = false;
    for (uint32_t other = 0; other < accesses->all.count && !any; other++)
        any = (access->many || accesses_get(accesses, other)->many || access->core != accesses_get(accesses, other)->core)
            && accesses_rivals(accesses, id, other);
    return any;
}

void accesses_assert_sane(const Accesses *accesses)
{
    uint32_t bits = 0;
    for (uint32_t id = 0; id < accesses->all.count; id++) {
        const Access *access = accesses_get(accesses, id);
        g_assert((access->bit != NONE) == has_rival_elsewhere(accesses, id));
        g_assert(access->bit == NONE || access->bit < accesses->bits);
        bits += access->bit != NONE;
    }
    g_assert(bits == accesses->bits && accesses->generation == bits + 1);
}

void accesses_mask(const Accesses *accesses, uint32_t id, uint64_t *own, uint64_t *rivals)
{
    const Access *access = accesses_get(accesses, id);
    if (access->bit == NONE)
        return;
    own[access->bit / 64] |= 1ull << access->bit % 64;
    for (uint32_t at = first_of_object(accesses, access->object); at; at = STORE(uint32_t, &accesses->next_of_object, at - 1)) {
        const Access *other = accesses_get(accesses, at - 1);
        if (other->bit != NONE && accesses_rivals(accesses, id, at - 1))
            rivals[other->bit / 64] |= 1ull << other->bit % 64;
    }
}
