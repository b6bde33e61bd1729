/* digest.h - what the classes of one search add up to: findings, end states, results.
 *
 *     complete run -> record -> proof -> findings, merged by key
 *
 * A class in which nothing but the ends of cores can go wrong, and all of them finished, needs no record and no proof.
 */
#pragma once
#include "explore.h"

typedef struct Hashes { uint64_t *slot; size_t used, size; } Hashes;   /* a set; 0 is not in it */

struct Digest {
    Record *record;
    uint32_t *position;                         /* scratch: by core */
    Hashes ends, classes;                       /* classes: for the audit */
    Finding *deadlock;                          /* where it alone can go wrong: the finding that the next ones are counted with */
    GArray *result;                             /* bytes of the first class's results, NULL: none yet */
    bool diverged, checked;
};

/* record_of.c: the run in hand as the proof reads it. */
void digest_record(Explorer *explorer);
/* results.c: expectations, and whether all classes end alike; adds to the record what is wrong. */
void digest_results(Explorer *explorer);
void digest_compare(Explorer *explorer);        /* a class without faults */
