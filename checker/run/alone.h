/* alone.h - user code starts no process, no thread and no other program: the kernel of the system refuses.
 *
 *     alone_begin, in the child -> user code; our own processes and threads come from alone_fork and alone_run_threads
 *
 * A filter of system calls (seccomp) tells our own from others: a fork of ours has a secret argument, a thread of ours a stack of ours.
 * Whoever is refused gets SIGSYS. Where the system has no such filter, nothing is refused, and the supervisor ends what was started.
 */
#pragma once
#include <sys/types.h>

void alone_begin(void);
pid_t alone_fork(void);                         /* like fork; in a process without the filter too */
/* Calls run(data, 0) here and run(data, 1) ... run(data, count - 1) on threads of their own; returns when all have. */
void alone_run_threads(unsigned count, void (*run)(void *data, unsigned index), void *data);
