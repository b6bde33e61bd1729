/* supervisor.h - the process above all others: it keeps their total memory below the limit, and no process outlives it.
 *
 *     supervisor_begin: forks; the parent becomes the supervisor and never returns, the child does all the work
 *
 * It forwards SIGINT and SIGTERM, repeats a signal that has no effect, and exits with its child's exit code after killing every process
 * that is left, including those that user code started. If the supervisor is killed, each process below ends when its parent does. With
 * HEDDLE_PARENT=PID in the environment the supervisor also ends when that process does.
 */
#pragma once

void supervisor_begin(void);                    /* call it before starting anything; if it fails, there is no supervisor */
