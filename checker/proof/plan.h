/* plan.h - the plan for computing vector clocks: which clocks are needed, and what each is the maximum of. The record reduced to rows.
 *
 * A row is a core's clock at a step that sends: a signal, the start of a copy, a join. Waits between two such points only add to it, so a
 * row is the maximum of the core's previous row and of *parts*: rows of signals that a wait needs, each with its giver's own entry, and
 * *choices* where an order statistic decides. The own entry of a clock is its position and is never stored.
 *
 * Invariants:  1. rows are in the order of the record: parts and the previous row have smaller ids; only choices refer to later rows.
 *              2. row 0 is zero.
 * Ownership:   the arena of plan_new.
 */
#pragma once
#include "index.h"

typedef struct Row {
    uint32_t core, before;                      /* before: the core's previous row, 0: none */
    uint32_t parts, part;                       /* parts[part .. part + parts) */
    uint32_t question;                          /* first in a list, NONE: there is none */
    uint32_t uses;                              /* how many rows are made of it */
} Row;

typedef struct RowPart { uint32_t row, core, entry; } RowPart;  /* row NONE: `entry` is a choice */
typedef struct PlanChoice { uint32_t semaphore, wait; } PlanChoice;
typedef struct Question { uint32_t column, answer, next; } Question;    /* answer: index into Plan.answer */

typedef struct Plan {
    const Index *index;
    Pile rows, parts, choices, questions;
    uint32_t *signal_row;                       /* signal -> row of its giver at that point */
    uint32_t *answer;                           /* all answers, by the offsets below */
    size_t toward, home, signal_toward, slot_home, answers;     /* offsets; per_device entries for each copy, copy, signal, slot */
} Plan;

/* Answers live in answer_arena, the rest, needed for the computation only, in arena. asked: compute only these, sorted by their steps in
 * the record, answered in this order; NULL: all entries that clocks keep. */
Plan *plan_new(const Index *index, const Asked *asked, size_t askeds, Arena *arena, Arena *answer_arena);
