/* worker_shared.h - what a check and its worker share. */
#pragma once
#include "spec.h"

typedef struct WorkerShared {
    ChildControl control;                       /* first: see child.h */
    Store home, outcome, text, results;         /* outcome: as outcome_save left it; text: of the strings below; results: results.h */
    const CheckSpec *spec;
    Deadline deadline;
    Program *program;
    Record *record;
    const char *error;                          /* could not be loaded, built or run as meant: one line */
    const char *warning;                        /* one line, NULL: none */
    const char *not_applicable, *not_deterministic;
    bool ran, searched, steps_reached;          /* searched: the outcome is there already */
    bool marked;                                /* all is done again, with the values of the races that were found marked (racing.h) */
    bool enumerated;                            /* what was found then is an enumeration's, whatever search was asked for */
    bool again;                                 /* the search has shown other entry barriers: all is done again under these */
    const char *facts;                          /* of the launches (settle_facts), by which the recorded run was settled */
    bool as_given;                              /* schedules are replayed as they are: not made shorter first */
    Store box;                                  /* of the run in hand, where somebody chooses its moves: see run/blackbox.h */
    const GArray *follow;                       /* of Move: do these in place of a search; NULL: search */
    bool data_only;                             /* not_deterministic: the same steps with different data */
    struct Execution *execution;                /* the child's own */
    Record *replayed;                           /* of runs that somebody chooses, so that the run's record stays as it is; the parent's */
    bool replays;                               /* the child's own: execution is on that record by now */
} WorkerShared;

const char *worker_keep(WorkerShared *shared, const char *text);  /* a copy where the parent can read it */
/* --first, unless what is found first may be exempted, or led to by a racing value. */
bool worker_stops_at_first(const WorkerShared *shared);
Limits worker_limits(const WorkerShared *shared);       /* of the check, with the time that is left */
