/* whatif.c - builds changes and runs their checks. */
#include "whatif.h"
#include "../../model/label.h"
#include "../check/check.h"
#include "../check/worker.h"
#include <string.h>
#include "../check/check_parts.h"

/* Limits for one changed program. Time is limited only for kernels that do not end, so that reports stay the same on a busy machine. */
enum { STEPS_MAX = 6000, CLASSES_MAX = 20000, STATES_MAX = 200000 };
static const double SECONDS_MAX = 60;

bool whatif_is_small(const CheckResult *result)
{
    return result->program != NULL && result->record != NULL && result->outcome != NULL && result->spec->edits == NULL
        && result->program->cores <= WHATIF_CORES_MAX && result->record->steps.count > 0 && result->record->steps.count <= STEPS_MAX;
}

CheckSpec whatif_spec(const CheckResult *result)
{
    CheckSpec spec = *result->spec;
    spec.search = SEARCH_AUTO, spec.first = true;
    spec.results = spec.recording = false, spec.workers = 0, spec.checkpoint = spec.resume = NULL;
    spec.limits.runs = spec.limits.runs > 0 ? MIN(spec.limits.runs, CLASSES_MAX) : CLASSES_MAX;
    spec.limits.states = spec.limits.states > 0 ? MIN(spec.limits.states, STATES_MAX) : STATES_MAX;
    spec.until = check_until(result), spec.whatif = true;
    spec.limits.seconds = SECONDS_MAX;
    return spec;
}

/* Out of time: bounded without a run. */
static CheckResult *leave_out(const CheckSpec *spec)
{
    WorkerShared *shared;
    CheckResult *left = check_begin(spec, &shared);
    left->outcome = outcome_new();
    outcome_add_limit(left->outcome, "time");
    left->verdict = VERDICT_BOUNDED;
    worker_shared_free(shared);
    return left;
}

CheckResult *whatif_run(const CheckResult *result, const CheckSpec *spec)
{
    if (check_is_over(result))
        return leave_out(spec);
    CheckResult *changed = check_run(spec);
    bool certain = changed->program == NULL || !changed->program->racing.outside;  /* else a value that nobody knows may lead elsewhere */
    if (changed->error != NULL && g_str_has_prefix(changed->error, CHECK_CONTRADICTION) && certain && !result->outcome->contradiction)
        result->outcome->contradiction = g_strdup(changed->error);
    return changed;
}

CheckResult *whatif_check(const CheckResult *result, const Edits *edits, const Knobs *knobs, bool first)
{
    CheckSpec spec = whatif_spec(result);
    spec.edits = edits, spec.knobs = *knobs, spec.first = first;
    CheckResult *changed = whatif_run(result, &spec);
    changed->spec = result->spec;               /* the spec of this call does not outlive it */
    return changed;
}

void change_begin(Change *change, const CheckResult *result)
{
    *change = (Change){ .result = result, .words = g_string_new(NULL), .owned = g_ptr_array_new_with_free_func(g_free) };
}

void change_clear(Change *change)
{
    g_string_free(change->words, TRUE);
    g_ptr_array_unref(change->owned);
}

Edit *change_add(Change *change, EditKind kind)
{
    change->too_many |= change->count == WHATIF_CHANGES_MAX;
    Edit *edit = &change->edit[change->too_many ? WHATIF_CHANGES_MAX - 1 : change->count++];
    *edit = (Edit){ .kind = kind };
    return edit;
}

void change_add_wait(Change *change, EditKind kind, EditWhere where, EditSemaphore semaphore, int64_t value)
{
    Edit *edit = change_add(change, kind);
    edit->where = where, edit->step = STEP_WAIT, edit->semaphore = semaphore, edit->value = value;
}

Turns *change_turns(Change *change, uint32_t times)
{
    const size_t all = (size_t)WHATIF_CORES_MAX * times;
    Turns *turns = g_malloc0(sizeof *turns + 3 * all * sizeof(uint32_t));
    uint32_t *data = (uint32_t *)(turns + 1);
    turns->value = data, turns->element = data + all, turns->target = data + 2 * all;
    turns->turns = (EditTurns){ times, turns->value, turns->element, turns->target };
    g_ptr_array_add(change->owned, turns);
    return turns;
}

void change_say(Change *change, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_string_append_vprintf(change->words, format, arguments);
    va_end(arguments);
}

CheckResult *change_check(const Change *change)
{
    const Edits edits = { change->edit, change->count, change->fresh, change->fresh_count };
    return whatif_check(change->result, &edits, &change->result->spec->knobs, true);
}

EditWhere whatif_at_exit(uint32_t launch, const bool *core)
{
    return (EditWhere){ .step = STEP_EXIT, .one_launch = true, .launch = launch, .core = core };
}

EditWhere whatif_at(const Program *program, StepKind kind, uint32_t site_id)
{
    const Site *site = program_get_site(program, site_id);
    return (EditWhere){ .step = (uint8_t)(kind >= STEP_EARLY_SEND ? STEP_COPY_START : kind), .file = program_text(program, site->file),
                        .line = site->line, .counter = site->counter };
}

const char *whatif_semaphore_name(const Program *program, uint32_t semaphore)
{
    return program_text(program, program_decl(program, program_semaphore_decl(program, semaphore))->name);
}

uint32_t whatif_element(const Program *program, uint32_t semaphore)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    return (semaphore - decl->first_semaphore) % decl->elements;
}

char *whatif_semaphore_text(const Program *program, uint32_t semaphore)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    const char *name = program_text(program, decl->name);
    return decl->elements > 1 ? g_strdup_printf("%s[%u]", name, whatif_element(program, semaphore)) : g_strdup(name);
}

bool whatif_is_first(const Record *record, size_t index)
{
    const Step *step = &STORE(Step, &record->steps, index);
    const char *name = step->kind == STEP_WAIT ? whatif_semaphore_name(record->program, step->object) : NULL;
    if (label_marks_site(record->program, step->site))
        return false;
    for (size_t i = 0; i < index; i++) {
        const Step *other = &STORE(Step, &record->steps, i);
        if (program_same_line(record->program, other->site, step->site) && other->kind == step->kind
            && (name == NULL || strcmp(name, whatif_semaphore_name(record->program, other->object)) == 0))
            return false;
    }
    return true;
}

EditWhere whatif_at_wait(const Program *program, const Step *wait)
{
    EditWhere where = whatif_at(program, STEP_WAIT, wait->site);
    where.semaphore = whatif_semaphore_name(program, wait->object);
    return where;
}

bool whatif_is_reported(const CheckResult *result, const Finding *finding)
{
    return finding_exemption(result->program, finding) == NULL;
}

Repair *whatif_tell(CheckResult *result, RepairKind kind, char *words)
{
    if (result->tried == NULL)
        result->tried = g_ptr_array_new_with_free_func((GDestroyNotify)repair_free);
    Repair *repair = repair_new(kind, words);
    repair->data_checked = result->program->expectations.count > 0;
    for (guint i = 0; (kind == REPAIR_MENDS || kind == REPAIR_MASKS) && i < result->outcome->findings->len; i++)
        if (whatif_is_reported(result, result->outcome->findings->pdata[i]))
            g_ptr_array_add(repair->keys, finding_key(result->program, result->outcome->findings->pdata[i]));
    g_ptr_array_add(result->tried, repair);
    return repair;
}
