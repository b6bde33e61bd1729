/* script.h - small programs made by hand: a list of steps for each core, or a C function that each core calls.
 *
 *     script_new, script_small, script_around, script_of -> declarations, steps -> script_run, script_prove, or a search of script_source
 *                                                        -> script_free
 *     inside a function that cores call: script_now, script_ref, script_at, script_line ...
 *
 * They are bare (no launch steps, everything exists always) unless the test says otherwise. Steps of lists are not guarded: a remote copy
 * needs no send semaphore. They have sites of their own: file "script", line = core * 1000 + position + 1.
 * Ownership:   a Script owns what its pointers name.
 */
#pragma once
#include "../../checker/proof/prove.h"
#include "../../checker/run/execution.h"
#include "../../checker/run/unroll.h"

typedef struct Script {
    Program *program;
    GArray **list;                              /* of ScriptStep, by core */
    Record *record;                             /* of execution: see script_run */
    Execution *execution;
    Outcome *outcome;                           /* of script_prove */
    Unroller *unroller;
    uint32_t semaphore, dma, flag, buffer, scratch;     /* decls of script_small and script_of */
} Script;

Script *script_new(uint32_t devices, uint32_t cores_per_device, const Knobs *knobs);    /* knobs: NULL: all 0 */
/* With "sem", "dma" and "flag", four on each core; "buffer", an input, and "scratch", four rows of 4 opaque bytes in HBM. */
Script *script_small(uint32_t devices, uint32_t cores_per_device, const Knobs *knobs);
/* Around a function, which takes no arguments; script_of: with the declarations of script_small, but rows of eight numbers in VMEM. */
Script *script_around(uint32_t devices, const Knobs *knobs, void (*body)(Core *core, const Launch *launch));
Script *script_of(uint32_t devices, uint32_t cores_per_device, void (*body)(Core *core, const Launch *launch));
void script_free(Script *script);

void script_run(Script *script);                /* an eager run, recorded; the first call ends the list of declarations */
const Outcome *script_prove(Script *script);    /* an eager run, and the proof of it */
UnrollSource *script_source(Script *script);

/* ---- declarations: a buffer is opaque bytes, `slots` slots of `slot_bytes`; semaphores are arrays of `elements` on every core ---- */

uint32_t script_buffer(Script *script, Space space, uint32_t slots, uint32_t slot_bytes, const char *name);         /* decl */
uint32_t script_semaphore(Script *script, SemaphoreKind kind, uint32_t elements, const char *name);                 /* decl */
uint32_t script_semaphore_id(const Script *script, uint32_t decl, uint32_t core, uint32_t element);

/* ---- lists ---- */

void script_signal(Script *script, uint32_t core, uint32_t semaphore, uint32_t inc);
void script_wait(Script *script, uint32_t core, uint32_t semaphore, uint32_t value);
void script_access(Script *script, uint32_t core, StepKind kind, uint32_t decl, uint32_t slot);              /* LOAD or STORE, own device */
/* send: semaphore id or NONE. Bytes: of one slot. From a slot of the own decl to one of a decl on target_core (its device, if shared). */
void script_copy(Script *script, uint32_t core, uint32_t source, uint32_t source_slot, uint32_t target, uint32_t target_slot,
                 uint32_t target_core, uint32_t send, uint32_t receive, bool remote);
void script_step(Script *script, uint32_t core, StepKind kind, uint32_t object, uint32_t value, uint32_t extra);     /* any other */
/* Of script_small: ids; and a remote copy between rows of buffer that is counted on the target's dma semaphore `receive` only. */
uint32_t script_sem(const Script *script, uint32_t core, uint32_t element);
uint32_t script_dma(const Script *script, uint32_t core, uint32_t element);
void script_send(Script *script, uint32_t core, uint32_t from, uint32_t target, uint32_t to, uint32_t receive);

/* ---- inside functions ---- */

#define SCRIPT_BODY(name) static void name(Core *core, const Launch *launch __attribute__((unused)))

extern Script *script_now;                      /* the last that was made around a function */
static const Target SCRIPT_OWN = { NONE, NONE };

Ref script_at(uint32_t decl, int64_t index);    /* one semaphore of an array; one row of a buffer */
Ref script_ref(uint32_t decl);                  /* the first semaphore; the whole buffer */
Target script_on(uint32_t device);
uint32_t script_line(Core *core, unsigned number);              /* the site test:number */
void script_store(Core *core, unsigned line, uint32_t decl, int64_t value);    /* to all of a buffer */
int64_t script_load(Core *core, unsigned line, uint32_t decl); /* and looks at the first number */
/* Starts a copy of a whole buffer to one of a device; it counts on dma[1] here and on dma[0] there. */
void script_copy_all(Core *core, unsigned line, uint32_t from, uint32_t to, uint32_t device);
CopyDesc script_describe_copy(uint32_t from, uint32_t to, uint32_t device);
