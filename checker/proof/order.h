/* order.h - "a must precede b" (happens-before): by clocks and releases where they decide, by a closure where they do not.
 *
 *     order_known  yes / no / open, in constant time    order_must  exact; an open pair costs a run without a
 *
 * Invariants:  1. yes and no are exact.  2. the run without `a` is kept until another `a` is asked about.
 * Ownership:   the arena of order_new; the closure is shared with others, who must not rely on its state between calls.
 */
#pragma once
#include "closure.h"
#include "release.h"

typedef enum OrderKnown { ORDER_NO, ORDER_YES, ORDER_OPEN } OrderKnown;

typedef struct Order {
    const Index *index;
    const Clocks *clocks;
    const Releases *releases;
    Closure *closure;
    Event without;                              /* the closure holds the run without it */
    bool holds;
    bool chosen;                                /* the record chose an order somewhere: the clocks see only part of it */
} Order;

Order *order_new(const Index *index, const Clocks *clocks, const Releases *releases, Arena *arena);
OrderKnown order_known(const Order *order, const Event *a, const Event *b);
bool order_must(Order *order, const Event *a, const Event *b);
/* The closure, reset for the caller. */
Closure *order_closure(Order *order);
/* Can b be reached if none of these is ever done? */
bool order_reaches_without(Order *order, const Event *b, const Event *without, size_t events);
/* The event; a join as the step of `core`, if that core is a member, so that clocks with only some columns can answer. */
Event order_seen_from(const Order *order, const Event *event, uint32_t core);
