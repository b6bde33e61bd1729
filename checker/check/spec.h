/* spec.h - the input of a check, and its result.
 *
 * Ownership:   a result owns its program, record and outcome; strings of the spec are borrowed.
 */
#pragma once
#include "../../model/offer.h"
#include "../facts/finding.h"
#include "../run/child.h"
#include "exit_code.h"
#include "input_rule.h"
#include "repair.h"
#include "../facts/limits.h"

typedef enum Verdict { VERDICT_VERIFIED = EXIT_VERIFIED, VERDICT_FAULTY = EXIT_FAULTY, VERDICT_ERROR = EXIT_ERROR,
                       VERDICT_BOUNDED = EXIT_BOUNDED, VERDICT_NOT_APPLICABLE = 4 } Verdict;
/* A row of the table in search.c. These are the rows that code asks for by name. */
typedef enum Search { SEARCH_AUTO, SEARCH_PROVE, SEARCH_ENUMERATE, SEARCH_RANDOM, SEARCH_PCT } Search;

enum { CORES_MAX = 1024 };                      /* a device */

#define INPUTS_ALL UINT64_MAX
#define INPUTS_GIVEN (UINT64_MAX - 1)          /* by lines of standard input (input_lines.h) */

typedef struct Override { const char *name; int64_t value; } Override;

typedef struct CheckSpec {
    ProgramModuleOpen open;
    const char *module;                         /* path of a .so; NULL: linked into this executable */
    const char *program;                        /* its name */
    const char *source;                         /* the user's file as named on the command line; NULL: the module says */
    Mesh mesh;
    uint32_t cores;
    const Override *override;
    size_t overrides;
    const int64_t *input;                       /* the program's input (model/input.h): so many values; the rest is generated */
    size_t input_values;
    uint64_t inputs, inputs_seed;               /* how many inputs: INPUTS_..., or 0 for that one only (inputs.h) */
    unsigned shape_canary;                      /* of ShapePart: what shapes leave out; 0 but in tests */
    Knobs knobs;
    Search search;
    unsigned modes;                             /* of an enumeration: EnumerateMode bits */
    Limits limits;
    uint64_t seed;
    unsigned depth;                             /* of pct, 0: the default */
    bool whatif; int64_t until;                 /* part of another check, whose deadline is `until` (monotonic microseconds; 0: none) */
    bool results;                               /* keep the final contents of arrays */
    bool recording;                             /* keep the record of each replay: Finding.recording */
    const Edits *edits;                         /* changes to the program's steps; NULL: as it is */
    bool first, in_process;                     /* in_process: no fork (tests, gdb) */
    bool alone;                                 /* no other size of the program is checked */
    unsigned workers;                           /* processes that share a search, 0: one */
    const char *checkpoint, *resume;            /* files to write, and to resume from; NULL: none */
    const char *facts;                          /* about launches (entry_barriers_facts), from an earlier check; NULL: none */
    const ChildWatch *watch;                    /* progress and interruption; NULL: none. Its seconds_max is not used */
} CheckSpec;

typedef struct Advice {
    AdviceId id; char *message;
    unsigned places; Place place[2];
} Advice;

/* Of a faulty program on a line of devices: the smallest faulty size (its own if all smaller ones are right; 0: unknown). `right` smaller
 * sizes are verified, from `least` on. */
typedef struct SmallerSizes { bool known; uint32_t wrong, right, least; } SmallerSizes;

/* Of a check of many inputs. */
typedef struct InputTally {
    uint64_t tried, refused;                    /* executed; refused: beginnings of inputs that PL_NEEDS leaves out */
    uint64_t shapes, faulty, undecided;         /* faulty: those that look so; undecided: a limit was reached */
    uint64_t doubted;                           /* all that the search did not find right: faulty ones, and others */
    uint64_t last_news;                         /* the number of the input that had the last news, from 1 */
    bool whole;                                 /* every input was tried */
    bool given;                                 /* somebody else chose them, the last one is the one to show (input_lines.h) */
    bool ruled; Rule rule;                      /* what wrong inputs have in common, and no right one (input_rule.h) */
    uint64_t right;                             /* inputs that were right, if ruled */
} InputTally;

typedef struct CheckResult {
    const CheckSpec *spec;
    Verdict verdict;
    char *error;                                /* ERROR: one line; NOT_APPLICABLE: why */
    Program *program;                           /* NULL: the child ended before building it */
    Record *record;
    Outcome *outcome;
    GPtrArray *advice;                          /* of Advice */
    GPtrArray *tried;                           /* of Repair; NULL: none was tried */
    SmallerSizes smaller;
    InputTally *inputs;                         /* NULL: one input was checked */
    GPtrArray *owned;                           /* what `spec` points to, if it is of one among many inputs; NULL */
    bool results_checked;
    GBytes *results;                            /* in the format of results.h; NULL: not requested, or none */
    double seconds;
    Deadline deadline;                          /* of the whole check, with repairs and advice */
    size_t peak_bytes;
    char *warning;                              /* a checkpoint could not be written: one line; NULL */
    char *captured;                             /* what the kernel printed; NULL: nothing */
} CheckResult;

const char *verdict_name(Verdict verdict);      /* "verified", "faulty", "error", "bounded", "not applicable" */
const char *search_name(Search search);         /* NULL: behind the last row */
void check_result_free(CheckResult *result);
