/* shapes.h - the communication patterns whose numbers of states are known, as bare scripts.
 *
 * Steps are copy start, read, write, wait and signal only: no launches, no local first copy, one core a device, buffers opaque.
 */
#pragma once
#include "script.h"

/* N-1 times: pass a slot to the right, wait_send, wait_recv. shared: one receive semaphore for all steps instead of one a step. */
Script *shape_all_gather(uint32_t devices, const Knobs *knobs, bool shared);
/* The same with k receive semaphores in turn and credit for `credit` steps ahead; reads all slots at the end. */
Script *shape_credit_gather(uint32_t devices, uint32_t semaphores, uint32_t credit);
/* Signal left and right, wait 2; copy to the right, wait_send, wait_recv. */
Script *shape_right_permute(uint32_t devices);
/* Signal every device, wait N; copy to each other one; wait for all sends at once, then each receive. */
Script *shape_all_to_all(uint32_t devices);
/* Barrier with the neighbours; `steps` times through two slots, with or without a capacity semaphore; adds the received slot. */
Script *shape_two_slots(uint32_t devices, uint32_t steps, bool capacity);
/* The all-reduce of the documents: barrier, first copy, N rounds. */
Script *shape_all_reduce(uint32_t devices, bool capacity);
