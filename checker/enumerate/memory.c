/* memory.c - vectors of values without trailing zeros, interned by device; id 1 is the empty one, all initial values. */
#include "memory.h"
#include <string.h>

typedef struct Slot { uint32_t semaphore, object; int64_t first; } Slot;
typedef struct MemoryDevice { Intern vectors; Store slots; } MemoryDevice;

struct Memory {
    MemoryDevice *device;
    uint32_t devices;
};

enum { VECTORS_MAX = 1 << 24, SLOTS_MAX = 1 << 20, SMALL_VECTOR = 16 };

Memory *memory_new(uint32_t devices, Reservation *reservation)
{
    Memory *memory = g_new0(Memory, 1);
    memory->devices = devices;
    memory->device = g_new0(MemoryDevice, devices);
    for (uint32_t d = 0; d < devices; d++) {
        reservation_intern(reservation, &memory->device[d].vectors, VECTORS_MAX / devices + 1024, ((size_t)1 << 34) / devices);
        reservation_store(reservation, &memory->device[d].slots, sizeof(Slot), SLOTS_MAX);
        uint32_t empty = intern_add(&memory->device[d].vectors, "", 0);
        g_assert(empty == 0);
    }
    return memory;
}

void memory_free(Memory *memory)
{
    if (memory == NULL)
        return;
    g_free(memory->device);
    g_free(memory);
}

static MemoryDevice *device_of(StateSpace *space, uint32_t device)
{
    if (space->memory == NULL) {
        space->memory = memory_new(space->program->devices, &space->reservation);
        space->restart = true;                  /* states so far have no field for it */
    }
    return &space->memory->device[device];
}

uint32_t memory_flag_slot(StateSpace *space, uint32_t semaphore, uint32_t device)
{
    MemoryDevice *self = device_of(space, device);
    const Decl *decl = program_decl(space->program, program_semaphore_decl(space->program, semaphore));
    *(Slot *)store_push(&self->slots, 1) = (Slot){.semaphore = semaphore, .object = NONE, .first = decl->initial};
    return (uint32_t)(self->slots.count - 1);
}

uint32_t memory_object_slot(StateSpace *space, uint32_t object)
{
    MemoryDevice *self = device_of(space, program_object_device(space->program, object));
    for (uint32_t i = 0; i < self->slots.count; i++)
        if (STORE(Slot, &self->slots, i).object == object)
            return i;
    if (space->frozen)
        return NONE;
    *(Slot *)store_push(&self->slots, 1) = (Slot){.semaphore = NONE, .object = object};
    return (uint32_t)(self->slots.count - 1);
}

static const int64_t *values_of(const MemoryDevice *self, uint32_t vector, uint32_t *count)
{
    size_t bytes;
    const int64_t *values = intern_get(&self->vectors, vector - 1, &bytes);
    *count = (uint32_t)(bytes / sizeof *values);
    return values;
}

uint32_t memory_vectors(const StateSpace *space, uint32_t device)
{
    return (uint32_t)intern_count(&space->memory->device[device].vectors);
}

int64_t memory_get(const StateSpace *space, uint32_t device, uint32_t vector, uint32_t slot)
{
    const MemoryDevice *self = &space->memory->device[device];
    uint32_t count;
    const int64_t *values = values_of(self, vector, &count);
    return STORE(Slot, &self->slots, slot).first + (slot < count ? values[slot] : 0);
}

bool memory_same_but(const StateSpace *space, uint32_t device, uint32_t one, uint32_t other, uint32_t slot)
{
    const MemoryDevice *self = &space->memory->device[device];
    uint32_t count, other_count;
    const int64_t *values = values_of(self, one, &count), *others = values_of(self, other, &other_count);
    for (uint32_t i = 0; i < MAX(count, other_count); i++)
        if (i != slot && (i < count ? values[i] : 0) != (i < other_count ? others[i] : 0))
            return false;
    return true;
}

uint32_t memory_with(StateSpace *space, uint32_t device, uint32_t vector, uint32_t slot, int64_t value)
{
    MemoryDevice *self = &space->memory->device[device];
    uint32_t count;
    const int64_t *values = values_of(self, vector, &count);
    uint32_t length = MAX(count, slot + 1);
    int64_t small[SMALL_VECTOR] = {0}, *changed = length <= SMALL_VECTOR ? small : g_new0(int64_t, length);
    memcpy(changed, values, count * sizeof *values);
    changed[slot] = value - STORE(Slot, &self->slots, slot).first;
    while (length && changed[length - 1] == 0)
        length--;
    uint32_t id = memory_intern(space, &self->vectors, changed, length * sizeof *changed) + 1;
    if (changed != small)
        g_free(changed);
    if (!space->frozen && !layout_fits(&space->layout, space->cores + device, id))
        space->repack = true;
    return id;
}

void memory_each_flag(const StateSpace *space, uint32_t device, uint32_t vector, MemoryVisit visit, void *data)
{
    const MemoryDevice *self = &space->memory->device[device];
    for (uint32_t i = 0; i < self->slots.count; i++)
        if (STORE(Slot, &self->slots, i).semaphore != NONE)
            visit(data, STORE(Slot, &self->slots, i).semaphore, memory_get(space, device, vector, i));
}
