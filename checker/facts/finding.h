/* finding.h - a fault as a search hands it over: what, where, why, and the schedule that shows it. Searches make them, report words them.
 *
 * Key of a finding (what is "the same fault"): id, the sites of its places in order of (site), and object, where objects of one declaration
 * count as one (the rounds of a scope and the launches of a scratch too). Searches merge by key and count (outcome_settle does it); the
 * sample is the first in the order of finding_compare.
 *
 *   id             places                                object                          schedule ends
 *   race           the two accesses                      buffer object of the sample     with both accesses next
 *   lifetime       the access or signal                  buffer object, or semaphore id  with that step next (life not begun, or ended)
 *   deadlock       none                                  NONE                            where nothing can move
 *   leftover       the owner core's step that ends the   semaphore id                    with that step next and the count > 0
 *                  life; none: barrier, end of program
 *   in-flight      the copy's READ or WRITE; the exit    buffer object                   with the exit next and the copy not there yet
 *                  (the step of the device's first core)
 *   uninitialised  the load                              buffer object                   with the load next
 *   mismatch       the wait; the copy's last moment      semaphore id                    with the wait next, possible, copy incomplete
 *   overflow       the signal or copy moment             semaphore id                    after it
 *   others         the step that stopped the core        NONE                            with that step done
 */
#pragma once
#include "record.h"
#include "schedule.h"

typedef struct Place {
    uint32_t core, position;                    /* position of the core's step, or of the copy's start */
    uint32_t copy;                              /* ordinal of the copy on core for its moments; NONE: the core's own step */
    uint8_t kind;                               /* StepKind */
    uint32_t site, object, region;              /* what it touches; NONE where nothing */
    uint32_t launch;
    uint32_t label;                             /* of the copy, as there */
} Place;

/* Of a core's own step, and of a moment of a copy (in no launch); nothing that it touches but memory and counts of semaphores. */
Place place_of_step(const Step *step, uint32_t position);
Place place_of_moment(const Copy *copy, StepKind moment);

typedef struct Delay {                          /* who is to be late, so that the fault shows on a real machine */
    uint32_t core, copy;                        /* copy NONE: the core, before the line; else that copy of its, once started */
    uint32_t label;                             /* of the copy, as there */
    uint32_t site, times;                       /* of the core's step or the copy's start; the core comes there for the so-manieth time */
} Delay;

typedef enum Meant { MEANT_UNKNOWN, MEANT_FIRST, MEANT_SECOND } Meant;

typedef struct Finding {
    FaultId id;
    uint64_t count;                             /* how many pairs (or steps) of these sites */
    bool at_most;                               /* the count is an upper bound */
    unsigned places;
    Place place[2];
    uint32_t object;
    bool object_is_semaphore;
    int64_t have, need;                         /* leftover: count; overflow: highest count, limit; lifetime: -1 not begun, +1 ended */
    char *message;                              /* stop faults: what the run said; else NULL (report words it). g_malloc */
    char *why;                                  /* one or more sentences, NULL if there is nothing to add. g_malloc */
    uint8_t meant;                              /* race: which place was meant to come first, a Meant */
    GArray *clashes;                            /* of Clash, without marks: all sides of all pairs of a race; NULL: none is known */
    GArray *delays;                             /* of Delay; NULL: none is known; empty: none is needed */
    GArray *moves;                              /* of Move; NULL until a schedule was found */
    GPtrArray *lines;                           /* of char*: the schedule as text, one line a move; NULL until it was replayed */
    bool shown;                                 /* a replay of the moves showed the fault */
    bool known;                                 /* the report given as --baseline has it already */
    char *departure;                            /* where a saved schedule first departs from what it was made for; NULL: nowhere */
    GBytes *film;                               /* the replayed run, see run/film.h; NULL: not asked for */
} Finding;

Finding *finding_new(FaultId id);
void finding_free(Finding *finding);
/* Total order: id, sites, object, then places. For sorting and merging. */
int finding_compare(const Finding *a, const Finding *b);

/* The key of a finding in words that mean the same in every process that runs the program, whatever ids it gave out. g_malloc. */
char *finding_key(const Program *program, const Finding *finding);
/* The declaration of its object; NULL: it is about none. */
const Decl *finding_decl(const Program *program, const Finding *finding);
/* The reason for which the program exempts this fault on its object; NULL: it does not. */
const char *finding_exemption(const Program *program, const Finding *finding);
/* May an exempted fault be met at all? Then a search must not stop at its first finding. */
bool finding_exemptions_exist(const Program *program);

/* Ways of enumerating that are asked for by name; all but hash-compact leave verdict and faults as they are. */
typedef enum WalkMode {
    WALK_SWEEP = 1,                             /* one level of states is kept, no table of all */
    WALK_MERGE_LOCAL = 2,                       /* copy starts, signals and enabled waits are done at once */
    WALK_SYMMETRY = 8,                          /* of states that rotations of the devices turn into each other one is visited */
    WALK_HASH_COMPACT = 4                       /* of states of more than one word only a hash is kept: some may be missed (bounded) */
} WalkMode;

/* A number that is not known yet, within bounds that hold in eight cases of ten; all 0: there is no estimate. */
typedef struct Estimate { double all, least, most; } Estimate;

/* What a search says in the end. */
typedef struct Outcome {
    GPtrArray *findings;                        /* of Finding, sorted by finding_compare */
    bool complete;                              /* every schedule and DMA order was covered */
    GPtrArray *limits;                          /* of static strings: "conflicts", "states", "time", "memory", "runs" */
    bool incomplete_after_race;                 /* a racing value reached control: other lists may lack entries */
    bool unjudged_after_race;                   /* a result, or something else about values, hangs on a race that is reported */
    bool values_observed;                       /* prove, classes: in some run a core looked at data */
    uint64_t executions, classes, states, transitions, steps, conflicts;        /* UINT64_MAX: does not apply */
    unsigned modes;                             /* of WalkMode */
    uint64_t rotated;                           /* WALK_SYMMETRY: states visited, with all their rotations; UINT64_MAX: does not apply */
    char *refused;                              /* a mode asked for is not possible: why; nothing else counts. g_malloc; NULL: it is */
    Estimate estimate;                          /* of classes, where a limit ended the search */
    uint64_t redundant;                         /* runs that only saw what others had seen; UINT64_MAX: does not apply */
    char *promise, *stopped;                    /* sentences, or NULL: what sampling would have met; where a limit ended all. g_malloc */
    GArray *end_states;                         /* uint64_t hashes, sorted: positions of all cores and counts of all semaphores */
} Outcome;

Outcome *outcome_new(void);
void outcome_free(Outcome *outcome);
/* Sorts the findings and merges those of one key: counts add up, the first keeps its places, schedule and texts. */
void outcome_settle(Outcome *outcome, const Program *program);
/* What each side of a racing pair has from the other goes into the finding, once. */
void finding_add_clashes(Finding *finding, const Place place[2]);
/* Where a racing value reached control, other orders may lead elsewhere: where a race was shown, findings that were not shown go. */
void outcome_drop_unreached(Outcome *outcome);
void outcome_add_limit(Outcome *outcome, const char *limit);           /* once each; complete becomes false */
/* The hash that both searches use for an end state: positions of cores (ended: number of its steps), counts of all non-zero semaphores. */
uint64_t outcome_end_state(const uint32_t *position, uint32_t cores, const int64_t *count, uint32_t semaphores);
