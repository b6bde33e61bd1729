/* bench_enumerate.c - one run of the enumeration on the ring all-gather, for the table that tests/bench/spin prints.
 *
 *     bench_enumerate DEVICES [sweep | symmetry | WORKERS]
 *
 * Prints states, transitions, seconds of processor time, and the bytes that the search added to the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../../checker/enumerate/enumerate.h"
#include "../support/shapes.h"

static struct rusage usage(void)
{
    struct rusage now;
    getrusage(RUSAGE_SELF, &now);
    return now;
}

static double seconds_of(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) + (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e6;
}

int main(int count, char **argument)
{
    if (count < 2 || count > 3)
        return 2;
    bool sweep = count == 3 && strcmp(argument[2], "sweep") == 0, symmetry = count == 3 && strcmp(argument[2], "symmetry") == 0;
    Script *script = shape_all_gather((uint32_t)atoi(argument[1]), NULL, false);
    struct rusage before = usage();
    EnumerateOptions options = {.no_end_states = true, .modes = sweep ? ENUMERATE_SWEEP : symmetry ? ENUMERATE_SYMMETRY : 0,
                                .workers = count == 3 && !sweep && !symmetry ? (unsigned)atoi(argument[2]) : 1};
    Outcome *outcome = enumerate_run(script_source(script), &options);
    struct rusage after = usage();
    printf("%lu %lu %.3f %ld\n", outcome->states, outcome->transitions, seconds_of(&after) - seconds_of(&before),
           (after.ru_maxrss - before.ru_maxrss) * 1024);
    bool fine = outcome->complete && outcome->findings->len == 0;
    outcome_free(outcome);
    script_free(script);
    return fine ? 0 : 1;
}
