/* differential.h - one random program decided by proof, classes, enumeration and, where it can, brute force: do they say the same?
 *
 * Compared are findings by key (fault, sites, declaration), numbers of racing pairs, end states and completeness; findings are replayed and
 * judged; records of the same program in other orders must be decided alike.
 *
 * Where a value that races reaches control only races are compared, and where a result depends on the order ("conflicts") the proof may
 * find less, but must say that it is not complete.
 */
#pragma once
#include "../../checker/classes/classes.h"
#include "../../checker/enumerate/enumerate.h"
#include "../../checker/proof/prove.h"
#include "../support/random_program.h"

typedef struct DifferentialStats {
    uint64_t programs, skipped, states, brute, verified, bounded, other_orders, classes, conflicts, modes, refused, rotated;
    uint64_t ordered;                           /* faults that hold under a stricter order of copies, found again under it */
    uint64_t marked;                            /* runs compared element by element, where races were marked */
    uint64_t workers, resumed;                  /* searches done again by others; interrupted and resumed */
    uint64_t found[FAULT_COUNT];                /* programs with such a fault */
} DifferentialStats;

typedef struct DifferentialOptions {
    ProveCanary canary;
    ClassesCanary classes_canary;
    EnumerateCanary states_canary;
    uint64_t states_max;                        /* programs with more are skipped */
    bool quick;                                 /* proof against enumeration only: no brute force, no replays, no other orders */
} DifferentialOptions;

/* NULL: they agree, or the program was too large. Else what differs, in lines. g_malloc. */
char *differential_compare(const RandomProgram *random, const DifferentialOptions *options, DifferentialStats *stats);
/* Drops operations while something still differs. */
void differential_shrink(RandomProgram *random, const DifferentialOptions *options);
/* Difference and program of the shrunk program, as text, to find out why. g_malloc. */
char *differential_report(const RandomProgram *random, const DifferentialOptions *options, const char *difference);
