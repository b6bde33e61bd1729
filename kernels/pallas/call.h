/* call.h - calls of an author's own functions that are to be told apart: PL_CALL(fetch(input, slot)).
 *
 * What happens inside stands in reports with "called from", and a fault there is one fault for each way that leads to it. A value of the
 * call is the value of PL_CALL. Without it a function's lines are the same whoever calls it. Scratch has one place whoever calls it.
 */
#pragma once
#include "api.h"
#include "map.h"

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
