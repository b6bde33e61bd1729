/* edit.h - changes to a program, applied when a core names what a step is about, or submits it: no source is rewritten.
 *
 *     edits -> the worker prepares them for its program (edit_prepare) -> every operation calls edit_amend, every submit edit_pass first
 *
 * A change says where (kind of step, site, semaphore, launch, cores, occurrence: all that are given must match) and what (drop the step,
 * insert one before or after it, replace its count or semaphore). Several changes of one step apply in the order of the list.
 *
 * Invariants:  1. sites and semaphores are named by text, since ids differ between processes.  2. each core counts occurrences by itself,
 *              in Core, from 0 in each run.
 * Ownership:   a list borrows its strings, arrays and turns; what edit_prepare makes lives as long as the program.
 * Errors:      edit_prepare is false if a change does not fit the program; a semaphore of another kind is misuse (exit 2).
 */
#pragma once
#include "../../model/named.h"

typedef enum EditKind {
    EDIT_DROP,              /* the step is left out: STORE, SIGNAL, WAIT, WAIT_KEEP, COPY_START, CORE_BARRIER, FLAG_STORE */
    EDIT_BEFORE,            /* one more step before it ... */
    EDIT_AFTER,             /* ... or after it: `step` (SIGNAL, WAIT or FLAG_STORE) of `value` on `semaphore` */
    EDIT_WAIT_SEND,                             /* after a COPY_START: what its wait_send would do ... */
    EDIT_WAIT_RECEIVE,      /* ... or its wait_recv (of a local copy: its wait) */
    EDIT_COUNT,             /* SIGNAL, WAIT, WAIT_KEEP: its count * times + value; below 1 a signal is left out, a wait is for 0 */
    EDIT_SEMAPHORE,         /* SIGNAL, WAIT, WAIT_KEEP, COPY_START (what it receives on): on `semaphore` of the same core instead */
    EDIT_ENTRY_BARRIER,     /* launch where.launch begins with a barrier of all devices, or, for value 0, does not */
    EDIT_HOLD,              /* STORE, SIGNAL, WAIT, COPY_START: right after `until` instead; at latest where a scope or the launch ends */
    EDIT_START,             /* WAIT for a copy: the copy is started first */
    EDIT_COMPARE,           /* FLAG_WAIT: by the Compare `value` */
    EDIT_EPOCH,             /* FLAG_STORE, FLAG_WAIT: its value * times + `value` (0: its value) a time that it was done, this one too for
                               times 0 */
    /* What an operation names (edit_names.c). */
    EDIT_SLOT,              /* `name`: `value` further in the `dim`-th of the dimensions in which it is not the whole */
    EDIT_DEVICE,            /* SIGNAL, COPY_START: to the core target[core]; without it to the device `value` further */
    EDIT_EXCHANGE,          /* a copy: its send semaphore for its receive semaphore */
    EDIT_REFER,             /* SIGNAL, WAIT, FLAG_...: the declaration `semaphore.name` instead */
    EDIT_GUARD              /* STORE, COPY_START and waits for that copy: left out where it is out of bounds */
} EditKind;

typedef enum EditName { EDIT_NAMES_REF, EDIT_NAMES_SOURCE, EDIT_NAMES_TARGET, EDIT_NAMES_SEND, EDIT_NAMES_RECEIVE } EditName;

enum { EDIT_ANY_STEP = UINT8_MAX };

typedef struct EditWhere {
    uint8_t step;                               /* StepKind, or EDIT_ANY_STEP */
    bool made;                                  /* file, line and counter are of the making of the copy, not of the step */
    const char *file;                           /* NULL: at any site */
    unsigned line, counter;                     /* counter 0: any of the line */
    const char *semaphore;                      /* any declaration of that name; of a copy: what it receives on. NULL: any */
    bool one_launch;
    uint32_t launch;
    const bool *core;                           /* by core; NULL: all */
    uint32_t skip, times;                       /* of its occurrences on a core: not the first `skip`; then so many, 0: all */
} EditWhere;

enum { EDIT_BY_OCCURRENCE = UINT32_MAX, EDIT_OF_STEP = UINT32_MAX };         /* as an element; as `fresh` */
typedef struct EditSemaphore {
    const char *name;                           /* NULL: one of the list's own, `fresh`, or, for EDIT_OF_STEP, that of the step in hand */
    uint32_t fresh;
    uint32_t element;                           /* EDIT_BY_OCCURRENCE: the next one each time, cyclically */
    uint32_t per;                               /* ... or after so many times each; 0: 1 */
} EditSemaphore;

/* What one more step does each time, by core and occurrence: [core * times + occurrence]. */
typedef struct EditTurns {
    uint32_t times;                             /* later ones do nothing */
    const uint32_t *value, *element;            /* value 0: nothing that time; element: of `semaphore` */
    const uint32_t *target;                     /* SIGNAL: to that core */
} EditTurns;

typedef struct Edit {
    EditKind kind;
    EditWhere where;
    uint8_t step;                               /* of the one more step */
    EditSemaphore semaphore;
    int64_t value, times;                       /* value of one more step, 0: that of the step in hand */
    const uint32_t *target;                     /* by core: a core, NONE: nothing there. For one more SIGNAL; NULL: the own core */
    const EditTurns *turns;                     /* BEFORE, AFTER: for value, target and semaphore.element; NULL: the same each time */
    EditWhere until;                            /* HOLD */
    uint8_t name, dim;                          /* SLOT: an EditName */
} Edit;

/* A new array of semaphores. */
typedef struct EditFresh {
    const char *name;
    const char *beside;                         /* in the launches that have this one, shared as it is; NULL: one for each launch */
    bool always;                                /* or one that lives throughout, as a barrier semaphore does */
    SemaphoreKind kind;
    uint32_t elements;
} EditFresh;

typedef struct Edits {
    const Edit *edit;
    unsigned count;
    const EditFresh *fresh;
    unsigned fresh_count;
} Edits;

bool edit_prepare(Program *program, const Edits *edits);        /* once, before the first run */
void edit_settle(Program *program);             /* after each update of entry barriers */
/* True: the step is done (dropped, or submitted with others after it), and the core continues. False: the request may be changed, or
 * preceded by submitted steps. */
bool edit_pass(Core *core, Request *request);
bool edit_amend(Core *core, const Named *named);                /* named_amend */
