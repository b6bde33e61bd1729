/* alone.h - user code may not start a process, a thread or another program: the operating system refuses.
 *
 *     alone_begin, in the child -> user code; our own processes and threads come from alone_fork and alone_run_threads
 *
 * A filter of system calls (seccomp) recognises our own: our forks have a secret argument, our threads our stacks. A refused call raises
 * SIGSYS. On systems without such a filter nothing is refused, and the supervisor ends what was started.
 */
#pragma once
#include <sys/types.h>

void alone_begin(void);
pid_t alone_fork(void);                         /* like fork, also without the filter */
/* Calls run(data, 0) here and run(data, 1) ... run(data, count - 1) on threads; returns when all have returned. */
void alone_run_threads(unsigned count, void (*run)(void *data, unsigned index), void *data);
