/* flag.h - words of shared memory on any device, for device-side libraries outside Pallas: each operation is one step.
 *
 * A word is a 32-bit integer, declared with pl_flags. The last argument says whose word: pl_device(id), or PL_OWN.
 */
#pragma once
#include "plumbing.h"

#define PL_OWN ((PlDevice){ 0, 0, false, false })

#define pl_flag_load(flag, device) (pl_api->flag_load(PL_STEP, flag, device))
#define pl_flag_store(flag, value, device) (pl_api->flag_store(PL_STEP, flag, value, device))
#define pl_flag_add(flag, value, device) ((void)pl_api->flag_add(PL_STEP, flag, value, device, false))
/* These return the old value. */
#define pl_flag_fetch_add(flag, value, device) (pl_api->flag_add(PL_STEP, flag, value, device, true))
#define pl_flag_compare_and_swap(flag, expected, value, device) \
    (pl_api->flag_compare_and_swap(PL_STEP, flag, expected, value, device))
/* Waits until `word compare value` holds (PL_EQ, PL_GE, ...); changes nothing. */
#define pl_flag_wait(flag, compare, value, device) (pl_api->flag_wait(PL_STEP, flag, compare, value, device))
