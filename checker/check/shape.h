/* shape.h - all that the proof of a record reads, as one hash: what was done, on which objects and regions, with which counts, and in
 * which order.
 *
 * Two conflict-free executions with the same shape, in which no fault was raised, have the same verdict, whatever their values: of one
 * program with two inputs, only one needs a proof. The hash has 128 bits.
 */
#pragma once
#include "../facts/record.h"

typedef struct ShapeHash { uint64_t low, high; } ShapeHash;

/* Parts that a canary leaves out, to see that tests notice it. */
typedef enum ShapePart { SHAPE_REGIONS = 1, SHAPE_COUNTS = 2, SHAPE_TARGETS = 4 } ShapePart;

ShapeHash shape_of(const Record *record, unsigned left_out);        /* left_out: of ShapePart; 0 but in tests */
