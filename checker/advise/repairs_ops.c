/* repairs_ops.c - the operations of a program: each call of the source that was a step, in the order of the recorded run.
 *
 * Of a program that is stuck nothing behind the stuck waits is recorded. It is run again without them, to see what would follow; only
 * places for changes are taken from that run.
 */
#include "../../model/label.h"
#include "repairs.h"
#include <string.h>

enum { UNSTICKING_MAX = 4 };

static uint32_t semaphore_of(const Record *record, const Step *step)
{
    if (step->kind == STEP_COPY_START)
        return step->object == NONE ? NONE : STORE(Copy, &record->copies, step->object).receive_semaphore;
    return step_has(step->kind, STEP_ON_SEMAPHORE | STEP_ON_FLAG) ? step->object : NONE;
}

static Op op_of(const Record *record, const Step *step)
{
    const Program *program = record->program;
    const Site *site = program_get_site(program, step->site);
    uint32_t semaphore = semaphore_of(record, step);
    Op op = { .kind = step->kind, .value = step->value, .launch = step->launch, .file = g_intern_string(program_text(program, site->file)),
              .line = site->line, .counter = site->counter };
    if (semaphore != NONE) {
        const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
        op.semaphore = g_intern_string(program_text(program, decl->name)), op.semaphore_kind = decl->semaphore_kind;
        op.elements = decl->elements, op.element = whatif_element(program, semaphore), op.scoped = decl->life == LIFE_SCOPE;
        op.initial = decl->initial, op.compare = (uint8_t)(step->kind == STEP_FLAG_WAIT ? step->extra : 0);
    }
    if (step->kind == STEP_COPY_START && step->object != NONE) {
        const Copy *copy = &STORE(Copy, &record->copies, step->object);
        op.remote = copy->remote;
        op.send = copy->send_semaphore != NONE ? g_intern_string(whatif_semaphore_name(program, copy->send_semaphore)) : NULL;
    }
    if (step_on_memory(step->kind))
        op.buffer = g_intern_string(program_text(program, program_decl(program, program_object_decl(program, step->object))->name));
    for (unsigned core = 0; core < WHATIF_CORES_MAX; core++)
        op.target[core] = NONE;
    return op;
}

static bool is_same(const Op *one, const Op *other)
{
    return one->kind == other->kind && one->line == other->line && one->counter == other->counter && one->file == other->file
        && one->semaphore == other->semaphore;
}

static void note_target(const Record *record, const Step *step, Op *op)
{
    uint32_t semaphore = semaphore_of(record, step);
    bool sends = step->kind == STEP_SIGNAL || step_has(step->kind, STEP_ON_FLAG)
        || (step->kind == STEP_COPY_START && step->object != NONE && STORE(Copy, &record->copies, step->object).remote);
    if (!sends || semaphore == NONE)
        return;
    op->sends = true;
    uint32_t *target = &op->target[step->core], to = program_semaphore_core(record->program, semaphore);
    op->varies |= *target != NONE && *target != to;
    *target = to;
}

static void note_step(Repairs *r, const Record *record, const Step *step, bool pending)
{
    if (label_marks_site(record->program, step->site) || (step->flags & STEP_BY_HOST) || step->kind >= STEP_STOP || step_is_join(step->kind)
        || step->kind == STEP_ALLOC || step->kind == STEP_FREE)
        return;
    Op now = op_of(record, step);
    guint at = 0;
    while (at < r->ops->len && !is_same(&g_array_index(r->ops, Op, at), &now))
        at++;
    if (at == r->ops->len)
        g_array_append_val(r->ops, now);
    Op *op = &g_array_index(r->ops, Op, at);
    op->stuck |= pending, op->times[step->core]++;
    note_target(record, step, op);
    if (r->order[step->core]->len == 0 || g_array_index(r->order[step->core], guint, r->order[step->core]->len - 1) != at)
        g_array_append_val(r->order[step->core], at);
}

/* known: of each core so many steps are noted already. */
static void note_all(Repairs *r, const Record *record, const uint32_t *known)
{
    uint32_t position[WHATIF_CORES_MAX] = { 0 };
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (position[step->core]++ >= known[step->core])
            note_step(r, record, step, false);
    }
    for (size_t core = 0; core < record->ends.count; core++) {
        const CoreState *end = &STORE(CoreState, &record->ends, core);
        if (end->end == CORE_BLOCKED && step_is_wait(end->pending.kind))
            note_step(r, record, &end->pending, true);
    }
}

bool repairs_matches(const Repairs *r, const Step *step, const EditWhere *where)
{
    const Site *site = program_get_site(r->program, step->site);
    if (step->kind != where->step || site->line != where->line || (where->counter != 0 && site->counter != where->counter)
        || strcmp(program_text(r->program, site->file), where->file) != 0)
        return false;
    uint32_t semaphore = where->semaphore ? semaphore_of(r->record, step) : NONE;
    return where->semaphore == NULL || (semaphore != NONE && strcmp(whatif_semaphore_name(r->program, semaphore), where->semaphore) == 0);
}

uint32_t repairs_occurrence(const Repairs *r, size_t index, const EditWhere *where)
{
    uint32_t count = 0;
    for (size_t i = 0; i < index; i++)
        count += repairs_step(r, i)->core == repairs_step(r, index)->core && repairs_matches(r, repairs_step(r, i), where);
    return count;
}

EditWhere op_where(const Op *op)
{
    return (EditWhere){ .step = op->kind, .file = op->file, .line = op->line, .counter = op->counter,
                        .semaphore = op->kind == STEP_COPY_START ? NULL : op->semaphore };
}

/* Leaves out the waits at which cores are stuck. */
static bool drop_stuck(Change *change, const Record *record)
{
    bool any = false;
    for (size_t core = 0; core < record->ends.count && !change->too_many; core++) {
        const CoreState *end = &STORE(CoreState, &record->ends, core);
        if (end->end != CORE_BLOCKED || !step_is_semaphore_wait(end->pending.kind) || label_marks_site(record->program, end->pending.site))
            continue;
        const Op op = op_of(record, &end->pending);
        change_add(change, EDIT_DROP)->where = op_where(&op);
        any = true;
    }
    return any && !change->too_many;
}

/* Notes what would follow behind the waits at which cores are stuck. */
static void look_behind(Repairs *r)
{
    Change change;
    change_begin(&change, r->result);
    const Record *record = r->record;
    CheckResult *ahead = NULL;
    for (unsigned i = 0; i < UNSTICKING_MAX && drop_stuck(&change, record); i++) {
        CheckResult *next = change_check(&change);
        if (next->record == NULL || next->record->steps.count == 0) {
            check_result_free(next);
            break;
        }
        if (ahead != NULL)
            check_result_free(ahead);
        ahead = next, record = ahead->record;
    }
    change_clear(&change);
    if (ahead == NULL)
        return;
    uint32_t known[WHATIF_CORES_MAX] = { 0 };
    for (size_t i = 0; i < r->record->steps.count; i++)
        known[STORE(Step, &r->record->steps, i).core]++;
    note_all(r, ahead->record, known);
    check_result_free(ahead);
}

static bool is_blamed(const Repairs *r, const Op *op)
{
    for (guint i = 0; i < r->result->outcome->findings->len; i++) {
        const Finding *finding = r->result->outcome->findings->pdata[i];
        for (unsigned p = 0; p < finding->places; p++) {
            const Site *site = program_get_site(r->program, finding->place[p].site);
            if (site->line == op->line && strcmp(program_text(r->program, site->file), op->file) == 0)
                return true;
        }
    }
    return op->stuck;
}

void repairs_find_ops(Repairs *r)
{
    r->ops = g_array_new(FALSE, TRUE, sizeof(Op));
    for (unsigned core = 0; core < WHATIF_CORES_MAX; core++)
        r->order[core] = g_array_new(FALSE, FALSE, sizeof(guint));
    note_all(r, r->record, (const uint32_t[WHATIF_CORES_MAX]){ 0 });
    if (record_any_ended(r->record, CORE_BLOCKED))
        look_behind(r);
    for (guint i = 0; i < r->ops->len; i++)
        repairs_op(r, i)->blamed = is_blamed(r, repairs_op(r, i));
}

void repairs_forget_ops(Repairs *r)
{
    g_array_unref(r->ops);
    for (unsigned core = 0; core < WHATIF_CORES_MAX; core++)
        g_array_unref(r->order[core]);
}

Op *repairs_op(const Repairs *r, guint index)
{
    return &g_array_index(r->ops, Op, index);
}

char *op_place(const Op *op)
{
    return g_strdup_printf("%s:%u", op->file, op->line);
}

char *op_words(const Op *op)
{
    if (op->kind == STEP_COPY_START)
        return g_strdup("start of the copy");
    const char *word = op->kind == STEP_FLAG_STORE ? "store" : op->kind == STEP_FLAG_WAIT ? "wait" : step_kind_name((StepKind)op->kind);
    const char *object = op->semaphore ? op->semaphore : op->buffer;
    bool of = op->kind == STEP_LOAD || op->kind == STEP_SWAP;
    return object ? g_strdup_printf("%s %s %s", word, of ? "of" : op->buffer ? "to" : "on", object) : g_strdup(word);
}
