/* naive.h - every reachable state of a small script, each checked as it stands: the plainest reading of the rules, for tests of the search.
 *
 * Keeps whole states in a hash set and sets of fault keys as strings. Shares no code with checker/enumerate.
 * Steering: a SEMAPHORE_READ or FLAG_LOAD that sees at least `value` jumps over the `extra` steps that follow it (not past lives or joins).
 */
#pragma once
#include "../../checker/facts/finding.h"
#include "script.h"

typedef struct Naive {
    bool complete;                              /* false: more than the given number of states */
    uint64_t states, transitions;
    GArray *end_states;                         /* uint64_t, sorted, unique */
    GHashTable *faults;                         /* key of a finding (naive_key) -> its count, as pointer; highest counts too */
} Naive;

Naive *naive_run(Script *script, uint64_t states_max);
void naive_free(Naive *naive);
/* "race 1001 2003 output" and the like: what makes a finding, by lines of the script and declaration. g_malloc. */
char *naive_key(const Program *program, FaultId id, unsigned places, const uint32_t *site, bool is_semaphore, uint32_t object);
/* A script's steps, steered. */
UnrollSource naive_source(Script *script);
