/* edit.c - applies each change to the current step; the core submits inserted steps at the place of the current one. */
#include "edit.h"
#include <glib.h>
#include <string.h>

typedef struct FreshOfProgram {
    uint32_t *decl;                             /* by launch, NONE: not there */
} FreshOfProgram;

struct ProgramEdits {
    unsigned count;
    Edit *edit;
    FreshOfProgram *fresh;
};

static bool is_named(const Program *program, const Decl *decl, const char *name)
{
    return strcmp(program_text(program, decl->name), name) == 0;
}

static bool launch_has(const Launch *launch, uint32_t decl)
{
    for (uint32_t i = 0; i < launch->decls; i++)
        if (launch->decl[i] == decl)
            return true;
    return false;
}

static void add_to_launch(Program *program, FreshOfProgram *fresh, uint32_t l, uint32_t decl)
{
    Launch *launch = program_launch(program, l);
    uint32_t *list = program_alloc(program, (launch->decls + 1) * sizeof *list);
    memcpy(list, launch->decl, launch->decls * sizeof *list);
    list[launch->decls++] = decl;
    launch->decl = list;
    fresh->decl[l] = decl;
}

static uint32_t add_array(Program *program, const EditFresh *asked, DType dtype, uint32_t site)
{
    DeclSpec spec = { .space = SPACE_SEMAPHORE, .semaphore_kind = asked->kind, .dtype = dtype, .life = LIFE_LAUNCHES, .ndim = 1,
                      .size = { asked->elements }, .once = true, .collective_id = -1, .site = site, .name = asked->name };
    return program_add_decl(program, &spec);
}

static bool add_beside(Program *program, const EditFresh *asked, FreshOfProgram *fresh)
{
    bool any = false;
    uint32_t decls = (uint32_t)program->decls.count;
    for (uint32_t d = 0; d < decls; d++) {
        const Decl *decl = program_decl(program, d);
        if (decl->space != SPACE_SEMAPHORE || decl->life != LIFE_LAUNCHES || !is_named(program, decl, asked->beside))
            continue;
        uint32_t array = add_array(program, asked, decl->dtype, decl->site);
        for (uint32_t l = 0; l < program->launches.count; l++)
            if (launch_has(program_launch(program, l), d))
                add_to_launch(program, fresh, l, array), any = true;
    }
    return any;
}

static bool add_fresh(Program *program, const EditFresh *asked, FreshOfProgram *fresh)
{
    fresh->decl = program_alloc(program, (program->launches.count + 1) * sizeof *fresh->decl);
    for (uint32_t l = 0; l < program->launches.count; l++)
        fresh->decl[l] = NONE;
    if (asked->elements == 0)
        return false;
    if (asked->beside != NULL)
        return add_beside(program, asked, fresh);
    for (uint32_t l = 0; l < program->launches.count; l++)
        if (!program_launch(program, l)->host)
            add_to_launch(program, fresh, l, add_array(program, asked, DTYPE_I32, program_launch(program, l)->site));
    return true;
}

static bool is_counted(StepKind kind)
{
    return kind == STEP_SIGNAL || step_is_semaphore_wait(kind);
}

static bool has_name(const Program *program, const EditSemaphore *semaphore)
{
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        if (decl->space == SPACE_SEMAPHORE && is_named(program, decl, semaphore->name)
            && (semaphore->element == EDIT_BY_OCCURRENCE || semaphore->element < decl->elements))
            return true;
    }
    return false;
}

static bool fits(const Program *program, const Edits *edits, const Edit *edit)
{
    StepKind kind = edit->where.step;
    bool semaphore_there = edit->semaphore.name != NULL ? has_name(program, &edit->semaphore)
        : edit->semaphore.fresh < edits->fresh_count && (edit->semaphore.element == EDIT_BY_OCCURRENCE
                                                         || edit->semaphore.element < edits->fresh[edit->semaphore.fresh].elements);
    switch (edit->kind) {
    case EDIT_DROP:
        return is_counted(kind) || kind == STEP_STORE || kind == STEP_COPY_START || kind == STEP_CORE_BARRIER;
    case EDIT_BEFORE: case EDIT_AFTER:
        return kind < STEP_STOP && (edit->step == STEP_SIGNAL || edit->step == STEP_WAIT) && semaphore_there;
    case EDIT_COUNT:
        return is_counted(kind);
    case EDIT_WAIT_SEND: case EDIT_WAIT_RECEIVE:
        return kind == STEP_COPY_START;
    case EDIT_SEMAPHORE:
        return (is_counted(kind) || kind == STEP_COPY_START) && semaphore_there;
    case EDIT_ENTRY_BARRIER:
        return edit->where.launch < program->launches.count;
    }
    g_assert_not_reached();
}

bool edit_prepare(Program *program, const Edits *edits)
{
    ProgramEdits *own = program_alloc(program, sizeof *own);
    own->edit = program_alloc(program, (edits->count + 1) * sizeof *own->edit);
    own->fresh = program_alloc(program, (edits->fresh_count + 1) * sizeof *own->fresh);
    if (edits->count > CORE_EDITS_MAX)
        return false;
    for (unsigned i = 0; i < edits->fresh_count; i++)
        if (!add_fresh(program, &edits->fresh[i], &own->fresh[i]))
            return false;
    for (unsigned i = 0; i < edits->count; i++) {
        if (!fits(program, edits, &edits->edit[i]))
            return false;
        own->edit[i] = edits->edit[i];
    }
    own->count = edits->count;
    program->edits = own;
    edit_settle(program);
    return true;
}

void edit_settle(Program *program)
{
    const ProgramEdits *own = program->edits;
    for (unsigned i = 0; own != NULL && i < own->count; i++)
        if (own->edit[i].kind == EDIT_ENTRY_BARRIER)
            program_launch(program, own->edit[i].where.launch)->entry_barrier = own->edit[i].value != 0;
}

static uint32_t semaphore_of(const Request *request)
{
    StepKind kind = request->step.kind;
    if (kind == STEP_COPY_START)
        return request->step.object == NONE ? NONE : request->copy.receive_semaphore;
    return step_has(kind, STEP_ON_SEMAPHORE) ? request->step.object : NONE;
}

static bool is_there(const Core *core, const EditWhere *where, const Request *request)
{
    const Program *program = core->program;
    uint32_t semaphore = semaphore_of(request);
    if (request->step.kind != where->step || (where->one_launch && request->step.launch != where->launch)
        || (where->core != NULL && !where->core[core->id]))
        return false;
    if (where->semaphore != NULL
        && (semaphore == NONE || !is_named(program, program_decl(program, program_semaphore_decl(program, semaphore)), where->semaphore)))
        return false;
    const Site *site = where->file != NULL ? program_get_site(program, request->step.site) : NULL;
    return site == NULL || (site->line == where->line && site->counter == where->counter
                            && strcmp(program_text(program, site->file), where->file) == 0);
}

/* nth: which of the occurrences that are meant. Only where it matters is it counted, as it is part of a core's state. */
static bool is_meant(Core *core, unsigned i, const Edit *edit, const Request *request, uint32_t *nth)
{
    const EditWhere *where = &edit->where;
    *nth = 0;
    if (!is_there(core, where, request))
        return false;
    if (where->skip == 0 && where->times == 0 && edit->semaphore.element != EDIT_BY_OCCURRENCE)
        return true;
    uint32_t seen = core->edited[i]++;
    *nth = seen - where->skip;
    return seen >= where->skip && (where->times == 0 || *nth < where->times);
}

/* The declaration that a change means in this launch; NONE: it has none. */
static uint32_t find_decl(const Core *core, const EditSemaphore *semaphore)
{
    const Program *program = core->program;
    if (semaphore->name == NULL)
        return program->edits->fresh[semaphore->fresh].decl[core->launch];
    const Launch *launch = program_launch(program, core->launch);
    for (uint32_t i = 0; i < launch->decls; i++) {
        const Decl *decl = program_decl(program, launch->decl[i]);
        if (decl->space == SPACE_SEMAPHORE && is_named(program, decl, semaphore->name))
            return launch->decl[i];
    }
    return NONE;
}

static uint32_t pick(const Program *program, uint32_t decl_id, uint32_t core, const EditSemaphore *semaphore, uint32_t nth)
{
    const Decl *decl = program_decl(program, decl_id);
    uint32_t element = semaphore->element == EDIT_BY_OCCURRENCE ? nth / MAX(semaphore->per, 1) : semaphore->element;
    return decl->first_semaphore + core * decl->elements + element % decl->elements;
}

static bool comes_behind(const Edit *edit)
{
    return edit->kind == EDIT_AFTER || edit->kind == EDIT_WAIT_SEND || edit->kind == EDIT_WAIT_RECEIVE;
}

static void insert(Core *core, const Edit *edit, const Request *request, uint32_t nth)
{
    uint32_t decl = find_decl(core, &edit->semaphore), to = edit->step == STEP_SIGNAL && edit->target ? edit->target[core->id] : core->id;
    if (decl == NONE || to == NONE)
        return;
    Request more = { .step = request->step };
    more.step.kind = edit->step, more.step.flags = 0, more.step.object = pick(core->program, decl, to, &edit->semaphore, nth);
    more.step.value = edit->value ? (uint32_t)edit->value : request->step.value, more.step.extra = edit->step == STEP_WAIT ? NONE : 0;
    if (to / core->program->cores_per_device != core->device)
        program_launch(core->program, core->launch)->communicates = true;
    core->editing = true;
    core->submit(core, &more);
}

static uint32_t at_core(const Program *program, uint32_t semaphore, uint32_t core)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    return decl->first_semaphore + core * decl->elements + (semaphore - decl->first_semaphore) % decl->elements;
}

static void wait_for_copy(Core *core, const Request *request, bool send)
{
    const Copy *copy = &request->copy;
    uint32_t semaphore = send ? copy->send_semaphore : copy->receive_semaphore;
    if (request->step.kind != STEP_COPY_START || request->step.object == NONE || semaphore == NONE)
        return;
    Request more = { .step = request->step };
    more.step.kind = STEP_WAIT, more.step.flags = 0, more.step.object = at_core(core->program, semaphore, core->id);
    more.step.value = send ? copy->send_count : copy->receive_count, more.step.extra = NONE;
    core->editing = true;
    core->submit(core, &more);
}

static void put_behind(Core *core, const Edit *edit, const Request *request, uint32_t nth)
{
    if (edit->kind == EDIT_AFTER)
        insert(core, edit, request, nth);
    else
        wait_for_copy(core, request, edit->kind == EDIT_WAIT_SEND);
}

static void move_to_semaphore(Core *core, const Edit *edit, Request *request, uint32_t nth)
{
    const Program *program = core->program;
    uint32_t *old = request->step.kind == STEP_COPY_START ? &request->copy.receive_semaphore : &request->step.object;
    uint32_t decl = find_decl(core, &edit->semaphore);
    if (decl == NONE || (request->step.kind == STEP_COPY_START && request->step.object == NONE))
        return;
    if (program_decl(program, decl)->semaphore_kind != program_decl(program, program_semaphore_decl(program, *old))->semaphore_kind)
        core_usage(core, request->step.site, "a change of semaphores: %s is of another kind",
                   program_text(program, program_decl(program, decl)->name));
    *old = pick(program, decl, program_semaphore_core(program, *old), &edit->semaphore, nth);
}

/* False: the step disappears. */
static bool alter_count(const Edit *edit, Request *request)
{
    int64_t value = request->step.value * edit->times + edit->value;
    request->step.value = (uint32_t)CLAMP(value, 0, UINT32_MAX);
    return value > 0 || request->step.kind != STEP_SIGNAL;
}

static void drop(Core *core, const Request *request)
{
    if (request->step.kind == STEP_COPY_START && request->step.object != NONE)
        core->copies--;
}

/* False: the step is left out. */
static bool apply(Core *core, const Edit *edit, Request *request, uint32_t nth)
{
    switch (edit->kind) {
    case EDIT_DROP:
        drop(core, request);
        return false;
    case EDIT_COUNT:
        return alter_count(edit, request);
    case EDIT_SEMAPHORE:
        move_to_semaphore(core, edit, request, nth);
        return true;
    case EDIT_BEFORE:
        insert(core, edit, request, nth);
        return true;
    case EDIT_AFTER: case EDIT_WAIT_SEND: case EDIT_WAIT_RECEIVE: case EDIT_ENTRY_BARRIER:
        return true;
    }
    g_assert_not_reached();
}

bool edit_pass(Core *core, Request *request)
{
    const ProgramEdits *own = core->program->edits;
    if (own == NULL || request->step.kind == STEP_STOP)
        return false;
    if (core->editing) {
        core->editing = false;
        return false;
    }
    struct { const Edit *edit; uint32_t nth; } after[CORE_EDITS_MAX];
    unsigned later = 0;
    for (unsigned i = 0; i < own->count; i++) {
        const Edit *edit = &own->edit[i];
        uint32_t nth;
        if (edit->kind == EDIT_ENTRY_BARRIER || !is_meant(core, i, edit, request, &nth))
            continue;
        if (!apply(core, edit, request, nth))
            return true;
        if (comes_behind(edit))
            after[later].edit = edit, after[later++].nth = nth;
    }
    if (later == 0)
        return false;
    core->editing = true;
    core->submit(core, request);
    for (unsigned i = 0; i < later; i++)
        put_behind(core, after[i].edit, request, after[i].nth);
    return true;
}
