/* expect.h - what a program promises: results that hold in every schedule, faults that a wrong twin must show, exemptions, limits.
 *
 * Results of the usual collectives are judged by the origin of each element (which element of which device; for sums, the set of them),
 * whatever the type: a wrong slot is found even in int8, and the rounding of a bfloat16 sum is no false alarm. The forms with _along are
 * among the devices along one axis of the mesh, the others among all devices.
 */
#pragma once
#include "plumbing.h"

#define pl_expect_equal(output, input) PL_EXPECT(EQUAL, output, input, 0, NULL)                 /* the device's own input */
#define pl_expect_all_gather(output, input) PL_EXPECT(ALL_GATHER, output, input, 0, NULL)       /* output[d] is device d's input */
#define pl_expect_all_reduce(output, input) PL_EXPECT(ALL_REDUCE, output, input, 0, NULL)       /* the sum of all inputs */
#define pl_expect_reduce_scatter(output, input) PL_EXPECT(REDUCE_SCATTER, output, input, 0, NULL)       /* the sum of all input[own id] */
#define pl_expect_all_to_all(output, input) PL_EXPECT(ALL_TO_ALL, output, input, 0, NULL)       /* output[d] is device d's input[own id] */
#define pl_expect_permute(output, input, shift) PL_EXPECT(PERMUTE, output, input, shift, NULL)  /* the input of device own id - shift */

#define pl_expect_all_gather_along(axis, output, input) PL_EXPECT(ALL_GATHER, output, input, 0, axis)
#define pl_expect_all_reduce_along(axis, output, input) PL_EXPECT(ALL_REDUCE, output, input, 0, axis)
#define pl_expect_reduce_scatter_along(axis, output, input) PL_EXPECT(REDUCE_SCATTER, output, input, 0, axis)
#define pl_expect_all_to_all_along(axis, output, input) PL_EXPECT(ALL_TO_ALL, output, input, 0, axis)
#define pl_expect_permute_along(axis, output, input, shift) PL_EXPECT(PERMUTE, output, input, shift, axis)

/* The author's own function of (refs, device, index of the output); the refs are those after the tolerance, of max(1, |value|). An output
 * in VMEM or SMEM is judged on each core: pl_core_index() says on which. */
#define pl_expect_values(output, function, tolerance, ...) \
    (pl_api->expect_values(PL_HERE, output, function, tolerance, PL_REFS(__VA_ARGS__)))
/* What another array, which only pl_host wrote, holds in the end. */
#define pl_expect_same(output, wanted, tolerance) (pl_api->expect_values(PL_HERE, output, NULL, tolerance, PL_REFS(wanted)))
#define PL_ANY_VALUE __builtin_nan("")              /* returned where the program promises nothing */
/* Inside such a function: an element of an input, as before the first launch. (In PROGRAM: of an input with a domain, see buffer.h.) */
#define pl_given(ref, device, ...) (pl_api->given(PL_HERE, ref, device, PL_LIST(__VA_ARGS__)))

/* pl_expect_fault(PL_RACE, .from = 3): a wrong twin; its fault shows from 3 devices on. Several such lines form a set. */
#define pl_expect_fault(fault_id, ...) (pl_mark_twin_(), pl_api->expect_fault(PL_HERE, fault_id, (PlFrom){ __VA_ARGS__ }.from))

/* This fault is not reported for this buffer or semaphore; the report repeats the reason. */
#define pl_exempt(ref, fault, reason) (pl_api->exempt(PL_HERE, ref, fault, reason))
/* `overflow` if the count can exceed this. */
#define pl_limit(semaphore, count) (pl_api->limit(PL_HERE, semaphore, count))
