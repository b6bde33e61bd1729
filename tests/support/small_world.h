/* small_world.h - a script with one buffer that counts as written and semaphores of both kinds, for tests of the proof. */
#pragma once
#include "script.h"

typedef struct World {
    Script *script;
    uint32_t buffer, dma, regular;              /* decls: 4 slots of 4 bytes; 3 semaphores a core */
} World;

static inline World new_world(uint32_t devices, uint32_t cores, const Knobs *knobs)
{
    World w = {.script = script_new(devices, cores, knobs)};
    w.buffer = script_buffer(w.script, SPACE_HBM, 4, 4, "buffer");
    program_decl(w.script->program, w.buffer)->input = true;
    w.dma = script_semaphore(w.script, SEMAPHORE_DMA, 3, "dma");
    w.regular = script_semaphore(w.script, SEMAPHORE_REGULAR, 3, "regular");
    return w;
}

static inline uint32_t dma(const World *w, uint32_t core, uint32_t element)
{
    return script_semaphore_id(w->script, w->dma, core, element);
}

static inline uint32_t regular(const World *w, uint32_t core, uint32_t element)
{
    return script_semaphore_id(w->script, w->regular, core, element);
}

/* A remote copy from slot `from` of core to slot `to` of target, counted on the target's dma semaphore `receive` only. */
static inline void copy(World *w, uint32_t core, uint32_t from, uint32_t target, uint32_t to, uint32_t receive)
{
    script_copy(w->script, core, w->buffer, from, w->buffer, to, target, NONE, dma(w, target, receive), true);
}
