/* symmetry.h - --symmetry: of the states in one orbit under rotations of the devices, one is visited.
 *
 * C. N. Ip, D. L. Dill, Better Verification Through Symmetry, Formal Methods in System Design 9, 1996. A rotation shifts all devices along
 * an axis of the mesh (or by their ids). It is an automorphism if each core does what its image does, with devices, semaphores and regions
 * renamed, and the renaming is a bijection and preserves overlap of regions. Nothing of this is assumed: renamings are inferred from the
 * steps, and each step, component and row is compared with its image when it is made. If one differs, the search is refused.
 *
 * A component is made for all cores of an orbit at once (transition.c), so it has the same id on each, and rotating a state permutes its
 * ids. A state that may show a fault is judged in all rotations, by the original rows: faults, counts and ends are those of a search
 * without symmetry.
 *
 * Invariants:  1. rotations form a group; the first is the identity.  2. components that exist outside of transition_take were compared.
 * Ownership:   symmetry_free; pointers are the space's.
 */
#pragma once
#include "space.h"

/* The rotations that the start of every core allows. NULL: only the identity; why: one line, g_malloc. One device has nothing to rotate. */
Symmetry *symmetry_find(StateSpace *space, char **why);
void symmetry_free(Symmetry *symmetry);
uint32_t symmetry_order(const Symmetry *symmetry);     /* how many rotations */
/* The core after `core` in its orbit. */
uint32_t symmetry_next_core(const Symmetry *symmetry, uint32_t core);
/* Compares all additions with their images. False: the rotations are not symmetries of this program; symmetry_why says why. */
bool symmetry_check(Symmetry *symmetry, StateSpace *space);
const char *symmetry_why(const Symmetry *symmetry);     /* NULL: nothing differs, or there is no symmetry */

void symmetry_assert_sane(const Symmetry *symmetry);
void symmetry_rotate(const Symmetry *symmetry, uint32_t rotation, const uint32_t *id, uint32_t *rotated);
void symmetry_fit(Symmetry *symmetry, const Layout *layout);    /* to a new layout */
/* Replaces the state by the least of its rotations: the same in every layout. */
void symmetry_canonical(const Symmetry *symmetry, const Layout *layout, uint64_t *key);
uint32_t symmetry_orbit(const Symmetry *symmetry, const uint32_t *id);  /* the size of its orbit */
