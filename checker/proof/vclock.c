/* vclock.c - the greatest fixed point of the clock equations, block of columns by block of columns.
 *
 * Component c of any clock depends only on component c of others, so columns are independent, and so is the fixed point. Without choices
 * one pass in the order of the record is exact, and a row's memory is reused after the last row made of it. With choices all rows of a
 * block are kept: the first pass takes the order statistic over the signals known so far, an upper bound of the greatest fixed point, and
 * passes over all signals repeat until no entry falls.
 */
#include "vclock_inside.h"

#include <glib.h>
#include <string.h>

#include "statistic.h"

enum { ROWS_BYTES_MAX = 96 << 20 };             /* of one block if all rows are kept */

typedef struct Pass {
    const Plan *plan;
    const Row *row;
    const RowPart *part;
    Arena arena;
    uint32_t column, width;                     /* this block: columns column .. column + width, width a multiple of LANES */
    int32_t *pool;                              /* slots of width entries */
    uint32_t *slot, *left, *spare;              /* row -> slot, NONE: all zero; row -> uses left; a stack of free slots */
    uint32_t slots, spares;
    bool stays;
    uint32_t round;                             /* with choices: this pass, from 0 */
    uint32_t *changed;                          /* a row: the last pass that lowered it */
    int32_t *wanted;                            /* scratch for one row */
    Statistic statistic;
} Pass;

/* NULL: all zero. */
static int32_t *row_values(const Pass *pass, uint32_t row)
{
    if (pass->slot[row] == NONE)
        return NULL;
    return pass->pool + (size_t)pass->slot[row] * pass->width;
}

static void take_maximum(int32_t *to, const int32_t *from, uint32_t width)
{
    for (uint32_t block = 0; block < width; block += LANES)
        lanes_raise(to + block, from + block);
}

static void take_part(Pass *pass, int32_t *to, const RowPart *part)
{
    const int32_t *values = row_values(pass, part->row);
    if (values)
        take_maximum(to, values, pass->width);
    uint32_t own = part->core - pass->column;   /* wraps if the core is left of the block */
    if (own < pass->width)
        to[own] = MAX(to[own], (int32_t)part->entry);
}

/* The order statistic over all signals; in the first pass, over those whose rows are computed already. */
static void take_choice(Pass *pass, int32_t *to, uint32_t row, const PlanChoice *choice)
{
    const Index *index = pass->plan->index;
    bool maximum = index->canary == PROVE_CANARY_MAXIMUM;
    statistic_begin(&pass->statistic, pass->width);
    for (uint32_t i = index->signal_first[choice->semaphore]; i < index->signal_first[choice->semaphore + 1]; i++) {
        uint32_t from = pass->plan->signal_row[i];
        if ((pass->round == 0 || maximum) && from >= row)
            continue;
        const Signal *signal = &index->signal[i];
        uint32_t own = signal->core - pass->column;
        statistic_add(&pass->statistic, row_values(pass, from), own < pass->width ? own : NONE, (int32_t)signal->position + 1,
                      signal->inc);
    }
    statistic_raise(&pass->statistic, maximum ? pass->statistic.sum : index->wait[choice->wait].total, to,
                    pass->round > 0 ? row_values(pass, row) : NULL);
}

static void compute_row(Pass *pass, uint32_t id, int32_t *to)
{
    const Row *row = &pass->row[id];
    const int32_t *before = row_values(pass, row->before);
    if (before)
        memcpy(to, before, pass->width * sizeof *to);
    else
        memset(to, 0, pass->width * sizeof *to);
    for (uint32_t i = row->part; i < row->part + row->parts; i++) {
        const RowPart *part = &pass->part[i];
        if (part->row == NONE)
            take_choice(pass, to, id, &PILE(PlanChoice, &pass->plan->choices, part->entry));
        else
            take_part(pass, to, part);
    }
}

/* No step of this block's cores precedes it. */
static bool stays_zero(const Pass *pass, const Row *row)
{
    if (pass->slot[row->before] != NONE)
        return false;
    for (uint32_t i = row->part; i < row->part + row->parts; i++)
        if (pass->slot[pass->part[i].row] != NONE || pass->part[i].core - pass->column < pass->width)
            return false;
    return true;
}

static void answer_questions(Pass *pass, uint32_t id)
{
    const int32_t *values = row_values(pass, id);
    const Question *question = pile_base(&pass->plan->questions);
    for (uint32_t q = pass->row[id].question; q != NONE; q = question[q].next) {
        uint32_t at = question[q].column - pass->column;
        if (at < pass->width)
            pass->plan->answer[question[q].answer] = (uint32_t)values[at];
    }
}

static void release_use(Pass *pass, uint32_t row)
{
    if (pass->slot[row] != NONE && --pass->left[row] == 0)
        pass->spare[pass->spares++] = pass->slot[row];
}

static uint32_t take_slot(Pass *pass, Pile *pool)
{
    if (pass->spares == 0) {
        pile_push(pool, pass->width);
        pass->pool = pile_base(pool);
        pass->spare[pass->spares++] = pass->slots++;
    }
    return pass->spare[--pass->spares];
}

/* One pass, reusing rows after their last use: exact without choices. */
static void pass_once(Pass *pass, Pile *pool)
{
    uint32_t rows = (uint32_t)pass->plan->rows.count;
    for (uint32_t id = 1; id < rows; id++) {
        const Row *row = &pass->row[id];
        pass->left[id] = row->uses;
        pass->slot[id] = stays_zero(pass, row) ? NONE : take_slot(pass, pool);
        if (pass->slot[id] == NONE)
            continue;
        compute_row(pass, id, row_values(pass, id));
        answer_questions(pass, id);
        release_use(pass, row->before);
        for (uint32_t i = row->part; i < row->part + row->parts; i++)
            release_use(pass, pass->part[i].row);
        if (row->uses == 0)
            pass->spare[pass->spares++] = pass->slot[id];
        if ((id & 0xfff) == 0)
            budget_check_time(pass->arena.budget);
    }
    g_assert(pass->spares == pass->slots);
}

/* Was an input lowered since the row was last computed? */
static bool input_fell(const Pass *pass, uint32_t id, uint32_t from)
{
    return pass->changed[from] == (from < id ? pass->round : pass->round - 1);
}

static bool any_input_fell(const Pass *pass, uint32_t id)
{
    const Index *index = pass->plan->index;
    const Row *row = &pass->row[id];
    if (pass->round == 0 || input_fell(pass, id, row->before))
        return true;
    for (uint32_t i = row->part; i < row->part + row->parts; i++) {
        const RowPart *part = &pass->part[i];
        if (part->row != NONE && input_fell(pass, id, part->row))
            return true;
        if (part->row != NONE)
            continue;
        uint32_t semaphore = PILE(PlanChoice, &pass->plan->choices, part->entry).semaphore;
        for (uint32_t s = index->signal_first[semaphore]; s < index->signal_first[semaphore + 1]; s++)
            if (input_fell(pass, id, pass->plan->signal_row[s]))
                return true;
    }
    return false;
}

static bool lower_row(Pass *pass, uint32_t id)
{
    compute_row(pass, id, pass->wanted);
    int32_t *values = row_values(pass, id);
    if (pass->round > 0 && memcmp(values, pass->wanted, pass->width * sizeof *values) == 0)
        return false;
    memcpy(values, pass->wanted, pass->width * sizeof *values);
    pass->changed[id] = pass->round;
    return true;
}

static uint32_t pass_until_stable(Pass *pass)
{
    uint32_t rows = (uint32_t)pass->plan->rows.count, rounds_max = pass->plan->index->canary == PROVE_CANARY_ONE_PASS ? 1 : NONE;
    bool changed = true;
    pass->changed[0] = NONE - 1;                /* row 0 never changes */
    for (pass->round = 0; changed && pass->round < rounds_max; pass->round++) {
        changed = false;
        for (uint32_t id = 1; id < rows; id++) {
            if (any_input_fell(pass, id))
                changed |= lower_row(pass, id);
            if ((id & 0xff) == 0)
                budget_check_time(pass->arena.budget);
        }
    }
    for (uint32_t id = 1; id < rows; id++)
        answer_questions(pass, id);
    return pass->round;
}

static uint32_t block_width(const Plan *plan)
{
    uint32_t cores = (plan->index->cores + LANES - 1) / LANES * LANES;
    if (plan->choices.count == 0)
        return MIN(cores, 4 * LANES);
    size_t fits = ROWS_BYTES_MAX / sizeof(int32_t) / plan->rows.count / LANES * LANES;
    return (uint32_t)MIN(cores, CLAMP(fits, LANES, 4 * LANES));
}

uint32_t clocks_compute(const Plan *plan, Budget *budget)
{
    Pass pass = { .plan = plan, .row = pile_base(&plan->rows), .part = pile_base(&plan->parts), .width = block_width(plan) };
    uint32_t rows = (uint32_t)plan->rows.count, passes = 1;
    arena_init(&pass.arena, budget);
    pass.stays = plan->choices.count > 0;
    pass.wanted = ARENA_NEW(int32_t, &pass.arena, pass.width);
    pass.slot = ARENA_NEW(uint32_t, &pass.arena, rows);
    pass.slot[0] = NONE;
    Pile pool;
    pile_init(&pool, &pass.arena, sizeof(int32_t));
    if (pass.stays) {
        pass.pool = ARENA_NEW(int32_t, &pass.arena, (size_t)rows * pass.width);
        pass.changed = ARENA_NEW(uint32_t, &pass.arena, rows);
        statistic_init(&pass.statistic, &pass.arena);
        for (uint32_t id = 1; id < rows; id++)
            pass.slot[id] = id;
    } else {
        pass.left = ARENA_NEW(uint32_t, &pass.arena, rows);
        pass.spare = ARENA_NEW(uint32_t, &pass.arena, rows);
    }
    for (; pass.column < plan->index->cores; pass.column += pass.width) {
        if (pass.stays)
            passes = MAX(passes, pass_until_stable(&pass));
        else
            pass_once(&pass, &pool);
    }
    arena_clear(&pass.arena);
    return passes;
}

Clocks *clocks_new(const Index *index, Arena *arena)
{
    Arena scratch;
    arena_init(&scratch, arena->budget);
    Clocks *clocks = ARENA_NEW(Clocks, arena, 1);
    const Plan *plan = plan_new(index, NULL, 0, &scratch, arena);
    clocks->index = index;
    clocks->passes = clocks_compute(plan, arena->budget);
    clocks->toward = plan->answer + plan->toward;
    clocks->home = plan->answer + plan->home;
    clocks->signal_toward = plan->answer + plan->signal_toward;
    clocks->slot_home = index->per_device > 1 ? plan->answer + plan->slot_home : NULL;
    if (index->per_device == 1)
        clocks->home = NULL;
    arena_clear(&scratch);
    return clocks;
}

static bool kept_at_step(const Step *step)
{
    return step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP || step->kind == STEP_FREE
        || step->kind == STEP_ALLOC;
}

/* Kept at the start of a copy, at a signal, or at an access of a device with several cores. */
static const uint32_t *kept_entry(const Clocks *clocks, const Event *event, uint32_t core)
{
    const Index *index = clocks->index;
    uint32_t per = index->per_device, device = core / per, k = core % per;
    if (event->copy != NONE) {
        if (device == index_copy(index, event->copy)->target_device)
            return &clocks->toward[(size_t)event->copy * per + k];
        return device == event->core / per ? &clocks->home[(size_t)event->copy * per + k] : NULL;
    }
    uint32_t slot = index_slot(index, event->core, event->position);
    const Step *step = index_step_at(index, slot);
    if (step_is_add(step) && device == program_semaphore_core(index->program, step->object) / per)
        return &clocks->signal_toward[(size_t)index->link[slot] * per + k];
    return device == event->core / per && kept_at_step(step) ? &clocks->slot_home[(size_t)slot * per + k] : NULL;
}

bool clocks_entry(const Clocks *clocks, const Event *event, uint32_t core, uint32_t *entry)
{
    if (core == event->core) {
        *entry = event->position + (event->copy != NONE);
        return true;
    }
    const uint32_t *kept = kept_entry(clocks, event, core);
    if (!kept)
        return clocks_learnt(clocks, index_slot(clocks->index, event->core, event->position), core, entry);
    *entry = *kept;
    return true;
}

uint32_t clocks_at_signal(const Clocks *clocks, uint32_t signal, uint32_t core)
{
    const Index *index = clocks->index;
    const Signal *s = &index->signal[signal];
    uint32_t per = index->per_device;
    if (core == s->core)
        return s->position + 1;
    if (s->copy_end == NONE)
        return clocks->signal_toward[(size_t)signal * per + core % per];
    uint32_t copy = s->copy_end / 2;
    return (core / per == index_copy(index, copy)->target_device ? clocks->toward : clocks->home)[(size_t)copy * per + core % per];
}
