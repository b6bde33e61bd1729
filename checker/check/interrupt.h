/* interrupt.h - what is left of us when a signal ends the program: nothing in temporary folders, and the reports so far.
 *
 *     interrupt_install -> ... SIGINT or SIGTERM -> closing line, the ready reports committed, registered files removed, exit 130
 *     while a search runs: SIGINT or SIGTERM -> interrupt_requested; the search stops, its report is made, then exit 130
 *     INTERRUPT_MEMORY -> the same as the first, with the line about memory, exit 3
 *
 * A check cannot be asked to stop at any point of its search, so the handler itself does the closing, and only with calls that POSIX
 * allows in one. Whoever changes what the handler looks at holds signals off meanwhile.
 *
 * Ownership:   registered paths are copied.
 * Errors:      none; a full registry is our own bug.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define INTERRUPT_MEMORY SIGUSR1                /* from the warden: this process is too large */

void interrupt_install(void);
void interrupt_hold(void);                                      /* signals wait until the matching release; may be nested */
void interrupt_release(void);
/* Files and then folders to remove at the end of the process, by whichever way it ends. */
void interrupt_register(const char *path, bool folder);
void interrupt_remove_registered(void);
/* Between these the first signal only makes interrupt_requested true, so that a search can end with a report; the next one ends all. */
void interrupt_postpone(void);
void interrupt_postpone_no_more(void);
bool interrupt_requested(void);
void interrupt_set_closing(const char *line);                   /* copied, cut at 200 bytes; printed to standard error */
void interrupt_set_memory_line(const char *line);               /* likewise */
void interrupt_end_with(pid_t above);           /* a SIGTERM of that process's end, our parent's, is never postponed */
void interrupt_set_group(pid_t group);          /* of processes that end with this one, 0: none */
/* Called by the handler before it leaves: async-signal-safe code only. */
void interrupt_set_commit(void (*commit)(void *), void *data);
