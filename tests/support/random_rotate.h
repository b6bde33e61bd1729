/* random_rotate.h - random programs that rotations of the devices turn into themselves, and such with one place that does not fit. */
#pragma once
#include "random_program.h"

/* Makes all devices do the same; two become a ring of four now and then. False: there is one device, or too many operations; then *random
 * is of no use. */
bool random_rotate(RandomProgram *random);
/* One operation of one core, or of two opposite ones, names other bytes, another semaphore or count (or, now and then, nothing changes). */
void random_disturb(RandomProgram *random);
