/* step.c - tables of what each kind of step is. */
#include "step.h"
#include <glib.h>
#include "store.h"

G_STATIC_ASSERT(sizeof(Step) == 24);

static const char *const NAME[STEP_KIND_COUNT] = {
    [STEP_LOAD] = "load",
    [STEP_STORE] = "store",
    [STEP_SWAP] = "swap",
    [STEP_SIGNAL] = "signal",
    [STEP_WAIT] = "wait",
    [STEP_WAIT_KEEP] = "wait without decrement",
    [STEP_SEMAPHORE_READ] = "semaphore read",
    [STEP_EXPECT_COUNT] = "expect count",
    [STEP_COPY_START] = "copy start",
    [STEP_ALLOC] = "alloc",
    [STEP_FREE] = "free",
    [STEP_ENTER] = "enter",
    [STEP_EXIT] = "exit",
    [STEP_CORE_BARRIER] = "core barrier",
    [STEP_FLAG_LOAD] = "flag load",
    [STEP_FLAG_STORE] = "flag store",
    [STEP_FLAG_ADD] = "flag add",
    [STEP_FLAG_CAS] = "flag compare and swap",
    [STEP_FLAG_WAIT] = "flag wait",
    [STEP_STOP] = "stop",
    [STEP_EARLY_SEND] = "early send",
    [STEP_READ] = "read",
    [STEP_EARLY_RECEIVE] = "early receive",
    [STEP_WRITE] = "write",
};

const uint8_t STEP_TRAITS[UINT8_MAX + 1] = {
    [STEP_WAIT] = STEP_BLOCKS,
    [STEP_WAIT_KEEP] = STEP_BLOCKS,
    [STEP_SEMAPHORE_READ] = STEP_CONFLICTS,
    [STEP_EXPECT_COUNT] = STEP_CONFLICTS,
    [STEP_ENTER] = STEP_BLOCKS | STEP_JOINS,
    [STEP_EXIT] = STEP_BLOCKS | STEP_JOINS,
    [STEP_CORE_BARRIER] = STEP_BLOCKS | STEP_JOINS,
    [STEP_FLAG_LOAD] = STEP_CONFLICTS,
    [STEP_FLAG_STORE] = STEP_CONFLICTS,
    [STEP_FLAG_ADD] = STEP_CONFLICTS,
    [STEP_FLAG_CAS] = STEP_CONFLICTS,
    [STEP_FLAG_WAIT] = STEP_BLOCKS | STEP_CONFLICTS,
};

const char *step_kind_name(StepKind kind)
{
    g_assert(kind < STEP_KIND_COUNT);
    return NAME[kind];
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
