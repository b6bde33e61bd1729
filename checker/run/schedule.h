/* schedule.h - choices in: who moves, one move after the other; and the text format of a saved schedule.
 *
 * A move names its agent: a core, or one copy by its issuer and ordinal, with the moment. Format "heddle-schedule 1": see schedule.c.
 */
#pragma once
#include <glib.h>
#include "../../model/step.h"

typedef struct Move {
    uint32_t core;                              /* who moves, or who issued the copy */
    uint32_t copy;                              /* ordinal of the copy on that core, or NONE: the core itself moves */
    uint8_t moment;                             /* StepKind of the moment (EARLY_SEND, READ, EARLY_RECEIVE, WRITE); copies only */
} Move;
