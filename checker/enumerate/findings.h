/* findings.h - the findings of a search: each fault once per pair of places, with the first state that showed it.
 *
 * At the end the subsumption rules are applied to the pairs, pairs are merged into findings, and each finding gets its schedule.
 *
 * Invariants:  1. each sighting has a key, an entry and the ids of its state, in one order.  2. of_fault: how many of each kind.
 */
#pragma once
#include "frontier.h"
#include "../run/checkpoint.h"

typedef struct Sighting {
    FaultId id;
    unsigned places;
    uint32_t event[2];                          /* places, as events; NONE beyond `places` */
    uint32_t object;
    bool is_semaphore;
    int64_t have, need;
    const char *message;                        /* of the program, or NULL */
    char *why;                                  /* g_malloc, taken over; NULL: nothing to add */
    uint32_t core, transition;                  /* the transition that shows it; transition NONE: the state itself shows it */
} Sighting;

typedef struct EndResults {
    bool any;
    uint64_t hash, marks;                       /* of the first end state, and of which of its elements depend on a race */
    bool differ;
} EndResults;

typedef struct Findings {
    Outcome *outcome;
    const uint32_t *state;                      /* the ids of the current state */
    uint64_t level;                             /* in which it was visited */
    Intern keys;
    Store entries, ids;                         /* Entry; ids of the state, layout.fields each */
    uint32_t of_fault[FAULT_COUNT];
    EndResults results;                         /* contents only */
    bool done;                                  /* `first`, and something was found */
    bool until_race, raced;                     /* stop at the first race; a race was found */
} Findings;

void findings_open(Findings *findings, StateSpace *space, bool until_race);
void findings_forget(Findings *findings);       /* all sightings so far */
void findings_add(const StateSpace *space, Findings *findings, const Sighting *sighting);       /* in the current state */
void findings_assert_sane(const StateSpace *space, const Findings *findings);
uint64_t findings_kinds(const Findings *findings);      /* how many different kinds of faults */
bool findings_has(const Findings *findings, FaultId id);
void findings_save(Codec *codec, const StateSpace *space, const Findings *findings);
void findings_load(Codec *codec, StateSpace *space, Findings *findings);
void findings_settle(StateSpace *space, const Frontier *frontier, Findings *findings);  /* into the outcome */
