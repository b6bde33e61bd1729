/* automorphism.h - a permutation of the devices, and whether every core does what its image does.
 *
 * The renaming of semaphores and bytes is inferred from the steps, pair by pair: the image of a region that core 0 writes in its third step
 * is the region that core 0's image writes in its third step. These renamings must be bijections, must keep declarations, owners and
 * lives, and regions of one object must overlap exactly where their images do.
 */
#pragma once
#include "space.h"

typedef struct Automorphism Automorphism;

Automorphism *automorphism_new(const StateSpace *space, uint32_t *image);     /* image of each core, g_malloc, taken over */
void automorphism_free(Automorphism *automorphism);
const uint32_t *automorphism_image(const Automorphism *automorphism);
/* Compares the steps, nodes and components added since the last call. False: they differ; why: where, g_malloc. */
bool automorphism_check(Automorphism *automorphism, StateSpace *space, char **why);
