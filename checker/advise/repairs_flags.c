/* repairs_flags.c - values of flags: at least instead of equal, numbers that grow, no resets.
 *
 * A flag's initial value says nothing. A wait that it would satisfy waits for nobody, and a store of it takes a word back.
 */
#include "repairs.h"
#include <string.h>

bool op_sets_flag(const Op *op)
{
    return op->kind == STEP_FLAG_STORE || op->kind == STEP_FLAG_WAIT;
}

bool flag_makes_no_sense(const Op *op, int64_t now)
{
    if (op->kind == STEP_FLAG_STORE)
        return (int32_t)op->value == op->initial || now == op->initial;
    return compare_holds((Compare)op->compare, op->initial, now) && !compare_holds((Compare)op->compare, op->initial, (int32_t)op->value);
}

static bool is_reset(const Op *op)
{
    return op->kind == STEP_FLAG_STORE && (int32_t)op->value == op->initial;
}

static const Op *op_of(const Repairs *r, uint8_t kind, const char *flag)
{
    for (guint i = 0; i < r->ops->len; i++)
        if (repairs_op(r, i)->kind == kind && repairs_op(r, i)->semaphore == flag)
            return repairs_op(r, i);
    return NULL;
}

bool flag_is_given(const Repairs *r, const char *flag)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (op->semaphore == flag && (op->kind == STEP_FLAG_ADD || (op->kind == STEP_FLAG_STORE && !is_reset(op))))
            return true;
    }
    return false;
}

static unsigned add_at_least(Change *change, const Op *op)
{
    change_add(change, EDIT_COMPARE)->where = op_where(op);
    change->edit[change->count - 1].value = COMPARE_GE;
    return 1;
}

static bool is_equal(const Op *op)
{
    return op->kind == STEP_FLAG_WAIT && op->compare == COMPARE_EQ;
}

static void try_at_least(Repairs *r)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (!is_equal(op))
            continue;
        g_autofree char *place = op_place(op);
        Change change;
        change_begin(&change, r->result);
        change_say(&change, "with \"at least\" (PL_GE) as the comparison of the wait on %s at %s", op->semaphore, place);
        change.changed = add_at_least(&change, op);
        repairs_try(r, &change);
    }
}

/* In all waits for the flag. */
static void try_at_least_everywhere(Repairs *r, const char *flag)
{
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with \"at least\" (PL_GE) as the comparison of each wait on %s", flag);
    for (guint i = 0; i < r->ops->len; i++)
        if (is_equal(repairs_op(r, i)) && repairs_op(r, i)->semaphore == flag)
            change.changed += add_at_least(&change, repairs_op(r, i));
    if (change.count > 1)
        repairs_try(r, &change);
    else
        change_clear(&change);
}

static void add_epoch(Change *change, uint8_t kind, const char *flag, int64_t times, int64_t value)
{
    Edit *edit = change_add(change, EDIT_EPOCH);
    edit->where = (EditWhere){ .step = kind, .semaphore = flag }, edit->times = times, edit->value = value;
}

/* Adds to the flag go on, its owner waits for more each time, and nothing is taken back. */
static void try_growing(Repairs *r, const char *flag, const Op *reset)
{
    g_autofree char *place = op_place(reset);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with an epoch in %s: each round waits for as much more, and the reset at %s goes", flag, place);
    change_add(&change, EDIT_DROP)->where = op_where(reset);
    add_epoch(&change, STEP_FLAG_WAIT, flag, 1, 0);
    change.changed = 2;
    repairs_try(r, &change);
}

/* Does a core wait for the flag again and again? Then the word of one round, not taken back, would do for the next. */
static bool is_awaited_again(const Repairs *r, const char *flag)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        for (unsigned core = 0; core < WHATIF_CORES_MAX && op->kind == STEP_FLAG_WAIT && op->semaphore == flag; core++)
            if (op->times[core] > 1)
                return true;
    }
    return false;
}

static void try_without_reset(Repairs *r, const Op *reset)
{
    if (is_awaited_again(r, reset->semaphore))
        return;
    g_autofree char *place = op_place(reset);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "without the store of %d to %s at %s", (int32_t)reset->value, reset->semaphore, place);
    change_add(&change, EDIT_DROP)->where = op_where(reset);
    change.changed = 1;
    repairs_try(r, &change);
}

/* times 1: a round's number is added to what it stores and waits for; 0: is it. */
static void try_epoch(Repairs *r, const char *flag, int64_t times)
{
    Change change;
    change_begin(&change, r->result);
    change_say(&change, times ? "with an epoch in %s: each round stores and waits for a number that is one larger"
               : "with an epoch in %s that only grows: the first round stores and waits for 1, the next for 2", flag);
    add_epoch(&change, STEP_FLAG_STORE, flag, times, 1);
    add_epoch(&change, STEP_FLAG_WAIT, flag, times, 1);
    change.changed = 2;
    repairs_try(r, &change);
}

static bool is_ever_reset(const Repairs *r, const char *flag)
{
    for (guint i = 0; i < r->ops->len; i++)
        if (is_reset(repairs_op(r, i)) && repairs_op(r, i)->semaphore == flag)
            return true;
    return false;
}

void repairs_flags(Repairs *r)
{
    const char *last = NULL;
    try_at_least(r);
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (is_reset(op))
            try_without_reset(r, op);
        if (is_reset(op) && op_of(r, STEP_FLAG_ADD, op->semaphore) != NULL)
            try_growing(r, op->semaphore, op);
        if (!op_sets_flag(op) || op->semaphore == last)
            continue;
        last = op->semaphore;
        try_at_least_everywhere(r, last);
        for (int64_t times = 2; times-- > 0 && !is_ever_reset(r, last);)
            try_epoch(r, last, times);
    }
}
