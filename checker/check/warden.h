/* warden.h - the process above all others: nothing that they start outlives it, and all together they stay below the limit of memory.
 *
 *     warden_begin (the process splits: the warden stays here and never returns, all the work is done in its child)
 *
 * It hands on SIGINT and SIGTERM, insists where nothing happens, ends with the exit code of its child, and kills whatever is left then,
 * also what user code has started. A warden that is killed takes all others along: each process ends with the one above it. With
 * HEDDLE_PARENT=PID in the environment it does not outlive that process either.
 */
#pragma once

void warden_begin(void);                        /* before anything else is started; where it cannot be, there is no warden */
