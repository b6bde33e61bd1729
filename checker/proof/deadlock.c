/* deadlock.c - who is stuck, on what, and who could have helped.
 *
 * Which steps are left is the same in every execution of a conflict-free program, so the record's end is the deadlock. A core stuck at a
 * join needs the members that are not there; one stuck at a wait needs somebody who still runs: those that gave to this semaphore, or to
 * its siblings, before are the likely ones. Following one such need after the other ends in a cycle or at a core that is gone.
 */
#include <glib.h>

#include "prover.h"

enum { CORES_SHOWN = 8 };

static const CoreState *end_of(const Prover *prover, uint32_t core)
{
    return &STORE(CoreState, &prover->record->ends, core);
}

static bool is_member(const Prover *prover, const Step *join, uint32_t core)
{
    uint32_t device = core / prover->index->per_device;
    bool all = join->kind == STEP_ENTER && program_launch(prover->program, join->object)->entry_barrier;
    if (all)
        return program_launch_on_device(prover->program, join->object, device);
    return device == join->core / prover->index->per_device;
}

static bool stands_at(const Prover *prover, uint32_t core, const Step *join)
{
    const CoreState *end = end_of(prover, core);
    return end->end == CORE_BLOCKED && end->pending.kind == join->kind && end->pending.object == join->object;
}

/* A stuck core that gave to the semaphore, or to another one of its declaration and core, before; NONE: there is none. *site: where. */
static uint32_t helper_at_wait(const Prover *prover, const Step *wait, uint32_t *site)
{
    const Index *index = prover->index;
    const Decl *decl = program_decl(prover->program, program_semaphore_decl(prover->program, wait->object));
    uint32_t first = decl->first_semaphore + program_semaphore_core(prover->program, wait->object) * decl->elements;
    for (unsigned round = 0; round < 2; round++) {
        uint32_t low = round ? first : wait->object, high = round ? first + decl->elements : wait->object + 1;
        for (uint32_t i = index->signal_first[high]; i-- > index->signal_first[low];) {
            const Signal *signal = &index->signal[i];
            if (signal->core == wait->core || end_of(prover, signal->core)->end != CORE_BLOCKED)
                continue;
            *site = index_step(index, signal->core, signal->position)->site;
            return signal->core;
        }
    }
    return NONE;
}

/* The core that a stuck one needs most plainly. */
static uint32_t needs(const Prover *prover, uint32_t core, uint32_t *site)
{
    const Step *pending = &end_of(prover, core)->pending;
    *site = NONE;
    if (step_is_join((StepKind)pending->kind)) {
        for (uint32_t c = 0; c < prover->index->cores; c++)
            if (is_member(prover, pending, c) && !stands_at(prover, c, pending))
                return c;
        return NONE;
    }
    return helper_at_wait(prover, pending, site);
}

static void append_join(const Prover *prover, GString *text, const Step *pending)
{
    uint32_t missing = 0, shown = 0;
    for (uint32_t c = 0; c < prover->index->cores; c++)
        missing += is_member(prover, pending, c) && !stands_at(prover, c, pending);
    g_string_append_printf(text, " stands at the %s, which", step_kind_name((StepKind)pending->kind));
    for (uint32_t c = 0; c < prover->index->cores && shown < CORES_SHOWN; c++) {
        if (!is_member(prover, pending, c) || stands_at(prover, c, pending))
            continue;
        g_autofree char *name = why_core(prover, c);
        g_string_append_printf(text, "%s %s%s", shown++ ? "," : "", name, end_of(prover, c)->end == CORE_FINISHED ? " (finished)" : "");
    }
    g_string_append_printf(text, "%s will never reach", missing > shown ? " and others" : "");
}

static void append_wait(const Prover *prover, GString *text, uint32_t core, const Step *pending)
{
    g_autofree char *semaphore = program_describe_semaphore(prover->program, pending->object);
    uint32_t site, helper = needs(prover, core, &site);
    g_string_append_printf(text, " waits on %s: the count is %" G_GINT64_FORMAT ", it needs %d", semaphore,
                           prover->index->final_count[pending->object], (int32_t)pending->value);
    if (helper == NONE) {
        g_string_append(text, prover->index->signal_first[pending->object] == prover->index->signal_first[pending->object + 1]
                        ? "; nobody has signalled it, and only cores that are stuck themselves could"
                        : "; those that signalled it have finished, so only cores that are stuck themselves could");
        return;
    }
    g_autofree char *name = why_core(prover, helper), *where = why_site(prover, site);
    g_autofree char *stuck = why_site(prover, end_of(prover, helper)->pending.site);
    g_string_append_printf(text, "; %s, which signals there at %s, is stuck at %s", name, where, stuck);
}

/* Who gave the word the value that it has; NULL: nobody. */
static const Step *last_change(const Prover *prover, uint32_t flag)
{
    const Store *steps = &prover->record->steps;
    for (size_t i = steps->count; i-- > 0;) {
        const Step *step = &STORE(Step, steps, i);
        if (step->object == flag && (step->kind == STEP_FLAG_STORE || step->kind == STEP_FLAG_ADD || step->kind == STEP_FLAG_CAS))
            return step;
    }
    return NULL;
}

static void append_flag_wait(const Prover *prover, GString *text, const Step *pending)
{
    static const char *const COMPARE[] = { "is", "is not", "is above", "is at least", "is below", "is at most" };
    g_autofree char *flag = program_describe_semaphore(prover->program, pending->object);
    const Step *change = last_change(prover, pending->object);
    g_string_append_printf(text, " waits until %s %s %d, but it is %" G_GINT64_FORMAT, flag, COMPARE[pending->extra],
                           (int32_t)pending->value, prover->index->final_count[pending->object]);
    if (change == NULL) {
        g_string_append(text, ", as it was in the beginning");
        return;
    }
    g_autofree char *who = why_core(prover, change->core), *where = why_site(prover, change->site);
    g_string_append_printf(text, "; the last to touch it was %s at %s, and whoever could change it is stuck or has finished", who, where);
}

static void append_core(const Prover *prover, GString *text, uint32_t core)
{
    const Step *pending = &end_of(prover, core)->pending;
    g_autofree char *name = why_core(prover, core), *where = why_site(prover, pending->site);
    name[0] = g_ascii_toupper(name[0]);
    g_string_append_printf(text, "%s%s at %s", text->len ? ". " : "", name, where);
    if (step_is_join((StepKind)pending->kind))
        append_join(prover, text, pending);
    else if (pending->kind == STEP_FLAG_WAIT)
        append_flag_wait(prover, text, pending);
    else
        append_wait(prover, text, core, pending);
}

/* Follows needs from a core until one comes again. */
static void append_cycle(const Prover *prover, GString *text, uint32_t from)
{
    const Index *index = prover->index;
    uint32_t site, core = from;
    g_autofree uint32_t *seen = g_new0(uint32_t, index->cores);
    GArray *path = g_array_new(FALSE, FALSE, sizeof core);
    while (core != NONE && end_of(prover, core)->end == CORE_BLOCKED && !seen[core]) {
        g_array_append_val(path, core);
        seen[core] = path->len;
        core = needs(prover, core, &site);
    }
    if (core != NONE && seen[core]) {
        g_string_append(text, ". The cycle: ");
        for (guint i = seen[core] - 1; i < path->len; i++) {
            g_autofree char *name = why_core(prover, g_array_index(path, uint32_t, i));
            g_string_append_printf(text, "%s needs ", name);
        }
        g_autofree char *name = why_core(prover, core);
        g_string_append(text, name);
    }
    g_array_free(path, TRUE);
}

static char *describe(const Prover *prover)
{
    GString *text = g_string_new(NULL);
    uint32_t shown = 0, stuck = 0, first = NONE;
    for (uint32_t core = 0; core < prover->index->cores; core++) {
        if (end_of(prover, core)->end != CORE_BLOCKED)
            continue;
        first = MIN(first, core);
        stuck++;
        if (shown < CORES_SHOWN) {
            append_core(prover, text, core);
            shown++;
        }
    }
    if (stuck > shown)
        g_string_append_printf(text, ". %u more cores are stuck", stuck - shown);
    append_cycle(prover, text, first);
    g_string_append_c(text, '.');
    return g_string_free(text, FALSE);
}

void deadlock_check(Prover *prover)
{
    if (!prover->index->blocked || prover->index->stopped || prover->index->running)
        return;
    Finding *finding = finding_new(FAULT_DEADLOCK);
    finding->why = describe(prover);
    finding->moves = witness_whole_record(prover);
    g_ptr_array_add(prover->outcome->findings, finding);
}
