/* plan.h - where clocks are needed and what each is the maximum of: the record reduced to rows.
 *
 * A row stands for all that a core has learnt when it next tells somebody something. Between two such points the waits only add up, so
 * that a row is made of the core's row before and of *parts*: rows of signals that a wait cannot do without, each with its giver's own
 * entry, and *choices* where an order statistic decides. The own entry of a clock is its position and is never stored.
 *
 * Invariants:  1. rows are in the order of the record: parts and the row before have smaller ids; only choices look ahead.
 *              2. row 0 is zero.
 * Ownership:   the arena of plan_new.
 */
#pragma once
#include "index.h"

typedef struct Row {
    uint32_t core, before;                      /* before: the same core's row before, 0: nothing */
    uint32_t parts, part;                       /* parts[part .. part + parts) */
    uint32_t question;                          /* first in a list, NONE: nobody asks */
    uint32_t uses;                              /* how many rows are made of it */
} Row;

typedef struct Part { uint32_t row, core, entry; } Part;        /* row NONE: `entry` is a choice */
typedef struct Choice { uint32_t semaphore, wait; } Choice;
typedef struct Question { uint32_t column, answer, next; } Question;    /* answer: index into Plan.answer */

typedef struct Plan {
    const Index *index;
    Pile rows, parts, choices, questions;
    uint32_t *signal_row;                       /* signal -> row of its giver at that point */
    uint32_t *answer;                           /* all answers, in this order: */
    size_t toward, home, signal_toward, slot_home, answers;     /* offsets, per_device entries for each copy, copy, signal, slot */
} Plan;

/* Answers are kept in answer_arena, the rest (for the computation only) in arena. asked: only these are wanted, sorted by their steps in
 * the record, and answered in this order; NULL: all that clocks keep. */
Plan *plan_new(const Index *index, const Asked *asked, size_t askeds, Arena *arena, Arena *answer_arena);
