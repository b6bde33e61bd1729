/* memory.h - what is overwritten and so has to be stored with a state: flag words, and with contents the buffers' versions.
 *
 * Each device has a vector of values, one slot a flag word or buffer object, interned; its id is one field of a state. Values are kept as
 * differences from the first one, so that slots that are found later begin as zeros at the end of every vector.
 *
 * Ownership:   the space's; made when a program turns out to need it.
 */
#pragma once
#include "space.h"

/* The id of an interned key; while workers run nothing is added, and NONE stands for what is not there. */
static inline uint32_t memory_intern(const StateSpace *space, Intern *intern, const void *key, size_t bytes)
{
    return space->frozen ? intern_find(intern, key, bytes) : intern_add(intern, key, bytes);
}

typedef void (*MemoryVisit)(void *data, uint32_t semaphore, int64_t value);

Memory *memory_new(uint32_t devices, Reservation *reservation);
void memory_free(Memory *memory);
uint32_t memory_flag_slot(StateSpace *space, uint32_t semaphore, uint32_t device);     /* makes the memory if there is none */
uint32_t memory_object_slot(StateSpace *space, uint32_t object);       /* NONE: none yet, and workers run */
uint32_t memory_vectors(const StateSpace *space, uint32_t device);     /* how many there are: the largest id */
int64_t memory_get(const StateSpace *space, uint32_t device, uint32_t vector, uint32_t slot);
bool memory_same_but(const StateSpace *space, uint32_t device, uint32_t one, uint32_t other, uint32_t slot);  /* equal in all other slots */
/* The vector with one value changed; 0: not known yet, and workers run. */
uint32_t memory_with(StateSpace *space, uint32_t device, uint32_t vector, uint32_t slot, int64_t value);
/* Calls visit with the semaphore of each flag word of the device and its value. */
void memory_each_flag(const StateSpace *space, uint32_t device, uint32_t vector, MemoryVisit visit, void *data);
