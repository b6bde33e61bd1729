/* edit.c - each change looks at the step in hand; counts of occurrences begin anew with each run of a core. */
#include "edit.h"
#include <string.h>

enum { SPREAD_MAX = 64 };

typedef struct EditOfProgram {
    Edit edit;
    uint32_t decl, fresh;                       /* the named semaphore; the array that takes its place */
    uint32_t last_launch;                       /* that has the named semaphore */
    uint32_t *starts, *waits;                   /* by core, in its run so far */
} EditOfProgram;

struct ProgramEdits {
    unsigned count;
    bool inside;                                /* an inserted step is being handed over */
    EditOfProgram *edit;
};

static uint32_t find_semaphore(const Program *program, const char *name)
{
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        if (decl->space == SPACE_SEMAPHORE && decl->life == LIFE_LAUNCHES && strcmp(program_text(program, decl->name), name) == 0)
            return d;
    }
    return NONE;
}

static bool launch_has(const Launch *launch, uint32_t decl)
{
    for (uint32_t i = 0; i < launch->decls; i++)
        if (launch->decl[i] == decl)
            return true;
    return false;
}

/* An array beside the semaphore, in every launch that has it. */
static uint32_t add_array(Program *program, uint32_t decl_id, SemaphoreKind kind, int64_t elements)
{
    const Decl *decl = program_decl(program, decl_id);
    DeclSpec spec = { .space = SPACE_SEMAPHORE, .semaphore_kind = kind, .dtype = decl->dtype, .life = decl->life, .ndim = 1,
                      .size = { elements }, .once = decl->once, .collective_id = -1, .site = decl->site,
                      .name = program_text(program, decl->name) };
    uint32_t fresh = program_add_decl(program, &spec);
    for (uint32_t l = 0; l < program->launches.count; l++) {
        Launch *launch = program_launch(program, l);
        if (!launch_has(launch, decl_id))
            continue;
        uint32_t *list = program_alloc(program, (launch->decls + 1) * sizeof *list);
        memcpy(list, launch->decl, launch->decls * sizeof *list);
        list[launch->decls++] = fresh;
        launch->decl = list;
    }
    return fresh;
}

static bool prepare(Program *program, EditOfProgram *e)
{
    e->decl = e->fresh = e->last_launch = NONE;
    e->starts = program_alloc(program, program->cores * sizeof *e->starts);
    e->waits = program_alloc(program, program->cores * sizeof *e->waits);
    if (e->edit.kind == EDIT_ENTRY_BARRIER)
        return e->edit.launch < program->launches.count;
    if (e->edit.kind == EDIT_DROP || e->edit.kind == EDIT_SCALE || e->edit.kind == EDIT_DROP_SEMAPHORE)
        return true;
    e->decl = find_semaphore(program, e->edit.name);
    if (e->decl == NONE)
        return false;
    for (uint32_t l = 0; l < program->launches.count; l++)
        if (launch_has(program_launch(program, l), e->decl))
            e->last_launch = l;
    const Decl *decl = program_decl(program, e->decl);
    if (e->edit.kind == EDIT_CREDIT) {
        e->fresh = add_array(program, e->decl, SEMAPHORE_REGULAR, 1);
        return true;
    }
    if (e->edit.kind == EDIT_DRAIN)
        return e->last_launch != NONE && e->edit.element < decl->elements;
    if (decl->elements != 1 || decl->semaphore_kind != SEMAPHORE_DMA)
        return false;
    e->fresh = add_array(program, e->decl, SEMAPHORE_DMA, SPREAD_MAX);
    return true;
}

bool edit_prepare(Program *program, const Edits *edits)
{
    ProgramEdits *own = program_alloc(program, sizeof *own);
    own->count = edits->count;
    own->edit = program_alloc(program, edits->count * sizeof *own->edit);
    for (unsigned i = 0; i < edits->count; i++) {
        own->edit[i].edit = edits->edit[i];
        if (!prepare(program, &own->edit[i]))
            return false;
    }
    program->edits = own;
    edit_settle(program);
    return true;
}

void edit_settle(Program *program)
{
    const ProgramEdits *own = program->edits;
    for (unsigned i = 0; own != NULL && i < own->count; i++)
        if (own->edit[i].edit.kind == EDIT_ENTRY_BARRIER)
            program_launch(program, own->edit[i].edit.launch)->entry_barrier = own->edit[i].edit.value != 0;
}

static bool at_site(const Program *program, const Edit *edit, uint32_t site_id)
{
    const Site *site = program_get_site(program, site_id);
    return site->line == edit->line && site->counter == edit->counter && strcmp(program_text(program, site->file), edit->file) == 0;
}

static bool belongs(const Program *program, uint32_t semaphore, uint32_t decl_id)
{
    const Decl *decl = program_decl(program, decl_id);
    return semaphore != NONE && semaphore >= decl->first_semaphore && semaphore - decl->first_semaphore < decl->elements * program->cores;
}

/* Any declaration of that name: barrier semaphores are declared when a kernel first asks for one. */
static bool on_named(const Program *program, const EditOfProgram *e, const Step *step)
{
    if (step->kind != STEP_SIGNAL && step->kind != STEP_WAIT && step->kind != STEP_WAIT_KEEP)
        return false;
    const Decl *decl = program_decl(program, program_semaphore_decl(program, step->object));
    return strcmp(program_text(program, decl->name), e->edit.name) == 0;
}

static void spread(EditOfProgram *e, Core *core, Request *request)
{
    const Program *program = core->program;
    const Decl *fresh = program_decl(program, e->fresh);
    Step *step = &request->step;
    uint32_t *receive = &request->copy.receive_semaphore;
    if (step->kind == STEP_COPY_START && step->object != NONE && belongs(program, *receive, e->decl))
        *receive = fresh->first_semaphore + program_semaphore_core(program, *receive) * SPREAD_MAX + e->starts[core->id]++ % SPREAD_MAX;
    else if ((step->kind == STEP_WAIT || step->kind == STEP_WAIT_KEEP) && belongs(program, step->object, e->decl))
        step->object = fresh->first_semaphore + core->id * SPREAD_MAX + e->waits[core->id]++ % SPREAD_MAX;
}

/* One more step, at the place of the one in hand. */
static void insert(Core *core, const Request *request, StepKind kind, uint32_t semaphore, uint32_t value)
{
    Request more = { .step = request->step };
    more.step.kind = (uint8_t)kind, more.step.object = semaphore, more.step.value = value, more.step.extra = NONE;
    core->program->edits->inside = true;
    core->submit(core, &more);
}

static void drain(const EditOfProgram *e, Core *core, const Request *request)
{
    const Decl *decl = program_decl(core->program, e->decl);
    if (request->step.kind == STEP_EXIT && request->step.object == e->last_launch)
        insert(core, request, STEP_WAIT, decl->first_semaphore + core->id * decl->elements + e->edit.element, (uint32_t)e->edit.value);
}

static void credit(const EditOfProgram *e, Core *core, const Request *request)
{
    uint32_t first = program_decl(core->program, e->fresh)->first_semaphore;
    insert(core, request, STEP_SIGNAL, first + e->edit.peer[core->id], 1);
    insert(core, request, STEP_WAIT, first + core->id, 1);
}

bool edit_pass(Core *core, Request *request)
{
    ProgramEdits *own = core->program->edits;
    if (own == NULL)
        return false;
    if (own->inside) {                          /* cleared at once: whoever runs the core may go on with another one */
        own->inside = false;
        return false;
    }
    for (unsigned i = 0; i < own->count; i++) {
        EditOfProgram *e = &own->edit[i];
        if (core->position == 0 && request->step.kind == STEP_ENTER)
            e->starts[core->id] = e->waits[core->id] = 0;
        EditKind kind = e->edit.kind;
        bool here = (kind == EDIT_DROP || kind == EDIT_SCALE || kind == EDIT_CREDIT) && request->step.kind == e->edit.step
            && at_site(core->program, &e->edit, request->step.site);
        if ((here && e->edit.kind == EDIT_DROP) || (e->edit.kind == EDIT_DROP_SEMAPHORE && on_named(core->program, e, &request->step)))
            return true;
        if (here && e->edit.kind == EDIT_CREDIT)
            credit(e, core, request);
        if (here && e->edit.kind == EDIT_SCALE)
            request->step.value *= (uint32_t)e->edit.value;
        if (e->edit.kind == EDIT_SPREAD)
            spread(e, core, request);
        if (e->edit.kind == EDIT_DRAIN)
            drain(e, core, request);
    }
    return false;
}
