/* findings.h - what the judge has seen: each fault once per pair of places, with the first state that showed it.
 *
 * At the end the rules "which of several" are applied to the pairs, pairs are merged into findings, and each finding gets its schedule.
 */
#pragma once
#include "walk.h"

typedef struct Sighting {
    FaultId id;
    unsigned places;
    uint32_t event[2];                          /* places, as events; NONE beyond `places` */
    uint32_t object;
    bool is_semaphore;
    int64_t have, need;
    const char *message;                        /* of the program, or NULL */
    char *why;                                  /* g_malloc, taken over; NULL: nothing to add */
    uint32_t core, transition;                  /* the transition after which it shows; transition NONE: it shows in the state itself */
} Sighting;

Findings *findings_new(Reservation *reservation);
void findings_forget(Findings *findings);       /* everything seen so far */
void findings_add(Walk *walk, const Sighting *sighting);          /* in the state in hand */
uint64_t findings_kinds(const Findings *findings);       /* how many different kinds of faults */
bool findings_has(const Findings *findings, FaultId id);
void findings_save(const Walk *walk);           /* into the checkpoint */
void findings_load(Walk *walk, Stream *stream);
void findings_settle(Walk *walk);               /* into walk->outcome */
