/* pairs.c - racing pairs by their sites: classes, each with a list of open pairs. */
#include <glib.h>

#include "../facts/instances.h"
#include "races.h"

enum { OPEN_MAX = 1 << 24, KEYS_MAX = 1 << 24 };        /* open pairs kept in lists */

/* The key's number: they are numbered as they come. */
static uint32_t number_of(Intern *keys, const void *key, size_t bytes)
{
    if (keys->keys.base == NULL)
        intern_init_own(keys, KEYS_MAX, KEYS_MAX * bytes);
    return intern_add(keys, key, bytes);
}

PairClass *races_class(Races *races, uint32_t site_a, uint32_t site_b, uint32_t decl)
{
    const uint32_t key[] = { MIN(site_a, site_b), MAX(site_a, site_b), decl }, id = number_of(&races->keys->classes, key, sizeof key);
    if (id == races->classes.count)
        *(PairClass *)pile_push(&races->classes, 1) = (PairClass){ .site = { key[0], key[1] }, .decl = decl, .sample = { NONE, NONE },
                                                                   .sample_age = NONE, .open_first = NONE, .certain_first = NONE,
                                                                   .shape_first = NONE };
    return &PILE(PairClass, &races->classes, id);
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
    if (pairs == 1 && races->order->chosen && class->certain <= INSTANCES_MAX) {
        *(OpenPair *)pile_push(&races->listed, 1) = (OpenPair){ a, b, class->certain_first };
        class->certain_first = (uint32_t)races->listed.count - 1;
    }
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

void races_add_shape(Races *races, PairClass *class, uint32_t a, uint32_t b)
{
    const Index *index = races->index;
    const uint32_t part[] = { (uint32_t)(class - (PairClass *)pile_base(&races->classes)), races_object(index, a),
                              races_region(index, a), races_region(index, b), kind_of(index, a), kind_of(index, b) };
    uint32_t id = number_of(&races->keys->shapes, part, sizeof part);
    if (id < races->shapes.count)
        return;
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
