/* shape.c - ids mean the same in two programs if the tables that they index are the same, so the tables are part of the hash. */
#include "shape.h"
#include <stddef.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct Hasher { XXH3_state_t *state; unsigned left_out; } Hasher;

static void add(Hasher *hasher, const void *bytes, size_t count)
{
    XXH3_128bits_update(hasher->state, bytes, count);
}

#define ADD(hasher, value) add(hasher, &(value), sizeof(value))

static void add_table(Hasher *hasher, const Intern *intern)
{
    size_t count = intern_count(intern);
    ADD(hasher, count);
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes;
        const void *key = intern_get(intern, i, &bytes);
        ADD(hasher, bytes);
        add(hasher, key, bytes);
    }
}

static void add_decl(Hasher *hasher, const Decl *decl)
{
    add(hasher, decl, offsetof(Decl, opaque));
    const uint8_t flags[] = { decl->opaque, decl->input, decl->once };
    ADD(hasher, flags);
    ADD(hasher, decl->ndim);
    ADD(hasher, decl->size);
    ADD(hasher, decl->bytes);
    ADD(hasher, decl->view);
    const uint32_t ids[] = { decl->site, decl->launch, decl->ordinal, decl->first_object, decl->units, decl->first_semaphore,
                             decl->elements };
    ADD(hasher, ids);
    ADD(hasher, decl->collective_id);
    ADD(hasher, decl->limit);
    ADD(hasher, decl->initial);
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        const bool exempt = decl->exempt[fault] != 0;
        ADD(hasher, exempt);
    }
}

static void add_launch(Hasher *hasher, const Program *program, const Launch *launch)
{
    const uint8_t flags[] = { launch->one_core, launch->host, launch->skip_device_barrier, launch->allow_unused_collective_id,
                              launch->communicates, launch->uses_barrier_semaphore, launch->presumed, launch->entry_barrier,
                              launch->on_device != NULL };
    ADD(hasher, flags);
    ADD(hasher, launch->site);
    ADD(hasher, launch->grid_dims);
    ADD(hasher, launch->grid);
    ADD(hasher, launch->parallel_dim);
    ADD(hasher, launch->collective_id);
    if (launch->on_device != NULL)
        add(hasher, launch->on_device, program->devices);
    ADD(hasher, launch->decls);
    add(hasher, launch->decl, launch->decls * sizeof *launch->decl);
}

static void add_program(Hasher *hasher, const Program *program)
{
    const uint32_t sizes[] = { program->devices, program->cores_per_device, program->objects, program->semaphores };
    ADD(hasher, sizes);
    if (hasher->left_out == 0)
        add_table(hasher, &program->views);
    if (!(hasher->left_out & SHAPE_REGIONS))
        add_table(hasher, &program->regions);
    for (uint32_t i = 0; i < program->decls.count; i++)
        add_decl(hasher, program_decl(program, i));
    for (uint32_t i = 0; i < program->launches.count; i++)
        add_launch(hasher, program, program_launch(program, i));
}

static void add_step(Hasher *hasher, Step step)
{
    if ((hasher->left_out & SHAPE_REGIONS) && step_on_memory(step.kind))
        step.value = 0;
    if ((hasher->left_out & SHAPE_COUNTS) && step_on_counter(step.kind))
        step.value = 0;
    if ((hasher->left_out & SHAPE_TARGETS) && (step_on_counter(step.kind) || step_on_memory(step.kind)))
        step.object = 0;
    ADD(hasher, step);
}

static void add_copy(Hasher *hasher, Copy copy)
{
    if (hasher->left_out & SHAPE_REGIONS)
        copy.source_region = copy.target_region = copy.source_view = copy.target_view = 0;
    if (hasher->left_out & SHAPE_COUNTS)
        copy.send_count = copy.receive_count = copy.bytes = 0;
    if (hasher->left_out & SHAPE_TARGETS)
        copy.target = copy.target_device = copy.target_view = copy.receive_semaphore = 0;
    add(hasher, &copy, offsetof(Copy, remote) + sizeof copy.remote);
}

static void add_record(Hasher *hasher, const Record *record)
{
    const uint8_t flags[] = { record->eager, record->complete, record->values_observed };
    ADD(hasher, flags);
    ADD(hasher, record->steps.count);
    for (size_t i = 0; i < record->steps.count; i++)
        add_step(hasher, STORE(Step, &record->steps, i));
    for (size_t i = 0; i < record->copies.count; i++)
        add_copy(hasher, STORE(Copy, &record->copies, i));
    for (size_t i = 0; i < record->ends.count; i++) {
        const CoreState *state = &STORE(CoreState, &record->ends, i);
        ADD(hasher, state->end);
        if (state->end == CORE_BLOCKED)
            ADD(hasher, state->pending);
    }
}

ShapeHash shape_of(const Record *record, unsigned left_out)
{
    Hasher hasher = { XXH3_createState(), left_out };
    XXH3_128bits_reset(hasher.state);
    add_program(&hasher, record->program);
    add_record(&hasher, record);
    XXH128_hash_t hash = XXH3_128bits_digest(hasher.state);
    XXH3_freeState(hasher.state);
    return (ShapeHash){ hash.low64, hash.high64 };
}
