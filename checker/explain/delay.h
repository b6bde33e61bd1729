/* delay.h - where to be late so that a fault shows on a real machine, and the check that it does.
 *
 *     race:      whichever was meant first is held back, everybody else goes on as far as they can -> the other one is there before it
 *     lifetime:  the device is held back before it enters the launch -> what it does not have yet is touched
 *     in-flight: the copy is held back -> the device is about to leave
 *     deadlock:  one or two cores are held back for as long as others can move, then let go -> nothing can move. (Nobody need be late if
 *                it comes when all go at one pace. One that comes in every order has no use for this.)
 *
 * A delay is claimed only after a run with it came to the fault. Held back is a core before a step (a kernel's author can put a delay
 * there), or, where only that helps, a copy under way (which no delay in a kernel can do).
 *
 * Errors:      none; nothing is claimed where no delay leads there.
 */
#pragma once
#include "../facts/finding.h"
#include "../run/execution.h"

/* Fills finding->delays. The schedule of the finding must have shown it. */
void delay_find(Execution *execution, const ExecutionOptions *options, Finding *finding);
