/* input_rule.c - properties are those of the first input; an input of another form counts as one that has none of them. */
#include "input_rule.h"
#include <glib.h>

static void add(Rules *rules, RuleKind kind, size_t first, int64_t value)
{
    if (rules->count < RULES_MAX)
        rules->rule[rules->count++] = (Rule){ .kind = (uint8_t)kind, .first = (uint32_t)first, .value = value };
}

static void add_for_value(Rules *rules, size_t first, int64_t value, bool one)
{
    add(rules, RULE_SOME_IS, first, value);
    add(rules, RULE_NONE_IS, first, value);
    if (one) {
        add(rules, RULE_AT_MOST, first, value);
        add(rules, RULE_AT_LEAST, first, value);
    }
}

static void begin(Rules *rules, const Program *program)
{
    rules->begun = true;
    for (size_t first = 0; first < program->drawn.count; first = input_end_of(program, first)) {
        const Drawn *drawn = input_drawn(program, first);
        const bool one = input_end_of(program, first) == first + 1;
        for (int i = 0; i < RULE_VALUES_MAX && drawn->least + i <= drawn->greatest; i++)
            add_for_value(rules, first, drawn->least + i, one);
        add(rules, one ? RULE_ODD : RULE_ALL_EQUAL, first, 0);
        add(rules, one ? RULE_EVEN : RULE_NOT_ALL_EQUAL, first, 0);
    }
}

static bool holds(const Rule *rule, const Program *program)
{
    if (rule->first >= program->drawn.count)
        return false;
    const int64_t one = input_drawn(program, rule->first)->value;
    bool some = false, equal = true;
    for (size_t i = rule->first; i < input_end_of(program, rule->first); i++) {
        some |= input_drawn(program, i)->value == rule->value;
        equal &= input_drawn(program, i)->value == one;
    }
    switch ((RuleKind)rule->kind) {
    case RULE_SOME_IS:
        return some;
    case RULE_NONE_IS:
        return !some;
    case RULE_ALL_EQUAL:
        return equal;
    case RULE_NOT_ALL_EQUAL:
        return !equal;
    case RULE_ODD:
        return one % 2 != 0;
    case RULE_EVEN:
        return one % 2 == 0;
    case RULE_AT_MOST:
        return one <= rule->value;
    case RULE_AT_LEAST:
        return one >= rule->value;
    }
    g_assert_not_reached();
}

void rules_count(Rules *rules, const Program *program, bool wrong)
{
    if (!rules->begun)
        begin(rules, program);
    rules->wrong += wrong;
    rules->right += !wrong;
    for (unsigned i = 0; i < rules->count; i++)
        if (holds(&rules->rule[i], program))
            *(wrong ? &rules->rule[i].wrong : &rules->rule[i].right) += 1;
}

const Rule *rules_best(const Rules *rules)
{
    const Rule *best = NULL;
    for (unsigned i = 0; i < rules->count && rules->right > 0; i++) {
        const Rule *rule = &rules->rule[i];
        if (best == NULL && rule->right == 0 && rule->wrong == rules->wrong)
            best = rule;
    }
    return best;
}
