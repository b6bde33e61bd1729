/* input_rule.h - what the wrong inputs have in common, if something simple does.
 *
 * A property of inputs: an element of a table, or a choice, has a certain value; all elements are equal; a single value is odd, or at
 * most so large. Each input that was tried counts as wrong or right, with or without each property. The rule is the first property that
 * all wrong inputs have and no right one.
 */
#pragma once
#include "../../model/input.h"

enum { RULES_MAX = 256, RULE_VALUES_MAX = 8 };

typedef enum RuleKind { RULE_SOME_IS, RULE_NONE_IS, RULE_ALL_EQUAL, RULE_NOT_ALL_EQUAL, RULE_ODD, RULE_EVEN,
                        RULE_AT_MOST, RULE_AT_LEAST } RuleKind;

/* first: of the drawn values that it is about; they belong to one table, or to one choice. */
typedef struct Rule { uint8_t kind; uint32_t first; int64_t value; uint64_t wrong, right; } Rule;

typedef struct Rules {
    Rule rule[RULES_MAX];
    unsigned count;
    bool begun;
    uint64_t wrong, right;                      /* inputs in all */
} Rules;

void rules_count(Rules *rules, const Program *program, bool wrong);
/* NULL: there is none. */
const Rule *rules_best(const Rules *rules);
