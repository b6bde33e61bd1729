/* class_results.h - the results of the classes of one search: findings, end states, final contents.
 *
 *     complete run -> record -> proof -> findings, merged by key
 *
 * A class needs neither record nor proof if all its cores finish and nothing but the ends of cores can go wrong, or if it differs from a
 * faultless one only in what looks observed (families.c).
 */
#pragma once
#include "explore.h"

typedef struct Families Families;

typedef struct Result {
    GArray *bytes;                              /* final contents of one class; NULL: none yet */
    bool diverged;                              /* another class ended with other contents */
} Result;

struct ClassResults {                           /* of one explorer, for one round */
    Record *record;                             /* NULL: no class needed one yet */
    uint32_t *position;                         /* scratch: by core */
    GHashTable *ends, *classes;                 /* sets of hashes of 64 bits, for tests; classes: for the audit */
    Families *families;                         /* verdicts on classes that differ in looks only */
    Finding *deadlock;                          /* the deadlock found; where nothing else can go wrong, others say nothing new */
    Result result;
    GArray *moves;                              /* the schedule of the class that result.bytes is of; NULL: none */
};

typedef struct Totals {                         /* of a search */
    Outcome *outcome;
    GHashTable *ends, *classes;
    Result result;                              /* of the first class that had one */
    uint64_t runs, redundant;
    const char *limit;
    bool done;
} Totals;

void totals_init(Totals *totals);
void totals_clear(Totals *totals);
/* Moves the explorer's findings since the last call to the totals. To be called in the order of explorers. */
void totals_add(Totals *totals, Explorer *explorer);
void totals_settle(Totals *totals, const Program *program);     /* the outcome is complete */

/* record_of.c: the current run as the proof reads it. */
void record_of_run(Explorer *explorer);
/* families.c: do the steps of the cores decide the class, whatever looks observed? */
typedef enum FamilyVerdict { FAMILY_UNTRIED, FAMILY_FAULTLESS, FAMILY_OPEN } FamilyVerdict;
Families *families_new(const Program *program);
void families_free(Families *families);
/* The family of the current complete run, in which all cores finished: a number for their steps; NONE: not to be tried. */
uint32_t families_find(Explorer *explorer);
FamilyVerdict families_verdict(const Families *families, uint32_t steps);
void families_note(Families *families, uint32_t steps, FamilyVerdict verdict);
/* final_results.c: checks expectations, adding faults to the record, and compares the final contents of classes. */
void final_results_check(Explorer *explorer);
void final_results_compare(Explorer *explorer); /* a class without faults */
void final_results_merge(Totals *totals, Explorer *explorer);   /* compares an explorer's first result with that of the search */
