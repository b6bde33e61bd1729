/* execution.h - one run of a program: cores as coroutines on a machine, each step recorded.
 *
 *     execution_new -> execution_run_eager                               one legal order, copies at once: what the proof reads
 *                   -> execution_begin -> [ execution_enabled -> execution_do ]*     the caller chooses: replay, sampling
 *
 * Invariants:  1. a blocked core's request lies on its own stack, until its step is done.  2. a join is done for all members at once.
 *              3. eager: a core that runs is queued, or waits for a step that is not possible.  4. scheduled: a core that runs has parked,
 *              and copies under way stand in order of start, with what they have read and not written.
 * Ownership:   borrows program and record; owns machine, cores and stacks. Runs can be repeated: each starts from the initial state.
 * Errors:      faults go to record->raised; misuse of the API to program->usage_error, and the run ends.
 */
#pragma once
#include "../../model/machine.h"
#include "coro.h"
#include "../facts/record.h"
#include "../facts/schedule.h"

typedef struct Execution Execution;

/* For a supervisor of this process, while user code runs (shared memory). */
typedef struct ExecutionPulse {
    volatile uint64_t operations;               /* steps submitted so far, by all cores */
    volatile uint32_t running;                  /* core whose code runs, NONE: ours does */
} ExecutionPulse;

typedef struct ExecutionOptions {
    bool reversed;                              /* start with the last core */
    size_t shift;                               /* of stacks, and a fill pattern: see coro.h */
    unsigned char fill;
    ExecutionPulse *pulse;                      /* NULL: no supervisor */
    bool discard;                               /* keep no steps and copies, only hashes (eager) */
    bool without_contents;                      /* buffers have none: for kernels that observe no data, if only the steps matter */
    uint64_t steps_max;                         /* 0: no limit */
    uint64_t *core_hash;                        /* NULL, or one a core: hash of all its steps */
} ExecutionOptions;

Execution *execution_new(Program *program, Record *record);
void execution_free(Execution *execution);
void execution_run_eager(Execution *execution, const ExecutionOptions *options);
bool execution_limit_reached(const Execution *execution);       /* steps_max ended the run */
/* Evaluates the program's expectations on the final contents (all cores finished): raises `assert`, sets record->results_checked. */
void execution_check_results(Execution *execution);

const CoroPool *execution_stacks(const Execution *execution);

void execution_begin(Execution *execution, const ExecutionOptions *options);
void execution_enabled(Execution *execution, GArray *moves);    /* of Move: cores in order, then copies in order of start */
bool execution_is_enabled(Execution *execution, Move move);
bool execution_do(Execution *execution, Move move);             /* false: not enabled now */
void execution_end(Execution *execution);       /* fills record->ends; blocked cores are not resumed */
void execution_assert_sane(const Execution *execution);         /* between two moves */

/* Does nothing: a debugger stops here after a schedule, with each core before its next operation. */
void execution_stands_at_fault(Execution *execution);

/* For judges of a state. */
Machine *execution_machine(Execution *execution);
const Record *execution_record(const Execution *execution);
const Request *execution_pending(Execution *execution, uint32_t core);          /* NULL: finished or stopped */
uint32_t execution_position(Execution *execution, uint32_t core);
uint32_t execution_find_copy(Execution *execution, uint32_t core, uint32_t ordinal);    /* index in the record, NONE: not started */
bool execution_moment_done(Execution *execution, uint32_t copy, StepKind moment);
typedef enum LifeState { LIFE_NOT_BEGUN, LIFE_BEGUN, LIFE_ENDED } LifeState;
/* Of a buffer object or of a semaphore's object, as a step of `core` in `launch` would find it now. */
LifeState execution_life(Execution *execution, uint32_t decl, uint32_t object, uint32_t core);
