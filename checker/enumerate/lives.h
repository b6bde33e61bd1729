/* lives.h - lifetimes of buffers and semaphores in a state.
 *
 * A life is one object of a declaration; a state determines which launches each device has entered and left and which scopes each core
 * has opened and closed.
 */
#pragma once
#include "space.h"

typedef struct Span {
    uint32_t decl, unit;                        /* key */
    uint32_t device, core;                      /* core: its owner; NONE: shared by the device's cores */
    uint32_t first, last;                       /* LIFE_LAUNCHES: first > last: in none */
    uint8_t kind;
} Span;

Lives *lives_new(Reservation *reservation);     /* g_free releases it */
uint32_t lives_of_object(StateSpace *space, uint32_t object);
uint32_t lives_of_semaphore(StateSpace *space, uint32_t semaphore);
const Span *lives_get(const StateSpace *space, uint32_t life);
/* -1: not begun, 0: alive, +1: ended, for a step of core `by`. Reads ids of cores of the life's device only (of `by` alone, if it is there
 * and the object is no other core's). */
int lives_now(const StateSpace *space, const uint32_t *id, uint32_t life, uint32_t by);
bool lives_depend_on_own_core(const StateSpace *space, uint32_t life, uint32_t by);
/* A semaphore's scope that other cores may already name although its own core has not opened it. */
bool lives_never_opened(const StateSpace *space, const uint32_t *id, uint32_t life);
bool lives_are_shared(const StateSpace *space, uint32_t decl);         /* by several cores of a device */
/* Does some core open, in some runs only, a scope that others of its device open too? A state does not determine when it ends. */
bool lives_hang_on_looks(const StateSpace *space);
/* Does it end when that device leaves that launch (at the latest)? */
bool lives_end_at(const StateSpace *space, uint32_t life, uint32_t device, uint32_t launch);
