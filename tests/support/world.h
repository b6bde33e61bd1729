/* world.h - small bare programs around a kernel body that is a C function of a test.
 *
 *     world_set_up -> [ world_prove, or what a test does with execution and program ] -> world_clear
 *     inside a body (it takes no arguments): world_now, world_ref, world_at, world_line ...
 *
 * Everything exists always. Semaphores and words are arrays of four on each core; buffers are four rows of eight numbers, of each core.
 * Ownership:   a World owns what its pointers name.
 */
#pragma once
#include "../../checker/proof/prove.h"
#include "../../checker/run/execution.h"
#include "../../checker/run/unroll.h"

#define WORLD_BODY(name) static void name(Core *core, const Launch *launch __attribute__((unused)))

typedef struct World {
    Program *program;
    Record *record;
    Execution *execution;
    Outcome *outcome;                           /* of world_prove */
    uint32_t semaphore, dma, flag;              /* decls: "sem", "dma", "flag" */
    uint32_t buffer, scratch;                   /* the buffer is an input */
} World;

extern World *world_now;
static const Target WORLD_OWN = { NONE, NONE };

void world_set_up(World *world, uint32_t devices, uint32_t cores_per_device, void (*body)(Core *core, const Launch *launch));
void world_prove(World *world);                 /* an eager run, and the proof of it */
void world_clear(World *world);

Ref world_at(uint32_t decl, int64_t index);     /* one semaphore of an array; one row of a buffer */
Ref world_ref(uint32_t decl);                   /* the first semaphore; the whole buffer */
Target world_on(uint32_t device);
uint32_t world_line(Core *core, unsigned number);               /* the site test:number */
void world_store(Core *core, unsigned line, uint32_t decl, int64_t value);     /* to all of a buffer */
int64_t world_load(Core *core, unsigned line, uint32_t decl);  /* and looks at the first number */
/* Starts a copy of a whole buffer to one of a device; it counts on dma[1] here and on dma[0] there. */
void world_copy(Core *core, unsigned line, uint32_t from, uint32_t to, uint32_t device);
CopyDesc world_describe_copy(uint32_t from, uint32_t to, uint32_t device);
