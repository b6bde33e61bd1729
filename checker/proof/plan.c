/* plan.c - one pass over the record, in its order; waits are processed only when their core next sends.
 *
 * Three kinds of waits, by who feeds the semaphore. *Single chain*: one core gives all signals and its clocks grow, so the wait needs
 * exactly the first signal whose running sum reaches the total. *All needed*: without any one of the signals the total is out of reach.
 * Everything else is a *choice*: an order statistic over all signals, component by component. A semaphore that only its own core feeds
 * adds nothing to that core's clock.
 */
#include "plan.h"

#include <glib.h>

#define MANY (NONE - 1)                         /* more than one core feeds it */

typedef struct Feed {                           /* of one semaphore */
    uint32_t feeder, min_inc;
    uint32_t cursor;                            /* single chain: the next signal to add */
    int64_t sum, before;                        /* of all; of those before the cursor */
} Feed;

typedef struct Planner {
    Plan *plan;
    const Index *index;
    Feed *feed;
    uint32_t *row, *scanned, *last_part;        /* a core: its row; positions scanned; its part in the row being made */
    uint32_t *slot_row, *slot_edge;             /* if objects are contended: the row at a step; first edge into it + 1 */
    uint32_t first_part;                        /* of the row being made */
    const Asked *asked;                         /* see plan_new; the next one */
    size_t askeds, next;
} Planner;

static void find_feeds(Planner *planner, Arena *scratch)
{
    const Index *index = planner->index;
    planner->feed = ARENA_NEW(Feed, scratch, index->semaphores + 1);
    for (uint32_t s = 0; s < index->semaphores; s++) {
        Feed *feed = &planner->feed[s];
        feed->feeder = NONE;
        feed->min_inc = NONE;
        for (uint32_t i = index->signal_first[s]; i < index->signal_first[s + 1]; i++) {
            const Signal *signal = &index->signal[i];
            feed->feeder = feed->feeder == NONE || feed->feeder == signal->core ? signal->core : MANY;
            feed->min_inc = MIN(feed->min_inc, signal->inc);
            feed->sum += signal->inc;
        }
    }
}

static void add_part(Planner *planner, uint32_t row, uint32_t core, uint32_t entry)
{
    Plan *plan = planner->plan;
    uint32_t known = planner->last_part[core];
    if (row != NONE && known >= planner->first_part && known < plan->parts.count && PILE(RowPart, &plan->parts, known).core == core
        && PILE(RowPart, &plan->parts, known).row != NONE) {
        RowPart *part = &PILE(RowPart, &plan->parts, known);    /* a core's clocks grow: the later one is enough */
        if (part->entry < entry) {
            PILE(Row, &plan->rows, part->row).uses--;
            PILE(Row, &plan->rows, row).uses++;
            part->row = row;
            part->entry = entry;
        }
        return;
    }
    if (row != NONE) {
        planner->last_part[core] = (uint32_t)plan->parts.count;
        PILE(Row, &plan->rows, row).uses++;
    }
    *(RowPart *)pile_push(&plan->parts, 1) = (RowPart){ row, core, entry };
}

static void add_signal_part(Planner *planner, uint32_t signal)
{
    const Signal *s = &planner->index->signal[signal];
    add_part(planner, planner->plan->signal_row[signal], s->core, s->position + 1);
}

/* The signal of a single chain that reaches the total. */
static uint32_t pick_in_chain(Planner *planner, uint32_t semaphore, int64_t total)
{
    const Index *index = planner->index;
    Feed *feed = &planner->feed[semaphore];
    if (total <= feed->before)                  /* a wait that keeps may need less than the one before */
        feed->cursor = 0, feed->before = 0;
    const Signal *signal = &index->signal[index->signal_first[semaphore]];
    uint32_t signals = index->signal_first[semaphore + 1] - index->signal_first[semaphore];
    while (feed->cursor < signals && feed->before + signal[feed->cursor].inc < total)
        feed->before += signal[feed->cursor++].inc;
    g_assert(feed->cursor < signals || index->canary != PROVE_SOUND);
    uint32_t pick = MIN(feed->cursor, signals - 1);
    if (index->canary == PROVE_CANARY_WRONG_IN_CHAIN && pick > 0)
        pick--;
    return index->signal_first[semaphore] + pick;
}

static void add_wait(Planner *planner, uint32_t semaphore, uint32_t wait)
{
    const Index *index = planner->index;
    const Wait *w = &index->wait[wait];
    Feed *feed = &planner->feed[semaphore];
    if (w->total <= 0 || index->contended[semaphore] || feed->feeder == w->core)
        return;
    if (feed->feeder != MANY) {
        add_signal_part(planner, pick_in_chain(planner, semaphore, w->total));
    } else if (w->total > feed->sum - feed->min_inc) {
        for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++)
            add_signal_part(planner, i);
    } else {
        uint32_t choice = (uint32_t)planner->plan->choices.count;
        *(PlanChoice *)pile_push(&planner->plan->choices, 1) = (PlanChoice){ semaphore, wait };
        add_part(planner, NONE, w->core, choice);
    }
}

static void add_edges(Planner *planner, uint32_t slot)
{
    const Index *index = planner->index;
    if (!planner->slot_edge || planner->slot_edge[slot] == 0)
        return;
    uint32_t i = planner->slot_edge[slot] - 1;
    const Event after = index->edge[i].after;
    for (; i < index->edges; i++) {
        const OrderEdge *edge = &index->edge[i];
        if (edge->after.core != after.core || edge->after.position != after.position || edge->after.copy != NONE)
            break;
        if (edge->before.copy == NONE && edge->before.core != after.core)
            add_part(planner, planner->slot_row[index_slot(index, edge->before.core, edge->before.position)], edge->before.core,
                     edge->before.position + 1);
    }
}

static uint32_t new_row(Planner *planner, uint32_t core, uint32_t before)
{
    Plan *plan = planner->plan;
    uint32_t id = (uint32_t)plan->rows.count;
    *(Row *)pile_push(&plan->rows, 1) = (Row){ .core = core, .before = before, .part = planner->first_part, .question = NONE,
                                               .parts = (uint32_t)plan->parts.count - planner->first_part };
    PILE(Row, &plan->rows, before).uses++;
    return id;
}

/* The row of a core before its step at `position`; a new one if it has waited since its last row. */
static uint32_t row_at(Planner *planner, uint32_t core, uint32_t position)
{
    const Index *index = planner->index;
    planner->first_part = (uint32_t)planner->plan->parts.count;
    for (uint32_t p = planner->scanned[core]; p < position; p++) {
        uint32_t slot = index_slot(index, core, p);
        uint8_t kind = index->kind[slot];
        if (step_is_wait(kind))
            add_wait(planner, index->wait[index->link[slot]].semaphore, index->link[slot]);
        add_edges(planner, slot);
    }
    planner->scanned[core] = MAX(planner->scanned[core], position);
    if (planner->plan->parts.count > planner->first_part)
        planner->row[core] = new_row(planner, core, planner->row[core]);
    return planner->row[core];
}

static void ask(Planner *planner, uint32_t row, uint32_t column, size_t answer)
{
    Plan *plan = planner->plan;
    if (row == 0)                               /* the answer is zero already */
        return;
    uint32_t id = (uint32_t)plan->questions.count;
    *(Question *)pile_push(&plan->questions, 1) = (Question){ column, (uint32_t)answer, PILE(Row, &plan->rows, row).question };
    PILE(Row, &plan->rows, row).question = id;
}

/* The clock at an event of `core`, on all cores of a device; its own entry is `own`. */
static void ask_device(Planner *planner, uint32_t row, uint32_t core, uint32_t own, uint32_t device, size_t answer)
{
    uint32_t per = planner->index->per_device;
    for (uint32_t k = 0; !planner->asked && k < per; k++) {
        uint32_t column = device * per + k;
        if (column == core)
            planner->plan->answer[answer + k] = own;
        else
            ask(planner, row, column, answer + k);
    }
}

static void plan_signal(Planner *planner, const Step *step, uint32_t position)
{
    const Index *index = planner->index;
    Plan *plan = planner->plan;
    uint32_t per = index->per_device, signal = index->link[index_slot(index, step->core, position)];
    uint32_t owner = program_semaphore_core(index->program, step->object);
    uint32_t row = row_at(planner, step->core, position);
    plan->signal_row[signal] = row;
    ask_device(planner, row, step->core, position + 1, owner / per, plan->signal_toward + (size_t)signal * per);
}

static void plan_start(Planner *planner, const Step *step, uint32_t position)
{
    const Index *index = planner->index;
    Plan *plan = planner->plan;
    const Copy *copy = index_copy(index, step->object);
    uint32_t per = index->per_device, row = row_at(planner, step->core, position);
    for (unsigned end = 0; end < 2; end++)
        if (index->copy_signal[step->object * 2 + end] != NONE)
            plan->signal_row[index->copy_signal[step->object * 2 + end]] = row;
    ask_device(planner, row, step->core, position + 1, copy->target_device, plan->toward + (size_t)step->object * per);
    if (per > 1)
        ask_device(planner, row, step->core, position + 1, step->core / per, plan->home + (size_t)step->object * per);
}

static void plan_join(Planner *planner, const Step *step, uint32_t *position)
{
    const Index *index = planner->index;
    const JoinSteps *join = &index->join[index->link[index_slot(index, step->core, position[step->core])]];
    const Step *member = &STORE(Step, &index->record->steps, join->first);
    if (step != member || join->members == 1)
        return;
    for (uint32_t i = 0; i < join->members; i++)
        row_at(planner, member[i].core, position[member[i].core]);
    planner->first_part = (uint32_t)planner->plan->parts.count;
    bool mutual = index->canary != PROVE_CANARY_JOIN_ONE_SIDED;
    for (uint32_t i = 0; i < join->members; i++)
        add_part(planner, planner->row[member[i].core], member[i].core, position[member[i].core] + mutual);
    uint32_t row = new_row(planner, step->core, 0);
    for (uint32_t i = 0; i < join->members; i++) {
        planner->row[member[i].core] = row;
        planner->scanned[member[i].core] = position[member[i].core] + 1;
    }
}

static void note_conflict(Planner *planner, const Step *step, uint32_t position)
{
    if (planner->slot_row && (step_on_counter(step->kind))
        && planner->index->contended[step->object])
        planner->slot_row[index_slot(planner->index, step->core, position)] = row_at(planner, step->core, position + 1);
}

/* Questions about the step at `record_index`. */
static void plan_asked(Planner *planner, const Step *step, uint32_t position, size_t record_index)
{
    for (; planner->next < planner->askeds; planner->next++) {
        const Asked *asked = &planner->asked[planner->next];
        if (planner->index->step[asked->slot] != record_index)
            return;
        if (asked->column == step->core)
            planner->plan->answer[planner->next] = position + (step->kind == STEP_COPY_START);
        else
            ask(planner, row_at(planner, step->core, position), asked->column, planner->next);
    }
}

static void plan_step(Planner *planner, const Step *step, uint32_t *position)
{
    const Index *index = planner->index;
    uint32_t at = position[step->core], per = index->per_device;
    if (step_is_add(step)) {
        plan_signal(planner, step, at);
    } else if (step->kind == STEP_COPY_START && step->object != NONE) {
        plan_start(planner, step, at);
    } else if (step_is_join(step->kind)) {
        plan_join(planner, step, position);
    } else if (per > 1 && (step->kind == STEP_LOAD || step->kind == STEP_STORE || step->kind == STEP_SWAP || step->kind == STEP_FREE
                           || step->kind == STEP_ALLOC)) {
        ask_device(planner, row_at(planner, step->core, at), step->core, at, step->core / per,
                   planner->plan->slot_home + (size_t)index_slot(index, step->core, at) * per);
    }
    note_conflict(planner, step, at);
}

static void prepare_edges(Planner *planner, Arena *scratch)
{
    const Index *index = planner->index;
    if (index->edges == 0)
        return;
    planner->slot_row = ARENA_NEW(uint32_t, scratch, index->first[index->cores] + 1);
    planner->slot_edge = ARENA_NEW(uint32_t, scratch, index->first[index->cores] + 1);
    for (size_t i = index->edges; i-- > 0;)
        if (index->edge[i].after.copy == NONE)
            planner->slot_edge[index_slot(index, index->edge[i].after.core, index->edge[i].after.position)] = (uint32_t)i + 1;
}

static Plan *empty_plan(const Index *index, size_t askeds, Arena *arena, Arena *answer_arena)
{
    Plan *plan = ARENA_NEW(Plan, arena, 1);
    size_t per = index->per_device, signals = index->signal_first[index->semaphores], slots = per > 1 ? index->first[index->cores] : 0;
    plan->index = index;
    plan->home = plan->toward + index->copies * per;
    plan->signal_toward = plan->home + (per > 1 ? index->copies * per : 0);
    plan->slot_home = plan->signal_toward + signals * per;
    plan->answers = askeds ? askeds : plan->slot_home + slots * per;
    g_assert(plan->answers < NONE);
    plan->answer = ARENA_NEW(uint32_t, answer_arena, plan->answers + 1);
    plan->signal_row = ARENA_NEW(uint32_t, arena, signals + 1);
    pile_init(&plan->rows, arena, sizeof(Row));
    pile_init(&plan->parts, arena, sizeof(RowPart));
    pile_init(&plan->choices, arena, sizeof(PlanChoice));
    pile_init(&plan->questions, arena, sizeof(Question));
    *(Row *)pile_push(&plan->rows, 1) = (Row){ .question = NONE };
    return plan;
}

Plan *plan_new(const Index *index, const Asked *asked, size_t askeds, Arena *arena, Arena *answer_arena)
{
    Arena scratch;
    arena_init(&scratch, arena->budget);
    Plan *plan = empty_plan(index, askeds, arena, answer_arena);
    Planner planner = { .plan = plan, .index = index, .asked = asked, .askeds = askeds };
    planner.row = ARENA_NEW(uint32_t, &scratch, index->cores);
    planner.scanned = ARENA_NEW(uint32_t, &scratch, index->cores);
    planner.last_part = ARENA_NEW(uint32_t, &scratch, index->cores);
    find_feeds(&planner, &scratch);
    prepare_edges(&planner, &scratch);
    uint32_t *position = ARENA_NEW(uint32_t, &scratch, index->cores);
    for (size_t i = 0; i < index->record->steps.count; i++) {
        const Step *step = &STORE(Step, &index->record->steps, i);
        if (moment_is(step->kind))
            continue;
        plan_asked(&planner, step, position[step->core], i);
        plan_step(&planner, step, position);
        position[step->core]++;
    }
    arena_clear(&scratch);
    return plan;
}
