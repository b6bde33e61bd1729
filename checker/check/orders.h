/* orders.h - under which orders of copies (--dma-order) a fault shows. A stricter one has fewer executions, so a fault that shows under the
 * strictest shows under each.
 *
 *     orders_try (worker): is its schedule, or nearly it, possible under a stricter order? -> check_settle_orders (advise): whole checks
 */
#pragma once
#include "../run/judge.h"

/* The weakest promise about orders of copies that removes a fault, the most serious first. */
typedef enum Holds { HOLDS_ALWAYS, HOLDS_UNDECIDED, HOLDS_UNLESS_ISSUE_ORDER, HOLDS_UNLESS_LINK_FIFO } Holds;
Holds orders_hold(const Finding *finding);
/* Sets which orders the finding holds under; the other stricter ones are open. */
void orders_try(Execution *execution, const ExecutionOptions *options, Finding *finding);
/* Is a core seen to start two remote copies to one device, so that the order of copies on a link may matter? */
bool orders_matter(const Record *record);
