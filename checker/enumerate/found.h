/* found.h - what the judge has seen: each fault once per pair of places, with the first state that showed it.
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
    uint32_t core, turn;                        /* the turn after which it shows; turn NONE: it shows in the state itself */
} Sighting;

Found *found_new(Reservation *reservation);
void found_forget(Found *found);                /* everything seen so far */
void found_add(Walk *walk, const Sighting *sighting);          /* in the state in hand */
uint64_t found_kinds(const Found *found);       /* how many different kinds of faults */
bool found_has(const Found *found, FaultId id);
void found_save(const Walk *walk);              /* into the checkpoint */
void found_load(Walk *walk, Dump *dump);
void found_settle(Walk *walk);                  /* into walk->outcome */
