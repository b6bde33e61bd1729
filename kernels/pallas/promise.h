/* promise.h - do the final contents meet an expectation of the program?
 *
 * Collectives are judged by origins (model/tile.h): each element of the output must be a certain element of some device's input, or a
 * certain sum of such. Values are compared with the author's function.
 */
#pragma once
#include "../../model/expectation.h"
#include "types.h"

typedef struct PromiseCollective {
    PlCollective collective;
    uint32_t output, output_view, input, input_view;
    int64_t shift;
    int axis;                                   /* of the mesh; -1: all devices */
    uint32_t site;
} PromiseCollective;

typedef struct PromiseValues {
    PlExpected function;                        /* NULL: what the first ref holds */
    double tolerance;                           /* of max(1, the expected value's size) */
    uint32_t output, output_view, site;
    PlRef ref[];
} PromiseValues;

bool promise_collective(Machine *machine, const Expectation *expectation, uint32_t device, Unexpected *unexpected);
bool promise_values(Machine *machine, const Expectation *expectation, uint32_t device, Unexpected *unexpected);
double promise_given(const PlSite *here, PlRef ref, int64_t device, int dims, const int64_t *index);
