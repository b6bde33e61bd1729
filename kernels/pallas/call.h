/* call.h - marks calls of an author's own functions, so that reports distinguish them: PL_CALL(fetch(input, slot)).
 *
 * Reports show operations inside with "called from", and count a fault inside once for each chain of marked calls. The value of PL_CALL is
 * the value of the call. Without PL_CALL a function's lines are the same for all callers; scratch always is.
 */
#pragma once
#include "plumbing.h"

#define PL_CALL(...) \
    (__extension__({ \
        const char PL_PASTE(pl_call_, __COUNTER__) __attribute__((cleanup(pl_end_call_), unused)) = pl_api->call(PL_HERE); \
        __VA_ARGS__; \
    }))

static inline void pl_end_call_(const char *call)
{
    (void)call;
    pl_api->end_call();
}
