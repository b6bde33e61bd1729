/* order.h - "a must precede b": from clocks and releases where they decide, from a closure where they do not.
 *
 *     order_known  yes / no / open, in a few loads      order_must  exact, an open pair costs a run without a
 *
 * Invariants:  1. yes and no are exact.  2. answers from one run without `a` are kept until another `a` is asked about.
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
    Event without;                              /* whose run the closure holds */
    bool holds;
    bool chosen;                                /* the record chose an order somewhere: the clocks see only part of it */
} Order;

Order *order_new(const Index *index, const Clocks *clocks, const Releases *releases, Arena *arena);
OrderKnown order_known(const Order *order, const Event *a, const Event *b);
bool order_must(Order *order, const Event *a, const Event *b);
/* A fresh run for the caller. */
Closure *order_closure(Order *order);
/* Can b be reached when none of these is ever done? */
bool order_reaches_without(Order *order, const Event *b, const Event *without, size_t events);
/* A core's step or a join seen from `core`, if that core is a member: so that clocks which keep only some columns can tell. */
Event order_seen_from(const Order *order, const Event *event, uint32_t core);
