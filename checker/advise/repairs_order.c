/* repairs_order.c - steps left out, moved down, and put in.
 *
 * An operation that comes later in the source is held until the other one is done; one that should come earlier is the same: the others
 * come later.
 */
#include "repairs.h"
#include <string.h>

enum { NEXT_MAX = 12, PLACES_MAX = 12, RELATIONS_MAX = 6 };

/* Another call of the same kind at the same line on the same semaphore. */
static bool has_double(const Repairs *r, const Op *op)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *other = repairs_op(r, i);
        if (other->kind == op->kind && other->line == op->line && other->file == op->file && other->semaphore == op->semaphore
            && other->counter != op->counter)
            return true;
    }
    return false;
}

/* All steps of that call. */
static void try_without(Repairs *r, const Op *op, const char *what)
{
    g_autofree char *place = op_place(op);
    Change change;
    change_begin(&change, r->result);
    if (has_double(r, op))
        change_say(&change, "with one of the two %ss on %s at %s left out", what, op->semaphore, place);
    else
        change_say(&change, "without the %s on %s at %s", what, op->semaphore, place);
    Edit *edit = change_add(&change, EDIT_DROP);
    edit->where = op_where(op), edit->where.semaphore = NULL;
    change.changed = 1;
    repairs_try(r, &change);
}

static bool is_starved(const Repairs *r, const char *semaphore)
{
    for (guint i = 0; i < r->ops->len; i++)
        if (repairs_op(r, i)->stuck && repairs_op(r, i)->semaphore == semaphore)
            return true;
    return false;
}

void repairs_without_waits(Repairs *r)
{
    for (unsigned doubled = 2; doubled-- > 0;)
        for (guint i = 0; i < r->ops->len; i++) {
            const Op *op = repairs_op(r, i);
            if (step_is_semaphore_wait(op->kind) && is_starved(r, op->semaphore) && has_double(r, op) == doubled)
                try_without(r, op, "wait");
        }
}

void repairs_without_signals(Repairs *r)
{
    for (guint i = 0; i < r->ops->len; i++)
        if (repairs_op(r, i)->kind == STEP_SIGNAL)
            try_without(r, repairs_op(r, i), "signal");
}

static void try_start(Repairs *r, const Op *wait)
{
    g_autofree char *place = op_place(wait);
    unsigned made = diff_find_made(r, wait->file, wait->line);
    Change change;
    change_begin(&change, r->result);
    if (made != 0 && made != wait->line)
        change_say(&change, "with the copy that is made at %s:%u started, before the wait at %s", wait->file, made, place);
    else
        change_say(&change, "with the copy that is waited for at %s started before", place);
    change_add(&change, EDIT_START)->where = op_where(wait);
    change.changed = 1;
    repairs_try(r, &change);
}

void repairs_starts(Repairs *r)
{
    for (unsigned stuck = 2; stuck-- > 0;)
        for (guint i = 0; i < r->ops->len; i++) {
            const Op *op = repairs_op(r, i);
            if (op->kind == STEP_WAIT && op->semaphore_kind == SEMAPHORE_DMA && op->stuck == stuck && is_starved(r, op->semaphore))
                try_start(r, op);
        }
}

static bool can_be_held(const Op *op)
{
    return op->kind == STEP_STORE || op->kind == STEP_SIGNAL || op->kind == STEP_WAIT || op->kind == STEP_COPY_START;
}

static bool same_line(const Op *one, const Op *other)
{
    return one->line == other->line && one->file == other->file;
}

/* One that can be held at that line; the first in the order of `kind`s that say most. */
static const Op *main_op(const Repairs *r, const Op *at)
{
    const Op *found = NULL;
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        if (same_line(op, at) && can_be_held(op) && (found == NULL || found->kind == STEP_STORE))
            found = op;
    }
    return found;
}

static bool try_behind(Repairs *r, const Op *op, const Op *until)
{
    g_autofree char *words = op_words(main_op(r, op)), *from = op_place(op), *to = op_place(until);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with the %s at %s moved down to after %s", words, from, to);
    change.about = g_intern_string(from);
    Edit *edit = change_add(&change, EDIT_HOLD);
    edit->where = (EditWhere){ .step = EDIT_ANY_STEP, .file = op->file, .line = op->line };
    edit->until = op_where(until);
    change.changed = 2;
    return repairs_try(r, &change);
}

/* The last of the operations of the same line that follow each other; moves *at there. */
static const Op *last_of_line(const Repairs *r, unsigned core, guint *at)
{
    const GArray *order = r->order[core];
    const Op *op = repairs_op(r, g_array_index(order, guint, *at));
    while (*at + 1 < order->len && same_line(repairs_op(r, g_array_index(order, guint, *at + 1)), op))
        op = repairs_op(r, g_array_index(order, guint, ++*at));
    return op;
}

/* Each operation of a core behind the `distance`-th line that follows. */
static void try_moves(Repairs *r, unsigned core, unsigned distance, bool blamed)
{
    const GArray *order = r->order[core];
    for (guint i = 0; i < order->len && !repairs_are_over(r); i++) {
        const Op *op = last_of_line(r, core, &i), *until = op;
        guint at = i;
        bool again = false;
        for (unsigned d = 0; d < distance && at + 1 < order->len; d++) {
            at++;
            until = last_of_line(r, core, &at);
            again |= same_line(until, op);
        }
        const Op *moved = main_op(r, op);
        bool far = moved != NULL && (moved->kind == STEP_SIGNAL || op->blamed || until->blamed);
        if (until != op && !again && moved != NULL && (op->blamed || until->blamed) == blamed && (far || distance == 1))
            try_behind(r, op, until);
    }
}

void repairs_moves(Repairs *r)
{
    for (unsigned distance = 1; distance <= NEXT_MAX; distance++)
        for (unsigned blamed = 2; blamed-- > 0;)
            for (unsigned core = 0; core < r->program->cores; core++)
                try_moves(r, core, distance, blamed);
}

/* A signal before or behind `at` to those that the relation names. */
static bool try_signal(Repairs *r, const Op *starved, const Op *at, const Relation *relation, bool before)
{
    g_autofree char *place = op_place(at);
    bool flag = starved->kind == STEP_FLAG_WAIT;
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with a %s on %s to %s %s %s", flag ? "store" : "signal", starved->semaphore, relation->words,
               before ? "before" : "after", place);
    Edit *edit = change_add(&change, before ? EDIT_BEFORE : EDIT_AFTER);
    edit->where = op_where(at), edit->step = flag ? STEP_FLAG_STORE : STEP_SIGNAL, edit->value = flag ? starved->value : 1;
    edit->target = relation->target;
    edit->semaphore = (EditSemaphore){ .name = starved->semaphore, .element = starved->element };
    if (starved->scoped || (at == starved && !flag))           /* perhaps not the same element each time */
        edit->semaphore = (EditSemaphore){ .fresh = EDIT_OF_STEP };
    change.changed = 1;
    return repairs_try(r, &change);
}

/* Signals to several, each once, before the wait. */
static void try_signals_to_all(Repairs *r, const Op *starved, const Relation *relation, unsigned count, const char *whom)
{
    g_autofree char *place = op_place(starved);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with signals on %s to %s before %s", starved->semaphore, whom, place);
    for (unsigned k = 0; k < count; k++) {
        Edit *edit = change_add(&change, EDIT_BEFORE);
        edit->where = op_where(starved), edit->step = STEP_SIGNAL, edit->value = 1, edit->target = relation[k].target;
        edit->semaphore.fresh = EDIT_OF_STEP;
    }
    repairs_try(r, &change);
}

/* The core that such a signal of a core goes to: k-th neighbour of the ring, of the line, other device, device. NONE: to nobody. */
static uint32_t member_of(const Repairs *r, unsigned group, unsigned k, uint32_t core)
{
    const uint32_t cores = r->program->cores_per_device, devices = r->program->devices, device = core / cores;
    int64_t to = group < 2 ? (int64_t)device + (k ? -1 : 1) : device + k + (group == 2);
    if (core >= r->program->cores || (group == 1 && (to < 0 || to >= devices)))
        return NONE;
    return (uint32_t)((to + devices) % devices) * cores + core % cores;
}

static void try_groups(Repairs *r, const Op *starved)
{
    static const char *const whom[] = { "both neighbours of the ring", "the neighbours of the line", "all other devices", "all devices" };
    const uint32_t devices = r->program->devices;
    Relation relation[WHATIF_CORES_MAX];
    for (unsigned group = devices > 2 ? 0 : 3; group < G_N_ELEMENTS(whom) && starved->kind != STEP_FLAG_WAIT; group++) {
        unsigned count = group < 2 ? 2 : group == 2 ? devices - 1 : devices;
        for (unsigned k = 0; k < count; k++)
            for (uint32_t core = 0; core < WHATIF_CORES_MAX; core++)
                relation[k].target[core] = member_of(r, group, k, core);
        if (devices > 1)
            try_signals_to_all(r, starved, relation, count, whom[group]);
    }
}

static bool can_hold_place(const Op *starved, const Op *at)
{
    return !starved->scoped || at->semaphore == starved->semaphore;
}

static void try_signals_for(Repairs *r, const Op *starved)
{
    g_autoptr(GArray) relations = repairs_relations(r);
    for (guint k = relations->len; k-- > 0;)    /* a core that is stuck cannot help itself */
        if (relation_stays(&g_array_index(relations, Relation, k), NULL))
            g_array_remove_index(relations, k);
    for (guint k = 0; k < MIN(relations->len, RELATIONS_MAX); k++)
        if (try_signal(r, starved, starved, &g_array_index(relations, Relation, k), true))
            return;
    try_groups(r, starved);
    for (guint k = 0; k < MIN(relations->len, RELATIONS_MAX); k++)
        for (guint i = 0; i < MIN(r->ops->len, PLACES_MAX); i++) {
            const Op *at = repairs_op(r, i);
            if (at != starved && can_hold_place(starved, at)
                && try_signal(r, starved, at, &g_array_index(relations, Relation, k), step_is_wait(at->kind)))
                return;
        }
}

void repairs_signals(Repairs *r)
{
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        bool flag = op->kind == STEP_FLAG_WAIT && !flag_is_given(r, op->semaphore);     /* else its words were lost */
        if (op->stuck && (flag || (step_is_semaphore_wait(op->kind) && op->semaphore_kind != SEMAPHORE_DMA)))
            try_signals_for(r, op);
    }
}

/* How often each core that does it does it; 0: not all as often. */
static uint32_t times_alike(const Op *op)
{
    uint32_t times = 0;
    for (unsigned core = 0; core < WHATIF_CORES_MAX; core++)
        if (op->times[core] != 0 && times != 0 && op->times[core] != times)
            return 0;
        else
            times = MAX(times, op->times[core]);
    return times;
}

/* All wait for a credit that is given only behind the wait: one comes before the first wait, and none behind the last. */
static void try_first_credit(Repairs *r, const Op *wait, const Op *signal)
{
    const uint32_t times = times_alike(signal);
    g_autofree char *place = op_place(wait), *from = op_place(signal);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with a signal on %s before the first wait at %s, to whom %s signals", wait->semaphore, place, from);
    Edit *edit = change_add(&change, EDIT_BEFORE);
    edit->where = op_where(wait), edit->where.times = 1;
    edit->step = STEP_SIGNAL, edit->value = signal->value, edit->target = signal->target;
    edit->semaphore = (EditSemaphore){ .name = wait->semaphore, .element = wait->element };
    change.changed = 1;
    if (times > 1) {
        change_say(&change, ", and none there the last time");
        edit = change_add(&change, EDIT_DROP);
        edit->where = op_where(signal), edit->where.skip = times - 1;
        change.changed = 2;
    }
    change.too_many |= times == 0;
    repairs_try(r, &change);
}

void repairs_first_credits(Repairs *r)
{
    for (guint i = 0; i < r->ops->len; i++)
        for (guint k = 0; k < r->ops->len; k++) {
            const Op *wait = repairs_op(r, i), *signal = repairs_op(r, k);
            if (wait->stuck && wait->kind == STEP_WAIT && !wait->scoped && signal->kind == STEP_SIGNAL && !signal->varies
                && signal->semaphore == wait->semaphore)
                try_first_credit(r, wait, signal);
        }
}
