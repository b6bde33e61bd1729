/* brute.h - every reachable state of a random program, each checked as it stands: the plainest reading of the rules there is.
 *
 * Works on the lists of operations; shares no code with the searches. Copies under fluid progress count byte by byte, which the searches
 * do not do: that the coarser steps suffice is one of the things compared. Not for programs with data, nor with loops that poll.
 *
 * Ownership:   BruteResult owns its lists; brute_free.
 */
#pragma once
#include <glib.h>
#include "random_program.h"

typedef struct BruteResult {
    GPtrArray *faults;                          /* of char*, sorted: "race 1003 2004 h0 x2", see brute_line */
    GArray *end_states;                         /* of uint64_t, as outcome_end_state hashes them; sorted */
    uint64_t states, transitions;               /* coarse states alone: of each copy, no early bytes or all; whole progress: all */
    bool complete;                              /* false: states_max was reached, the rest says nothing */
} BruteResult;

/* The built program has the numbers of semaphores and, from its run, which entries join all devices. */
BruteResult *brute_run(const RandomProgram *random, const Program *program, uint64_t states_max);
void brute_free(BruteResult *result);
bool brute_can(const RandomProgram *random);

/* One fault as text: its id, the lines of its places in order, the thing it is about, and how many pairs. line 0: no place. */
char *brute_line(FaultId id, uint32_t line, uint32_t other, const char *thing, uint64_t count);
