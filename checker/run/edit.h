/* edit.h - changes to what a program does, applied where a core hands over its step: no source is rewritten.
 *
 *     edits -> worker prepares them for its program (edit_prepare) -> every submit asks edit_pass first
 *
 * Sites are named by file, line and ordinal, because ids differ from one process to the next.
 *
 * Ownership:   a list borrows its strings; what edit_prepare makes lives as long as the program.
 * Errors:      edit_prepare is false when a change does not fit the program.
 */
#pragma once
#include "../../model/core.h"

typedef enum EditKind {
    EDIT_DROP_SEMAPHORE,    /* all signals to and waits on the semaphore `name` are left out */
    EDIT_DROP,              /* steps of `step` at the site are left out */
    EDIT_SCALE,             /* waits at the site need `value` times as much */
    EDIT_SPREAD,            /* the DMA semaphore `name` becomes one for each copy that a core sends to it, in turn; its waits likewise */
    EDIT_CREDIT,            /* before each copy at the site, which signals `name`: tell core peer[own core] that there is room, and wait to
                               be told the same, on a semaphore of its own */
    EDIT_DRAIN,             /* before leaving the last launch that has the semaphore `name`, a wait for `value` on element `element` */
    EDIT_ENTRY_BARRIER      /* launch `launch` begins with a barrier of all devices, or, for value 0, does not */
} EditKind;

typedef struct Edit {
    EditKind kind;
    const char *file;
    unsigned line, counter;
    uint8_t step;                               /* StepKind */
    const char *name;
    uint32_t element, launch;
    int64_t value;
    const uint32_t *peer;
} Edit;

typedef struct Edits { const Edit *edit; unsigned count; } Edits;

bool edit_prepare(Program *program, const Edits *edits);        /* once, before the first run */
void edit_settle(Program *program);             /* whenever entry barriers were decided anew */
/* True: the step is left out, and the core goes on. The request may have been changed, or steps handed over before it. */
bool edit_pass(Core *core, Request *request);
