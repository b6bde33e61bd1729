/* repairs.c - tries small changes of a faulty program: each changed program is checked, and the repair is named if it is verified.
 *
 * The faults determine which kinds are tried, in the order of the table below: what is likely and cheap first. Tries are limited by their
 * number and their steps, never by the clock. Of what is found the smallest changes are kept, then those that wait least.
 */
#include "repairs.h"
#include "../check/check.h"
#include "../check/interrupt.h"
#include "advise.h"
#include <string.h>

enum { NAMED_MAX = 3, FOUND_MAX = 6, TRIES_MAX = 240, WORK_MAX = 20000000 };

#define BIT(fault) (1u << (fault))
#define ABOUT_DATA (BIT(FAULT_RACE) | BIT(FAULT_UNINITIALISED) | BIT(FAULT_ASSERT) | BIT(FAULT_DIVERGENCE))
#define ABOUT_ORDER (ABOUT_DATA | BIT(FAULT_IN_FLIGHT) | BIT(FAULT_LIFETIME) | BIT(FAULT_MISMATCH))
#define STUCK (BIT(FAULT_DEADLOCK) | BIT(FAULT_NO_PROGRESS))
#define ABOUT_COUNTS (STUCK | BIT(FAULT_LEFTOVER) | BIT(FAULT_OVERFLOW))

typedef struct RepairsKind {
    void (*offer)(Repairs *r);
    unsigned faults;                            /* it is offered for any of these */
    bool only_if_none;                          /* and only if nothing was found before */
} RepairsKind;

static const RepairsKind KINDS[] = {
    { repairs_one_a_copy, ABOUT_ORDER, false },
    { repairs_one_a_round, ABOUT_ORDER | STUCK, false },
    { repairs_one_a_wait, ABOUT_ORDER | STUCK, false },
    { repairs_guards, BIT(FAULT_OUT_OF_BOUNDS), false },
    { repairs_starts, STUCK, false },
    { repairs_without_waits, STUCK, false },
    { repairs_without_signals, BIT(FAULT_LEFTOVER) | BIT(FAULT_OVERFLOW), false },
    { repairs_drains, BIT(FAULT_LEFTOVER) | BIT(FAULT_IN_FLIGHT), false },
    { repairs_waits_up, BIT(FAULT_RACE) | BIT(FAULT_IN_FLIGHT) | BIT(FAULT_LIFETIME), false },
    { repairs_missing_waits, BIT(FAULT_RACE) | BIT(FAULT_IN_FLIGHT) | BIT(FAULT_UNINITIALISED) | BIT(FAULT_ASSERT), false },
    { repairs_smaller_counts, STUCK, false },
    { repairs_flags, STUCK | ABOUT_ORDER, false },
    { repairs_counts, ABOUT_COUNTS | ABOUT_ORDER, false },
    { repairs_devices, ABOUT_COUNTS | ABOUT_ORDER, false },
    { repairs_semaphores, ABOUT_COUNTS | ABOUT_ORDER | BIT(FAULT_SHAPE), false },
    { repairs_slots, ABOUT_COUNTS | ABOUT_ORDER, false },
    { repairs_larger_counts, ABOUT_ORDER | BIT(FAULT_LEFTOVER), false },
    { repairs_first_credits, STUCK, false },
    { repairs_signals, STUCK, false },
    { repairs_waits_behind_starts, BIT(FAULT_RACE) | BIT(FAULT_IN_FLIGHT) | BIT(FAULT_LEFTOVER), true },
    { repairs_handshakes, ABOUT_ORDER | STUCK, false },
    { repairs_capacity, ABOUT_ORDER, true },
    { repairs_moves, ABOUT_COUNTS | ABOUT_ORDER, false },
    { repairs_second_barriers, ABOUT_ORDER | STUCK | BIT(FAULT_LEFTOVER), false },
    { repairs_entry_barriers, ABOUT_ORDER | STUCK | BIT(FAULT_LEFTOVER), false },
};

bool repairs_are_over(const Repairs *r)
{
    return r->named >= FOUND_MAX || r->tries >= TRIES_MAX || r->work >= WORK_MAX || interrupt_requested();
}

static uint64_t work_of(const CheckResult *changed)
{
    const Outcome *outcome = changed->outcome;
    uint64_t runs = outcome->classes != UINT64_MAX ? outcome->classes : outcome->states != UINT64_MAX ? outcome->states / 8 : 1;
    return MAX(runs, 1) * changed->record->steps.count;
}

static bool is_right(Repairs *r, Change *change)
{
    r->tries++;
    CheckResult *changed = change_check(change);
    bool right = changed->verdict == VERDICT_VERIFIED && landings_stay(r, changed);
    if (changed->outcome != NULL && changed->record != NULL)
        r->work += work_of(changed);
    check_result_free(changed);
    return right;
}

/* How many more waits it has. */
static int count_waits(const Change *change)
{
    int waits = change->kind == REPAIR_MASKS;
    for (unsigned i = 0; i < change->count; i++) {
        const Edit *edit = &change->edit[i];
        bool more = edit->kind == EDIT_BEFORE || edit->kind == EDIT_AFTER;
        waits += (more && edit->step == STEP_WAIT) || edit->kind == EDIT_WAIT_SEND || edit->kind == EDIT_WAIT_RECEIVE;
        waits -= edit->kind == EDIT_DROP && step_is_wait(edit->where.step);
    }
    return waits;
}

bool repairs_try(Repairs *r, Change *change)
{
    bool fresh = g_hash_table_add(r->seen, g_strdup(change->words->str));
    bool due = fresh && !change->too_many && !repairs_are_over(r) && !(change->about && g_hash_table_contains(r->found, change->about));
    bool right = due && is_right(r, change);
    if (right) {
        if (change->about != NULL)
            g_hash_table_add(r->found, (gpointer)change->about);
        Repair *repair = whatif_tell(r->result, change->kind, g_strdup(change->words->str));
        for (unsigned i = 0; i < change->count; i++)
            repair_add_edit(repair, &change->edit[i]);
        repair->changed = change->changed ? change->changed : change->count, repair->waits = MAX(count_waits(change), 0);
        diff_tell(r, change, repair);
        r->named++;
    }
    change_clear(change);
    return right;
}

const Step *repairs_step(const Repairs *r, size_t i)
{
    return &STORE(Step, &r->record->steps, i);
}

static unsigned reported_faults(const CheckResult *result)
{
    unsigned faults = 0;
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        if (whatif_is_reported(result, finding))
            faults |= BIT(finding->id);
    }
    return faults;
}

/* A core that loops without an operation would do so in each changed program. */
static bool spins(const CheckResult *result)
{
    const Finding *finding = g_ptr_array_index(result->outcome->findings, 0);
    return reported_faults(result) == BIT(FAULT_NO_PROGRESS) && finding->spins;
}

/* A repair before what masks, fewer lines before more, then less waiting. */
static gint compare_repairs(gconstpointer a, gconstpointer b)
{
    const Repair *one = *(Repair *const *)a, *other = *(Repair *const *)b;
    const int64_t difference[] = { (int64_t)one->kind - other->kind, (int64_t)one->changed - other->changed, one->waits - other->waits };
    for (unsigned i = 0; i < G_N_ELEMENTS(difference); i++)
        if (difference[i] != 0)
            return difference[i] < 0 ? -1 : 1;
    return 0;
}

static void keep_the_best(CheckResult *result)
{
    g_ptr_array_sort(result->tried, compare_repairs);           /* stable: of equals the first that was found */
    if (result->tried->len > NAMED_MAX)
        g_ptr_array_set_size(result->tried, NAMED_MAX);
}

static void try_kinds(Repairs *r)
{
    for (size_t k = 0; k < G_N_ELEMENTS(KINDS) && !repairs_are_over(r); k++)
        if ((KINDS[k].faults & r->faults) && !(KINDS[k].only_if_none && r->named > 0))
            KINDS[k].offer(r);
}

void check_try_repairs(CheckResult *result)
{
    if (result->verdict != VERDICT_FAULTY)
        return;
    if (!whatif_is_small(result)) {
        repairs_at_smaller_size(result);
        return;
    }
    if (spins(result))
        return;
    result->tried = g_ptr_array_new_with_free_func((GDestroyNotify)repair_free);
    Repairs r = { .result = result, .program = result->program, .record = result->record, .faults = reported_faults(result),
                  .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), .found = g_hash_table_new(g_str_hash, g_str_equal),
                  .read = landings_find(result),
                  .source = source_new() };
    repairs_find_ops(&r);
    try_kinds(&r);
    keep_the_best(result);
    repairs_knobs(&r);
    repairs_forget_ops(&r);
    source_free(r.source);
    g_hash_table_unref(r.read);
    g_hash_table_unref(r.seen);
    g_hash_table_unref(r.found);
}
