/* act.c - hands out the steps of a function, and feeds it what it observed. */
#include "act.h"

bool act_step(Run *run, UnrollStep step, bool observes)
{
    if (run->over)
        return false;
    step.step.core = run->core;
    step.step.site = program_site(run->act->script->program, "act", "act", run->core * 1000 + run->position + 1, 0);
    step.copy.site = step.step.site, step.copy.position = run->position++;
    bool fresh = run->used == run->count;
    if (fresh)
        g_array_append_val(run->out, step);
    if (fresh && observes)
        run->end = UNROLL_OBSERVES, run->over = true;
    return !run->over;
}

int64_t act_observe(Run *run)
{
    const Observation *seen = &run->observed[run->used++];
    int64_t value = seen->tile ? dtype_read_int(seen->tile->dtype, seen->tile->bytes) : seen->value;
    if (run->used == run->count)
        run->fingerprint = 1 + run->line * 1000000u + run->state * 1000u + (uint64_t)value;
    return value;
}

int64_t act_look(Run *run, uint32_t semaphore, unsigned line)
{
    uint32_t position = run->position;
    run->position = run->line = line;
    bool more = act_step(run, (UnrollStep){.step = {.kind = STEP_SEMAPHORE_READ, .object = semaphore}, .fault = FAULT_COUNT}, true);
    run->position = position;
    return more ? act_observe(run) : 0;
}

void act_tell(Run *run, uint32_t semaphore)
{
    act_step(run, (UnrollStep){.step = {.kind = STEP_SIGNAL, .object = semaphore, .value = 1}, .fault = FAULT_COUNT}, false);
}

void act_wait(Run *run, uint32_t semaphore, uint32_t value)
{
    Step step = {.kind = STEP_WAIT, .object = semaphore, .value = value, .extra = NONE};
    act_step(run, (UnrollStep){.step = step, .fault = FAULT_COUNT}, false);
}

UnrollStep act_access(const Run *run, StepKind kind, uint32_t decl)
{
    Program *program = run->act->script->program;
    uint32_t view = program_decl(program, decl)->view;
    Step step = {.kind = (uint8_t)kind, .object = program_object(program, decl, run->core), .value = program_view_region(program, view)};
    return (UnrollStep){.step = step, .view = view, .fault = FAULT_COUNT};
}

void act_stop(Run *run, FaultId fault)
{
    if (act_step(run, (UnrollStep){.step = {.kind = STEP_STOP}, .fault = fault, .message = "no"}, false) && run->used == run->count)
        run->end = UNROLL_STOPPED, run->over = true;
}

int64_t act_load(Run *run, uint32_t decl)
{
    if (!act_step(run, act_access(run, STEP_LOAD, decl), run->contents))
        return 0;
    if (run->contents)
        return act_observe(run);
    act_stop(run, FAULT_COUNT);
    return 0;
}

void act_store(Run *run, uint32_t decl, int64_t value)
{
    static unsigned char bytes[4];
    static uint8_t written[4] = {1, 1, 1, 1};
    static uint64_t origin[4];
    static Tile tiles[4];                       /* of elements 0 to 3: a step's tile must last */
    Tile *tile = &tiles[value];
    bytes[value] = (unsigned char)value;
    *tile = (Tile){.dtype = DTYPE_U8, .ndim = 1, .size = {1}, .elements = 1, .bytes = &bytes[value], .written = &written[value],
                   .origin = &origin[value]};
    UnrollStep step = act_access(run, STEP_STORE, decl);
    step.tile = tile;
    act_step(run, step, false);
}

void act_copy(Run *run, uint32_t from, uint32_t to, uint32_t core, uint32_t semaphore)
{
    Program *program = run->act->script->program;
    UnrollStep step = {.step = {.kind = STEP_COPY_START, .object = 0}, .fault = FAULT_COUNT};
    step.copy = (Copy){.core = run->core, .source = program_object(program, from, run->core), .target = program_object(program, to, core),
                       .source_view = program_decl(program, from)->view, .target_view = program_decl(program, to)->view, .bytes = 1,
                       .send_semaphore = NONE, .receive_semaphore = semaphore, .receive_count = 1, .target_device = core};
    step.copy.source_region = program_view_region(program, step.copy.source_view);
    step.copy.target_region = program_view_region(program, step.copy.target_view);
    act_step(run, step, false);
}

static Run run_core(const Act *act, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out)
{
    Run run = {.act = act, .core = core, .observed = observed, .count = count, .contents = contents, .out = out, .end = UNROLL_FINISHED};
    act->core(&run);
    return run;
}

static UnrollEnd extend(void *self, uint32_t core, const Observation *observed, size_t count, bool contents, GArray *out)
{
    return run_core(self, core, observed, count, contents, out).end;
}

static uint64_t fingerprint(void *self, uint32_t core, const Observation *observed, size_t count, bool contents)
{
    GArray *unused = g_array_new(FALSE, FALSE, sizeof(UnrollStep));
    Run run = run_core(self, core, observed, count, contents, unused);
    g_array_free(unused, TRUE);
    return run.fingerprint;
}

uint64_t act_fingerprint_of_core_0(void *self, uint32_t core, const Observation *observed, size_t count, bool contents)
{
    return core == 0 ? fingerprint(self, core, observed, count, contents) : 0;
}

uint32_t act_id(const Run *run, uint32_t core, uint32_t element)
{
    return script_semaphore_id(run->act->script, run->act->semaphore, core, element);
}

Act *act_new(uint32_t devices, void (*core)(Run *run), bool with_fingerprint)
{
    Act *act = g_new0(Act, 1);
    act->script = script_new(devices, 1, &(Knobs){.dma_progress = DMA_PROGRESS_WHOLE});
    act->core = core;
    act->semaphore = script_semaphore(act->script, SEMAPHORE_REGULAR, 2, "semaphore");
    DeclSpec spec = {.space = SPACE_HBM, .dtype = DTYPE_U8, .life = LIFE_ALWAYS, .ndim = 1, .size = {1}, .input = true, .collective_id = -1,
                     .name = "buffer"};
    act->buffer = program_add_decl(act->script->program, &spec);
    spec.name = "more";
    act->more = program_add_decl(act->script->program, &spec);
    act->flag = script_semaphore(act->script, SEMAPHORE_FLAG, 1, "flag");
    act->source = (UnrollSource){.program = act->script->program, .self = act, .extend = extend,
                                 .fingerprint = with_fingerprint ? fingerprint : NULL};
    return act;
}

Outcome *act_enumerate(Act *act, bool contents)
{
    EnumerateOptions options = {.contents = contents, .states_max = 100000};
    return enumerate_run(&act->source, &options);
}

void act_free(Act *act, Outcome *outcome)
{
    outcome_free(outcome);
    script_free(act->script);
    g_free(act);
}
