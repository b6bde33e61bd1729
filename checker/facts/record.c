/* record.c - the arrays of one record, and the check that makes a child's record safe to read. */
#include "record.h"
#include <glib.h>
#include <string.h>
#include "../../model/expectation.h"
#include "../../model/tile.h"

static Record *new_record(Program *program, void (*init)(Store *, size_t, size_t))
{
    Store home;
    init(&home, sizeof(Record), 1);
    Record *record = store_push(&home, 1);
    record->home = home;
    record->program = program;
    init(&record->steps, sizeof(Step), (size_t)1 << 31);
    init(&record->copies, sizeof(Copy), (size_t)1 << 30);
    init(&record->raised, sizeof(Raised), (size_t)1 << 24);
    init(&record->advised, sizeof(Advised), (size_t)1 << 24);
    init(&record->grid_marks, sizeof(GridMark), (size_t)1 << 28);
    init(&record->ends, sizeof(CoreState), (size_t)1 << 24);
    init(&record->lookahead, sizeof(Lookahead), (size_t)1 << 24);
    return record;
}

Record *record_new(Program *program)
{
    return new_record(program, store_init);
}

Record *record_new_own(Program *program)
{
    return new_record(program, store_init_own);
}

static void each_store(Record *record, void (*act)(Store *))
{
    Store *store[] = { &record->steps, &record->copies, &record->raised, &record->advised, &record->grid_marks, &record->ends,
                       &record->lookahead };
    for (size_t i = 0; i < G_N_ELEMENTS(store); i++)
        act(store[i]);
}

void record_free(Record *record)
{
    if (record == NULL)
        return;
    each_store(record, store_clear);
    Store home = record->home;
    store_clear(&home);
}

void record_reset(Record *record)
{
    each_store(record, store_reset);
    record->eager = record->results_checked = record->values_observed = record->complete = false;
    record->final_hash = record->result_hash = 0;
}

bool record_is_judged(const Raised *raised)
{
    if (raised->fault == FAULT_UNINITIALISED)
        return (raised->marks & ELEMENT_RACING) == 0;
    return raised->fault != FAULT_ASSERT || raised->marks == 0;
}

void record_add_unmet(Record *record, const Unmet *unmet, uint32_t steps)
{
    *(Raised *)store_push(&record->raised, 1) = (Raised){ .fault = (uint8_t)unmet->fault, .core = unmet->core, .site = unmet->site,
        .position = steps > 0 ? steps - 1 : 0, .object = NONE, .region = NONE, .message = unmet->message };
}

static bool same_copy(const Copy *left, const Copy *right)
{
    Copy other = *right;
    other.site = left->site, other.described = left->described;
    return memcmp(left, &other, offsetof(Copy, remote)) == 0 && left->remote == right->remote;
}

bool record_same_step(const Record *a, const Step *left, const Record *b, const Step *right)
{
    bool stop = left->kind == STEP_STOP, copies = left->kind == STEP_COPY_START && left->object != NONE && right->object != NONE;
    Step other = *right;
    other.site = left->site;
    other.object = stop || copies ? left->object : right->object;
    return memcmp(left, &other, sizeof other) == 0
        && (!copies || same_copy(&STORE(Copy, &a->copies, left->object), &STORE(Copy, &b->copies, right->object)));
}

bool record_any_ended(const Record *record, CoreEnd end)
{
    for (size_t i = 0; i < record->ends.count; i++)
        if (STORE(CoreState, &record->ends, i).end == end)
            return true;
    return false;
}

static bool object_in_range(const Record *record, const Step *step)
{
    const Program *program = record->program;
    if (step_on_memory(step->kind))
        return step->object < program->objects && step->value < intern_count(&program->regions);
    if (step_on_counter(step->kind))
        return step->object < program->semaphores;
    if (step_has(step->kind, STEP_ON_COPY))
        return step->object < record->copies.count || (step->kind == STEP_COPY_START && step->object == NONE);
    if (step_has(step->kind, STEP_ON_SCOPE))
        return step->object < program->decls.count;
    if (step_has(step->kind, STEP_ON_LAUNCH))
        return step->object < program->launches.count;
    return step->kind == STEP_STOP ? step->object < record->raised.count : step->kind == STEP_CORE_BARRIER;
}

static bool copy_in_range(const Record *record, const Copy *copy)
{
    const Program *program = record->program;
    size_t regions = intern_count(&program->regions);
    return copy->core < program->cores && copy->site < program->sites.count && copy->described < program->sites.count
        && copy->source < program->objects && copy->target < program->objects
        && copy->source_region < regions && copy->target_region < regions
        && (copy->send_semaphore == NONE || copy->send_semaphore < program->semaphores)
        && (copy->receive_semaphore == NONE || copy->receive_semaphore < program->semaphores) && copy->target_device < program->devices
        && copy->bytes > 0;
}

static bool foreseen_in_range(const Record *record, const Lookahead *entry)
{
    const Program *program = record->program;
    return entry->core < program->cores && entry->kind < STEP_KIND_COUNT
        && (entry->object == NONE || (entry->site < program->sites.count && entry->object < program->semaphores));
}

bool record_check(const Record *record, const char **why)
{
    const Program *program = record->program;
    *why = "the record of the run is damaged: the kernel writes outside its own memory";
    if (record->ends.count != program->cores)
        return false;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->core >= program->cores || step->kind >= STEP_KIND_COUNT || step->site >= program->sites.count
            || !object_in_range(record, step))
            return false;
    }
    for (size_t i = 0; i < record->copies.count; i++)
        if (!copy_in_range(record, &STORE(Copy, &record->copies, i)))
            return false;
    for (size_t i = 0; i < record->ends.count; i++) {
        const CoreState *state = &STORE(CoreState, &record->ends, i);
        if (state->end > CORE_RUNNING
            || (state->end == CORE_BLOCKED && (state->pending.core != i || !object_in_range(record, &state->pending))))
            return false;
    }
    for (size_t i = 0; i < record->raised.count; i++) {
        const Raised *raised = &STORE(Raised, &record->raised, i);
        if (raised->fault >= FAULT_COUNT || raised->core >= program->cores || raised->site >= program->sites.count)
            return false;
    }
    for (size_t i = 0; i < record->lookahead.count; i++)
        if (!foreseen_in_range(record, &STORE(Lookahead, &record->lookahead, i)))
            return false;
    return true;
}

const int64_t *record_grid(const Record *record, uint32_t core, uint32_t position)
{
    const int64_t *grid = NULL;
    for (size_t i = 0; i < record->grid_marks.count; i++) {
        const GridMark *mark = &STORE(GridMark, &record->grid_marks, i);
        if (mark->core == core && mark->position <= position)
            grid = mark->grid;
    }
    return grid;
}

bool record_all_finished(const Record *record)
{
    for (size_t i = 0; i < record->ends.count; i++)
        if (STORE(CoreState, &record->ends, i).end != CORE_FINISHED)
            return false;
    return record->ends.count > 0;
}
