/* prover.h - the state of one proof: the record's order, the faults tallied so far, the outcome being built.
 *
 *     races, lives, counts, reads, deadlock -> tally (one entry a key: count, first example) -> witness -> Finding
 *
 * Ownership:   prove.c owns it; all but the outcome and the keys lies in its arena.
 */
#pragma once
#include "../facts/finding.h"
#include "../facts/step_words.h"
#include "order.h"
#include "races.h"
#include "settings.h"

/* As finding.h defines it. site: of the places in ascending order, NONE: no place; decl: of the object, NONE. No padding. */
typedef struct FaultKey { uint32_t id, site[2], decl, is_semaphore; } FaultKey;

typedef struct FaultTally {                     /* faults of one key */
    FaultKey key;                               /* prover_add makes it */
    FaultId id;
    bool is_semaphore;
    uint64_t count;                             /* as an argument, 0 means 1 */
    bool at_most;
    uint32_t age;                               /* of the example: record index of its latest step */
    Event a, b;                                 /* the example: the places of the finding */
    unsigned places;
    uint32_t object;
    int64_t have, need;
    uint32_t event_first;                       /* list of its examples + 1, where a conflict's order is chosen and it is no race */
} FaultTally;

typedef enum LeftOver { LEFT_NOTHING, LEFT_REPORTED, LEFT_EXEMPT } LeftOver;    /* was a `leftover` found? */

typedef struct Prover {
    const Record *record;
    const Program *program;
    const ProveOptions *options;
    Arena *arena;
    Index *index;
    Clocks *clocks;
    Releases *releases;
    Order *order;
    Races *races;
    struct Launched *launched;                  /* a decl: see lifespan_prepare */
    uint8_t *left_over;                         /* a semaphore: a LeftOver */
    Pile tallies, events;                       /* FaultTally: by number of its key; each that was added */
    Intern tally_keys;
    RaceKeys race_keys;
    Outcome *outcome;
    Cause *cause;                               /* of the finding that is being explained */
} Prover;

static inline void prover_blame(const Prover *prover, CauseKind kind, uint32_t site, uint32_t semaphore)
{
    *prover->cause = (Cause){ kind, site, semaphore };
}

/* Counts a fault of that key; keeps the earliest example that is certain. places 0 to 2; object NONE: none. */
void prover_add(Prover *prover, const FaultTally *fault);
bool prover_has(const Prover *prover, const FaultTally *fault); /* is there a tally with that key? */
Place prover_place(const Prover *prover, const Event *event);
uint32_t prover_age(const Prover *prover, const Event *event);          /* index in the record of the step, or of the copy's start */

void races_settle(Prover *prover);              /* suspects.c: from classes of racing pairs to findings */
void counts_check(Prover *prover);              /* counts.c: leftover, overflow, mismatch */
void lives_check(Prover *prover);               /* lifetimes.c: lifetime, in-flight; after counts_check */
int64_t counts_taken_before(Prover *prover, uint32_t semaphore, const Event *end);     /* by waits that come before it */
/* The sum of the signals that may come before a step of the semaphore's device. */
int64_t counts_given_before(Prover *prover, uint32_t semaphore, const Event *event);
/* What the semaphore holds right after x if x comes as late as possible and the wait `bar` (NULL: none) does not come. Leaves that run in
 * order's closure. */
int64_t counts_after(Prover *prover, uint32_t semaphore, const Event *x, const Wait *bar, uint32_t inc);
void deadlock_check(Prover *prover);            /* deadlock.c */
void raised_check(Prover *prover);              /* raised.c: faults that the run raised, directly as findings; and unwritten loads */

/* witness.c: the moves to the goal if the barred events are never done; NULL: it cannot be reached. */
GArray *witness_moves(Prover *prover, const Goal *goal, const Event *barred, size_t bars);
GArray *witness_whole_record(Prover *prover);
GArray *witness_of(Prover *prover, const FaultTally *fault);

/* lifespan.c: when an object's life begins and ends, on which cores. */
typedef struct Lifespan {
    bool always;
    bool exit;                                  /* it ends with the exit of a launch */
    const StepSpan *span;                       /* of cores first_core .. first_core + cores - 1, indexed by core */
    uint32_t first_core, cores;
    const StepSpan *leave;                      /* the launch at whose exit it ends at the latest; NULL: none */
    const StepSpan *entry;                      /* if others may name it before its scope opens: the launch's entries; else NULL */
} Lifespan;

typedef struct Launched { bool known, ever; uint32_t first, last; } Launched;     /* of a decl, where all devices do all launches */

void lifespan_prepare(Prover *prover);
Lifespan lifespan_of_object(const Prover *prover, uint32_t object);
Lifespan lifespan_of_semaphore(const Prover *prover, uint32_t semaphore);
/* Does the life begin before x in every execution? */
bool lifespan_begun(Prover *prover, const Lifespan *life, const Event *x);
/* The event that ends it, as a step of `core` if that core is a member. False: it does not end. */
bool lifespan_end(const Prover *prover, const Lifespan *life, uint32_t core, Event *end);
bool lifespan_over_after(Prover *prover, const Lifespan *life, const Event *x);        /* x comes before its end in every execution */

/* givers.c: signals of one semaphore in words, grouped by line. */
char *givers_words(const Prover *prover, const GArray *signals);       /* of uint32_t; g_malloc */
/* Is the wait late enough to be meant for this signal, if all signallers take turns evenly? */
bool givers_reach(const Index *index, const Wait *wait, uint32_t signal);

/* leftover.c: the lines that wait on a semaphore, "kernel.c:12 (3 times), kernel.c:20"; returns what those waits took in all. */
int64_t leftover_waits(const Prover *prover, GString *text, uint32_t semaphore);
/* What is given to the semaphore and what is taken from it before its life ends. */
char *leftover_why(Prover *prover, const FaultTally *fault);

/* looks.c: what the core saw last, at the line of the fault if it looked there; NULL: it never looked. g_malloc. */
char *looks_before(Prover *prover, const Raised *raised);

/* why.c: sentences, g_malloc. */
char *why_fault(Prover *prover, const FaultTally *fault, Meant *meant);     /* NULL: nothing to add. *meant: of a race, else unknown */
/* Adds which wait of `other`'s core was meant to come after `first`, and why it does not; false: there is none. */
bool why_early(const Prover *prover, GString *text, const Event *first, const Event *other, const char *what);
