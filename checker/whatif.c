/* whatif.c - what would be if: the same program with a small change, checked as a whole by a check of its own.
 *
 * Nothing is concluded from the original: a repair is named only when the changed program was verified, a synchronisation is called
 * needless only when the program without it was. Small programs only, so that a report does not wait for its advice.
 */
#include "check.h"
#include <string.h>

enum { CORES_MAX = 8, STEPS_MAX = 6000, CANDIDATES_MAX = 24, NAMED_MAX = 3 };
static const double SECONDS_MAX = 5;            /* for one changed program; what takes longer is not named */

static bool small(const CheckResult *result)
{
    return result->program != NULL && result->record != NULL && result->outcome != NULL && result->spec->edits == NULL
        && result->program->cores <= CORES_MAX && result->record->steps.count > 0 && result->record->steps.count <= STEPS_MAX;
}

static CheckResult *check_changed(const CheckResult *result, const Edits *edits, const Knobs *knobs)
{
    static const double least = 0.01;
    CheckSpec spec = *result->spec;
    spec.edits = edits, spec.knobs = *knobs, spec.search = SEARCH_AUTO, spec.results = spec.film = false, spec.first = true;
    spec.seconds_max = spec.seconds_max > 0 ? MAX(MIN(spec.seconds_max, SECONDS_MAX), least) : SECONDS_MAX;
    CheckResult *changed = check_run(&spec);
    changed->spec = result->spec;               /* that of this call is gone when it is looked at */
    return changed;
}

static bool makes_right(const CheckResult *result, const Edits *edits, const Knobs *knobs)
{
    CheckResult *changed = check_changed(result, edits, knobs);
    bool right = changed->verdict == VERDICT_VERIFIED;
    check_result_free(changed);
    return right;
}

static void tell(CheckResult *result, char *sentence)
{
    g_ptr_array_add(result->tried, sentence);
}

/* Tries one list of changes; takes the sentence, "with ...". */
static void try_repair(CheckResult *result, const Edit *edit, unsigned count, char *sentence)
{
    const Edits edits = { edit, count };
    if (result->tried->len < NAMED_MAX && makes_right(result, &edits, &result->spec->knobs))
        tell(result, g_strdup_printf("%s, the proof goes through at this size", sentence));
    g_free(sentence);
}

static bool is_one_semaphore(const Decl *decl, SemaphoreKind kind)
{
    return decl->space == SPACE_SEMAPHORE && decl->life == LIFE_LAUNCHES && decl->semaphore_kind == kind && decl->elements == 1;
}

static void try_one_a_step(CheckResult *result)
{
    const Program *program = result->program;
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        if (!is_one_semaphore(decl, SEMAPHORE_DMA))
            continue;
        const Edit edit = { .kind = EDIT_SPREAD, .name = program_text(program, decl->name) };
        try_repair(result, &edit, 1, g_strdup_printf("with one %s for each copy (an array, indexed by the step) instead of one for all",
                                                     edit.name));
    }
}

static void try_entry_barriers(CheckResult *result)
{
    const Program *program = result->program;
    Edit all[CANDIDATES_MAX];
    unsigned count = 0;
    for (uint32_t l = 0; l < program->launches.count && count < CANDIDATES_MAX; l++) {
        const Launch *launch = program_launch(program, l);
        if (launch->host || launch->entry_barrier)
            continue;
        all[count] = (Edit){ .kind = EDIT_ENTRY_BARRIER, .launch = l, .value = 1 };
        try_repair(result, &all[count], 1, g_strdup_printf("with a barrier of all devices where launch %u (%s) begins", l,
                                                           program_text(program, launch->name)));
        count++;
    }
    if (count > 1 && result->tried->len == 0)
        try_repair(result, all, count, g_strdup("with a barrier of all devices where each launch begins"));
}

static bool has_edit(const Edit *edit, unsigned count, const Edit *other)
{
    for (unsigned i = 0; i < count; i++)
        if (edit[i].element == other->element && strcmp(edit[i].name, other->name) == 0)
            return true;
    return false;
}

/* Everything that is left over is waited for before the launch is left. */
static void try_drains(CheckResult *result)
{
    const Program *program = result->program;
    Edit edit[CANDIDATES_MAX];
    unsigned count = 0;
    g_autoptr(GString) text = g_string_new("with ");
    for (guint i = 0; i < result->outcome->findings->len && count < CANDIDATES_MAX; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        if (finding->id != FAULT_LEFTOVER || finding->object == NONE || finding_exemption(program, finding) != NULL)
            continue;
        const Decl *decl = program_decl(program, program_semaphore_decl(program, finding->object));
        Edit now = { .kind = EDIT_DRAIN, .name = program_text(program, decl->name), .value = finding->have,
                     .element = (finding->object - decl->first_semaphore) % decl->elements };
        if (has_edit(edit, count, &now))
            continue;
        g_string_append_printf(text, "%sa wait for %" G_GINT64_FORMAT " on %s", count ? " and " : "", now.value, now.name);
        if (decl->elements > 1)
            g_string_append_printf(text, "[%u]", now.element);
        edit[count++] = now;
    }
    g_string_append(text, " before the launch is left");
    if (count > 0)
        try_repair(result, edit, count, g_strdup(text->str));
}

static Edit at_step(const Program *program, EditKind kind, const Step *step)
{
    const Site *site = program_get_site(program, step->site);
    return (Edit){ .kind = kind, .file = program_text(program, site->file), .line = site->line, .counter = site->counter,
                   .step = step->kind, .value = 2 };
}

static bool first_of_site(const Record *record, size_t index)
{
    const Step *step = &STORE(Step, &record->steps, index);
    for (size_t i = 0; i < index; i++)
        if (STORE(Step, &record->steps, i).site == step->site && STORE(Step, &record->steps, i).kind == step->kind)
            return false;
    return true;
}

static void try_larger_counts(CheckResult *result)
{
    unsigned candidates = 0;
    for (size_t i = 0; i < result->record->steps.count && candidates < CANDIDATES_MAX; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        if (step->kind != STEP_WAIT || step->value == 0 || !first_of_site(result->record, i))
            continue;
        const Edit edit = at_step(result->program, EDIT_SCALE, step);
        candidates++;
        try_repair(result, &edit, 1, g_strdup_printf("with a wait for %u instead of %u at %s:%u", step->value * 2,
                                                     step->value, edit.file, edit.line));
    }
}

/* Who sends to each core, at this line: one core each, and each to one; else there is no single one to give room to. */
static bool find_senders(const CheckResult *result, uint32_t site, uint32_t *sender)
{
    const Program *program = result->program;
    for (uint32_t core = 0; core < program->cores; core++)
        sender[core] = NONE;
    for (size_t i = 0; i < result->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &result->record->copies, i);
        uint32_t target = copy->receive_semaphore == NONE ? NONE : program_semaphore_core(program, copy->receive_semaphore);
        if (copy->site != site)
            continue;
        if (!copy->remote || target == NONE || (sender[target] != NONE && sender[target] != copy->core))
            return false;
        sender[target] = copy->core;
    }
    for (uint32_t core = 0; core < program->cores; core++)
        if (sender[core] == NONE)
            return false;
    return true;
}

static void try_capacity(CheckResult *result)
{
    const Program *program = result->program;
    uint32_t sender[CORES_MAX];
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        if (step->kind != STEP_COPY_START || step->object == NONE || !first_of_site(result->record, i)
            || !find_senders(result, step->site, sender))
            continue;
        const Copy *copy = &STORE(Copy, &result->record->copies, step->object);
        Edit edit = at_step(program, EDIT_CREDIT, step);
        edit.name = program_text(program, program_decl(program, program_semaphore_decl(program, copy->receive_semaphore))->name);
        edit.peer = sender;
        try_repair(result, &edit, 1, g_strdup_printf("with a capacity semaphore, on which each device tells the one that sends to it that "
                                                     "there is room, and waits for the same word, before each copy at %s:%u", edit.file,
                                                     edit.line));
    }
}

/* The other values of the knobs that make the machine kinder. */
static void try_knobs(CheckResult *result)
{
    static const struct { const char *option; Knobs knobs; } other[] = {
        { "dma-order link-fifo (copies to one device land in issue order)", { .dma_order = DMA_ORDER_LINK_FIFO } },
        { "dma-order issue-order (all copies of a core in issue order)", { .dma_order = DMA_ORDER_ISSUE_ORDER } },
        { "dma-progress whole (no bytes are counted before the copy is complete)", { .dma_progress = DMA_PROGRESS_WHOLE } },
        { "bounds padded (VMEM reaches to the end of its tiles)", { .bounds = BOUNDS_PADDED } },
    };
    const Knobs *in_force = &result->spec->knobs;
    bool fifo = false;
    for (size_t i = 0; i < G_N_ELEMENTS(other); i++) {
        Knobs knobs = *in_force;
        const Knobs *kind = &other[i].knobs;
        knobs.dma_order = MAX(knobs.dma_order, kind->dma_order), knobs.dma_progress = MAX(knobs.dma_progress, kind->dma_progress);
        knobs.bounds = MAX(knobs.bounds, kind->bounds);
        if (memcmp(&knobs, in_force, sizeof knobs) == 0 || (fifo && kind->dma_order == DMA_ORDER_ISSUE_ORDER)
            || !makes_right(result, NULL, &knobs))
            continue;
        fifo |= kind->dma_order == DMA_ORDER_LINK_FIFO;
        tell(result, g_strdup_printf("fine only if the hardware promises %s: with --%.*s it is verified", other[i].option,
                                     (int)strcspn(other[i].option, "("), other[i].option));
        g_strchomp(result->tried->pdata[result->tried->len - 1]);
    }
}

void check_try_repairs(CheckResult *result)
{
    if (result->verdict != VERDICT_FAULTY || !small(result))
        return;
    result->tried = g_ptr_array_new_with_free_func(g_free);
    try_one_a_step(result);
    try_entry_barriers(result);
    try_drains(result);
    if (result->tried->len == 0)
        try_capacity(result);
    if (result->tried->len == 0)
        try_larger_counts(result);
    try_knobs(result);
}

static const Finding *first_fault(const CheckResult *changed)
{
    for (guint i = 0; changed->outcome != NULL && i < changed->outcome->findings->len; i++) {
        const Finding *finding = changed->outcome->findings->pdata[i];
        if (finding_exemption(changed->program, finding) == NULL && finding->shown)
            return finding;
    }
    return NULL;
}

/* Is it needed? what: "the signals and waits on ready". */
static void try_one_without(CheckResult *result, const Edit *edit, const char *what, const Place *place)
{
    const Edits edits = { edit, 1 };
    CheckResult *changed = check_changed(result, &edits, &result->spec->knobs);
    if (changed->verdict == VERDICT_VERIFIED) {
        g_autofree char *text = g_strdup_printf("%s: without this the proof goes through as well, at this size", what);
        check_add_advice(result, ADVICE_NEEDLESS_SYNC, text, place);
    }
    const Finding *fault = changed->verdict == VERDICT_FAULTY ? first_fault(changed) : NULL;
    if (fault != NULL) {
        if (result->tried == NULL)
            result->tried = g_ptr_array_new_with_free_func(g_free);
        const Site *site = fault->places ? program_get_site(changed->program, fault->place[0].site) : NULL;
        g_autofree char *where = site ? g_strdup_printf(" at %s:%u", program_text(changed->program, site->file), site->line) : g_strdup("");
        tell(result, g_strdup_printf("needed: %s; without this there is a %s%s", what, fault_name(fault->id), where));
    }
    check_result_free(changed);
}

static void try_without_semaphores(CheckResult *result)
{
    const Program *program = result->program;
    g_autofree bool *seen = g_new0(bool, program->decls.count + 1);
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        uint32_t decl = step->kind == STEP_SIGNAL ? program_semaphore_decl(program, step->object) : NONE;
        if (decl == NONE || seen[decl])
            continue;
        seen[decl] = true;
        const Edit edit = { .kind = EDIT_DROP_SEMAPHORE, .name = program_text(program, program_decl(program, decl)->name) };
        const Place place = { .core = step->core, .copy = NONE, .kind = STEP_SIGNAL, .site = step->site, .object = step->object,
                              .region = NONE, .launch = step->launch };
        g_autofree char *what = g_strdup_printf("the signals and waits on %s", edit.name);
        try_one_without(result, &edit, what, &place);
    }
}

void check_try_without(CheckResult *result)
{
    if (result->verdict != VERDICT_VERIFIED || !small(result))
        return;
    try_without_semaphores(result);
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        if (step->kind != STEP_CORE_BARRIER || !first_of_site(result->record, i))
            continue;
        const Edit edit = at_step(result->program, EDIT_DROP, step);
        const Place place = { .core = step->core, .copy = NONE, .kind = STEP_CORE_BARRIER, .site = step->site, .object = NONE,
                              .region = NONE };
        try_one_without(result, &edit, "the core barrier", &place);
    }
    for (uint32_t l = 0; l < result->program->launches.count; l++) {
        const Launch *launch = program_launch(result->program, l);
        if (!launch->entry_barrier)
            continue;
        const Edit edit = { .kind = EDIT_ENTRY_BARRIER, .launch = l, .value = 0 };
        const Place place = { .core = 0, .copy = NONE, .kind = STEP_ENTER, .site = launch->site, .object = NONE, .region = NONE,
                              .launch = l };
        g_autofree char *what = g_strdup_printf("the barrier where launch %u (%s) begins", l, program_text(result->program, launch->name));
        try_one_without(result, &edit, what, &place);
    }
}
