/* tally.c - faults counted by key: a hash table of counts, each with its earliest example. */
#include <glib.h>

#include "../../model/rng.h"
#include "prover.h"

static bool same_key(const FaultTally *a, const FaultTally *b)
{
    return a->id == b->id && a->site[0] == b->site[0] && a->site[1] == b->site[1] && a->decl == b->decl
        && a->is_semaphore == b->is_semaphore;
}

static size_t place_of(const Prover *prover, const FaultTally *key)
{
    uint64_t hash = rng_mix(rng_mix(((uint64_t)key->site[0] << 32) | key->site[1]) ^ ((uint64_t)key->decl << 8) ^ key->id);
    size_t at = hash & (prover->table_size - 1);
    while (prover->table[at] && !same_key(&PILE(FaultTally, &prover->tallies, prover->table[at] - 1), key))
        at = (at + 1) & (prover->table_size - 1);
    return at;
}

static void grow_table(Prover *prover)
{
    prover->table_size = prover->table_size ? prover->table_size * 2 : 256;
    prover->table = ARENA_NEW(uint32_t, prover->arena, prover->table_size);
    for (uint32_t i = 0; i < prover->tallies.count; i++)
        prover->table[place_of(prover, &PILE(FaultTally, &prover->tallies, i))] = i + 1;
}

uint32_t prover_age(const Prover *prover, const Event *event)
{
    return prover->index->step[index_slot(prover->index, event->core, event->position)];
}

static uint32_t site_of(const Prover *prover, const Event *event)
{
    return index_step(prover->index, event->core, event->position)->site;
}

static FaultTally key_of(const Prover *prover, const FaultTally *fault)
{
    FaultTally key = *fault;
    key.site[0] = fault->places > 0 ? site_of(prover, &fault->a) : NONE;
    key.site[1] = fault->places > 1 ? site_of(prover, &fault->b) : NONE;
    if (fault->places > 1 && key.site[0] > key.site[1]) {
        uint32_t swap = key.site[0];
        key.site[0] = key.site[1];
        key.site[1] = swap;
    }
    key.decl = fault->object == NONE ? NONE : fault->is_semaphore ? program_semaphore_decl(prover->program, fault->object)
        : program_object_decl(prover->program, fault->object);
    return key;
}

bool prover_has(const Prover *prover, const FaultTally *fault)
{
    const FaultTally key = key_of(prover, fault);
    return prover->table_size > 0 && prover->table[place_of(prover, &key)] != 0;
}

void prover_add(Prover *prover, const FaultTally *fault)
{
    FaultTally key = key_of(prover, fault);
    key.age = fault->places > 0 ? prover_age(prover, &fault->a) : 0;
    if (fault->places > 1)
        key.age = MAX(key.age, prover_age(prover, &fault->b));
    key.count = MAX(fault->count, 1);
    if (prover->tallies.count * 2 >= prover->table_size)
        grow_table(prover);
    size_t at = place_of(prover, &key);
    if (prover->table[at] == 0) {
        *(FaultTally *)pile_push(&prover->tallies, 1) = key;
        prover->table[at] = (uint32_t)prover->tallies.count;
        return;
    }
    FaultTally *tally = &PILE(FaultTally, &prover->tallies, prover->table[at] - 1);
    key.count += tally->count;
    key.at_most |= tally->at_most;
    if (key.age < tally->age && !fault->at_most)
        *tally = key;
    tally->count = key.count;
    tally->at_most = key.at_most;
}

Place prover_place(const Prover *prover, const Event *event)
{
    const Step *step = index_step(prover->index, event->core, event->position);
    if (event->copy == NONE)
        return place_of_step(step, event->position);
    Place place = place_of_moment(index_copy(prover->index, event->copy), event->kind);
    place.launch = step->launch;
    return place;
}
