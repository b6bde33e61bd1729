/* itinerary.h - the moves of a schedule as what each needs and gives, so that other orders of them can be thought about without running.
 *
 * Needs are: earlier moves of its own agents, a copy's start and moments before, copies that must be done first under the order of DMAs in
 * force, a count. Moves on objects whose order matters (looks, flags, several waiters) keep their order among each other.
 *
 * Ownership:   itinerary_free.
 * Errors:      NULL when the moves cannot be done in the order given.
 */
#pragma once
#include <glib.h>
#include "../run/execution.h"

typedef struct Item {                           /* one move */
    Move move;
    uint32_t wait_on, give_to;                  /* semaphores, NONE: none */
    int64_t need, take, give;
    guint before_first, before_count;           /* in Itinerary.before: items that must be done earlier */
} Item;

typedef struct Itinerary {
    GArray *items;                              /* of Item, in the order given */
    GArray *before;                             /* of guint */
    uint32_t semaphores;                        /* ids are below */
} Itinerary;

Itinerary *itinerary_new(Execution *execution, const ExecutionOptions *options, const GArray *moves);
void itinerary_free(Itinerary *itinerary);
