/* automorphism.h - one permutation of the devices, and whether every core does what its image does.
 *
 * Which semaphore and which bytes stand for which is learnt from the steps, pair by pair: a region that core 0 writes in its third step
 * stands for the one that core 0's image writes in its third step. These renamings must be one to one, must keep declarations, owners and
 * lives, and regions of one object must overlap exactly where those that they stand for do.
 */
#pragma once
#include "space.h"

typedef struct Automorphism Automorphism;

Automorphism *automorphism_new(const StateSpace *space, uint32_t *image);     /* image of each core, g_malloc, taken over */
void automorphism_free(Automorphism *twin);
const uint32_t *automorphism_image(const Automorphism *twin);
/* Compares whatever steps, nodes and components came since the last call. False: they differ; why: where, g_malloc. */
bool automorphism_check(Automorphism *twin, StateSpace *space, char **why);
