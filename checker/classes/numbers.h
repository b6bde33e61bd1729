/* numbers.h - numbers nodes of the tree by what they have in common: the copy that starts there, the steps before.
 *
 * Invariants:  1. numbers count from 0, in the order in which nodes were made.
 */
#pragma once
#include "../run/tree.h"

typedef struct Numbered { uint32_t copy, steps; } Numbered;            /* one node's; NONE: no copy, no steps */

typedef struct Numbers {
    Store nodes;                                /* Numbered by node */
    Intern copies;                              /* (core, ordinal) */
    Intern done;                                /* sequences of steps: (the one without its last step, that step) */
} Numbers;

void numbers_init(Numbers *numbers);
void numbers_clear(Numbers *numbers);
void numbers_add(Numbers *numbers, const Tree *tree);  /* those of nodes that are new */

void numbers_assert_sane(const Numbers *numbers);

static inline uint32_t numbers_copies(const Numbers *numbers) { return intern_count(&numbers->copies); }
static inline const Numbered *numbers_of(const Numbers *numbers, uint32_t node) { return &STORE(Numbered, &numbers->nodes, node); }
