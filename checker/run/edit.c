/* edit.c - applies each change to the current step; the core submits inserted steps at the place of the current one. */
#include "edit_inside.h"
#include <glib.h>
#include <string.h>

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
    DeclSpec spec = { .space = SPACE_SEMAPHORE, .semaphore_kind = asked->kind, .dtype = dtype, .ndim = 1,
                      .life = asked->always ? LIFE_ALWAYS : LIFE_LAUNCHES, .size = { asked->elements }, .once = true, .collective_id = -1,
                      .site = site, .name = asked->name };
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
    const uint32_t shared = asked->always ? add_array(program, asked, DTYPE_I32, program_launch(program, 0)->site) : NONE;
    for (uint32_t l = 0; l < program->launches.count && asked->always; l++)
        fresh->decl[l] = shared;
    if (asked->always)
        return true;
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

/* A barrier semaphore comes to be when it is first used. */
static bool has_name(const Program *program, const EditSemaphore *semaphore)
{
    if (semaphore->name == NULL)
        return false;
    if (g_str_has_prefix(semaphore->name, "barrier semaphore of "))
        return true;
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        if (decl->space == SPACE_SEMAPHORE && is_named(program, decl, semaphore->name)
            && (semaphore->element == EDIT_BY_OCCURRENCE || semaphore->element < decl->elements))
            return true;
    }
    return false;
}

static bool has_semaphore(const Program *program, const Edits *edits, const EditSemaphore *semaphore)
{
    if (semaphore->name != NULL || semaphore->fresh == EDIT_OF_STEP)
        return semaphore->name == NULL || has_name(program, semaphore);
    return semaphore->fresh < edits->fresh_count
        && (semaphore->element == EDIT_BY_OCCURRENCE || semaphore->element < edits->fresh[semaphore->fresh].elements);
}

static bool can_be_held(StepKind kind)
{
    return kind == STEP_STORE || kind == STEP_SIGNAL || kind == STEP_WAIT || kind == STEP_COPY_START;
}

static bool gives(uint8_t kind)
{
    return kind == STEP_SIGNAL || kind == STEP_FLAG_STORE;
}

static bool fits(const Program *program, const Edits *edits, const Edit *edit)
{
    StepKind kind = edit->where.step;
    bool semaphore_there = has_semaphore(program, edits, &edit->semaphore);
    switch (edit->kind) {
    case EDIT_DROP:
        return is_counted(kind) || kind == STEP_STORE || kind == STEP_COPY_START || kind == STEP_CORE_BARRIER || kind == STEP_FLAG_STORE;
    case EDIT_BEFORE: case EDIT_AFTER:
        return kind < STEP_STOP && (gives(edit->step) || edit->step == STEP_WAIT) && semaphore_there;
    case EDIT_COUNT:
        return is_counted(kind) || kind == STEP_FLAG_STORE || kind == STEP_FLAG_WAIT;
    case EDIT_WAIT_SEND: case EDIT_WAIT_RECEIVE:
        return kind == STEP_COPY_START;
    case EDIT_SEMAPHORE:
        return (is_counted(kind) || kind == STEP_COPY_START) && semaphore_there;
    case EDIT_ENTRY_BARRIER:
        return edit->where.launch < program->launches.count;
    case EDIT_HOLD:
        return can_be_held(kind) || edit->where.step == EDIT_ANY_STEP;
    case EDIT_START:
        return kind == STEP_WAIT;
    case EDIT_COMPARE:
        return kind == STEP_FLAG_WAIT;
    case EDIT_EPOCH:
        return kind == STEP_FLAG_STORE || kind == STEP_FLAG_WAIT;
    case EDIT_REFER:
        return has_name(program, &edit->semaphore);
    case EDIT_SLOT: case EDIT_DEVICE: case EDIT_EXCHANGE: case EDIT_GUARD:
        return true;
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
    program->edits = own, named_amend = edit_amend;
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
    return step_on_counter(kind) ? request->step.object : NONE;
}

static bool is_there(const Core *core, const EditWhere *where, const Request *request)
{
    const Program *program = core->program;
    uint32_t semaphore = semaphore_of(request);
    if ((request->step.kind != where->step && where->step != EDIT_ANY_STEP) || where->made
        || (where->one_launch && request->step.launch != where->launch)
        || (where->core != NULL && !where->core[core->id]))
        return false;
    if (where->semaphore != NULL
        && (semaphore == NONE || !is_named(program, program_decl(program, program_semaphore_decl(program, semaphore)), where->semaphore)))
        return false;
    return edit_is_at(program, where, request->step.site);
}

bool edit_is_at(const Program *program, const EditWhere *where, uint32_t site_id)
{
    if (where->file == NULL)
        return true;
    const Site *site = program_get_site(program, site_id);
    return site->line == where->line && (where->counter == 0 || site->counter == where->counter)
        && strcmp(program_text(program, site->file), where->file) == 0;
}

/* nth: which of the occurrences that are meant. Only where it matters is it counted, as it is part of a core's state. */
static bool is_meant(Core *core, unsigned i, const Edit *edit, const Request *request, uint32_t *nth)
{
    const EditWhere *where = &edit->where;
    *nth = 0;
    if (!is_there(core, where, request))
        return false;
    bool same = where->skip == 0 && where->times == 0 && edit->semaphore.element != EDIT_BY_OCCURRENCE && edit->turns == NULL;
    if (same && edit->kind != EDIT_EPOCH)
        return true;
    uint32_t seen = core->edited[i]++;
    *nth = seen - where->skip;
    return seen >= where->skip && (where->times == 0 || *nth < where->times);
}

uint32_t edit_find_decl(const Core *core, const EditSemaphore *semaphore)
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
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        if (decl->space == SPACE_SEMAPHORE && decl->life == LIFE_ALWAYS && is_named(program, decl, semaphore->name))
            return d;
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

static uint32_t at_core(const Program *program, uint32_t semaphore, uint32_t core)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    return decl->first_semaphore + core * decl->elements + (semaphore - decl->first_semaphore) % decl->elements;
}

/* The semaphore of one more step; NONE: there is none. */
static uint32_t pick_for(const Core *core, const Edit *edit, const Request *request, uint32_t to, uint32_t nth)
{
    if (edit->semaphore.name == NULL && edit->semaphore.fresh == EDIT_OF_STEP) {
        uint32_t own = semaphore_of(request);
        return own == NONE ? NONE : at_core(core->program, own, to);
    }
    uint32_t decl = edit_find_decl(core, &edit->semaphore);
    return decl == NONE ? NONE : pick(core->program, decl, to, &edit->semaphore, nth);
}

/* One more step as it is this time: without turns. False: there is none. */
static bool take_turn(const Core *core, const Edit *edit, uint32_t nth, Edit *now, uint32_t *to)
{
    const EditTurns *turns = edit->turns;
    *now = *edit, now->turns = NULL;
    *to = gives(edit->step) && edit->target ? edit->target[core->id] : core->id;
    if (turns == NULL)
        return *to != NONE;
    uint32_t at = core->id * turns->times + nth;
    if (nth >= turns->times || turns->value[at] == 0)
        return false;
    now->value = turns->value[at], now->semaphore.element = turns->element[at];
    *to = gives(edit->step) ? turns->target[at] : core->id;
    return true;
}

static void insert(Core *core, const Edit *edit, const Request *request, uint32_t nth)
{
    Edit now;
    uint32_t to, semaphore = take_turn(core, edit, nth, &now, &to) ? pick_for(core, &now, request, to, nth) : NONE;
    if (semaphore == NONE)
        return;
    Request more = { .step = request->step };
    more.step.kind = edit->step, more.step.flags = 0, more.step.object = semaphore;
    more.step.value = now.value ? (uint32_t)now.value : request->step.value, more.step.extra = edit->step == STEP_WAIT ? NONE : 0;
    if (to / core->program->cores_per_device != core->device)
        program_launch(core->program, core->launch)->communicates = true;
    core->editing = true;
    core->submit(core, &more);
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
    uint32_t decl = edit_find_decl(core, &edit->semaphore);
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
    if (step_has(request->step.kind, STEP_ON_FLAG)) {
        request->step.value = request->step.value * (uint32_t)edit->times + (uint32_t)edit->value;
        return true;
    }
    int64_t value = request->step.value * edit->times + edit->value;
    request->step.value = (uint32_t)CLAMP(value, 0, UINT32_MAX);
    return value > 0 || request->step.kind != STEP_SIGNAL;
}

static void set_epoch(const Edit *edit, Request *request, uint32_t nth)
{
    uint32_t own = request->step.value, each = edit->value ? (uint32_t)edit->value : own, times = (uint32_t)edit->times;
    request->step.value = own * times + each * (nth + (times == 0));
}

static void drop(Core *core, const Request *request)
{
    if (request->step.kind == STEP_COPY_START && request->step.object != NONE)
        core->copies--;
}

/* What a store writes lives until the end of the grid step. */
static bool hold(Core *core, const Edit *edit, const Request *request)
{
    bool lasts = request->step.kind != STEP_STORE || core_grid_steps(core) <= 1;
    if (core->held == CORE_HELD_MAX || !can_be_held(request->step.kind) || !lasts)
        return false;
    drop(core, request);
    core->later[core->held].request = *request;
    core->later[core->held].request.desc = NULL;
    core->later[core->held++].edit = (uint32_t)(edit - core->program->edits->edit);
    return true;
}

static void submit_held(Core *core, Request request)
{
    if (request.step.kind == STEP_COPY_START && request.step.object != NONE)
        request.step.object = request.copy.ordinal = core->copies++;
    core->editing = true;
    core->submit(core, &request);
}

/* Does what is held until this step; NULL: all. */
static void let_go(Core *core, const Request *until)
{
    for (uint32_t i = 0; i < core->held;) {
        const Edit *edit = &core->program->edits->edit[core->later[i].edit];
        if (until != NULL && !is_there(core, &edit->until, until)) {
            i++;
            continue;
        }
        Request request = core->later[i].request;
        memmove(&core->later[i], &core->later[i + 1], (--core->held - i) * sizeof core->later[0]);
        submit_held(core, request);
    }
}

static bool awaits(const Core *core, const Request *request)
{
    for (uint32_t i = 0; i < core->held; i++)
        if (is_there(core, &core->program->edits->edit[core->later[i].edit].until, request))
            return true;
    return false;
}

/* A copy that is waited for was not started: it is now. */
static void start(Core *core, const Request *request)
{
    if (request->desc == NULL || request->desc->ordinal != NONE)
        return;
    CopyDesc desc = *request->desc;
    core->editing = true;
    core_copy_start(core, request->step.site, &desc);
    core->editing = false;
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
    case EDIT_HOLD:
        return !hold(core, edit, request);
    case EDIT_START:
        start(core, request);
        return true;
    case EDIT_COMPARE:
        request->step.extra = (uint32_t)edit->value;
        return true;
    case EDIT_EPOCH:
        set_epoch(edit, request, nth);
        return true;
    case EDIT_AFTER: case EDIT_WAIT_SEND: case EDIT_WAIT_RECEIVE: case EDIT_ENTRY_BARRIER: case EDIT_SLOT: case EDIT_DEVICE:
    case EDIT_EXCHANGE: case EDIT_REFER: case EDIT_GUARD:
        return true;
    }
    g_assert_not_reached();
}

/* A step put in may block, and what lies behind it may be gone through by another runner (lookahead.c): then the request is its. */
bool edit_pass(Core *core, Request *request)
{
    const ProgramEdits *own = core->program->edits;
    void (*const submit)(Core *, Request *) = core->submit;
    if (own == NULL || request->step.kind == STEP_STOP)
        return false;
    if (core->editing) {
        core->editing = false;
        return false;
    }
    if (core->held > 0 && (request->step.kind == STEP_EXIT || request->step.kind == STEP_FREE))
        let_go(core, NULL);
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
    if (later == 0 && !awaits(core, request) && core->submit == submit)
        return false;
    core->editing = true;
    core->submit(core, request);
    for (unsigned i = 0; i < later; i++)
        put_behind(core, after[i].edit, request, after[i].nth);
    let_go(core, request);
    return true;
}
