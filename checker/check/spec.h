/* spec.h - what a check is told, and what it comes to.
 *
 * Ownership:   a result owns its program, record and outcome; strings of the spec are borrowed.
 */
#pragma once
#include "../../model/offer.h"
#include "../facts/finding.h"
#include "../run/child.h"
#include "../run/edit.h"
#include "exit_code.h"
#include "../facts/limits.h"

typedef enum Verdict { VERDICT_VERIFIED = EXIT_VERIFIED, VERDICT_FAULTY = EXIT_FAULTY, VERDICT_ERROR = EXIT_ERROR,
                       VERDICT_BOUNDED = EXIT_BOUNDED, VERDICT_NOT_APPLICABLE = 4 } Verdict;
/* A row of the table in search.c. These are the rows that code asks for by name. */
typedef enum Search { SEARCH_AUTO, SEARCH_PROVE, SEARCH_ENUMERATE, SEARCH_RANDOM, SEARCH_PCT } Search;

enum { CORES_MAX = 1024 };                      /* a device */

typedef struct Override { const char *name; int64_t value; } Override;

typedef struct CheckSpec {
    ProgramModuleOpen open;
    const char *module;                         /* path of a .so, NULL: linked into this executable */
    const char *program;                        /* its name */
    const char *source;                         /* the user's file as named on the command line, NULL: what the module says */
    Mesh mesh;
    uint32_t cores;
    const Override *override;
    size_t overrides;
    Knobs knobs;
    Search search;
    unsigned modes;                             /* of an enumeration: WalkMode bits */
    Limits limits;
    uint64_t seed;
    unsigned depth;                             /* of pct, 0: the default */
    bool whatif; int64_t until;                 /* it is done for another check, and ends with that: monotonic microseconds, 0: never */
    bool results;                               /* keep the arrays that the run left */
    bool film;                                  /* keep what the replay of each finding did: Finding.film */
    const Edits *edits;                         /* changes to the program's steps; NULL: as it is */
    bool first, in_process;                     /* in_process: no fork (tests, gdb) */
    bool alone;                                 /* no other size of the program is checked */
    unsigned workers;                           /* processes that share a search, 0: one */
    const char *checkpoint, *resume;            /* files to write and to go on from; NULL: none */
    const char *facts;                          /* of the launches (settle_facts), learnt by an earlier check; NULL: none */
    const ChildWatch *watch;                    /* NULL: nobody looks, nothing interrupts; its seconds_max does not count */
} CheckSpec;

typedef struct Advice {
    AdviceId id; char *message;
    unsigned places; Place place[2];
} Advice;

/* Of a faulty program on a line of devices: the smallest wrong size (its own: none below it; 0: none was found, or one stays open). Below
 * it so many are right, from `least` on. */
typedef struct SmallerSizes { bool known; uint32_t wrong, right, least; } SmallerSizes;

typedef struct CheckResult {
    const CheckSpec *spec;
    Verdict verdict;
    char *error;                                /* ERROR: one line; NOT_APPLICABLE: why */
    Program *program;                           /* NULL when the child did not get that far */
    Record *record;
    Outcome *outcome;
    GPtrArray *advice;                          /* of Advice */
    GPtrArray *tried;                           /* of char*: sentences about what was tried on a faulty program; NULL: nothing was */
    SmallerSizes smaller;
    bool results_checked;
    GBytes *results;                            /* as results.h says; NULL: not asked for, or there are none */
    double seconds;
    Deadline deadline;                          /* of all that is done for it */
    size_t peak_bytes;
    char *warning;                              /* a checkpoint could not be written: one line; NULL */
    char *captured;                             /* what the kernel printed; NULL: nothing */
} CheckResult;

const char *verdict_name(Verdict verdict);      /* "verified", "faulty", "error", "bounded", "not applicable" */
const char *search_name(Search search);         /* NULL: behind the last row */
void check_result_free(CheckResult *result);
