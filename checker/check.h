/* check.h - one program at one size under one set of knobs: run it, decide it, replay what was found.
 *
 *     spec -> [child: load, build, recorded run, repeated run] -> record -> prove (parent) | enumerate (child)
 *          -> findings, each replayed in a child of its own -> result
 *
 * Ownership:   a result owns its program, record and outcome; strings of the spec are borrowed.
 * Errors:      bad input and dead ends of the world are verdict VERDICT_ERROR with one line in `error`.
 */
#pragma once
#include "../model/offer.h"
#include "finding.h"
#include "run/child.h"
#include "run/edit.h"
#include "run/limits.h"

typedef enum Verdict { VERDICT_VERIFIED = 0, VERDICT_FAULTY = 1, VERDICT_ERROR = 2, VERDICT_BOUNDED = 3,
                       VERDICT_NOT_APPLICABLE = 4 } Verdict;
typedef enum Search {
    SEARCH_AUTO, SEARCH_PROVE, SEARCH_ENUMERATE,
    SEARCH_RANDOM, SEARCH_PCT, SEARCH_POS, SEARCH_STARVE,      /* in the order of StrategyKind */
    SEARCHES
} Search;

enum { CORES_MAX = 1024 };                      /* a device */

typedef struct Override { const char *name; int64_t value; } Override;

typedef struct CheckSpec {
    ProgramModuleOpen open;
    const char *module;                         /* path of a .so, NULL: built in */
    const char *program;                        /* its name */
    const char *source;                         /* the user's file as named on the command line, NULL: what the module says */
    Mesh mesh;
    uint32_t cores;
    const Override *override;
    size_t overrides;
    Knobs knobs;
    Search search;
    unsigned modes;                             /* of an enumeration: WalkMode bits */
    uint64_t states_max, runs_max, seed;        /* limits 0: the search's default */
    unsigned depth;                             /* of pct, 0: the default */
    double seconds_max;                         /* 0: none */
    bool whatif; int64_t until;                 /* it is done for another check, and ends with that: monotonic microseconds, 0: never */
    size_t memory_max;
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

CheckResult *check_run(const CheckSpec *spec);
/* For small programs, changed copies are checked as a whole: a faulty one with the usual repairs and other knobs (result->tried), a
 * verified one without each of its barriers and signals (needless-sync and what they are needed for, result->advice). repair.c, advice.c */
void check_try_repairs(CheckResult *result);
void check_try_without(CheckResult *result);
/* A faulty program on a line of devices is checked at smaller sizes: which is the smallest wrong one? (result->tried) */
void check_try_smaller(CheckResult *result);
/* --advice beyond that: ambiguous waits, counts that run ahead, far copies, steps that name a scope early (advice_look.c). */
void check_look_for_advice(CheckResult *result);
void check_add_advice(CheckResult *result, AdviceId id, const char *message, const Place *place);
void check_result_free(CheckResult *result);
/* Runs the program once and replays one finding's lines; takes the finding. The result's outcome holds just that finding, `shown` or not.
 * NULL and *error: a line names no agent of this program. A finding that does not fit the program is an error of
 * the result. */
CheckResult *check_replay(const CheckSpec *spec, Finding *finding, const GPtrArray *lines, char **error);
const char *verdict_name(Verdict verdict);      /* "verified", "faulty", "error", "bounded", "not applicable" */
const char *search_name(Search search);

/* Saved schedules: see schedule.c for the format. */
bool schedule_write(const CheckResult *result, const Finding *finding, const char *path, char **error);
typedef struct ReplayResult {
    CheckResult *check;                         /* program, record of the replayed run; outcome holds the one finding, if it was shown */
    bool shown;
    GPtrArray *lines;                           /* of char*: what happened, one line a move */
    char *error;
} ReplayResult;
typedef struct ReplayOptions {
    bool in_process;                            /* without a child, for a debugger */
    double seconds_max;                         /* 0: no limit */
    size_t memory_max;
} ReplayOptions;
ReplayResult *schedule_replay(ProgramModuleOpen open, const char *path, const char *module, const ReplayOptions *options);
void replay_result_free(ReplayResult *result);
/* What a schedule file says of itself, for the command line to compile the right source first. */
typedef struct ScheduleHeader { char *program, *source, *source_hash, *fault; uint32_t devices; } ScheduleHeader;
ScheduleHeader *schedule_read_header(const char *path, char **error);
void schedule_header_free(ScheduleHeader *header);
