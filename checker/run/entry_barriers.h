/* entry_barriers.h - repeats the recorded run until it agrees with itself on which launches begin with a barrier.
 *
 * Whether a launch communicates, and so begins with a barrier over all devices, is known only from runs. A core that gets past a launch
 * in no run, because it is stuck or stopped before, might communicate there. run/lookahead follows a stuck core past its wait, as far as
 * that is possible without values. If that is not far enough, or the core is stopped, the launch is presumed to communicate once all runs
 * are done: then no other device enters it, and no finding relies on the absence of a barrier that may exist.
 *
 *     all have a barrier -> those that did not communicate have none -> those that do in some run have it again
 *                        -> those that some core got past in no run are presumed to have it
 *
 * A run under wrong barriers may be stuck at one that does not exist, and its order cannot be replayed. Facts about launches only grow, so
 * the repetition ends. All searches follow the same rule: what their runs show, and what stuck cores would do.
 *
 * Errors:      a run that a limit ended stays as it is; usage errors are the program's.
 */
#pragma once
#include "execution.h"

void entry_barriers_run(Execution *execution, const ExecutionOptions *options);
/* At the end of a run: looks ahead for stuck cores, unless all launches are settled. The execution is unchanged. */
void entry_barriers_note_stuck(Execution *execution);
/* The facts known of the launches, one digit each, for another process that runs the same program. g_malloc. */
char *entry_barriers_facts(const Program *program);
/* The same, and how many launches each core got past: all that is known. */
char *entry_barriers_known(const Program *program);
/* Adds such facts (no effect if the number of launches differs). Entry barriers do not change. */
void entry_barriers_add_facts(Program *program, const char *facts);
/* Updates entry barriers from the facts and the program's edits. True: some changed. finished: see entry.h. */
bool entry_barriers_update(Program *program, bool finished);
/* The same after all runs of a check with findings: launches that some core never got past are presumed to communicate. */
bool entry_barriers_presume(Program *program);
