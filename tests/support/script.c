/* script.c - declarations, lists and the function that submits them, and refs as functions name them. */
#include "script.h"
#include <glib.h>

enum { SEMAPHORES = 4, ROWS = 4, NUMBERS = 8, BYTES = 4 };

typedef struct ScriptStep { Step step; Copy copy; uint32_t view; } ScriptStep;        /* copy, view: as the kind needs */

Script *script_now;

static void submit_list(Core *core, const Launch *launch)
{
    const GArray *list = ((const Script *)launch->closure)->list[core->id];
    for (guint i = 0; i < list->len; i++) {
        const ScriptStep *next = &g_array_index(list, ScriptStep, i);
        const View *view = program_get_view(core->program, next->view);
        Tile tile;
        Request request = { .step = next->step, .copy = next->copy, .view = next->view, .tile = &tile };
        request.step.launch = (uint16_t)core->launch;
        tile_init(&tile, view->dtype, view->ndim, view->size, true, core_tile_alloc, core);
        core->copies += next->step.kind == STEP_COPY_START && next->step.object != NONE;
        core_submit(core, &request);
    }
}

static Script *make(uint32_t devices, uint32_t cores_per_device, const Knobs *knobs, void (*body)(Core *core, const Launch *launch))
{
    Mesh mesh;
    mesh_line(&mesh, devices);
    Script *script = g_new0(Script, 1);
    script->program = program_new(&mesh, cores_per_device, knobs ? knobs : &(const Knobs){ 0 });
    script->program->bare = true;
    script->list = g_new0(GArray *, script->program->cores);
    for (uint32_t core = 0; core < script->program->cores; core++)
        script->list[core] = g_array_new(FALSE, TRUE, sizeof(ScriptStep));
    Launch *launch = program_add_launch(script->program);
    launch->body = body, launch->closure = script;
    return script;
}

static uint32_t declare(Script *script, Space space, DType dtype, int64_t rows, int64_t columns, const char *name)
{
    const DeclSpec spec = { .space = space, .dtype = dtype, .life = LIFE_ALWAYS, .ndim = 2, .size = { rows, columns },
                            .opaque = dtype == DTYPE_U8, .collective_id = -1, .name = name };
    return program_add_decl(script->program, &spec);
}

static Script *declare_small(Script *script, Space space, DType dtype, int64_t columns)
{
    script->semaphore = script_semaphore(script, SEMAPHORE_REGULAR, SEMAPHORES, "sem");
    script->dma = script_semaphore(script, SEMAPHORE_DMA, SEMAPHORES, "dma");
    script->flag = script_semaphore(script, SEMAPHORE_FLAG, SEMAPHORES, "flag");
    script->buffer = declare(script, space, dtype, ROWS, columns, "buffer");
    script->scratch = declare(script, space, dtype, ROWS, columns, "scratch");
    program_decl(script->program, script->buffer)->input = true;
    return script;
}

Script *script_new(uint32_t devices, uint32_t cores_per_device, const Knobs *knobs)
{
    return make(devices, cores_per_device, knobs, submit_list);
}

Script *script_small(uint32_t devices, uint32_t cores_per_device, const Knobs *knobs)
{
    return declare_small(script_new(devices, cores_per_device, knobs), SPACE_HBM, DTYPE_U8, BYTES);
}

static void open_execution(Script *script)
{
    if (script->execution != NULL)
        return;
    script->record = record_new(script->program);
    script->execution = execution_new(script->program, script->record);
}

Script *script_around(uint32_t devices, const Knobs *knobs, void (*body)(Core *core, const Launch *launch))
{
    return script_now = make(devices, 1, knobs, body);
}

Script *script_of(uint32_t devices, uint32_t cores_per_device, void (*body)(Core *core, const Launch *launch))
{
    script_now = make(devices, cores_per_device, &(Knobs){ .dma_progress = DMA_PROGRESS_WHOLE }, body);
    program_site(script_now->program, "test", "body", 1, 0);
    declare_small(script_now, SPACE_VMEM, DTYPE_I32, NUMBERS);
    open_execution(script_now);
    return script_now;
}

void script_free(Script *script)
{
    for (uint32_t core = 0; core < script->program->cores; core++)
        g_array_free(script->list[core], TRUE);
    g_free(script->list);
    outcome_free(script->outcome);
    if (script->unroller != NULL)
        unroller_free(script->unroller);
    if (script->execution != NULL)
        execution_free(script->execution);
    record_free(script->record);
    program_free(script->program);
    g_free(script);
}

void script_run(Script *script)
{
    open_execution(script);
    execution_run_eager(script->execution, NULL);
}

const Outcome *script_prove(Script *script)
{
    script_run(script);
    outcome_free(script->outcome);
    return script->outcome = prove_record(script->record, &(ProveOptions){ 0 });
}

UnrollSource *script_source(Script *script)
{
    if (script->unroller == NULL)
        script->unroller = unroller_new(script->program);
    return unroller_source(script->unroller);
}

uint32_t script_buffer(Script *script, Space space, uint32_t slots, uint32_t slot_bytes, const char *name)
{
    return declare(script, space, DTYPE_U8, slots, slot_bytes, name);
}

uint32_t script_semaphore(Script *script, SemaphoreKind kind, uint32_t elements, const char *name)
{
    const DeclSpec spec = { .space = SPACE_SEMAPHORE, .semaphore_kind = kind, .dtype = DTYPE_I32, .life = LIFE_ALWAYS, .ndim = 1,
                            .size = { elements }, .collective_id = -1, .name = name };
    return program_add_decl(script->program, &spec);
}

uint32_t script_semaphore_id(const Script *script, uint32_t decl, uint32_t core, uint32_t element)
{
    const Decl *d = program_decl(script->program, decl);
    g_assert(d->first_semaphore != NONE && element < d->elements && core < script->program->cores);
    return d->first_semaphore + core * d->elements + element;
}

/* ---- lists ---- */

static uint32_t view_of(Program *program, uint32_t decl, int64_t number, bool is_index)
{
    const ViewIndex index = { .start = number, .size = 1, .stride = 1, .is_index = is_index };
    const char *why = NULL;
    View view;
    bool fine = view_at(&view, program_get_view(program, program_decl(program, decl)->view), 1, &index, &why);
    g_assert(fine);
    return program_view(program, &view);
}

static ScriptStep *add_step(Script *script, uint32_t core, StepKind kind, uint32_t object, uint32_t value, uint32_t extra)
{
    GArray *list = script->list[core];
    uint32_t site = program_site(script->program, "script", "script", core * 1000 + list->len + 1, 0);
    const ScriptStep step = { .step = { .kind = (uint8_t)kind, .site = site, .core = core, .object = object, .value = value,
                                        .extra = extra } };
    g_array_append_val(list, step);
    return &g_array_index(list, ScriptStep, list->len - 1);
}

void script_step(Script *script, uint32_t core, StepKind kind, uint32_t object, uint32_t value, uint32_t extra)
{
    add_step(script, core, kind, object, value, extra);
}

void script_signal(Script *script, uint32_t core, uint32_t semaphore, uint32_t inc)
{
    add_step(script, core, STEP_SIGNAL, semaphore, inc, 0);
}

void script_wait(Script *script, uint32_t core, uint32_t semaphore, uint32_t value)
{
    add_step(script, core, STEP_WAIT, semaphore, value, NONE);
}

void script_access(Script *script, uint32_t core, StepKind kind, uint32_t decl, uint32_t slot)
{
    const uint32_t view = view_of(script->program, decl, slot, true);
    add_step(script, core, kind, program_object(script->program, decl, core), program_view_region(script->program, view), 0)->view = view;
}

static uint32_t copies_of(const Script *script, uint32_t core)
{
    uint32_t copies = 0;
    for (guint i = 0; i < script->list[core]->len; i++)
        copies += g_array_index(script->list[core], ScriptStep, i).step.kind == STEP_COPY_START;
    return copies;
}

static uint32_t count_of(const Script *script, uint32_t semaphore, uint32_t bytes)
{
    if (semaphore == NONE)
        return 0;
    const Decl *decl = program_decl(script->program, program_semaphore_decl(script->program, semaphore));
    return decl->semaphore_kind == SEMAPHORE_DMA ? bytes : 1;
}

void script_copy(Script *script, uint32_t core, uint32_t source, uint32_t source_slot, uint32_t target, uint32_t target_slot,
                 uint32_t target_core, uint32_t send, uint32_t receive, bool remote)
{
    Program *program = script->program;
    const uint32_t bytes = (uint32_t)program_decl(program, source)->size[1];
    Copy copy = { .core = core, .ordinal = copies_of(script, core), .bytes = bytes, .remote = remote, .send_semaphore = send,
                  .receive_semaphore = receive, .send_count = count_of(script, send, bytes),
                  .receive_count = count_of(script, receive, bytes), .target_device = target_core / program->cores_per_device };
    copy.source_view = view_of(program, source, source_slot, true), copy.target_view = view_of(program, target, target_slot, true);
    copy.source = program_object(program, source, core), copy.target = program_object(program, target, target_core);
    copy.source_region = program_view_region(program, copy.source_view);
    copy.target_region = program_view_region(program, copy.target_view);
    ScriptStep *start = add_step(script, core, STEP_COPY_START, copy.ordinal, 0, 0);
    copy.site = copy.described = start->step.site;
    start->copy = copy;
}

uint32_t script_sem(const Script *script, uint32_t core, uint32_t element)
{
    return script_semaphore_id(script, script->semaphore, core, element);
}

uint32_t script_dma(const Script *script, uint32_t core, uint32_t element)
{
    return script_semaphore_id(script, script->dma, core, element);
}

void script_send(Script *script, uint32_t core, uint32_t from, uint32_t target, uint32_t to, uint32_t receive)
{
    script_copy(script, core, script->buffer, from, script->buffer, to, target, NONE, script_dma(script, target, receive), true);
}

/* ---- inside functions ---- */

Ref script_at(uint32_t decl, int64_t index)
{
    Program *program = script_now->program;
    return (Ref){ decl, view_of(program, decl, index, program_decl(program, decl)->space == SPACE_SEMAPHORE), NONE };
}

Ref script_ref(uint32_t decl)
{
    const Decl *d = program_decl(script_now->program, decl);
    return d->space == SPACE_SEMAPHORE ? script_at(decl, 0) : (Ref){ decl, d->view, NONE };
}

Target script_on(uint32_t device)
{
    return (Target){ device, NONE };
}

uint32_t script_line(Core *core, unsigned number)
{
    return program_site(core->program, "test", "body", number, number);
}

void script_store(Core *core, unsigned line, uint32_t decl, int64_t value)
{
    const Decl *d = program_decl(core->program, decl);
    Tile tile;
    tile_init(&tile, d->dtype, d->ndim, d->size, core->opaque_data, core_tile_alloc, core);
    if (!core->opaque_data)
        tile_fill_int(&tile, value);
    core_store(core, script_line(core, line), script_ref(decl), NULL, &tile);
}

int64_t script_load(Core *core, unsigned line, uint32_t decl)
{
    Tile tile;
    core_load(core, script_line(core, line), script_ref(decl), NULL, &tile);
    return core_tile_int(core, script_line(core, line), &tile, 0, "value");
}

CopyDesc script_describe_copy(uint32_t from, uint32_t to, uint32_t device)
{
    return (CopyDesc){ .source = script_ref(from), .target = script_ref(to), .send = script_at(script_now->dma, 1),
                       .receive = script_ref(script_now->dma), .to = script_on(device), .remote = true, .core = NONE };
}

void script_copy_all(Core *core, unsigned line, uint32_t from, uint32_t to, uint32_t device)
{
    CopyDesc copy = script_describe_copy(from, to, device);
    core_copy_start(core, script_line(core, line), &copy);
}
