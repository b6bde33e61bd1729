/* settle.h - the recorded run, made anew until the entry barriers that it ran under are those that it shows the launches to have.
 *
 * Whether a launch communicates, and so begins with a barrier over all devices, is only known from runs. A core that gets past a launch
 * in no run, because it is stuck or stopped before, might communicate there. A stuck one is followed beyond the step that it waits for, as
 * far as can be foreseen without values. Where that is not far enough, or the core is stopped, the launch is taken for one that
 * communicates once all runs are done: no other device enters it then, and what is reported does not rest on a barrier that it may have.
 *
 *     all have a barrier -> those that did not communicate have none -> those that do in some run have it again
 *                        -> those that some core got past in no run are presumed to have it
 *
 * A run under another barrier may have got stuck before one which is not there, and is in an order that nobody can repeat. What is learnt
 * only grows, so this ends. All searches go by the same rule: what their runs show, and what stuck cores would do.
 *
 * Errors:      a run that a limit ended stays as it is; usage errors are the program's.
 */
#pragma once
#include "execution.h"

void settle_run(Execution *execution, const ExecutionOptions *options);
/* At the end of a run: what stuck cores would do is learnt of the launches, unless all are settled. The execution stays as it is. */
void settle_stuck(Execution *execution);
/* What was learnt of the launches, a digit each, for another process that runs the same program. g_malloc. */
char *settle_facts(const Program *program);
/* The same, and how many launches each core got past: all that is known. */
char *settle_known(const Program *program);
/* Adds what such a text says (no effect: of another number of launches); entry barriers stay what they are. */
void settle_add_facts(Program *program, const char *facts);
/* Entry barriers after what was learnt of the launches, and after the program's edits. True: some changed. finished: see entry.h. */
bool settle_launches(Program *program, bool finished);
/* The same after all runs of a check that found something: launches that some core never got past are presumed to communicate. */
bool settle_presume(Program *program);
