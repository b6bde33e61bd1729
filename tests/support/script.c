/* script.c - lists of steps, and a plain eager run of them: each core in turn goes as far as it can, a copy is done at its start.
 *
 * The run keeps counts of its own instead of using a Machine: it is a second, smaller reading of the same rules.
 */
#include "script.h"
#include <glib.h>
#include "../../model/join.h"

typedef struct Run {
    Script *script;
    Record *record;
    uint32_t *position;
    bool *stopped;
    int64_t *count;
} Run;

static UnrollEnd script_extend(void *self, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out);

Script *script_new(uint32_t devices, uint32_t cores_per_device, const Knobs *knobs)
{
    Knobs defaults = {0};
    Mesh mesh;
    mesh_line(&mesh, devices);
    Script *script = g_new0(Script, 1);
    script->program = program_new(&mesh, cores_per_device, knobs ? knobs : &defaults);
    script->program->bare = true;
    script->core = g_new0(GArray *, script->program->cores);
    for (uint32_t core = 0; core < script->program->cores; core++)
        script->core[core] = g_array_new(FALSE, TRUE, sizeof(UnrollStep));
    script->source = (UnrollSource){.program = script->program, .self = script, .extend = script_extend};
    return script;
}

void script_free(Script *script)
{
    for (uint32_t core = 0; core < script->program->cores; core++)
        g_array_free(script->core[core], TRUE);
    g_free(script->core);
    program_free(script->program);
    g_free(script);
}

uint32_t script_buffer(Script *script, Space space, uint32_t slots, uint32_t slot_bytes, const char *name)
{
    DeclSpec spec = {.space = space, .dtype = DTYPE_U8, .life = LIFE_ALWAYS, .ndim = 2, .size = {slots, slot_bytes}, .opaque = true,
                     .collective_id = -1, .name = name};
    return program_add_decl(script->program, &spec);
}

uint32_t script_semaphore(Script *script, SemaphoreKind kind, uint32_t elements, const char *name)
{
    DeclSpec spec = {.space = SPACE_SEMAPHORE, .semaphore_kind = kind, .dtype = DTYPE_I32, .life = LIFE_ALWAYS, .ndim = 1,
                     .size = {elements}, .collective_id = -1, .name = name};
    return program_add_decl(script->program, &spec);
}

uint32_t script_semaphore_id(const Script *script, uint32_t decl, uint32_t core, uint32_t element)
{
    const Decl *d = program_decl(script->program, decl);
    g_assert(d->first_semaphore != NONE && element < d->elements && core < script->program->cores);
    return d->first_semaphore + core * d->elements + element;
}

static uint32_t slot_view(Program *program, uint32_t decl, uint32_t slot)
{
    ViewIndex index = {.start = slot, .size = 1, .stride = 1, .is_index = true};
    const char *why = NULL;
    View view;
    bool fine = view_at(&view, program_get_view(program, program_decl(program, decl)->view), 1, &index, &why);
    g_assert(fine);
    return program_view(program, &view);
}

/* Appends a step of `core` in the launch that its last ENTER began. */
static UnrollStep *add_step(Script *script, uint32_t core, StepKind kind, uint32_t object, uint32_t value, uint32_t extra)
{
    GArray *list = script->core[core];
    uint32_t position = list->len, launch = position ? g_array_index(list, UnrollStep, position - 1).step.launch : 0;
    uint32_t site = program_site(script->program, "script", "script", core * 1000 + position + 1, 0);
    UnrollStep step = {.fault = FAULT_COUNT};
    step.step = (Step){.kind = (uint8_t)kind, .launch = (uint16_t)(kind == STEP_ENTER ? object : launch), .site = site, .core = core,
                       .object = object, .value = value, .extra = extra};
    if (kind == STEP_STOP)
        step.fault = (FaultId)value;
    g_array_append_val(list, step);
    return &g_array_index(list, UnrollStep, position);
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

void script_wait_keep(Script *script, uint32_t core, uint32_t semaphore, uint32_t value)
{
    add_step(script, core, STEP_WAIT_KEEP, semaphore, value, NONE);
}

void script_access(Script *script, uint32_t core, StepKind kind, uint32_t decl, uint32_t slot)
{
    Program *program = script->program;
    uint32_t view = slot_view(program, decl, slot);
    add_step(script, core, kind, program_object(program, decl, core), program_view_region(program, view), 0)->view = view;
}

static uint32_t copies_of(const Script *script, uint32_t core)
{
    uint32_t copies = 0;
    for (guint i = 0; i < script->core[core]->len; i++) {
        const Step *step = &g_array_index(script->core[core], UnrollStep, i).step;
        copies += step->kind == STEP_COPY_START && step->object != NONE;
    }
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
    uint32_t bytes = (uint32_t)program_decl(program, source)->size[1];
    if (bytes == 0) {
        add_step(script, core, STEP_COPY_START, NONE, 0, 0);
        return;
    }
    Copy copy = {.core = core, .ordinal = copies_of(script, core), .position = script->core[core]->len, .bytes = bytes, .remote = remote};
    copy.source_view = slot_view(program, source, source_slot);
    copy.target_view = slot_view(program, target, target_slot);
    copy.source = program_object(program, source, core);
    copy.target = program_object(program, target, target_core);
    copy.source_region = program_view_region(program, copy.source_view);
    copy.target_region = program_view_region(program, copy.target_view);
    copy.target_device = target_core / program->cores_per_device;
    copy.send_semaphore = send;
    copy.receive_semaphore = receive;
    copy.send_count = count_of(script, send, bytes);
    copy.receive_count = count_of(script, receive, bytes);
    UnrollStep *step = add_step(script, core, STEP_COPY_START, copy.ordinal, 0, 0);
    copy.site = copy.described = step->step.site;
    step->copy = copy;
}

static bool observes(const UnrollStep *step, bool contents)
{
    StepKind kind = (StepKind)step->step.kind;
    return kind == STEP_SEMAPHORE_READ || kind == STEP_FLAG_LOAD || kind == STEP_FLAG_CAS || (kind == STEP_FLAG_ADD && step->step.extra)
        || (contents && (kind == STEP_LOAD || kind == STEP_SWAP));
}

static UnrollEnd script_extend(void *self, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out)
{
    (void)observed;                             /* a script does not depend on what it sees */
    GArray *list = ((Script *)self)->core[core];
    for (guint i = 0; i < list->len; i++) {
        const UnrollStep *step = &g_array_index(list, UnrollStep, i);
        if (count == 0)
            g_array_append_vals(out, step, 1);
        if (step->step.kind == STEP_STOP)
            return UNROLL_STOPPED;
        if (observes(step, contents) && count-- == 0)
            return UNROLL_OBSERVES;
    }
    return UNROLL_FINISHED;
}

static const Step *next_step(const Run *run, uint32_t core)
{
    GArray *list = run->script->core[core];
    return run->position[core] < list->len && !run->stopped[core] ? &g_array_index(list, UnrollStep, run->position[core]).step : NULL;
}

static bool join_is_possible(const Run *run, const Step *step)
{
    const Join join = join_of(run->script->program, step);
    for (uint32_t core = join.first; core < join.last; core++) {
        const Step *other = next_step(run, core);
        if (join_has(run->script->program, &join, core) && !(other && join_includes(&join, other)))
            return false;
    }
    return true;
}

static bool is_possible(const Run *run, const Step *step)
{
    if (step_is_join((StepKind)step->kind))
        return join_is_possible(run, step);
    if (step->kind == STEP_WAIT || step->kind == STEP_WAIT_KEEP)
        return run->count[step->object] >= step->value;
    if (step->kind == STEP_FLAG_WAIT)
        return compare_holds((Compare)step->extra, run->count[step->object], (int32_t)step->value);
    return true;
}

static void start_copy(Run *run, const UnrollStep *from, Step *step)
{
    if (step->object == NONE)
        return;
    Copy *copy = store_push(&run->record->copies, 1);
    *copy = from->copy;
    step->object = (uint32_t)(run->record->copies.count - 1);
    if (copy->send_semaphore != NONE)
        run->count[copy->send_semaphore] += copy->send_count;
    if (copy->receive_semaphore != NONE)
        run->count[copy->receive_semaphore] += copy->receive_count;
}

static void stop_core(Run *run, const UnrollStep *from, Step *step)
{
    Raised *raised = store_push(&run->record->raised, 1);
    *raised = (Raised){.fault = (uint8_t)from->fault, .core = step->core, .position = run->position[step->core], .site = step->site,
                       .object = NONE, .region = NONE, .message = from->message};
    step->object = (uint32_t)(run->record->raised.count - 1);
    run->stopped[step->core] = true;
}

static void do_step(Run *run, uint32_t core)
{
    const UnrollStep *from = &g_array_index(run->script->core[core], UnrollStep, run->position[core]);
    Step *step = store_push(&run->record->steps, 1);
    *step = from->step;
    if (step->kind == STEP_SIGNAL)
        run->count[step->object] += step->value;
    else if (step->kind == STEP_WAIT)
        run->count[step->object] -= step->value;
    else if (step->kind == STEP_COPY_START)
        start_copy(run, from, step);
    else if (step->kind == STEP_FLAG_STORE || (step->kind == STEP_FLAG_CAS && run->count[step->object] == (int32_t)step->extra))
        run->count[step->object] = (int32_t)step->value;
    else if (step->kind == STEP_FLAG_ADD)
        run->count[step->object] += (int32_t)step->value;
    else if (step->kind == STEP_STOP)
        stop_core(run, from, step);
    run->position[core]++;
}

static bool advance_core(Run *run, uint32_t core)
{
    Program *program = run->script->program;
    bool moved = false;
    for (const Step *step; (step = next_step(run, core)) && is_possible(run, step); moved = true) {
        if (!step_is_join((StepKind)step->kind)) {
            do_step(run, core);
            continue;
        }
        const Join join = join_of(program, step);
        for (uint32_t member = join.first; member < join.last; member++)
            if (join_has(program, &join, member))
                do_step(run, member);
    }
    return moved;
}

static void record_ends(Run *run)
{
    CoreState *end = store_push(&run->record->ends, run->script->program->cores);
    for (uint32_t core = 0; core < run->script->program->cores; core++) {
        const Step *pending = next_step(run, core);
        end[core].end = run->stopped[core] ? CORE_STOPPED : pending ? CORE_BLOCKED : CORE_FINISHED;
        if (pending)
            end[core].pending = *pending;
    }
}

void script_record(Script *script, Record *record)
{
    Program *program = script->program;
    Run run = {.script = script, .record = record, .position = g_new0(uint32_t, program->cores), .stopped = g_new0(bool, program->cores),
               .count = g_new0(int64_t, program->semaphores + 1)};
    record_reset(record);
    for (size_t i = 0; i < program->decls.count; i++) {
        const Decl *decl = program_decl(program, (uint32_t)i);
        for (uint32_t s = 0; decl->first_semaphore != NONE && s < decl->elements * program->cores; s++)
            run.count[decl->first_semaphore + s] = decl->semaphore_kind == SEMAPHORE_FLAG ? decl->initial : 0;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t core = 0; core < program->cores; core++)
            moved |= advance_core(&run, core);
    }
    record_ends(&run);
    record->eager = record->complete = true;
    g_free(run.position);
    g_free(run.stopped);
    g_free(run.count);
}
