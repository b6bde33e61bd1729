/* unreached.h - advice about what the verdict does not cover: operations that no run executed, launches that no core ran, and expectations
 * that hold before the program runs.
 */
#pragma once
#include "../../model/machine.h"
#include "../../model/offer.h"
#include "../facts/record.h"

/* Call after all runs and searches. Adds advice to the record, if the run is complete. */
void unreached_note(const ProgramModule *module, Program *program, Record *record);
/* Call before anything runs: which expectations hold already. g_malloc, one for each expectation. */
bool *unreached_expectations(Machine *machine);
/* Adds advice about those; if there are no others, results count as unchecked. */
void unreached_note_expectations(const bool *idle, Record *record);
