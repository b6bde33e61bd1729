/* memory.h - values that are overwritten and so must be stored with a state: flag words and, with contents, versions of buffers.
 *
 * Each device has an interned vector of values, one slot per flag word or buffer object; its id is one field of a state. Values are stored
 * as differences from the initial ones, so that slots added later are zeros at the end of every vector.
 *
 * Ownership:   the space's; made when a program needs it.
 */
#pragma once
#include "space.h"

/* The id of an interned key; while workers run nothing is added, and NONE stands for a missing one. */
static inline uint32_t memory_intern(const StateSpace *space, Intern *intern, const void *key, size_t bytes)
{
    return space->frozen ? intern_find(intern, key, bytes) : intern_add(intern, key, bytes);
}

typedef void (*MemoryVisit)(void *data, uint32_t semaphore, int64_t value);

Memory *memory_new(uint32_t devices, Reservation *reservation);
void memory_free(Memory *memory);
uint32_t memory_flag_slot(StateSpace *space, uint32_t semaphore, uint32_t device);      /* makes the memory on demand */
uint32_t memory_object_slot(StateSpace *space, uint32_t object);       /* NONE: none yet, and workers run */
uint32_t memory_vectors(const StateSpace *space, uint32_t device);      /* their number: the largest id */
int64_t memory_get(const StateSpace *space, uint32_t device, uint32_t vector, uint32_t slot);
bool memory_same_but(const StateSpace *space, uint32_t device, uint32_t one, uint32_t other, uint32_t slot);    /* but for the slot */
/* The vector with one value changed; 0: not known yet, and workers run. */
uint32_t memory_with(StateSpace *space, uint32_t device, uint32_t vector, uint32_t slot, int64_t value);
/* Calls visit with the semaphore of each flag word of the device and its value. */
void memory_each_flag(const StateSpace *space, uint32_t device, uint32_t vector, MemoryVisit visit, void *data);
