/* interrupt.h - on a signal, removes temporary files and commits the reports so far.
 *
 *     interrupt_install -> ... SIGINT or SIGTERM -> closing line, the ready reports committed, registered files removed, exit 130
 *     while a search runs: SIGINT or SIGTERM -> interrupt_requested; the search stops, its report is made, then exit 130
 *     INTERRUPT_MEMORY -> the same as the first, with the line about memory, exit 3
 *
 * A check cannot stop at every point, so the handler itself closes, with async-signal-safe calls only. Code that changes data of the
 * handler holds signals meanwhile.
 *
 * Ownership:   registered paths are copied.
 * Errors:      none; a full registry is a bug.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define INTERRUPT_MEMORY SIGUSR1                /* from the supervisor: too much memory is in use */

void interrupt_install(void);
void interrupt_hold(void);                                      /* blocks signals until the matching release; nests */
void interrupt_release(void);
/* Files, and then folders, to remove when the process ends, however it ends. */
void interrupt_register(const char *path, bool folder);
void interrupt_remove_registered(void);
/* Between these two calls the first signal only sets interrupt_requested, so that a search can report; the next one ends the process. */
void interrupt_postpone(void);
void interrupt_postpone_no_more(void);
bool interrupt_requested(void);
void interrupt_set_closing(const char *line);                   /* copied, cut at 200 bytes; printed to standard error */
void interrupt_set_memory_line(const char *line);               /* likewise */
void interrupt_end_with(pid_t above);           /* a SIGTERM because that parent ended is never postponed */
void interrupt_set_group(pid_t group);          /* processes killed with this one; 0: none */
/* Called by the handler before it exits: async-signal-safe code only. */
void interrupt_set_commit(void (*commit)(void *), void *data);
