/* chains.h - random chains of views, and the reference that they are compared with: memory that knows bytes only.
 *
 * The reference has the rules in their plainest form: an array of elements in row-major order, each with the addresses of its bytes. An
 * index or a slice picks elements, a reshape leaves the list alone, a bitcast takes the bytes of one column, row after row, and deals them
 * out again. It shares no code with views and regions.
 */
#pragma once
#include "../../model/rng.h"
#include "../../model/view.h"

enum { BYTES = 1024, DIMS = 6, CHAIN = 6, ITEM_MAX = 8, TYPES = 7 };

/* Elements in row-major order, each with the addresses of its bytes, its lowest first; outside: some index on the way was. */
typedef struct Plain {
    DType dtype;
    int item, ndim, size[DIMS], elements;
    int16_t address[BYTES][ITEM_MAX];
    bool outside[BYTES];
} Plain;

/* A chain of views of one buffer as the checker has it and as the reference does. */
typedef struct Chain { View view; Plain plain; int steps; char text[512]; } Chain;

/* A buffer of at most BYTES bytes. */
typedef struct PlainShape { DType dtype; int item, ndim, size[DIMS]; } PlainShape;

int below(Rng *rng, int limit);
PlainShape random_shape(Rng *rng);
void plain_at(Plain *to, const Plain *from, const ViewIndex *index);   /* one for each dimension; negative sizes and PL_ALL are not known */
bool any_outside(const Plain *plain);
/* A chain of up to CHAIN views of such a buffer. may_leave: some of its last ones reach outside. */
void random_chain(Rng *rng, Chain *chain, const PlainShape *shape, bool may_leave);
