/* step.c - one table of what each kind of step is. */
#include "step.h"
#include <glib.h>
#include "store.h"

G_STATIC_ASSERT(sizeof(Step) == 24);

typedef struct Kind { const char *name; bool blocks, join, conflict; } Kind;

static const Kind KIND[STEP_KIND_COUNT] = {
    [STEP_LOAD] = {.name = "load"},
    [STEP_STORE] = {.name = "store"},
    [STEP_SWAP] = {.name = "swap"},
    [STEP_SIGNAL] = {.name = "signal"},
    [STEP_WAIT] = {.name = "wait", .blocks = true},
    [STEP_WAIT_KEEP] = {.name = "wait without decrement", .blocks = true},
    [STEP_SEMAPHORE_READ] = {.name = "semaphore read", .conflict = true},
    [STEP_EXPECT_COUNT] = {.name = "expect count", .conflict = true},
    [STEP_COPY_START] = {.name = "copy start"},
    [STEP_ALLOC] = {.name = "alloc"},
    [STEP_FREE] = {.name = "free"},
    [STEP_ENTER] = {.name = "enter", .blocks = true, .join = true},
    [STEP_EXIT] = {.name = "exit", .blocks = true, .join = true},
    [STEP_CORE_BARRIER] = {.name = "core barrier", .blocks = true, .join = true},
    [STEP_FLAG_LOAD] = {.name = "flag load", .conflict = true},
    [STEP_FLAG_STORE] = {.name = "flag store", .conflict = true},
    [STEP_FLAG_ADD] = {.name = "flag add", .conflict = true},
    [STEP_FLAG_CAS] = {.name = "flag compare and swap", .conflict = true},
    [STEP_FLAG_WAIT] = {.name = "flag wait", .blocks = true, .conflict = true},
    [STEP_STOP] = {.name = "stop"},
    [STEP_EARLY_SEND] = {.name = "early send"},
    [STEP_READ] = {.name = "read"},
    [STEP_EARLY_RECEIVE] = {.name = "early receive"},
    [STEP_WRITE] = {.name = "write"},
};

const char *step_kind_name(StepKind kind)
{
    g_assert(kind < STEP_KIND_COUNT);
    return KIND[kind].name;
}

bool step_blocks(StepKind kind)
{
    g_assert(kind < STEP_KIND_COUNT);
    return KIND[kind].blocks;
}

bool step_is_join(StepKind kind)
{
    g_assert(kind < STEP_KIND_COUNT);
    return KIND[kind].join;
}

bool step_is_conflict(StepKind kind)
{
    g_assert(kind < STEP_KIND_COUNT);
    return KIND[kind].conflict;
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
