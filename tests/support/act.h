/* act.h - programs as small functions, one run a core, for tests of cores that look: they are run again from the start with each
 * longer list of observations, as kernels are.
 */
#pragma once
#include "../../checker/enumerate/enumerate.h"
#include "script.h"

/* One run of a core: hands out steps, and feeds it what it observed. */
typedef struct Run {
    const struct Act *act;
    uint32_t core;
    const Observation *observed;
    size_t count, used;
    bool contents, over;
    UnrollEnd end;
    uint32_t position, line, state;             /* for its fingerprint: where it is, and what it would keep in a variable */
    uint64_t fingerprint;
    GArray *out;
} Run;

typedef struct Act {                            /* a program: what each core does */
    Script *script;
    void (*core)(Run *run);
    UnrollSource source;
    uint32_t semaphore, buffer, more, flag;     /* decls */
    uint32_t rounds;                            /* what a test chooses */
} Act;

Act *act_new(uint32_t devices, void (*core)(Run *run), bool with_fingerprint);
void act_free(Act *act, Outcome *outcome);
Outcome *act_enumerate(Act *act, bool contents);
uint64_t act_fingerprint_of_core_0(void *self, uint32_t core, const Observation *observed, size_t count, bool contents);

/* For the function that is run. */
uint32_t act_id(const Run *run, uint32_t core, uint32_t element);      /* of act->semaphore */
bool act_step(Run *run, UnrollStep step, bool observes);               /* false: what comes after it is not known yet */
int64_t act_observe(Run *run);                  /* after act_step: what a step saw that observes */
int64_t act_look(Run *run, uint32_t semaphore, unsigned line);         /* the same line each time: a loop's step */
void act_tell(Run *run, uint32_t semaphore);
void act_wait(Run *run, uint32_t semaphore, uint32_t value);
UnrollStep act_access(const Run *run, StepKind kind, uint32_t decl);
void act_stop(Run *run, FaultId fault);
int64_t act_load(Run *run, uint32_t decl);      /* loads, and looks at what it got */
void act_store(Run *run, uint32_t decl, int64_t value);                /* 0 to 3 */
void act_copy(Run *run, uint32_t from, uint32_t to, uint32_t core, uint32_t semaphore);
