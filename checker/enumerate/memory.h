/* memory.h - what is overwritten and so has to be stored with a state: flag words, and with contents the buffers' versions.
 *
 * Each device has a vector of values, one slot a flag word or buffer object, interned; its id is one field of a state. Values are kept as
 * differences from the first one, so that slots that are found later begin as zeros at the end of every vector.
 *
 * Ownership:   the walk's; made when a program proves to need it.
 */
#pragma once
#include "walk.h"

/* The id of an interned key; while workers run nothing is added, and NONE stands for what is not there. */
static inline uint32_t memory_intern(const Walk *walk, Intern *intern, const void *key, size_t bytes)
{
    return walk->frozen ? intern_find(intern, key, bytes) : intern_add(intern, key, bytes);
}

Memory *memory_new(uint32_t devices, Reservation *reservation);
void memory_free(Memory *memory);
uint32_t memory_flag_slot(Walk *walk, uint32_t semaphore, uint32_t device);     /* makes the memory if there is none */
uint32_t memory_object_slot(Walk *walk, uint32_t object);       /* NONE: none yet, and workers run */
uint32_t memory_vectors(const Walk *walk, uint32_t device);     /* how many there are: the largest id */
int64_t memory_get(const Walk *walk, uint32_t device, uint32_t vector, uint32_t slot);
bool memory_same_but(const Walk *walk, uint32_t device, uint32_t one, uint32_t other, uint32_t slot);  /* equal in all other slots */
/* The vector with one value changed; 0: not known yet, and workers run. */
uint32_t memory_with(Walk *walk, uint32_t device, uint32_t vector, uint32_t slot, int64_t value);
/* Calls visit with the semaphore of each flag word of the device and its value. */
void memory_each_flag(const Walk *walk, uint32_t device, uint32_t vector, void (*visit)(void *data, uint32_t semaphore, int64_t value),
                      void *data);

/* contents.c: versions of buffers and what copies carry, as ids; 0: as before the first launch, or nothing known (opaque). While workers
 * run, NONE (and 0 in the state's ids) stands for what was not worked out yet. */
ContentsPool *contents_new(Program *program, Reservation *reservation);
void contents_free(ContentsPool *pool);
const Tile *contents_tile(void *pool, int64_t tile);
uint32_t contents_load(Walk *walk, const uint32_t *id, const UnrollStep *step);                 /* tile: what a core's LOAD or SWAP sees */
void contents_store(Walk *walk, uint32_t *id, const UnrollStep *step);                          /* STORE, SWAP */
uint32_t contents_copy_read(Walk *walk, const uint32_t *id, const Copy *copy);                  /* payload */
void contents_copy_write(Walk *walk, uint32_t *id, const Copy *copy, uint32_t payload);
/* A machine that holds the contents of a state. */
Machine *contents_machine(Walk *walk, const uint32_t *id);
