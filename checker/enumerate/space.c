/* space.c - makes and releases the Stores of a space. */
#include "space.h"
#include "../../model/moment.h"

void space_open(StateSpace *space, UnrollSource *source, const EnumerateOptions *options, bool contents)
{
    Program *program = source->program;
    *space = (StateSpace){.program = program, .source = source, .options = options, .contents = contents, .cores = program->cores};
    space->fluid = moment_is_fluid(&program->knobs);
    space->components_max = MIN((size_t)1 << 24, ((size_t)1 << 28) / MAX(program->cores, 1));
    reservation_open(&space->reservation);
    idsets_init(&space->sets, &space->reservation);
    accesses_init(&space->accesses, program, &space->reservation);
    reservation_store(&space->reservation, &space->counters, sizeof(StateCounter), 1u << 24);
    reservation_store(&space->reservation, &space->counter_of, sizeof(uint32_t), 1u << 28);
    reservation_intern(&space->reservation, &space->others_keys, 1u << 24, (size_t)1 << 28);
    intern_add(&space->others_keys, "", 0);
    reservation_store(&space->reservation, &space->others, sizeof(Others), 1u << 24);
    store_push(&space->others, 1);
    reservation_intern(&space->reservation, &space->joins, 1u << 20, (size_t)1 << 28);
    reservation_intern(&space->reservation, &space->events, 1u << 24, (size_t)1 << 32);
    space->lone = g_new0(uint32_t, space->cores + program->devices);
    space->core = g_new0(SpaceCore, space->cores);
}

void space_close(StateSpace *space)
{
    for (uint32_t i = 0; i < space->counters.count; i++)
        g_free(STORE(StateCounter, &space->counters, i).addend);
    for (uint32_t i = 0; i < space->others.count; i++)
        g_free(STORE(Others, &space->others, i).addend);
    reservation_close(&space->reservation);
    g_free(space->core);
    g_free(space->lone);
    if (space->growth != NULL)
        g_array_unref(space->growth);
}

const PendingCopy *space_pendings(const StateSpace *space, uint32_t core, uint32_t id)
{
    const uint32_t *key = intern_get(&space->core[core].keys, id, NULL);
    return (const PendingCopy *)(const void *)(key + 1);
}
