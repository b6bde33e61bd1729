/* delay.h - which delay makes a fault show on a real machine.
 *
 *     race:      the access meant to come first is held back while all others run -> the other access comes before it
 *     lifetime:  the device is held back before it enters the launch -> an object is accessed before its life begins
 *     in-flight: the copy is held back -> the device leaves the launch before the copy is complete
 *     deadlock:  one or two cores are held back as long as others are enabled, then released -> no agent is enabled. (None is held back if
 *                round-robin order already leads to the deadlock.)
 *
 * A delay is claimed only after a run with it showed the fault. Held back is a core before a step (the author can put a delay there) or,
 * where only that helps, a copy in flight (which a delay in the kernel cannot cause).
 *
 * Errors:      none; nothing is claimed if no delay leads to the fault.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* Fills finding->delays. The finding's schedule must have shown it. */
void delay_find(Execution *execution, const ExecutionOptions *options, Finding *finding);
