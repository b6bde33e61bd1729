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

bool step_leaves_no_trace(const Step *step, int64_t seen)
{
    switch ((StepKind)step->kind) {
    case STEP_LOAD: case STEP_SEMAPHORE_READ: case STEP_EXPECT_COUNT: case STEP_FLAG_LOAD: case STEP_FLAG_WAIT: case STEP_WAIT_KEEP:
        return true;
    case STEP_WAIT:
        return step->value == 0;
    case STEP_COPY_START:
        return step->object == NONE;
    case STEP_FLAG_CAS:
        return seen != (int32_t)step->extra;
    case STEP_STORE: case STEP_SWAP: case STEP_SIGNAL: case STEP_ALLOC: case STEP_FREE: case STEP_ENTER: case STEP_EXIT:
    case STEP_CORE_BARRIER: case STEP_FLAG_STORE: case STEP_FLAG_ADD: case STEP_STOP:
        return false;
    case STEP_EARLY_SEND: case STEP_READ: case STEP_EARLY_RECEIVE: case STEP_WRITE: case STEP_KIND_COUNT:
        break;
    }
    g_assert_not_reached();
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
