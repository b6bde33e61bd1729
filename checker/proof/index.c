/* index.c - two passes over the record: count, then fill (compressed rows for cores and semaphores alike).
 *
 * The k-th wait on a semaphore by its only waiter needs the running total of what it and the waits before it take; a wait that keeps needs
 * that total plus its own value and adds nothing. A wait for 0 needs nothing at all, whatever was taken before.
 */
#include "index.h"

#include <glib.h>

static void lay_out_cores(Index *index)
{
    const Record *record = index->record;
    size_t steps = record->steps.count;
    g_assert(steps < NONE);
    index->first = ARENA_NEW(uint32_t, index->arena, index->cores + 1);
    for (size_t i = 0; i < steps; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (!moment_is(step->kind))
            index->first[step->core + 1]++;
    }
    for (uint32_t core = 0; core < index->cores; core++)
        index->first[core + 1] += index->first[core];
    index->step = ARENA_NEW(uint32_t, index->arena, index->first[index->cores] + 1);
    index->link = ARENA_NEW(uint32_t, index->arena, index->first[index->cores] + 1);
    index->kind = ARENA_NEW(uint8_t, index->arena, index->first[index->cores] + 1);
    uint32_t *next = ARENA_NEW(uint32_t, index->arena, index->cores);
    for (size_t i = 0; i < steps; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (moment_is(step->kind))
            continue;
        uint32_t slot = index->first[step->core] + next[step->core]++;
        index->step[slot] = (uint32_t)i;
        index->kind[slot] = step->kind;
    }
    for (uint32_t core = 0; core < index->cores; core++) {
        uint8_t end = STORE(CoreState, &record->ends, core).end;
        index->stopped |= end == CORE_STOPPED;
        index->blocked |= end == CORE_BLOCKED;
        index->running |= end == CORE_RUNNING;
    }
}

static void find_joins(Index *index)
{
    const Record *record = index->record;
    Pile joins;
    pile_init(&joins, index->arena, sizeof(JoinSteps));
    uint32_t *next = ARENA_NEW(uint32_t, index->arena, index->cores);
    uint32_t left = 0;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (moment_is(step->kind))
            continue;
        uint32_t position = next[step->core]++;
        if (!step_is_join(step->kind))
            continue;
        if (left == 0) {
            const Join join = join_of(index->program, step);
            left = join_size(index->program, &join);
            *(JoinSteps *)pile_push(&joins, 1) = (JoinSteps){ .first = (uint32_t)i, .members = left };
        }
        const Step *first = &STORE(Step, &record->steps, PILE(JoinSteps, &joins, joins.count - 1).first);
        g_assert(step->kind == first->kind && step->object == first->object);  /* the record obeys the entry barriers */
        left--;
        index->link[index_slot(index, step->core, position)] = (uint32_t)joins.count - 1;
    }
    g_assert(left == 0);
    index->join = pile_base(&joins);
    index->joins = (uint32_t)joins.count;
}

static void note_span(StepSpan *span, bool begins, uint32_t position)
{
    if (begins)
        span->begin = position;
    else
        span->end = position;
}

static StepSpan *new_spans(Index *index, size_t rows)
{
    StepSpan *span = ARENA_NEW(StepSpan, index->arena, rows * index->cores + 1);
    for (size_t i = 0; i < rows * index->cores; i++)
        span[i] = (StepSpan){ NONE, NONE };
    return span;
}

static void find_spans(Index *index)
{
    const Program *program = index->program;
    index->launch = new_spans(index, program->launches.count);
    index->scope_row = ARENA_NEW(uint32_t, index->arena, program->decls.count + 1);
    uint32_t rows = 0;
    for (uint32_t decl = 0; decl < program->decls.count; decl++)
        index->scope_row[decl] = program_decl(program, decl)->life == LIFE_SCOPE ? rows++ : NONE;
    index->scope = new_spans(index, rows);
    for (uint32_t core = 0; core < index->cores; core++)
        for (uint32_t position = 0; position < index_length(index, core); position++) {
            uint8_t kind = index->kind[index_slot(index, core, position)];
            if (kind != STEP_ENTER && kind != STEP_EXIT && kind != STEP_ALLOC && kind != STEP_FREE)
                continue;
            const Step *step = index_step(index, core, position);
            if (step->kind == STEP_ENTER || step->kind == STEP_EXIT)
                note_span(&index->launch[(size_t)step->object * index->cores + core], step->kind == STEP_ENTER, position);
            else if ((step->kind == STEP_ALLOC || step->kind == STEP_FREE) && index->scope_row[step->object] != NONE)
                note_span(&index->scope[(size_t)index->scope_row[step->object] * index->cores + core], step->kind == STEP_ALLOC, position);
        }
}

static void count_ends(Index *index)
{
    const Record *record = index->record;
    index->signal_first = ARENA_NEW(uint32_t, index->arena, index->semaphores + 1);
    index->wait_first = ARENA_NEW(uint32_t, index->arena, index->semaphores + 1);
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step_is_add(step))
            index->signal_first[step->object + 1]++;
        else if (step_is_wait(step->kind))
            index->wait_first[step->object + 1]++;
    }
    for (uint32_t copy = 0; copy < index->copies; copy++) {
        const Copy *c = index_copy(index, copy);
        if (c->send_semaphore != NONE)
            index->signal_first[c->send_semaphore + 1]++;
        if (c->receive_semaphore != NONE)
            index->signal_first[c->receive_semaphore + 1]++;
    }
    for (uint32_t s = 0; s < index->semaphores; s++) {
        index->signal_first[s + 1] += index->signal_first[s];
        index->wait_first[s + 1] += index->wait_first[s];
    }
    index->signal = ARENA_NEW(Signal, index->arena, index->signal_first[index->semaphores] + 1);
    index->wait = ARENA_NEW(Wait, index->arena, index->wait_first[index->semaphores] + 1);
}

/* What a wait needs in total, if the waits before it took so much. */
static Wait wait_of(const Index *index, const Step *step, uint32_t position, int64_t taken_before)
{
    Wait wait = { .core = step->core, .position = position, .semaphore = step->object };
    if (step->kind == STEP_FLAG_WAIT) {
        const Decl *decl = program_decl(index->program, program_semaphore_decl(index->program, step->object));
        wait.total = MAX((int32_t)step->value - decl->initial + (step->extra == COMPARE_GT), 0);
    } else if (step->value > 0) {
        bool takes = step->kind == STEP_WAIT || index->canary == PROVE_CANARY_KEEP_TAKES;
        bool forgets = step->kind == STEP_WAIT_KEEP && index->canary == PROVE_CANARY_KEEP_NEEDS_VALUE_ONLY;
        wait.taken = takes ? step->value : 0;
        wait.total = (forgets ? 0 : taken_before) + step->value;
    } else if (index->canary == PROVE_CANARY_WAIT_FOR_ZERO) {
        wait.total = MAX(taken_before, 1);
    }
    return wait;
}

typedef struct Fill {                           /* cursors of the second pass */
    uint32_t *signals, *waits, *position;
    int64_t *taken;
} Fill;

static uint32_t add_signal(Index *index, Fill *fill, uint32_t semaphore, Signal signal)
{
    uint32_t at = index->signal_first[semaphore] + fill->signals[semaphore]++;
    index->signal[at] = signal;
    index->final_count[semaphore] += signal.copy_end == NONE ? (int32_t)signal.inc : (int64_t)signal.inc;      /* flags may add -1 */
    return at;
}

static void add_copy(Index *index, Fill *fill, uint32_t copy)
{
    const Copy *c = index_copy(index, copy);
    bool bytes = index->canary == PROVE_CANARY_REGULAR_COUNTS_BYTES;
    index->copy_signal[copy * 2] = index->copy_signal[copy * 2 + 1] = NONE;
    if (c->send_semaphore != NONE)
        index->copy_signal[copy * 2] = add_signal(index, fill, c->send_semaphore,
            (Signal){ c->core, c->position, copy * 2, bytes ? c->bytes : c->send_count });
    if (c->receive_semaphore != NONE)
        index->copy_signal[copy * 2 + 1] = add_signal(index, fill, c->receive_semaphore,
            (Signal){ c->core, c->position, copy * 2 + 1, bytes ? c->bytes : c->receive_count });
}

static void add_step(Index *index, Fill *fill, const Step *step)
{
    uint32_t position = fill->position[step->core]++, slot = index_slot(index, step->core, position);
    if (step_is_add(step)) {
        index->link[slot] = add_signal(index, fill, step->object, (Signal){ step->core, position, NONE, step->value });
    } else if (step_is_wait(step->kind)) {
        uint32_t at = index->wait_first[step->object] + fill->waits[step->object]++;
        Wait *wait = &index->wait[at];
        *wait = wait_of(index, step, position, fill->taken[step->object]);
        fill->taken[step->object] += wait->taken;
        index->final_count[step->object] -= wait->taken;
        index->link[slot] = at;
        index->meant |= step->kind == STEP_WAIT && step->extra != NONE;
    } else if (step->kind == STEP_FLAG_STORE
               || (step->kind == STEP_FLAG_CAS && index->final_count[step->object] == (int32_t)step->extra)) {
        index->final_count[step->object] = (int32_t)step->value;
    } else if (step->kind == STEP_FLAG_ADD) {
        index->final_count[step->object] += (int32_t)step->value;
    } else if (step->kind == STEP_COPY_START && step->object != NONE) {
        add_copy(index, fill, step->object);
    }
}

static void fill_ends(Index *index)
{
    Arena scratch;
    arena_init(&scratch, index->arena->budget);
    Fill fill = { ARENA_NEW(uint32_t, &scratch, index->semaphores + 1), ARENA_NEW(uint32_t, &scratch, index->semaphores + 1),
                  ARENA_NEW(uint32_t, &scratch, index->cores), ARENA_NEW(int64_t, &scratch, index->semaphores + 1) };
    index->final_count = ARENA_NEW(int64_t, index->arena, index->semaphores + 1);
    index->copy_signal = ARENA_NEW(uint32_t, index->arena, (size_t)index->copies * 2 + 1);
    for (uint32_t decl = 0; decl < index->program->decls.count; decl++) {
        const Decl *d = program_decl(index->program, decl);
        for (uint32_t i = 0; d->semaphore_kind == SEMAPHORE_FLAG && d->first_semaphore != NONE && i < d->elements * index->cores; i++)
            index->final_count[d->first_semaphore + i] = d->initial;
    }
    for (size_t i = 0; i < index->record->steps.count; i++) {
        const Step *step = &STORE(Step, &index->record->steps, i);
        if (!moment_is(step->kind))
            add_step(index, &fill, step);
    }
    arena_clear(&scratch);
}

/* Links each copy to the previous one of its chain under the DMA order in force; a chain has one issuing core. */
static void chain_copies(Index *index)
{
    DmaOrder order = index->program->knobs.dma_order;
    if (order == DMA_ORDER_UNORDERED || index->canary == PROVE_CANARY_NO_CHAINS)
        return;
    uint32_t devices = order == DMA_ORDER_LINK_FIFO ? index->program->devices : 1;
    index->copy_before = ARENA_NEW(uint32_t, index->arena, index->copies + 1);
    uint32_t *last = ARENA_NEW(uint32_t, index->arena, (size_t)index->cores * devices);
    for (uint32_t copy = 0; copy < index->copies; copy++) {
        const Copy *c = index_copy(index, copy);
        index->copy_before[copy] = NONE;
        if (order == DMA_ORDER_LINK_FIFO && !c->remote)
            continue;
        uint32_t *before = &last[(size_t)c->core * devices + (devices > 1 ? c->target_device : 0)];
        index->copy_before[copy] = *before - 1;                 /* 0, "none yet", becomes NONE */
        *before = copy + 1;
    }
}

Index *index_new(const Record *record, ProveCanary canary, bool looks_aside, Arena *arena)
{
    Index *index = ARENA_NEW(Index, arena, 1);
    index->record = record;
    index->program = record->program;
    index->arena = arena;
    index->canary = canary, index->looks_aside = looks_aside;
    index->cores = record->program->cores;
    index->per_device = record->program->cores_per_device;
    index->semaphores = record->program->semaphores;
    g_assert(record->copies.count < NONE / 4);
    index->copies = (uint32_t)record->copies.count;
    lay_out_cores(index);
    find_joins(index);
    find_spans(index);
    index_find_contended(index);
    count_ends(index);
    fill_ends(index);
    chain_copies(index);
    index_order_contended(index);
    return index;
}

Event index_event(const Index *index, uint32_t core, uint32_t position)
{
    return (Event){ core, position, NONE, index->kind[index_slot(index, core, position)] };
}

Event index_moment(const Index *index, uint32_t copy, StepKind kind)
{
    const Copy *c = index_copy(index, copy);
    return (Event){ c->core, c->position, copy, (uint8_t)kind };
}

bool index_is_fluid(const Index *index)
{
    return moment_is_fluid(&index->program->knobs) && index->canary != PROVE_CANARY_NO_FLUID;
}

uint32_t index_moment_inc(const Index *index, uint32_t copy, StepKind kind, uint32_t *semaphore)
{
    uint32_t signal = index->copy_signal[copy * 2 + !moment_at_source(kind)];
    *semaphore = moment_semaphore(index_copy(index, copy), kind);
    if (signal == NONE)
        return 0;
    uint32_t inc = index->signal[signal].inc, early = moment_early_part(index_is_fluid(index), inc);
    return moment_is_early(kind) ? early : inc - early;
}

bool index_same_event(const Event *a, const Event *b)
{
    return a->core == b->core && a->position == b->position && a->copy == b->copy && (a->copy == NONE || a->kind == b->kind);
}

int64_t index_given(const Index *index, uint32_t semaphore)
{
    int64_t sum = 0;
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++)
        sum += index->signal[i].inc;
    return sum;
}
