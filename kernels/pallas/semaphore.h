/* semaphore.h - semaphores between cores and devices, barriers, and small utilities.
 *
 * Source: Pallas TPU semaphore_signal, semaphore_wait, semaphore_read, get_barrier_semaphore, core_barrier, delay, pl.debug_print.
 */
#pragma once
#include "plumbing.h"

/* pl_semaphore_signal(sem, inc), pl_semaphore_signal(sem, inc, pl_device(id)): adds inc, on the caller's or on another device. */
#define pl_semaphore_signal(semaphore, ...) \
    (pl_api->semaphore_signal(PL_STEP, semaphore, PL_PASTE(PL_SIGNAL_, PL_NARGS(__VA_ARGS__))(__VA_ARGS__)))
/* Waits for count >= value, then subtracts it; pl_semaphore_wait(sem, value, .decrement = false) subtracts nothing. */
#define pl_semaphore_wait(semaphore, ...) \
    (pl_api->semaphore_wait(PL_STEP, semaphore, \
                            pl_wait_((PlWait){ .value = __VA_ARGS__ }, PL_SETS(#__VA_ARGS__, "decrement"))))
#define pl_semaphore_read(semaphore) (pl_api->semaphore_read(PL_STEP, semaphore))
#define pl_get_barrier_semaphore() (pl_api->get_barrier_semaphore(PL_HERE))
#define pl_core_barrier() (pl_api->core_barrier(PL_STEP))                       /* all cores of the device */

/* Asserts a count, without waiting; asserts any condition. */
#define pl_expect_count(semaphore, value) (pl_api->expect_count(PL_STEP, semaphore, value))
#define pl_assert(...) (pl_api->check(PL_HERE, (__VA_ARGS__) ? true : false, #__VA_ARGS__))

#define pl_delay(cycles) (pl_api->delay(PL_HERE, cycles))
#define pl_debug_print(...) (pl_api->debug_print(PL_HERE, __VA_ARGS__))
