/* settle.h - the recorded run, made anew until the entry barriers that it ran under are those that it shows the launches to have.
 *
 * Whether a launch communicates, and so begins with a barrier over all devices, is only known from a run. A run under another
 * barrier may have got stuck before one which is not there, and is in an order that nobody can repeat. What is learnt of a launch only
 * grows, so this ends.
 *
 * Errors:      a run that a limit ended, or in which a core stopped, stays as it is; usage errors are the program's.
 */
#pragma once
#include "execution.h"

void settle_run(Execution *execution, const ExecutionOptions *options);
/* What was learnt of the launches, a digit each, for another process that runs the same program. g_malloc. */
char *settle_facts(const Program *program);
/* Adds what such a text says (no effect: of another number of launches); entry barriers stay what they are. */
void settle_add_facts(Program *program, const char *facts);
/* Entry barriers after what was learnt of the launches, and after the program's edits. True: some changed. finished: see program.h. */
bool settle_launches(Program *program, bool finished);
