/* advice.c - needless synchronisation in a right program: each barrier, each pair of signals and waits, and each single wait is removed in
 * turn, and the rest is checked. If it is needed, the advice says what would happen without it.
 *
 * A single wait is not removed but moved to the end of the launch, since its signals must be taken somewhere. So a wait is needless if
 * nothing in the launch must come after it.
 */
#include "../check/check.h"
#include "../report/message.h"
#include "advise.h"
#include "whatif.h"
#include <string.h>

static const Finding *first_fault(const CheckResult *changed)
{
    for (guint i = 0; changed->outcome != NULL && i < changed->outcome->findings->len; i++) {
        const Finding *finding = changed->outcome->findings->pdata[i];
        if (finding_exemption(changed->program, finding) == NULL && finding->shown)
            return finding;
    }
    return NULL;
}

/* "a race: copy 2 of device 1 writes ... (kernel.c:12)". NULL: no fault was seen. */
static char *what_happens(const CheckResult *changed)
{
    const Finding *fault = changed->verdict == VERDICT_FAULTY ? first_fault(changed) : NULL;
    if (fault == NULL)
        return NULL;
    g_autofree char *message = message_text(changed, fault), *place = fault->places
        ? program_describe_site(changed->program, fault->place[0].site) : NULL;
    return g_strdup_printf("%s: %s%s%s%s", fault_name(fault->id), message, place ? " (" : "", place ? place : "", place ? ")" : "");
}

/* Checks the program without it. what: "the signals and waits on ready"; needless: the text of the advice. Clears the change. True:
 * needless. */
static bool try_without(CheckResult *result, Change *change, const char *what, const char *needless, const Place *place)
{
    CheckResult *changed = change->too_many ? NULL : change_check(change);
    bool right = changed != NULL && changed->verdict == VERDICT_VERIFIED;
    if (right) {
        g_autofree char *text = g_strdup_printf("%s: %s", what, needless);
        check_add_advice(result, ADVICE_NEEDLESS_SYNC, text, place);
    }
    g_autofree char *otherwise = changed != NULL ? what_happens(changed) : NULL;
    if (otherwise != NULL)
        whatif_tell(result, REPAIR_NEEDED, g_strdup_printf("%s; without it there is a %s", what, otherwise));
    if (changed != NULL)
        check_result_free(changed);
    change_clear(change);
    return right;
}

static const char NEEDLESS[] = "without it the program is still verified at this size";

/* Does anything in the launch other than signals on semaphores of that name reach another device? */
static bool communicates_without(const CheckResult *result, uint32_t launch, const char *name)
{
    const Program *program = result->program;
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        if (step->launch != launch)
            continue;
        if (step->kind == STEP_COPY_START && step->object != NONE && STORE(Copy, &result->record->copies, step->object).remote)
            return true;
        bool counts = step->kind == STEP_SIGNAL || step_has(step->kind, STEP_ON_FLAG);
        uint32_t device = counts ? program_semaphore_core(program, step->object) / program->cores_per_device : 0;
        if (counts && device != step->core / program->cores_per_device && strcmp(whatif_semaphore_name(program, step->object), name) != 0)
            return true;
    }
    return false;
}

/* A launch that no longer communicates has no entry barrier either. */
static void drop_idle_barriers(const CheckResult *result, Change *change, const char *name)
{
    for (uint32_t l = 0; l < result->program->launches.count; l++)
        if (program_launch(result->program, l)->entry_barrier && !communicates_without(result, l, name))
            change_add(change, EDIT_ENTRY_BARRIER)->where.launch = l;
}

/* needless: a flag for each declaration. */
static void try_without_semaphores(CheckResult *result, bool *needless)
{
    static const uint8_t kind[] = { STEP_SIGNAL, STEP_WAIT, STEP_WAIT_KEEP };
    const Program *program = result->program;
    g_autofree bool *seen = g_new0(bool, program->decls.count + 1);
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        uint32_t decl = step->kind == STEP_SIGNAL ? program_semaphore_decl(program, step->object) : NONE;
        if (decl == NONE || seen[decl])
            continue;
        seen[decl] = true;
        const char *name = whatif_semaphore_name(program, step->object);
        const Place place = { .core = step->core, .copy = NONE, .kind = STEP_SIGNAL, .site = step->site, .object = step->object,
                              .region = NONE, .launch = step->launch };
        g_autofree char *what = g_strdup_printf("the signals and waits on %s", name);
        Change change;
        change_begin(&change, result);
        for (unsigned k = 0; k < G_N_ELEMENTS(kind); k++)
            change_add(&change, EDIT_DROP)->where = (EditWhere){ .step = kind[k], .semaphore = name };
        drop_idle_barriers(result, &change, name);
        needless[decl] = try_without(result, &change, what, NEEDLESS, &place);
    }
}

/* What waits at one site take from one semaphore, and the cores that do so. */
typedef struct Taken { uint32_t semaphore; int64_t value; bool core[WHATIF_CORES_MAX]; } Taken;

static void note_taken(const Program *program, GArray *taken, uint32_t semaphore, int64_t value)
{
    for (guint i = 0; i < taken->len; i++) {
        Taken *other = &g_array_index(taken, Taken, i);
        if (other->semaphore == semaphore) {
            other->value += value;
            return;
        }
    }
    Taken now = { .semaphore = semaphore, .value = value };
    now.core[program_semaphore_core(program, semaphore)] = true;
    g_array_append_val(taken, now);
}

/* Merges entries of cores that take the same amount from the same element. */
static void merge_taken(const Program *program, GArray *taken)
{
    for (guint i = 0; i < taken->len; i++)
        for (guint j = taken->len; --j > i;) {
            Taken *one = &g_array_index(taken, Taken, i), *other = &g_array_index(taken, Taken, j);
            if (one->value != other->value || whatif_element(program, one->semaphore) != whatif_element(program, other->semaphore))
                continue;
            for (uint32_t core = 0; core < program->cores; core++)
                one->core[core] |= other->core[core];
            g_array_remove_index(taken, j);
        }
}

static void wait_at_exits(Change *change, const Program *program, const GArray *taken, uint32_t launch)
{
    for (guint i = 0; i < taken->len; i++) {
        const Taken *one = &g_array_index(taken, Taken, i);
        const EditSemaphore semaphore = { .name = whatif_semaphore_name(program, one->semaphore),
                                          .element = whatif_element(program, one->semaphore) };
        change_add_wait(change, EDIT_BEFORE, whatif_at_exit(launch, one->core), semaphore, one->value);
    }
}

static void try_without_wait(CheckResult *result, const Step *wait)
{
    const Program *program = result->program;
    g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(Taken));
    const char *name = whatif_semaphore_name(program, wait->object);
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        if (step->kind != STEP_WAIT || !program_same_line(program, step->site, wait->site)
            || strcmp(whatif_semaphore_name(program, step->object), name) != 0)
            continue;
        if (step->launch != wait->launch)
            return;                             /* several launches share the line, so the wait has no single launch */
        note_taken(program, taken, step->object, step->value);
    }
    merge_taken(program, taken);
    Change change;
    change_begin(&change, result);
    change_add(&change, EDIT_DROP)->where = whatif_at_wait(program, wait);
    wait_at_exits(&change, program, taken, wait->launch);
    const Place place = { .core = wait->core, .copy = NONE, .kind = STEP_WAIT, .site = wait->site, .object = wait->object, .region = NONE,
                          .launch = wait->launch };
    g_autofree char *where = program_describe_site(program, wait->site), *what = g_strdup_printf("the wait on %s at %s", name, where);
    try_without(result, &change, what, "nothing in the launch depends on it; at this size it could move to the end of the "
                                       "launch", &place);
}

static bool has_launch_life(const Program *program, uint32_t semaphore)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    return decl->life == LIFE_LAUNCHES && decl->semaphore_kind != SEMAPHORE_FLAG;
}

static bool ends_the_launch(const Record *record, size_t index)
{
    const Step *wait = &STORE(Step, &record->steps, index);
    for (size_t i = index + 1; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->core == wait->core && step->kind != STEP_WAIT)
            return step->kind == STEP_EXIT;
    }
    return true;
}

/* Skips semaphores that are needless as a whole, and waits that are already at the end of the launch. */
static void try_without_waits(CheckResult *result, const bool *needless)
{
    const Record *record = result->record;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->kind == STEP_WAIT && step->value > 0 && whatif_is_first(record, i) && has_launch_life(result->program, step->object)
            && !needless[program_semaphore_decl(result->program, step->object)] && !ends_the_launch(record, i))
            try_without_wait(result, step);
    }
}

static void try_without_core_barriers(CheckResult *result)
{
    for (size_t i = 0; i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        if (step->kind != STEP_CORE_BARRIER || !whatif_is_first(result->record, i))
            continue;
        const Place place = { .core = step->core, .copy = NONE, .kind = STEP_CORE_BARRIER, .site = step->site, .object = NONE,
                              .region = NONE };
        Change change;
        change_begin(&change, result);
        change_add(&change, EDIT_DROP)->where = whatif_at(result->program, STEP_CORE_BARRIER, step->site);
        try_without(result, &change, "the core barrier", NEEDLESS, &place);
    }
}

static void try_without_entry_barriers(CheckResult *result)
{
    for (uint32_t l = 0; l < result->program->launches.count; l++) {
        const Launch *launch = program_launch(result->program, l);
        if (!launch->entry_barrier)
            continue;
        const Place place = { .core = 0, .copy = NONE, .kind = STEP_ENTER, .site = launch->site, .object = NONE, .region = NONE,
                              .launch = l };
        g_autofree char *what = g_strdup_printf("the barrier where launch %u (%s) begins", l, program_text(result->program, launch->name));
        Change change;
        change_begin(&change, result);
        change_add(&change, EDIT_ENTRY_BARRIER)->where.launch = l;
        try_without(result, &change, what, NEEDLESS, &place);
    }
}

void check_try_without(CheckResult *result)
{
    if (result->verdict != VERDICT_VERIFIED || !whatif_is_small(result))
        return;
    g_autofree bool *needless = g_new0(bool, result->program->decls.count + 1);
    try_without_semaphores(result, needless);
    try_without_core_barriers(result);
    try_without_entry_barriers(result);
    try_without_waits(result, needless);
}
