/* races.c - object by object: accesses are grouped by region, and groups whose regions overlap are compared.
 *
 * Regions of one buffer are few and mostly equal or disjoint, so accesses are grouped by region first, and exact overlap is computed once
 * for each pair of regions whose bounds overlap. Small groups are compared pair by pair; large ones are swept.
 */
#include "races.h"

#include <glib.h>
#include <string.h>

enum { PAIRWISE_MAX = 1024, OVERLAPS_KEPT = 1 << 13 };

typedef struct Group { uint32_t region, first, count; bool writes, swaps; int64_t lo, hi; } Group;

typedef struct Overlap { uint32_t a, b; bool overlap; } Overlap;           /* remembered for strided regions; a == b: empty */

typedef struct Finder {
    Races *races;
    const Index *index;
    const Order *order;
    RaceAccesses accesses;
    uint64_t pairwise_max;                      /* larger products are swept */
    uint32_t *object_first, *codes;             /* accesses by object */
    uint32_t *positions;                        /* a core: its position in a walk over the record */
    Pile access, acquire, release, groups, active;
    Pile earliest;                              /* group * per_device + core: when the first write to its bytes is acquired */
    bool reads;                                 /* loads of this object must find it written */
    bool exempt;                                /* the program exempts the races on it, so they do not account for unwritten loads */
    Overlap *overlap;                           /* NULL until the first strided region */
} Finder;

static bool is_access(const Step *step)
{
    return (step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP) && step->value != 0;
}

/* Calls visit with the code of each access: cores' steps in the order of the record, then copies. */
static void each_access(Finder *f, void (*visit)(Finder *f, uint32_t object, uint32_t code))
{
    const Index *index = f->index;
    uint32_t *next = f->positions;
    memset(next, 0, index->cores * sizeof *next);
    for (size_t i = 0; i < index->record->steps.count; i++) {
        const Step *step = &STORE(Step, &index->record->steps, i);
        if (moment_is(step->kind))
            continue;
        uint32_t slot = index_slot(index, step->core, next[step->core]++);
        if (is_access(step))
            visit(f, step->object, slot);
    }
    for (uint32_t copy = 0; copy < index->copies; copy++) {
        visit(f, index_copy(index, copy)->source, RACES_COPY | (copy * 2));
        visit(f, index_copy(index, copy)->target, RACES_COPY | (copy * 2 + 1));
    }
}

static void count_access(Finder *f, uint32_t object, uint32_t code)
{
    f->object_first[object + 2]++;
    if (!(code & RACES_COPY) && f->index->kind[code] == STEP_SWAP && !f->races->racing)
        f->races->racing = ARENA_NEW(uint8_t, f->races->arena, f->index->first[f->index->cores]);
}

static void put_access(Finder *f, uint32_t object, uint32_t code)
{
    f->codes[f->object_first[object + 1]++] = code;
}

static void sort_by_object(Finder *f, Arena *scratch)
{
    uint32_t objects = f->index->program->objects, slots = f->index->first[f->index->cores];
    g_assert(slots < RACES_COPY && f->index->copies < RACES_COPY / 2);
    f->positions = ARENA_NEW(uint32_t, scratch, f->index->cores);
    f->object_first = ARENA_NEW(uint32_t, scratch, objects + 2);
    each_access(f, count_access);
    for (uint32_t object = 0; object < objects; object++)
        f->object_first[object + 2] += f->object_first[object + 1];
    f->codes = ARENA_NEW(uint32_t, scratch, f->object_first[objects + 1] + 1);
    each_access(f, put_access);
}

/* The position from which on the waiter of one end of the copy comes after it. */
static void release_at(const Finder *f, uint32_t copy, unsigned end, uint32_t device, uint32_t *release)
{
    const Copy *c = index_copy(f->index, copy);
    uint32_t semaphore = end ? c->receive_semaphore : c->send_semaphore, per = f->index->per_device;
    if (semaphore == NONE || f->order->releases->at[copy * 2 + end] == NONE)
        return;
    uint32_t waiter = releases_core(f->order->releases, semaphore, copy * 2 + end);
    if (waiter / per == device)
        release[waiter % per] = MIN(release[waiter % per], f->order->releases->at[copy * 2 + end]);
}

static void place_copy(const Finder *f, uint32_t code, uint32_t *acquire, uint32_t *release)
{
    const Index *index = f->index;
    const Clocks *clocks = f->order->clocks;
    uint32_t copy = (code & ~RACES_COPY) / 2, per = index->per_device, write = code & 1;
    const Copy *c = index_copy(index, copy);
    uint32_t device = write ? c->target_device : c->core / per;
    for (uint32_t k = 0; k < per; k++) {
        uint32_t core = device * per + k;
        acquire[k] = core == c->core ? c->position + 1 : (write ? clocks->toward : clocks->home)[(size_t)copy * per + k];
        release[k] = NONE;
    }
    release_at(f, copy, 1, device, release);
    if (!write)
        release_at(f, copy, 0, device, release);
}

static void place_step(const Finder *f, uint32_t slot, uint32_t *acquire, uint32_t *release)
{
    const Step *step = index_step_at(f->index, slot);
    uint32_t per = f->index->per_device, position = slot - f->index->first[step->core];
    for (uint32_t k = 0; k < per; k++) {
        acquire[k] = per > 1 ? f->order->clocks->slot_home[(size_t)slot * per + k] : position;
        release[k] = NONE;
    }
    acquire[step->core % per] = position;
    release[step->core % per] = position + 1;
}

static RaceAccess describe(const Finder *f, uint32_t code)
{
    const Index *index = f->index;
    RaceAccess access = { .code = code, .region = races_region(index, code) };
    if (code & RACES_COPY) {
        access.site = index_copy(index, (code & ~RACES_COPY) / 2)->site;
        access.write = code & 1;
        access.copy_read = !access.write;
    } else {
        access.site = index_step_at(index, code)->site;
        access.write = index_step_at(index, code)->kind != STEP_LOAD;
    }
    return access;
}

static gint compare_region(gconstpointer left, gconstpointer right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The accesses of one object, sorted by region, then in order of discovery. */
static void gather(Finder *f, uint32_t object)
{
    uint32_t first = f->object_first[object], count = f->object_first[object + 1] - first, per = f->index->per_device;
    f->access.count = f->acquire.count = f->release.count = f->groups.count = f->active.count = 0;
    uint64_t *order = pile_push(&f->active, count);
    for (uint32_t i = 0; i < count; i++)
        order[i] = ((uint64_t)races_region(f->index, f->codes[first + i]) << 32) | i;
    qsort(order, count, sizeof *order, compare_region);
    RaceAccess *access = pile_push(&f->access, count);
    uint32_t *acquire = pile_push(&f->acquire, (size_t)count * per), *release = pile_push(&f->release, (size_t)count * per);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t code = f->codes[first + (uint32_t)order[i]];
        access[i] = describe(f, code);
        if (code & RACES_COPY)
            place_copy(f, code, acquire + (size_t)i * per, release + (size_t)i * per);
        else
            place_step(f, code, acquire + (size_t)i * per, release + (size_t)i * per);
        access[i].acquire = acquire[(size_t)i * per];
        access[i].release = release[(size_t)i * per];
    }
    f->active.count = 0;
    f->accesses.access = access, f->accesses.acquire = acquire, f->accesses.release = release;
}

static void group_by_region(Finder *f)
{
    const RaceAccess *access = f->accesses.access;
    for (uint32_t i = 0; i < f->access.count; i++) {
        Group *group = f->groups.count ? &PILE(Group, &f->groups, f->groups.count - 1) : NULL;
        if (!group || group->region != access[i].region) {
            const Region *region = program_get_region(f->index->program, access[i].region);
            group = pile_push(&f->groups, 1);
            *group = (Group){ .region = access[i].region, .first = i, .lo = region->lo, .hi = region->hi };
        }
        group->count++;
        group->writes |= access[i].write;
        group->swaps |= !(access[i].code & RACES_COPY) && f->index->kind[access[i].code] == STEP_SWAP;
    }
}

static bool comes_before(const RaceAccesses *accesses, uint32_t a, uint32_t b)
{
    uint32_t per = accesses->per_device;
    if (per == 1)                               /* a sweep reorders accesses, but not acquire[] and release[] */
        return accesses->access[a].release <= accesses->access[b].acquire;
    for (uint32_t k = 0; k < per; k++)
        if (accesses->release[(size_t)a * per + k] <= accesses->acquire[(size_t)b * per + k])
            return true;
    return false;
}

/* For a pair not ordered on any time line: asks what else clocks and releases know. */
static void add_suspect(Finder *f, const RaceAccess *a, const RaceAccess *b)
{
    Event event_a = races_event(f->index, a->code), event_b = races_event(f->index, b->code);
    OrderKnown ab = order_known(f->order, &event_a, &event_b), ba = order_known(f->order, &event_b, &event_a);
    if (ab == ORDER_YES || ba == ORDER_YES)
        return;
    PairClass *class = races_class(f->races, a->site, b->site, f->accesses.decl);
    races_add_shape(f->races, class, a->code, b->code);
    if (ab == ORDER_OPEN || ba == ORDER_OPEN)
        races_add_open(f->races, class, a->code, b->code);
    else
        races_add_certain(f->races, class, a->code, b->code, 1);
}

static void compare_pairwise(Finder *f, const Group *a, const Group *b)
{
    const RaceAccess *access = f->accesses.access;
    bool reads = f->index->canary != PROVE_CANARY_SWEEP_IGNORES_READS;
    for (uint32_t i = a->first; i < a->first + a->count; i++)
        for (uint32_t j = a == b ? i + 1 : b->first; j < b->first + b->count; j++) {
            bool racy = reads ? access[i].write || access[j].write : access[i].write && access[j].write;
            if (racy && !comes_before(&f->accesses, i, j) && !comes_before(&f->accesses, j, i))
                add_suspect(f, &access[i], &access[j]);
        }
}

static void compare_groups(Finder *f, const Group *a, const Group *b)
{
    if (!a->writes && !b->writes)
        return;
    bool plain = f->index->per_device == 1 && !f->index->copy_before && !f->order->chosen && !a->swaps && !b->swaps;
    if (!plain || (uint64_t)a->count * b->count <= f->pairwise_max || f->index->canary == PROVE_CANARY_SWEEP_IGNORES_READS) {
        compare_pairwise(f, a, b);
    } else {
        f->accesses.races = f->races;
        sweep_ranges(&f->accesses, f->accesses.access + a->first, a->count, f->accesses.access + b->first, b->count);
    }
}

static bool regions_overlap(Finder *f, uint32_t a, uint32_t b)
{
    const Region *left = program_get_region(f->index->program, a), *right = program_get_region(f->index->program, b);
    if (region_is_contiguous(left) && region_is_contiguous(right))
        return true;                            /* their bounds overlap already */
    if (!f->overlap)
        f->overlap = ARENA_NEW(Overlap, f->access.arena, OVERLAPS_KEPT);
    Overlap *kept = &f->overlap[(a * 2654435761u ^ b * 40503u) % OVERLAPS_KEPT];
    if (kept->a != a || kept->b != b)
        *kept = (Overlap){ a, b, region_overlaps(left, right) };
    return kept->overlap;
}

static gint compare_bounds(gconstpointer left, gconstpointer right)
{
    const Group *a = left, *b = right;
    return a->lo != b->lo ? (a->lo > b->lo) - (a->lo < b->lo) : (a->region > b->region) - (a->region < b->region);
}

static uint32_t acquire_of(const Finder *f, uint32_t access, uint32_t k)
{
    uint32_t per = f->accesses.per_device;
    return per == 1 ? f->accesses.access[access].acquire : f->accesses.acquire[(size_t)access * per + k];
}

/* Notes the earliest writes of one group for another group, or for itself. A swap's write comes after its own read. */
static void note_writes(Finder *f, const Group *from, size_t to)
{
    uint32_t per = f->accesses.per_device;
    uint32_t *earliest = &PILE(uint32_t, &f->earliest, to * per);
    for (uint32_t i = from->first; i < from->first + from->count; i++) {
        const RaceAccess *access = &f->accesses.access[i];
        uint32_t own = access->code & RACES_COPY ? NONE : index_step_at(f->index, access->code)->core % per;
        for (uint32_t k = 0; access->write && k < per; k++)
            earliest[k] = MIN(earliest[k], acquire_of(f, i, k) + (k == own));
    }
}

/* A load is unwritten iff all writes to its bytes come after it; a write that is not ordered with it makes it a race instead. */
static void find_unwritten(Finder *f, size_t groups)
{
    uint32_t per = f->accesses.per_device;
    for (size_t g = 0; g < groups; g++) {
        const Group *group = &PILE(Group, &f->groups, g);
        for (uint32_t i = group->first; i < group->first + group->count; i++) {
            const RaceAccess *access = &f->accesses.access[i];
            if ((access->code & RACES_COPY) || f->index->kind[access->code] == STEP_STORE)
                continue;
            uint32_t core = index_step_at(f->index, access->code)->core, position = access->code - f->index->first[core];
            if (PILE(uint32_t, &f->earliest, g * per + core % per) > position)
                *(uint32_t *)pile_push(&f->races->unwritten, 1) = access->code;
            else if (f->order->chosen || f->exempt)
                *(uint32_t *)pile_push(&f->races->unsure, 1) = access->code;
        }
    }
}

/* Sweeps over the groups by lower bound; a group is active until its upper bound is passed. */
static void compare_overlapping(Finder *f)
{
    Group *group = pile_base(&f->groups);
    size_t groups = f->groups.count;
    qsort(group, groups, sizeof *group, compare_bounds);
    size_t active = 0;
    uint64_t *list = pile_push(&f->active, groups);
    f->earliest.count = 0;
    memset(pile_push(&f->earliest, groups * f->accesses.per_device), 0xff, groups * f->accesses.per_device * sizeof(uint32_t));
    for (size_t i = 0; i < groups; i++) {
        size_t kept = 0;
        if (group[i].lo == group[i].hi)         /* fully masked */
            continue;
        compare_groups(f, &group[i], &group[i]);
        if (f->reads)
            note_writes(f, &group[i], i);
        for (size_t j = 0; j < active; j++) {
            Group *other = &group[list[j]];
            if (other->hi <= group[i].lo)
                continue;
            list[kept++] = list[j];
            if (!(other->writes || group[i].writes) || !regions_overlap(f, other->region, group[i].region))
                continue;
            compare_groups(f, other, &group[i]);
            if (f->reads) {
                note_writes(f, &group[i], (size_t)(other - group));
                note_writes(f, other, i);
            }
        }
        active = kept;
        list[active++] = i;
    }
    if (f->reads)
        find_unwritten(f, groups);
}

Races *races_new(const Order *order, RaceKeys *keys, Arena *arena)
{
    Arena scratch;
    arena_init(&scratch, arena->budget);
    Races *races = ARENA_NEW(Races, arena, 1);
    *races = (Races){ .index = order->index, .order = order, .keys = keys, .arena = arena };
    pile_init(&races->classes, arena, sizeof(PairClass));
    pile_init(&races->open, arena, sizeof(OpenPair));
    pile_init(&races->listed, arena, sizeof(OpenPair));
    pile_init(&races->shapes, arena, sizeof(PairShape));
    pile_init(&races->unwritten, arena, sizeof(uint32_t));
    pile_init(&races->unsure, arena, sizeof(uint32_t));
    Finder f = { .races = races, .index = order->index, .order = order, .pairwise_max = PAIRWISE_MAX };
    f.accesses = (RaceAccesses){ .per_device = order->index->per_device };
    pile_init(&f.access, &scratch, sizeof(RaceAccess));
    pile_init(&f.acquire, &scratch, sizeof(uint32_t));
    pile_init(&f.release, &scratch, sizeof(uint32_t));
    pile_init(&f.groups, &scratch, sizeof(Group));
    pile_init(&f.active, &scratch, sizeof(uint64_t));
    pile_init(&f.earliest, &scratch, sizeof(uint32_t));
    sort_by_object(&f, &scratch);
    for (uint32_t object = 0; object < order->index->program->objects; object++) {
        uint32_t count = f.object_first[object + 1] - f.object_first[object];
        f.accesses.decl = program_object_decl(order->index->program, object);
        const Decl *decl = program_decl(order->index->program, f.accesses.decl);
        f.reads = decl->opaque && !decl->input;
        f.exempt = decl->exempt[FAULT_RACE] != 0;
        if (count == 0 || (count == 1 && !f.reads))
            continue;
        budget_check_time(arena->budget);
        gather(&f, object);
        group_by_region(&f);
        compare_overlapping(&f);
    }
    arena_clear(&scratch);
    return races;
}
