/* expectation.h - what a program says of its results, judged once all cores have finished.
 *
 * Ownership:   expectations belong to the program.
 */
#pragma once
#include "machine.h"

/* A message of an expectation that begins so is about an element nobody wrote (`uninitialised`, not `assert`). */
#define EXPECTATION_UNWRITTEN "nobody wrote "

typedef struct Unexpected {                     /* where a result is not the expected one */
    char *message;                              /* g_malloc; NULL: nowhere */
    uint32_t object, view;
    int64_t element;                            /* of the view */
} Unexpected;

typedef struct Unmet {                          /* an expectation that does not hold on one device */
    FaultId fault;
    uint32_t core, site;                        /* the device's first core */
    const char *message;                        /* as long as the program */
} Unmet;

/* Unmet, in order of expectations, then devices. Runs the user's functions, adds to the program, and notes there what hangs on races. */
GArray *expectation_judge(Machine *machine);
bool expectation_holds(Machine *machine, const Expectation *expectation);      /* on all devices */
const Expectation *expectation_at(const Program *program, uint32_t site);      /* NULL: there is none */
