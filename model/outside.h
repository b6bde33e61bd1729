/* outside.h - state of user code outside the machine and outside a core's stack: memory and functions of its process.
 *
 * The loader of user code watches it (checker/run/globals.h). A run begins with outside_begin; before other code continues, at each step
 * and after each call of an author's function, outside_changed reports what differs from the state that PROGRAM left.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct OutsideWatch {
    void (*begin)(void);                        /* restores the state that PROGRAM left, in this thread too */
    char *(*changed)(void);                     /* restores it and says in words (g_malloc) what had changed; NULL: nothing */
} OutsideWatch;

extern const OutsideWatch *outside_watch;       /* NULL: nothing is watched */
extern volatile bool outside_suspect;           /* something may have changed since the last look */
/* Ends the running kernel or author's function for what it does outside; returns if none is running. Set by the kernel API.
 * function: the compiler's name for it; NULL: unknown. */
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
