/* outside.h - what user code could keep outside of the machine, and outside of a core's stack: memory and functions of its process.
 *
 * Whoever loads user code watches over that (checker/run/globals.h). Runs begin with outside_begin; before anybody else's code goes on, at
 * each step and after each call of an author's function, outside_changed tells what is no longer as PROGRAM left it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct OutsideWatch {
    void (*begin)(void);                        /* all is as PROGRAM left it, in this thread too */
    char *(*changed)(void);                     /* what is not, in words (g_malloc), and puts it back; NULL: nothing */
} OutsideWatch;

extern const OutsideWatch *outside_watch;       /* NULL: nothing is watched */
extern volatile bool outside_suspect;           /* something may have changed since the last look */
/* Ends the code of a kernel or of an author's function for what it does there; returns where none is running. Set by the kernel API.
 * function: as the compiler knows it, NULL: nobody knows. */
extern void (*outside_refuse)(const char *function, const char *what);

static inline void outside_begin(void)
{
    if (outside_watch != NULL)
        outside_watch->begin();
}

static inline char *outside_changed(void)
{
    return __builtin_expect(outside_suspect, 0) ? outside_watch->changed() : NULL;
}
