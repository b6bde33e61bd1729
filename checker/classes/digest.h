/* digest.h - what the classes of one search add up to: findings, end states, results.
 *
 *     complete run -> record -> proof -> findings, merged by key
 *
 * A class in which nothing but the ends of cores can go wrong, and all of them finished, needs no record and no proof; nor does one that
 * differs from an earlier one in nothing but what looks saw, where a look can make no difference (aside.c).
 */
#pragma once
#include "explore.h"

typedef struct Hashes { uint64_t *slot; size_t used, size; } Hashes;   /* a set; 0 is not in it */
bool hashes_add(Hashes *hashes, uint64_t hash);         /* true: it was not there yet */

typedef struct Aside Aside;

typedef struct Result {
    GArray *bytes;                              /* what one class handed back; NULL: none did yet */
    bool diverged;                              /* another one handed back something else */
} Result;

struct Digest {                                 /* of one explorer, for one round */
    Record *record;                             /* NULL: no run was written down yet */
    uint32_t *position;                         /* scratch: by core */
    Hashes ends, classes;                       /* classes: for the audit */
    Aside *aside;                               /* what was found out about classes that differ in looks only */
    Finding *deadlock;                          /* where it alone can go wrong: the finding that the next ones are counted with */
    Result result;
    GArray *moves;                              /* the schedule of the class that handed back result.bytes; NULL: none */
};

typedef struct Sum {                            /* of a search */
    Outcome *outcome;
    Hashes ends, classes;
    Result result;                              /* of the first class that had one */
    uint64_t runs, redundant;
    const char *limit;
    bool done;
} Sum;

void sum_init(Sum *sum);
void sum_clear(Sum *sum);
/* Adds what the explorer has found since the last time, and takes it from it. Explorers in their own order. */
void sum_add(Sum *sum, Explorer *explorer);
void sum_settle(Sum *sum, const Program *program);      /* the outcome is complete */

/* record_of.c: the run in hand as the proof reads it. */
void digest_record(Explorer *explorer);
/* aside.c: does what the cores did decide the class, whatever looks saw? */
typedef enum AsideVerdict { ASIDE_UNTRIED, ASIDE_FAULTLESS, ASIDE_OPEN } AsideVerdict;
Aside *aside_new(const Program *program);
void aside_free(Aside *aside);
/* Of the complete run in hand, where all cores finished: a number for what they did, NONE: not to be tried. */
uint32_t aside_find(Explorer *explorer);
AsideVerdict aside_verdict(const Aside *aside, uint32_t steps);
void aside_note(Aside *aside, uint32_t steps, AsideVerdict verdict);
/* handed_back.c: expectations, and whether all classes end alike; adds to the record what is wrong. */
void digest_results(Explorer *explorer);
void digest_compare(Explorer *explorer);        /* a class without faults */
void digest_compare_rounds(Sum *sum, Explorer *explorer);       /* an explorer's first result with that of the search */
