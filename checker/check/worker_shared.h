/* worker_shared.h - the memory that a check and its worker share. */
#pragma once
#include "spec.h"

typedef struct WorkerShared {
    ChildControl control;                       /* first: see child.h */
    Store home, outcome, text, results;         /* outcome: from outcome_save; text: the strings below; results: results.h */
    const CheckSpec *spec;
    Deadline deadline;
    Program *program;
    Record *record;
    const char *error;                          /* loading, building or running failed: one line */
    const char *warning;                        /* one line, NULL: none */
    const char *not_applicable, *not_deterministic;
    bool ran, searched, steps_reached;          /* searched: the outcome is that of a search */
    bool marked;                                /* the second pass, with racing values marked (racing.h) */
    bool enumerated;                            /* the outcome is from an enumeration, whatever search was chosen */
    bool again;                                 /* the search showed other entry barriers: everything is repeated */
    const char *facts;                          /* what was known of the launches before the recorded run (entry_barriers_known) */
    bool as_given;                              /* a requested replay: schedules are not made shorter */
    Store move_log;                             /* the moves of the current run, if they are chosen: run/move_log.h */
    const GArray *follow;                       /* of Move: do these instead of a search; NULL: search */
    bool data_only;                             /* not_deterministic: same steps, different data */
    struct Execution *execution;                /* the child's own */
    Record *replayed;                           /* of runs with chosen moves, apart from `record`; the parent's */
    bool replays;                               /* the child's own: execution uses `replayed` */
    struct InputSearch *many;                   /* many inputs are checked (input_search.h), by these; NULL: one */
    void (*serve)(struct WorkerShared *shared), (*give)(struct WorkerShared *shared);
} WorkerShared;

const char *worker_keep(WorkerShared *shared, const char *text);  /* a copy that the parent can read */
/* --first, unless the first finding may be exempted, or an effect of a racing value. */
bool worker_stops_at_first(const WorkerShared *shared);
Limits worker_limits(const WorkerShared *shared);       /* of the check, with the time that is left */
