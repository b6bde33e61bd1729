/* record_of.c - writes the events of a complete run as a record.
 *
 * Copies that were done at once get their moments immediately after their start. A core that polls for ever is stopped at its poll, after
 * one look in vain.
 */
#include "../../model/moment.h"
#include "class_results.h"

typedef struct Writer {
    Explorer *x;
    Record *record;
    uint32_t *position;                         /* by core: steps written */
    GArray *copy_of;                            /* by transfer: index of its copy */
    guint transfers;                            /* seen so far */
    bool eager;
} Writer;

static void raise_at(Writer *writer, const Step *step, FaultId fault, uint8_t marks, uint32_t position, uint32_t site, const char *message)
{
    *(Raised *)store_push(&writer->record->raised, 1) = (Raised){ .fault = (uint8_t)fault, .marks = marks, .core = step->core,
        .position = position, .site = site, .object = NONE, .region = NONE, .message = message };
}

/* Faults that the core raised by itself before the step at this stage. */
static void note_fault(Writer *writer, uint32_t stage)
{
    const TreeNode *at = tree_node(writer->x->tree, stage);
    if (at->end != TREE_GOES_ON)
        return;
    uint32_t position = writer->position[at->step.core];
    for (const UnrollFault *one = tree_unrolled(writer->x->tree, stage)->raised; one != NULL; one = one->next)
        raise_at(writer, &at->step, one->fault, one->marks, position ? position - 1 : 0, one->site, one->message);
}

static Step *write_step(Writer *writer, const Step *step)
{
    Step *written = store_push(&writer->record->steps, 1);
    *written = *step;
    writer->position[step->core]++;
    return written;
}

static void write_moment(Writer *writer, uint32_t copy_index, StepKind moment)
{
    const Copy *copy = &STORE(Copy, &writer->record->copies, copy_index);
    *(Step *)store_push(&writer->record->steps, 1) =
        (Step){ .kind = (uint8_t)moment, .site = copy->site, .core = copy->core, .object = copy_index };
}

static void write_all_moments(Writer *writer, uint32_t copy_index)
{
    const Copy *copy = &STORE(Copy, &writer->record->copies, copy_index);
    for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
        if (moment_exists(moment_is_fluid(&writer->x->program->knobs), copy, moment))
            write_moment(writer, copy_index, moment);
}

static void write_start(Writer *writer, const WorldEvent *event, const UnrollStep *from)
{
    const World *world = writer->x->world;
    Step *step = write_step(writer, &from->step);
    if (step->object == NONE)
        return;
    uint32_t index = (uint32_t)writer->record->copies.count;
    Copy *copy = store_push(&writer->record->copies, 1);
    *copy = from->copy;
    copy->position = writer->position[event->core] - 1;
    step->object = index;
    const Transfer *next = writer->transfers < world->transfers->len ? &g_array_index(world->transfers, Transfer, writer->transfers) : NULL;
    if (next != NULL && next->core == event->core && next->stage == event->stage) {
        g_array_append_val(writer->copy_of, index);
        writer->transfers++;
    } else if (!writer->eager) {
        write_all_moments(writer, index);
    }
}

static void note_failed_expectation(Writer *writer, const WorldEvent *event, const Step *step, int64_t count)
{
    Program *program = writer->x->program;
    g_autofree char *name = program_describe_semaphore(program, step->object);
    g_autofree char *text = g_strdup_printf("%s is %lld, expected %d", name, (long long)count, (int32_t)step->value);
    raise_at(writer, step, FAULT_ASSERT, 0, writer->position[event->core] - 1, step->site, shared_keep_text(writer->x->shared, text));
}

static void write_event(Writer *writer, const WorldEvent *event, int64_t *choice_value)
{
    if (event->kind == EVENT_EFFECT)
        return;
    if (moment_is(event->kind)) {
        write_moment(writer, g_array_index(writer->copy_of, uint32_t, event->stage), (StepKind)event->kind);
        return;
    }
    note_fault(writer, event->stage);
    const UnrollStep *from = tree_unrolled(writer->x->tree, event->stage);
    writer->record->values_observed |= from->observed_data;
    if (event->kind == STEP_COPY_START) {
        write_start(writer, event, from);
        return;
    }
    Step *step = write_step(writer, &from->step);
    if (event->kind == STEP_STOP) {
        step->object = (uint32_t)writer->record->raised.count;
        raise_at(writer, step, from->fault, from->steered, writer->position[event->core] - 1, step->site, from->message);
    } else if (event->kind == STEP_EXPECT_COUNT && *choice_value != (int32_t)step->value) {
        note_failed_expectation(writer, event, step, *choice_value);
    }
}

static void write_poll(Writer *writer, const Step *look)
{
    Program *program = writer->x->program;
    Step *step = write_step(writer, look);
    step->kind = STEP_STOP, step->object = (uint32_t)writer->record->raised.count;
    g_autofree char *name = step_on_counter(look->kind) ? program_describe_semaphore(program, look->object)
        : program_describe_region(program, look->object, look->value);
    g_autofree char *text = g_strdup_printf("polls %s for ever: nobody can change it any more", name);
    raise_at(writer, look, FAULT_NO_PROGRESS, 0, writer->position[look->core] - 1, look->site, shared_keep_text(writer->x->shared, text));
    if (step_on_counter(look->kind))
        STORE(Raised, &writer->record->raised, writer->record->raised.count - 1).object = look->object;
}

/* Can some core leave its polling loop? Its next steps may end the polls of others. */
static bool some_poll_is_guessed(const Explorer *x)
{
    bool guessed = false;
    for (uint32_t c = 0; c < x->program->cores && !guessed; c++)
        guessed = tree_node(x->tree, x->world->stage[c])->guessed && world_polls(x->world, c);
    return guessed;
}

static void write_ends(Writer *writer)
{
    Explorer *x = writer->x;
    bool guessed = some_poll_is_guessed(x);
    CoreState *state = store_push(&writer->record->ends, x->program->cores);
    for (uint32_t c = 0; c < x->program->cores; c++) {
        uint32_t stage = x->world->stage[c];
        const TreeNode *at = tree_node(x->tree, stage);
        note_fault(writer, stage);
        if (at->end != TREE_GOES_ON) {
            state[c].end = at->end == TREE_FINISHED ? CORE_FINISHED : CORE_STOPPED;
            continue;
        }
        writer->record->values_observed |= tree_unrolled(x->tree, stage)->observed_data;
        if (world_polls(x->world, c)) {
            if (x->world->watching[c] == 0)
                write_step(writer, &at->step);
            if (!guessed)
                write_poll(writer, &at->step);
            state[c].end = CORE_STOPPED;
        } else {
            state[c].end = CORE_BLOCKED;
            state[c].pending = at->step;
        }
    }
}

void record_of_run(Explorer *x)
{
    if (x->results->record == NULL)
        x->results->record = record_new_own(x->program);
    Record *record = x->results->record;
    record_reset(record);
    Writer writer = { .x = x, .record = record, .position = g_new0(uint32_t, x->program->cores),
                      .copy_of = g_array_new(FALSE, FALSE, sizeof(uint32_t)), .eager = x->world->transfers->len == 0 };
    uint32_t choice = 0;
    for (size_t i = 0; i < x->world->events; i++) {
        while (choice < x->path.choices && x->path.choice[choice].events < i)
            choice++;
        int64_t value = choice < x->path.choices ? x->path.choice[choice].before : 0;
        write_event(&writer, &x->world->event[i], &value);
    }
    write_ends(&writer);
    record->eager = writer.eager;
    record->complete = true;
    g_free(writer.position);
    g_array_free(writer.copy_of, TRUE);
}
