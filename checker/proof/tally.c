/* tally.c - faults counted by key: each count with its earliest example. */
#include <glib.h>

#include "../facts/instances.h"
#include "prover.h"

enum { KEYS_MAX = 1 << 20 };

uint32_t prover_age(const Prover *prover, const Event *event)
{
    return prover->index->step[index_slot(prover->index, event->core, event->position)];
}

static uint32_t site_of(const Prover *prover, const Event *event)
{
    return index_step(prover->index, event->core, event->position)->site;
}

static FaultKey key_of(const Prover *prover, const FaultTally *fault)
{
    uint32_t a = fault->places > 0 ? site_of(prover, &fault->a) : NONE, b = fault->places > 1 ? site_of(prover, &fault->b) : NONE;
    uint32_t decl = fault->object == NONE ? NONE : fault->is_semaphore ? program_semaphore_decl(prover->program, fault->object)
        : program_object_decl(prover->program, fault->object);
    return (FaultKey){ fault->id, { MIN(a, b), MAX(a, b) }, decl, fault->is_semaphore };
}

bool prover_has(const Prover *prover, const FaultTally *fault)
{
    const FaultKey key = key_of(prover, fault);
    return prover->tallies.count > 0 && intern_find(&prover->tally_keys, &key, sizeof key) != NONE;
}

static uint32_t list_event(Prover *prover, const FaultTally *fault, uint32_t next, uint64_t count)
{
    if (!prover->order->chosen || fault->id == FAULT_RACE || count >= INSTANCES_MAX)
        return next;
    FaultTally *event = pile_push(&prover->events, 1);
    *event = *fault, event->event_first = next;
    return (uint32_t)prover->events.count;
}

void prover_add(Prover *prover, const FaultTally *fault)
{
    FaultTally fresh = *fault;
    fresh.key = key_of(prover, fault);
    fresh.age = fault->places > 0 ? prover_age(prover, &fault->a) : 0;
    if (fault->places > 1)
        fresh.age = MAX(fresh.age, prover_age(prover, &fault->b));
    fresh.count = MAX(fault->count, 1);
    if (prover->tally_keys.keys.base == NULL)
        intern_init_own(&prover->tally_keys, KEYS_MAX, KEYS_MAX * sizeof(FaultKey));
    uint32_t id = intern_add(&prover->tally_keys, &fresh.key, sizeof fresh.key);
    if (id == prover->tallies.count) {
        fresh.event_first = list_event(prover, fault, 0, 0);
        *(FaultTally *)pile_push(&prover->tallies, 1) = fresh;
        return;
    }
    FaultTally *tally = &PILE(FaultTally, &prover->tallies, id);
    fresh.event_first = list_event(prover, fault, tally->event_first, tally->count);
    fresh.count += tally->count;
    fresh.at_most |= tally->at_most;
    if (fresh.age < tally->age && !fault->at_most)
        *tally = fresh;
    tally->count = fresh.count;
    tally->event_first = fresh.event_first;
    tally->at_most = fresh.at_most;
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
