/* step.c - tables of the kinds of steps. */
#include "step.h"
#include <glib.h>
#include "store.h"

G_STATIC_ASSERT(sizeof(Step) == 24);

#define WORD(name, word, verb, does) [STEP_##name] = word,
#define VERB(name, word, verb, does) [STEP_##name] = verb,
#define DOES(name, word, verb, does) [STEP_##name] = does,
static const char *const WORDS[STEP_KIND_COUNT] = { STEP_KINDS(WORD) };
static const char *const VERBS[STEP_KIND_COUNT] = { STEP_KINDS(VERB) };
const uint16_t STEP_DOES[UINT8_MAX + 1] = { STEP_KINDS(DOES) };

const char *step_kind_name(StepKind kind)
{
    g_assert(kind < STEP_KIND_COUNT);
    return WORDS[kind];
}

const char *step_kind_verb(StepKind kind)
{
    g_assert(kind < STEP_KIND_COUNT);
    return VERBS[kind];
}

bool compare_holds(Compare compare, int64_t left, int64_t right)
{
    switch (compare) {
    case COMPARE_EQ: return left == right;
    case COMPARE_NE: return left != right;
    case COMPARE_GT: return left > right;
    case COMPARE_GE: return left >= right;
    case COMPARE_LT: return left < right;
    case COMPARE_LE: return left <= right;
    }
    g_assert_not_reached();
}

const char *compare_words(Compare compare)
{
    static const char *const COMPARED[] = { "is", "is not", "is above", "is at least", "is below", "is at most" };
    return COMPARED[compare];
}
