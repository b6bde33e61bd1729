/* symmetry.h - --symmetry: of the states that rotations of the devices turn into each other, one is visited.
 *
 * C. N. Ip, D. L. Dill, Better Verification Through Symmetry, Formal Methods in System Design 9, 1996. A rotation shifts all devices along
 * an axis of the mesh (or by their ids). It is a symmetry if what each core does is what its image does, with devices, semaphores and
 * regions renamed, and the renaming is one to one and keeps which regions overlap. Nothing of this is taken for granted: renamings are
 * inferred from the steps, and each step, component and row is compared with its image when it comes into being. Once one differs, the
 * search is refused.
 *
 * So that a component has the same id on all cores that rotations turn into each other, it is made for all of them at once (transition.c);
 * a rotated state is then the same ids in another order. A state that may show a fault is judged in all rotations, by the rows as they are:
 * faults, counts and ends are those of a search without symmetry.
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
/* The core after `core` in the circle of those that rotations turn into each other. */
uint32_t symmetry_next_core(const Symmetry *symmetry, uint32_t core);
/* Compares all that is new with its images. False: the rotations are none of this program; symmetry_why says so. */
bool symmetry_check(Symmetry *symmetry, StateSpace *space);
const char *symmetry_why(const Symmetry *symmetry);    /* NULL: nothing has differed, or there is no symmetry */

void symmetry_assert_sane(const Symmetry *symmetry);
void symmetry_rotate(const Symmetry *symmetry, uint32_t rotation, const uint32_t *id, uint32_t *rotated);
void symmetry_fit(Symmetry *symmetry, const Layout *layout);   /* to a layout that comes into use */
/* The least of the rotated states, in place: the same in every layout. */
void symmetry_canonical(const Symmetry *symmetry, const Layout *layout, uint64_t *key);
uint32_t symmetry_orbit(const Symmetry *symmetry, const uint32_t *id);  /* how many different states the rotations make of it */
