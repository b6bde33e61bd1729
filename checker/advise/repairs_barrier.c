/* repairs_barrier.c - a semaphore for each copy, other counts, barriers, a capacity semaphore, and knobs. */
#include "../../model/label.h"
#include "repairs.h"
#include <string.h>

enum { SIGNALS_MAX = 8, COUNTS_MAX = 24, LAUNCHES_MAX = 16 };

static SemaphoreKind kind_of(const Repairs *r, uint32_t semaphore)
{
    return (SemaphoreKind)program_decl(r->program, program_semaphore_decl(r->program, semaphore))->semaphore_kind;
}

/* The most steps of that kind that a core does on semaphores of that name. */
static uint32_t most_steps_on(const Repairs *r, StepKind kind, const char *name)
{
    uint32_t count[WHATIF_CORES_MAX] = { 0 }, most = 0;
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        if (step->kind != kind || (kind == STEP_COPY_START && step->object == NONE))
            continue;
        uint32_t semaphore = kind == STEP_COPY_START ? STORE(Copy, &r->record->copies, step->object).receive_semaphore : step->object;
        if (strcmp(whatif_semaphore_name(r->program, semaphore), name) == 0)
            most = MAX(most, ++count[step->core]);
    }
    return most;
}

/* A wait for several senders in one step takes from one element. */
void repairs_one_a_copy(Repairs *r)
{
    static const uint8_t kind[] = { STEP_COPY_START, STEP_WAIT, STEP_WAIT_KEEP };
    for (uint32_t d = 0; d < r->program->decls.count; d++) {
        const Decl *decl = program_decl(r->program, d);
        const char *name = program_text(r->program, decl->name);
        bool counts = decl->space == SPACE_SEMAPHORE && decl->semaphore_kind == SEMAPHORE_DMA && decl->life == LIFE_LAUNCHES
            && !label_marks_site(r->program, decl->site);
        uint32_t copies = counts ? most_steps_on(r, STEP_COPY_START, name) : 0;
        if (copies < 2)
            continue;
        Change change;
        change_begin(&change, r->result);
        change.fresh[change.fresh_count++] = (EditFresh){ .name = name, .beside = name, .kind = SEMAPHORE_DMA, .elements = copies };
        for (unsigned k = 0; k < G_N_ELEMENTS(kind); k++) {
            Edit *edit = change_add(&change, EDIT_SEMAPHORE);
            uint32_t steps = most_steps_on(r, kind[k], name);
            edit->where = (EditWhere){ .step = kind[k], .semaphore = name };
            edit->semaphore.element = EDIT_BY_OCCURRENCE, edit->semaphore.per = steps % copies == 0 ? steps / copies : 1;
        }
        change_say(&change, "with one %s for each copy (an array, indexed by the step) instead of %s", name,
                   decl->elements > 1 ? "these few in turn" : "one for all");
        change.changed = 3;
        repairs_try(r, &change);
    }
}

/* The most, and whether all cores that do it do as many. */
static uint32_t steps_on(const Repairs *r, StepKind kind, const char *name, bool *alike)
{
    uint32_t count[WHATIF_CORES_MAX] = { 0 }, most = 0;
    for (guint i = 0; i < r->ops->len; i++) {
        const Op *op = repairs_op(r, i);
        for (unsigned core = 0; core < WHATIF_CORES_MAX && op->kind == kind && op->semaphore && strcmp(op->semaphore, name) == 0; core++)
            most = MAX(most, count[core] += op->times[core]);
    }
    *alike = true;
    for (unsigned core = 0; core < WHATIF_CORES_MAX; core++)
        *alike &= count[core] == 0 || count[core] == most;
    return most;
}

/* A semaphore on which cores signal and wait again and again: one for each round, that is for each wait of a core. */
static void try_one_a_round(Repairs *r, const Decl *decl)
{
    static const uint8_t kind[] = { STEP_SIGNAL, STEP_WAIT };
    const char *name = program_text(r->program, decl->name);
    bool alike, signal_alike;
    uint32_t rounds = steps_on(r, STEP_WAIT, name, &alike), signals = steps_on(r, STEP_SIGNAL, name, &signal_alike);
    if (rounds < 2 || !alike || !signal_alike || signals % rounds != 0)
        return;
    Change change;
    change_begin(&change, r->result);
    change.fresh[change.fresh_count++] = (EditFresh){ .name = name, .beside = decl->life == LIFE_LAUNCHES ? name : NULL,
                                                      .kind = (SemaphoreKind)decl->semaphore_kind, .elements = rounds };
    for (unsigned k = 0; k < G_N_ELEMENTS(kind); k++) {
        Edit *edit = change_add(&change, EDIT_SEMAPHORE);
        edit->where = (EditWhere){ .step = kind[k], .semaphore = name };
        edit->semaphore.element = EDIT_BY_OCCURRENCE, edit->semaphore.per = k ? 1 : signals / rounds;
    }
    change_say(&change, "with one %s for each round (an array, indexed by the wait) instead of one for all", name);
    change.changed = 3;
    repairs_try(r, &change);
}

static GArray *ops_on(const Repairs *r, StepKind kind, const char *name)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < r->ops->len; i++)
        if (repairs_op(r, i)->kind == kind && repairs_op(r, i)->semaphore != NULL && strcmp(repairs_op(r, i)->semaphore, name) == 0)
            g_array_append_val(found, i);
    return found;
}

/* Several lines wait on it, each for the signals of lines of its own, as many each. */
static void try_one_a_wait(Repairs *r, const Decl *decl)
{
    const char *name = program_text(r->program, decl->name);
    g_autoptr(GArray) waits = ops_on(r, STEP_WAIT, name), signals = ops_on(r, STEP_SIGNAL, name);
    if (waits->len < 2 || signals->len == 0 || signals->len % waits->len != 0)
        return;
    Change change;
    change_begin(&change, r->result);
    change.fresh[change.fresh_count++] = (EditFresh){ .name = name, .beside = decl->life == LIFE_LAUNCHES ? name : NULL,
                                                      .kind = (SemaphoreKind)decl->semaphore_kind, .elements = waits->len };
    g_autoptr(GString) lines = g_string_new(NULL);
    for (guint i = 0; i < waits->len + signals->len; i++) {
        bool wait = i < waits->len;
        const Op *op = repairs_op(r, wait ? g_array_index(waits, guint, i) : g_array_index(signals, guint, i - waits->len));
        Edit *edit = change_add(&change, EDIT_SEMAPHORE);
        edit->where = op_where(op);
        edit->semaphore.element = wait ? i : (i - waits->len) / (signals->len / waits->len);
        if (wait)
            g_string_append_printf(lines, "%s%s:%u", i == 0 ? "" : " and ", op->file, op->line);
    }
    change_say(&change, "with a %s of its own for each of the waits at %s, and for the signals that each is for", name, lines->str);
    change.changed = change.count;
    repairs_try(r, &change);
}

static void try_each(Repairs *r, void (*try)(Repairs *r, const Decl *decl))
{
    for (uint32_t d = 0; d < r->program->decls.count; d++) {
        const Decl *decl = program_decl(r->program, d);
        bool counts = decl->space == SPACE_SEMAPHORE && decl->life != LIFE_SCOPE && decl->elements == 1;
        if (counts && (decl->semaphore_kind == SEMAPHORE_REGULAR || decl->semaphore_kind == SEMAPHORE_BARRIER))
            try(r, decl);
    }
}

void repairs_one_a_wait(Repairs *r)
{
    try_each(r, try_one_a_wait);
}

void repairs_one_a_round(Repairs *r)
{
    try_each(r, try_one_a_round);
}

static void try_count(Repairs *r, const Step *step, int64_t value)
{
    g_autofree char *place = program_describe_site(r->program, step->site);
    Change change;
    change_begin(&change, r->result);
    change_say(&change, "with a wait for %" G_GINT64_FORMAT " instead of %u on %s at %s", value, step->value,
               whatif_semaphore_name(r->program, step->object), place);
    Edit *edit = change_add(&change, EDIT_COUNT);
    edit->where = whatif_at_wait(r->program, step);
    edit->times = value % step->value == 0 ? value / step->value : 0, edit->value = edit->times ? 0 : value;
    change.changed = 1;
    repairs_try(r, &change);
}

void repairs_larger_counts(Repairs *r)
{
    g_autoptr(GArray) drains = repairs_find_left(r);
    unsigned candidates = 0;
    for (size_t i = 0; i < r->record->steps.count && candidates < COUNTS_MAX; i++) {
        const Step *step = repairs_step(r, i);
        if (step->kind != STEP_WAIT || step->value == 0 || !whatif_is_first(r->record, i))
            continue;
        candidates++;
        try_count(r, step, 2 * (int64_t)step->value);
        for (guint d = 0; d < drains->len; d++)
            if (strcmp(g_array_index(drains, Drain, d).name, whatif_semaphore_name(r->program, step->object)) == 0)
                try_count(r, step, step->value + g_array_index(drains, Drain, d).value);
    }
}

/* A stuck core waits for the count that is there. */
void repairs_smaller_counts(Repairs *r)
{
    g_autoptr(GArray) drains = repairs_find_left(r);
    for (size_t core = 0; core < r->record->ends.count; core++) {
        const CoreState *end = &STORE(CoreState, &r->record->ends, core);
        for (guint d = 0; d < drains->len && end->end == CORE_BLOCKED && end->pending.kind == STEP_WAIT; d++) {
            const Drain *drain = &g_array_index(drains, Drain, d);
            bool same = strcmp(drain->name, whatif_semaphore_name(r->program, end->pending.object)) == 0
                && drain->element == whatif_element(r->program, end->pending.object);
            if (same && drain->core[core])
                try_count(r, &end->pending, drain->value);
        }
    }
}

/* The cores that each core signals on that semaphore before it first reaches the wait; returns the most signals of a core. */
static unsigned find_signalled(const Repairs *r, const Step *wait, uint32_t peer[SIGNALS_MAX][WHATIF_CORES_MAX])
{
    const char *name = whatif_semaphore_name(r->program, wait->object);
    unsigned count[WHATIF_CORES_MAX] = { 0 }, most = 0;
    bool done[WHATIF_CORES_MAX] = { false };
    for (unsigned i = 0; i < SIGNALS_MAX; i++)
        for (uint32_t core = 0; core < r->program->cores; core++)
            peer[i][core] = NONE;
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        if ((step->kind != STEP_SIGNAL && step->kind != STEP_WAIT) || done[step->core]
            || strcmp(whatif_semaphore_name(r->program, step->object), name) != 0)
            continue;
        if (step->kind == STEP_SIGNAL && count[step->core] == SIGNALS_MAX)
            return 0;
        if (step->kind == STEP_SIGNAL)
            peer[count[step->core]++][step->core] = program_semaphore_core(r->program, step->object);
        else if (program_same_line(r->program, step->site, wait->site))
            done[step->core] = true;
        else
            for (; count[step->core] > 0; count[step->core]--)
                peer[count[step->core] - 1][step->core] = NONE;
    }
    for (uint32_t core = 0; core < r->program->cores; core++)
        most = MAX(most, count[core]);
    return most;
}

void repairs_second_barriers(Repairs *r)
{
    uint32_t peer[SIGNALS_MAX][WHATIF_CORES_MAX];
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *wait = repairs_step(r, i);
        if (wait->kind != STEP_WAIT || kind_of(r, wait->object) == SEMAPHORE_DMA || !whatif_is_first(r->record, i))
            continue;
        unsigned signals = find_signalled(r, wait, peer);
        g_autofree char *place = program_describe_site(r->program, wait->site);
        Change change;
        change_begin(&change, r->result);
        change.kind = REPAIR_MASKS, change.too_many = signals == 0;
        change.fresh[change.fresh_count++] = (EditFresh){ .name = "second_barrier", .kind = SEMAPHORE_REGULAR, .elements = 1 };
        for (unsigned s = 0; s < signals; s++) {
            Edit *edit = change_add(&change, EDIT_AFTER);
            edit->where = whatif_at(r->program, STEP_WAIT, wait->site), edit->step = STEP_SIGNAL, edit->value = 1, edit->target = peer[s];
        }
        Edit *edit = change_add(&change, EDIT_AFTER);
        edit->where = whatif_at(r->program, STEP_WAIT, wait->site), edit->step = STEP_WAIT;
        change_say(&change, "with a second barrier after the wait at %s (the same signals and the same wait, on a semaphore of the "
                            "launch's own)", place);
        repairs_try(r, &change);
    }
}

void repairs_entry_barriers(Repairs *r)
{
    bool right = false;
    Change all;
    change_begin(&all, r->result);
    all.kind = REPAIR_MASKS;
    change_say(&all, "with a barrier of all devices where each launch begins");
    for (uint32_t l = 0; l < r->program->launches.count && all.count < LAUNCHES_MAX && !right; l++) {
        const Launch *launch = program_launch(r->program, l);
        if (launch->host || launch->entry_barrier)
            continue;
        Change change;
        change_begin(&change, r->result);
        change.kind = REPAIR_MASKS;
        change_say(&change, "with a barrier of all devices where launch %u (%s) begins", l, program_text(r->program, launch->name));
        *change_add(&change, EDIT_ENTRY_BARRIER) = (Edit){ .kind = EDIT_ENTRY_BARRIER, .where.launch = l, .value = 1 };
        *change_add(&all, EDIT_ENTRY_BARRIER) = change.edit[0];
        right |= repairs_try(r, &change);
    }
    if (all.count > 1 && !right)
        repairs_try(r, &all);
    else
        change_clear(&all);
}

/* The one sender to each core at this line; false: senders and receivers are not paired one to one, so a capacity semaphore does not
 * fit. */
static bool find_senders(const Repairs *r, uint32_t site, uint32_t *sender)
{
    for (uint32_t core = 0; core < r->program->cores; core++)
        sender[core] = NONE;
    for (size_t i = 0; i < r->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &r->record->copies, i);
        uint32_t target = program_semaphore_core(r->program, copy->receive_semaphore);
        if (!program_same_line(r->program, copy->site, site))
            continue;
        if (!copy->remote || (sender[target] != NONE && sender[target] != copy->core))
            return false;
        sender[target] = copy->core;
    }
    for (uint32_t core = 0; core < r->program->cores; core++)
        if (sender[core] == NONE)
            return false;
    return true;
}

void repairs_capacity(Repairs *r)
{
    uint32_t sender[WHATIF_CORES_MAX];
    for (size_t i = 0; i < r->record->steps.count; i++) {
        const Step *step = repairs_step(r, i);
        if (step->kind != STEP_COPY_START || step->object == NONE || !whatif_is_first(r->record, i)
            || !find_senders(r, step->site, sender))
            continue;
        const Copy *copy = &STORE(Copy, &r->record->copies, step->object);
        g_autofree char *place = program_describe_site(r->program, step->site);
        Change change;
        change_begin(&change, r->result);
        change_say(&change, "with a capacity semaphore, on which each device tells the one that sends to it that there is room, and waits "
                            "for the same word, before each copy at %s", place);
        change.fresh[change.fresh_count++] = (EditFresh){ .name = "capacity", .kind = SEMAPHORE_REGULAR, .elements = 1,
                                                          .beside = whatif_semaphore_name(r->program, copy->receive_semaphore) };
        for (unsigned half = 0; half < 2; half++) {
            Edit *edit = change_add(&change, EDIT_BEFORE);
            edit->where = whatif_at(r->program, STEP_COPY_START, step->site), edit->value = 1;
            edit->step = half ? STEP_WAIT : STEP_SIGNAL, edit->target = sender;
        }
        repairs_try(r, &change);
    }
}

/* Do all reported faults say already that they are not there under that order (message_holds)? */
static bool is_said_of_each(const Repairs *r, DmaOrder order)
{
    for (guint i = 0; i < r->result->outcome->findings->len; i++) {
        const Finding *finding = r->result->outcome->findings->pdata[i];
        if (whatif_is_reported(r->result, finding) && (finding->holds == 0 || (finding->holds | finding->open) >> order & 1))
            return false;
    }
    return true;
}

/* Other values of knobs, under which the machine has fewer orders. */
static void try_knobs(Repairs *r)
{
    static const struct { const char *option, *meaning; Knobs knobs; } other[] = {
        { "dma-order link-fifo", "copies to one device land in issue order", { .dma_order = DMA_ORDER_LINK_FIFO } },
        { "dma-order issue-order", "all copies of a core in issue order", { .dma_order = DMA_ORDER_ISSUE_ORDER } },
        { "dma-progress whole", "no bytes are counted before the copy is complete", { .dma_progress = DMA_PROGRESS_WHOLE } },
        { "bounds padded", "VMEM reaches to the end of its tiles", { .bounds = BOUNDS_PADDED } },
    };
    const Knobs *in_force = &r->result->spec->knobs;
    bool fifo = false;
    for (size_t i = 0; i < G_N_ELEMENTS(other); i++) {
        Knobs knobs = *in_force;
        const Knobs *kind = &other[i].knobs;
        knobs.dma_order = MAX(knobs.dma_order, kind->dma_order), knobs.dma_progress = MAX(knobs.dma_progress, kind->dma_progress);
        knobs.bounds = MAX(knobs.bounds, kind->bounds);
        bool said = kind->dma_order != DMA_ORDER_UNORDERED && is_said_of_each(r, kind->dma_order);
        if (memcmp(&knobs, in_force, sizeof knobs) == 0 || (fifo && kind->dma_order == DMA_ORDER_ISSUE_ORDER) || said)
            continue;
        CheckResult *changed = whatif_check(r->result, NULL, &knobs, true);
        if (changed->verdict == VERDICT_VERIFIED) {
            fifo |= kind->dma_order == DMA_ORDER_LINK_FIFO;
            whatif_tell(r->result, REPAIR_MASKS,
                        g_strdup_printf("right only if the hardware guarantees %s (%s): with --%s it is verified",
                                        other[i].option, other[i].meaning, other[i].option));
        }
        check_result_free(changed);
    }
}

/* For faults of window copies, for which a kernel cannot wait. */
static void try_sequential_windows(Repairs *r)
{
    Knobs knobs = r->result->spec->knobs;
    if (r->program->labels.count == 0 || knobs.windows == WINDOWS_SEQUENTIAL)
        return;
    knobs.windows = WINDOWS_SEQUENTIAL;
    CheckResult *changed = whatif_check(r->result, NULL, &knobs, true);
    if (changed->verdict == VERDICT_VERIFIED)
        whatif_tell(r->result, REPAIR_MASKS,
                    g_strdup("right only if no block of a windowed array is copied while the kernel works on another one: with one buffer "
                             "for each (.buffers = 1, in Pallas pl.Buffered(1)), or --windows sequential, it is verified"));
    check_result_free(changed);
}

/* Under --scopes strict: would static scopes be right? */
static void try_static_scopes(Repairs *r)
{
    Knobs knobs = r->result->spec->knobs;
    if (knobs.scopes != SCOPES_STRICT)
        return;
    knobs.scopes = SCOPES_STATIC;
    CheckResult *changed = whatif_check(r->result, NULL, &knobs, true);
    if (changed->verdict == VERDICT_VERIFIED)
        whatif_tell(r->result, REPAIR_MASKS, g_strdup("right only if scopes have fixed addresses on all devices (as Pallas assumes): "
                                                      "with --scopes static it is verified"));
    check_result_free(changed);
}

void repairs_knobs(Repairs *r)
{
    try_knobs(r);
    try_sequential_windows(r);
    try_static_scopes(r);
}
