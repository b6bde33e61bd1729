/* script.h - programs as lists of steps, one for each core, for tests of the machine, the proof and the enumeration.
 *
 * A script owns a bare Program (no launch steps, everything exists always) unless the test adds launches and scopes itself.
 */
#pragma once
#include "../../checker/facts/record.h"
#include "../../checker/run/unroll.h"

typedef struct Script {
    Program *program;
    GArray **core;                              /* of UnrollStep, one list a core */
    UnrollSource source;                        /* hands the lists out whole */
} Script;

Script *script_new(uint32_t devices, uint32_t cores_per_device, const Knobs *knobs);
void script_free(Script *script);
/* Declarations; a buffer is opaque bytes, `slots` slots of `slot_bytes`; semaphores are arrays of `elements` on every core. */
uint32_t script_buffer(Script *script, Space space, uint32_t slots, uint32_t slot_bytes, const char *name);         /* decl */
uint32_t script_semaphore(Script *script, SemaphoreKind kind, uint32_t elements, const char *name);                 /* decl */
uint32_t script_semaphore_id(const Script *script, uint32_t decl, uint32_t core, uint32_t element);
/* Steps; each gets a site of its own: file "script", line = core * 1000 + position + 1. */
void script_signal(Script *script, uint32_t core, uint32_t semaphore, uint32_t inc);
void script_wait(Script *script, uint32_t core, uint32_t semaphore, uint32_t value);
void script_wait_keep(Script *script, uint32_t core, uint32_t semaphore, uint32_t value);
void script_access(Script *script, uint32_t core, StepKind kind, uint32_t decl, uint32_t slot);              /* LOAD or STORE, own device */
/* send: semaphore id or NONE. Bytes: of one slot. From a slot of the own decl to one of a decl on target_core (its device, if shared). */
void script_copy(Script *script, uint32_t core, uint32_t source, uint32_t source_slot, uint32_t target, uint32_t target_slot,
                 uint32_t target_core, uint32_t send, uint32_t receive, bool remote);
void script_step(Script *script, uint32_t core, StepKind kind, uint32_t object, uint32_t value, uint32_t extra);     /* any other */
/* The eager run: every core as far as it goes, copies at once. */
void script_record(Script *script, Record *record);
