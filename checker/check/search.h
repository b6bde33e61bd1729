/* search.h - the searches: one table, from which their names, help and behaviour come. They run in the child of a check. */
#pragma once
#include "../sample/strategy.h"
#include "worker_shared.h"

/* What a search is like; `search_is` asks. */
enum {
    SEARCH_COVERS = 1,          /* it covers every order, unless a limit ends it. Others sample */
    SEARCH_BY_RECORD = 2,       /* a recorded run represents all that do the same steps */
    SEARCH_HAS_MODES = 4        /* --sweep and other options of enumeration apply */
};

typedef struct SearchSpec {
    const char *name, *help;
    unsigned is;
    Limits limits;                              /* of states and runs, unless the check sets its own */
    StrategyKind strategy;                      /* of a search that samples */
    /* Leaves shared->outcome or shared->error; false: neither, the proof of the record decides. */
    bool (*run)(WorkerShared *shared, const struct SearchSpec *spec);
} SearchSpec;

extern const SearchSpec search_table[];         /* by Search; ended by a NULL name */
const char *search_names(void);                 /* "auto|prove|..." */
static inline bool search_is(Search search, unsigned any) { return search_table[search].is & any; }

/* The chosen search, after the recorded run; sets shared->searched if it leaves an outcome. */
void search_run(WorkerShared *shared);
/* An enumeration in addition to the chosen search. If it completes or finds a fault, sets shared->searched and shared->enumerated. */
void search_states(WorkerShared *shared);
