/* unreached.h - which operations of a module nothing executed, in functions of which something was. */
#pragma once
#include "../model/offer.h"
#include "run/record.h"

/* To be asked when all runs and searches are done. Adds advice `unreached` to the record, for a run that came to its end. */
void unreached_note(const ProgramModule *module, Program *program, Record *record);
