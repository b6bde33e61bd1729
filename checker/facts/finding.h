/* finding.h - a fault as a search reports it: what, where, why, and the schedule that shows it. Searches make findings, report words them.
 *
 * The key of a finding (what is "the same fault"): id, the sites of its places in ascending order, and object, where objects of one
 * declaration count as one (each execution of a scope, each launch of a scratch). outcome_settle merges by key; the
 * sample is the first in the order of finding_compare.
 *
 *   id             places                                object                          schedule ends
 *   race           the two accesses                      buffer object of the sample     with both accesses next
 *   lifetime       the access or signal                  buffer object, or semaphore id  with that step next (life not begun, or ended)
 *   deadlock       none                                  NONE                            where no step is possible
 *   leftover       the owner core's step that ends the   semaphore id                    with that step next and the count > 0
 *                  life; none: barrier, end of program
 *   in-flight      the copy's READ or WRITE; the exit    buffer object                   with the exit next and that moment not done
 *                  (the step of the device's first core)
 *   uninitialised  the load                              buffer object                   with the load next
 *   mismatch       the wait; the copy's last moment      semaphore id                    with the wait next, possible, copy incomplete
 *   overflow       the signal or copy moment             semaphore id                    after it
 *   others         the step that stopped the core        NONE                            with that step done
 */
#pragma once
#include "cause.h"
#include "record.h"
#include "schedule.h"

typedef struct Place {
    uint32_t core, position;                    /* position of the core's step, or of the copy's start */
    uint32_t copy;                              /* ordinal of the copy on core for its moments; NONE: the core's own step */
    uint8_t kind;                               /* StepKind */
    uint32_t site, object, region;              /* what it touches; NONE: nothing */
    uint32_t launch;
    uint32_t label, described;                       /* of a copy's moment: Copy.label, Copy.described */
} Place;

/* The place of a core's own step, and of a moment of a copy (without a launch). object: a buffer, a semaphore or a flag word, else NONE. */
Place place_of_step(const Step *step, uint32_t position);
Place place_of_moment(const Copy *copy, StepKind moment);

typedef struct Delay {                          /* what must be slow for the fault to show on a real machine */
    uint32_t core, copy;                        /* copy NONE: the core, before the line; else that copy of the core, once started */
    uint32_t label;                             /* Copy.label */
    uint32_t site, times;                       /* of the core's step or the copy's start; on the core's `times`-th visit */
} Delay;

typedef enum Meant { MEANT_UNKNOWN, MEANT_FIRST, MEANT_SECOND } Meant;
typedef struct Finding {
    FaultId id;
    uint64_t count;                             /* of pairs of places, or places, at these sites, see instances.h */
    bool at_most;                               /* the count is an upper bound */
    GArray *instances; bool instances_sorted;   /* of uint64_t: their hashes; NULL: not listed. Sorted: and each once */
    unsigned places; Place place[2];
    uint32_t object;
    bool object_is_semaphore, spins;            /* spins: no-progress without a further step, so that each such run takes long */
    int64_t have, need;                         /* leftover: count; overflow: highest count, limit; lifetime: -1 not begun, +1 ended */
    char *message;                              /* faults that stop a core: the run's message; else NULL (report words it). g_malloc */
    char *why;                                  /* one or more sentences, NULL if there is nothing to add. g_malloc */
    Cause cause;
    uint8_t meant;                              /* race: which place was meant to come first, a Meant */
    unsigned criticals; Place critical[2];      /* its critical choice: the first step should come before the second; 0: none is known */
    GArray *clashes;                            /* of Clash, without marks: all sides of all pairs of a race; NULL: none is known */
    GArray *delays;                             /* of Delay; NULL: none is known; empty: none is needed */
    GArray *moves;                              /* of Move; NULL until a schedule is found */
    GPtrArray *lines;                           /* of char*: the schedule as text, one line a move; NULL until it is replayed */
    bool shown, known;                          /* a replay of the moves showed the fault; it is in the --baseline report */
    uint8_t holds, open;                        /* bits of DmaOrder, from the one in force on: shown under it; not decided under it */
    char *departure;                            /* where a saved schedule first departs from the run it was made from; NULL: nowhere */
    GBytes *recording;                          /* the replayed run, see run/recording.h; NULL: not asked for */
} Finding;

Finding *finding_new(FaultId id);
void finding_free(Finding *finding);
void finding_take_message(Finding *finding, const char *message);              /* of a run; with why, if it says so */
/* Total order: id, sites, object, then places. For sorting and merging. */
int finding_compare(const Finding *a, const Finding *b);
/* The key of a finding as text, the same in every process that runs the program, whatever ids it gives out. g_malloc. */
char *finding_key(const Program *program, const Finding *finding);
const Decl *finding_decl(const Program *program, const Finding *finding);      /* of its object; NULL: it has none */
/* The program's reason for exempting it on its object; NULL: it is not exempt. */
const char *finding_exemption(const Program *program, const Finding *finding);
/* Does the program exempt any fault? Then a search must not stop at its first finding. */
bool finding_exemptions_exist(const Program *program);

/* Modes of enumeration, chosen by name; all but hash-compact preserve verdict and faults. */
typedef enum EnumerateMode {
    ENUMERATE_SWEEP = 1,                        /* only one level of states is kept, no table of all */
    ENUMERATE_MERGE_LOCAL = 2,                  /* copy starts, signals and enabled waits are done at once */
    ENUMERATE_SYMMETRY = 8,                     /* one state is visited of each orbit under rotations of the devices */
    ENUMERATE_HASH_COMPACT = 4                  /* of states longer than a word only a hash is kept: some may be missed (bounded) */
} EnumerateMode;

typedef struct Estimate { double all, least, most; } Estimate;  /* with an 80 % interval; all 0: there is no estimate */

/* The result of a search. */
typedef struct Outcome {
    GPtrArray *findings;                        /* of Finding, sorted by finding_compare */
    bool summed, complete;                      /* its findings are of several executions; every schedule and DMA order was covered */
    GPtrArray *limits;                          /* of static strings: "conflicts", "states", "time", "memory", "runs" */
    bool incomplete_after_race;                 /* a racing value reached control: findings may be missing */
    bool unjudged_after_race;                   /* a result, or another property of values, depends on a reported race */
    bool values_observed;                       /* prove, classes: some core observed data in some run */
    uint64_t executions, classes, states, transitions, steps, conflicts;        /* UINT64_MAX: does not apply */
    unsigned modes;                             /* of EnumerateMode */
    uint64_t rotated;                           /* ENUMERATE_SYMMETRY: states visited, with their rotations; UINT64_MAX: does not apply */
    char *refused, *contradiction;              /* why a mode asked for is impossible; by whatif_run. g_malloc, or NULL */
    Estimate estimate;                          /* of classes, where a limit ended the search */
    uint64_t redundant;                         /* runs that only repeated others; UINT64_MAX: does not apply */
    char *promise, *stopped;                    /* sentences, or NULL: what sampling guarantees; where a limit ended the search. g_malloc */
    GArray *end_states;                         /* uint64_t hashes, sorted: positions of all cores and counts of all semaphores */
} Outcome;

Outcome *outcome_new(void);
void outcome_free(Outcome *outcome);
/* Sorts the findings and merges those of one key: the first keeps its places, schedule and texts. */
void outcome_settle(Outcome *outcome, const Program *program);
/* Adds both sides of a racing pair to the finding's clashes, each once. */
void finding_add_clashes(Finding *finding, const Place place[2]);
/* After a racing value reached control: if a race was shown, drops the findings that no replay showed. */
void outcome_drop_unreached(Outcome *outcome);
void outcome_add_limit(Outcome *outcome, const char *limit);           /* once each; complete becomes false */
/* The hash of an end state, for all searches: positions of cores (ended: the number of its steps), counts of all non-zero semaphores. */
uint64_t outcome_end_state(const uint32_t *position, uint32_t cores, const int64_t *count, uint32_t semaphores);
