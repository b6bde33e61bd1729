/* pairs.c - racing pairs by their sites: a hash table of classes, each with a list of open pairs. */
#include <glib.h>

#include "../../model/rng.h"
#include "races.h"

enum { OPEN_MAX = 1 << 24 };                    /* open pairs kept in lists */

static size_t place_of(const Races *races, const uint32_t site[2], uint32_t decl)
{
    uint64_t key = rng_mix(rng_mix(((uint64_t)site[0] << 32) | site[1]) ^ decl);
    size_t at = key & (races->table_size - 1);
    for (; races->table[at]; at = (at + 1) & (races->table_size - 1)) {
        const PairClass *class = &PILE(PairClass, &races->classes, races->table[at] - 1);
        if (class->site[0] == site[0] && class->site[1] == site[1] && class->decl == decl)
            break;
    }
    return at;
}

static void grow_table(Races *races)
{
    races->table_size = races->table_size ? races->table_size * 2 : 256;
    races->table = ARENA_NEW(uint32_t, races->arena, races->table_size);
    for (uint32_t i = 0; i < races->classes.count; i++) {
        const PairClass *class = &PILE(PairClass, &races->classes, i);
        races->table[place_of(races, class->site, class->decl)] = i + 1;
    }
}

PairClass *races_class(Races *races, uint32_t site_a, uint32_t site_b, uint32_t decl)
{
    if (races->classes.count * 2 >= races->table_size)
        grow_table(races);
    const uint32_t site[2] = { MIN(site_a, site_b), MAX(site_a, site_b) };
    size_t at = place_of(races, site, decl);
    if (races->table[at] == 0) {
        PairClass *class = pile_push(&races->classes, 1);
        *class = (PairClass){ .site = { site[0], site[1] }, .decl = decl, .sample = { NONE, NONE }, .sample_age = NONE,
                              .open_first = NONE, .shape_first = NONE };
        races->table[at] = (uint32_t)races->classes.count;
    }
    return &PILE(PairClass, &races->classes, races->table[at] - 1);
}

static uint32_t age_of(const Index *index, uint32_t code)
{
    if (!(code & RACES_COPY))
        return index->step[code];
    const Copy *copy = index_copy(index, (code & ~RACES_COPY) / 2);
    return index->step[index_slot(index, copy->core, copy->position)];
}

void races_add_certain(Races *races, PairClass *class, uint32_t a, uint32_t b, uint64_t pairs)
{
    class->certain += pairs;
    if (races->racing && !(a & RACES_COPY))
        races->racing[a] = 1;
    if (races->racing && !(b & RACES_COPY))
        races->racing[b] = 1;
    uint32_t age = MAX(age_of(races->index, a), age_of(races->index, b));
    if (class->sample[0] == NONE || age < class->sample_age) {
        class->sample[0] = a;
        class->sample[1] = b;
        class->sample_age = age;
    }
}

void races_add_open(Races *races, PairClass *class, uint32_t a, uint32_t b)
{
    class->open++;
    if (races->open.count >= OPEN_MAX) {
        class->unlisted++;
        return;
    }
    uint32_t id = (uint32_t)races->open.count;
    *(OpenPair *)pile_push(&races->open, 1) = (OpenPair){ a, b, class->open_first };
    class->open_first = id;
}

static StepKind kind_of(const Index *index, uint32_t code)
{
    return code & RACES_COPY ? (code & 1 ? STEP_WRITE : STEP_READ) : (StepKind)index->kind[code];
}

static bool add_hash(Races *races, uint64_t hash)
{
    if (races->shapes.count * 2 >= races->shape_table_size) {
        uint64_t *old = races->shape_table;
        size_t size = races->shape_table_size;
        races->shape_table_size = size ? size * 2 : 256;
        races->shape_table = ARENA_NEW(uint64_t, races->arena, races->shape_table_size);
        for (size_t i = 0; i < size; i++)
            if (old[i] != 0)
                add_hash(races, old[i]);
    }
    size_t mask = races->shape_table_size - 1, at = hash & mask;
    while (races->shape_table[at] != 0 && races->shape_table[at] != hash)
        at = (at + 1) & mask;
    bool fresh = races->shape_table[at] == 0;
    races->shape_table[at] = hash;
    return fresh;
}

void races_add_shape(Races *races, PairClass *class, uint32_t a, uint32_t b)
{
    const Index *index = races->index;
    const uint32_t part[] = { (uint32_t)(class - (PairClass *)pile_base(&races->classes)), races_object(index, a),
                              races_region(index, a), races_region(index, b), kind_of(index, a), kind_of(index, b) };
    uint64_t hash = 1;
    for (size_t i = 0; i < G_N_ELEMENTS(part); i++)
        hash = rng_mix(hash ^ part[i]);
    if (!add_hash(races, hash ? hash : 1))
        return;
    uint32_t id = (uint32_t)races->shapes.count;
    *(PairShape *)pile_push(&races->shapes, 1) = (PairShape){ a, b, class->shape_first };
    class->shape_first = id;
}

Event races_event(const Index *index, uint32_t code)
{
    if (code & RACES_COPY)
        return index_moment(index, (code & ~RACES_COPY) / 2, code & 1 ? STEP_WRITE : STEP_READ);
    const Step *step = index_step_at(index, code);
    return (Event){ step->core, code - index->first[step->core], NONE, step->kind };
}

uint32_t races_region(const Index *index, uint32_t code)
{
    if (!(code & RACES_COPY))
        return index_step_at(index, code)->value;
    const Copy *copy = index_copy(index, (code & ~RACES_COPY) / 2);
    return code & 1 ? copy->target_region : copy->source_region;
}

uint32_t races_object(const Index *index, uint32_t code)
{
    if (!(code & RACES_COPY))
        return index_step_at(index, code)->object;
    const Copy *copy = index_copy(index, (code & ~RACES_COPY) / 2);
    return code & 1 ? copy->target : copy->source;
}
