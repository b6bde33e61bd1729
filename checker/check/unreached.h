/* unreached.h - what a verdict says nothing about: operations that nothing executed, in functions of which something was; launches that
 * run nowhere; expectations that hold of anything.
 */
#pragma once
#include "../../model/machine.h"
#include "../../model/offer.h"
#include "../facts/record.h"

/* To be asked when all runs and searches are done. Adds advice to the record, for a run that came to its end. */
void unreached_note(const ProgramModule *module, Program *program, Record *record);
/* Before anything runs on the machine: which expectations hold already. g_malloc, one an expectation. */
bool *unreached_expectations(Machine *machine);
/* Adds advice about those; if there are no others, no result was checked. */
void unreached_note_expectations(const bool *idle, Record *record);
