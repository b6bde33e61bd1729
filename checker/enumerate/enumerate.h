/* enumerate.h - every interleaving and every DMA order, with a table of visited states, each state checked as it stands.
 *
 * Fluid: the early bytes (count - 1) are a step of their own, obligatory before completion. The ground truth: shares no reasoning with
 * proof/, includes nothing of it.
 */
#pragma once
#include "../finding.h"
#include "../run/checkpoint.h"
#include "../run/progress.h"
#include "../run/unroll.h"

typedef struct EnumerateOptions {
    uint64_t states_max;                        /* 0: no limit */
    double seconds_max;
    size_t memory_max;
    unsigned modes;                             /* of WalkMode; one that a program does not allow ends in Outcome.refused */
    unsigned workers;                           /* threads, rounded down to a power of two; programs with flags or contents use one */
    bool contents;                              /* contents are part of the state: results are checked, or data steers control */
    bool first;
    Progress *progress;                         /* NULL: nobody watches */
    Checkpoint *checkpoint;                     /* NULL: none is written */
    GBytes *resumed;                            /* what an earlier search put into its checkpoint; NULL: begin anew */
    bool no_end_states;                         /* do not collect them */
} EnumerateOptions;

Outcome *enumerate_run(UnrollSource *source, const EnumerateOptions *options);
