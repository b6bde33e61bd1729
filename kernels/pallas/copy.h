/* copy.h - asynchronous copies, local and to other devices.
 *
 * Source: Pallas TPU make_async_copy and make_async_remote_copy. A descriptor that is only waited on copies nothing: a wait is for a number
 * of bytes on a semaphore, never for a copy.
 */
#pragma once
#include "plumbing.h"

#define pl_make_async_copy(source, target, semaphore) pl_make_local_copy_(PL_HERE, source, target, semaphore)
/* To the target ref of another device: pl_device(id), pl_mesh(x, y), pl_along("x", i). */
#define pl_make_async_remote_copy(source, target, send_semaphore, receive_semaphore, device) \
    (pl_api->make_copy(PL_HERE, source, target, send_semaphore, receive_semaphore, device, true))

/* The copy must be a variable, which records that it is started; pl_async_copy below makes and starts one. */
#define pl_copy_start(copy) (pl_api->copy_start(PL_STEP, &(copy)))
/* Local: waits for its completion. Remote: wait_send, then wait_recv. */
#define pl_copy_wait(copy) (pl_api->copy_wait(PL_STEP, copy, true, true, false))
#define pl_copy_wait_send(copy) (pl_api->copy_wait(PL_STEP, copy, true, false, false))
#define pl_copy_wait_recv(copy) (pl_api->copy_wait(PL_STEP, copy, false, true, false))
/* pl_copy_wait_for(copy, PL_THIS): the same wait, declared to be for this copy (remote: for its send). */
#define pl_copy_wait_for(copy, this_one) (pl_api->copy_wait(PL_STEP, copy, true, true, this_one))

/* Make and start a copy. */
#define pl_async_copy(source, target, semaphore) pl_start_(PL_STEP, pl_make_async_copy(source, target, semaphore))
#define pl_async_remote_copy(source, target, send_semaphore, receive_semaphore, device) \
    pl_start_(PL_STEP, pl_make_async_remote_copy(source, target, send_semaphore, receive_semaphore, device))
