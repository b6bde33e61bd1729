/* sane.h - invariants that a header states, asserted after each operation in test builds.
 *
 * A module with invariants has x_assert_sane(), which asserts exactly those, and each function that changes it ends with
 * SANE(x_assert_sane(...)). These calls exist only if compiled with -DHEDDLE_SANE.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef HEDDLE_SANE
#define SANE(call) (call)
#else
#define SANE(call) ((void)0)
#endif

/* For a check whose cost grows with the number of items: made while they are few, then each time they have grown by an eighth, so that
 * checks take a bounded share of the time. */
#define SANE_NOW_AND_THEN(items, call) SANE(sane_is_due(items) ? (call) : (void)0)
static inline bool sane_is_due(uint64_t items) { return items % (items / 8 + 1) == 0; }

/* For an operation of an inner loop: one of 32 on each thread, the first included. */
#define SANE_SELDOM(call) SANE(({ static _Thread_local unsigned calls; if (calls++ % 32 == 0) (call); }))

static inline bool sane_is_zero(const char *from, size_t bytes)
{
    return bytes == 0 || (*from == 0 && memcmp(from, from + 1, bytes - 1) == 0);
}
