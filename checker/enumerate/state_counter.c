/* state_counter.c - a column of a core's rows for each counter that it adds to. */
#include "state_counter.h"
#include <string.h>
#include "../../model/counter.h"
#include "lives.h"
#include "memory.h"

uint32_t state_counter_of(StateSpace *space, uint32_t semaphore)
{
    if (semaphore >= space->counter_of.count)
        store_push(&space->counter_of, semaphore + 1 - space->counter_of.count);
    uint32_t *known = &STORE(uint32_t, &space->counter_of, semaphore);
    if (*known)
        return *known - 1;
    const Decl *decl = program_decl(space->program, program_semaphore_decl(space->program, semaphore));
    StateCounter *counter = store_push(&space->counters, 1);
    *counter = (StateCounter){.semaphore = semaphore, .limit = decl->limit, .flag = decl->semaphore_kind == SEMAPHORE_FLAG};
    counter->owner = program_semaphore_core(space->program, semaphore);
    counter->life = lives_of_semaphore(space, semaphore);
    *known = (uint32_t)space->counters.count;
    if (counter->flag) {
        counter->device = counter->owner / space->program->cores_per_device;
        counter->slot = memory_flag_slot(space, semaphore, counter->device);
    }
    return *known - 1;
}

/* Widens rows, which had `before` columns each. */
static void widen_rows(StateSpace *space, SpaceCore *core, uint32_t before)
{
    size_t rows = core->components.count;
    Store narrow = core->taken;
    reservation_store(&space->reservation, &core->taken, sizeof(int64_t), space->components_max * (size_t)core->columns);
    int64_t *to = store_push(&core->taken, rows * core->columns);
    for (size_t row = 0; row < rows && narrow.count > 0; row++)
        memcpy(to + row * core->columns, &STORE(int64_t, &narrow, row * before), before * sizeof(int64_t));
    reservation_give_up(&narrow);
}

static void append_addend(Addend **list, uint32_t *count, Addend addend)
{
    *list = g_renew(Addend, *list, *count + 1);
    (*list)[(*count)++] = addend;
}

static void add_other(Others *others, Addend addend)
{
    if (others->first.column == 0)
        others->first = addend;
    else
        append_addend(&others->addend, &others->more, addend);
}

static void note_addend(StateSpace *space, uint32_t core, uint32_t semaphore, bool coarse)
{
    if (semaphore == NONE)
        return;
    SpaceCore *self = space_core(space, core);
    uint32_t id = state_counter_of(space, semaphore);
    StateCounter *counter = state_counter_get(space, id);
    counter->coarse |= coarse;
    if (id >= self->column_of.count)
        store_push(&self->column_of, id + 1 - self->column_of.count);
    uint32_t *column = &STORE(uint32_t, &self->column_of, id);
    if (*column)
        return;
    *column = ++self->columns;
    Addend addend = {.core = core, .column = *column - 1};
    append_addend(&counter->addend, &counter->addends, addend);
    for (uint32_t i = 1; i < space->others.count; i++) {
        Others *others = &STORE(Others, &space->others, i);
        if (others->counter == id && others->core != core)
            add_other(others, addend);
    }
}

uint32_t state_counter_others(StateSpace *space, uint32_t counter, uint32_t core)
{
    uint32_t key[2] = {counter, core}, id = intern_add(&space->others_keys, key, sizeof key);
    if (id < space->others.count)
        return id;
    Others *others = store_push(&space->others, 1);
    *others = (Others){.counter = counter, .core = core};
    for (uint32_t i = 0; i < state_counter_get(space, counter)->addends; i++)
        if (state_counter_get(space, counter)->addend[i].core != core)
            add_other(others, state_counter_get(space, counter)->addend[i]);
    return id;
}

static void note_taker(StateSpace *space, uint32_t core, uint32_t semaphore)
{
    StateCounter *counter = state_counter_get(space, state_counter_of(space, semaphore));
    bool shared = counter->taker != 0 && counter->taker != core + 1;
    space->restart |= space_merges(space) && shared && !counter->shared;
    counter->shared |= shared;
    counter->taker = core + 1;
}

static void note_look(StateSpace *space, uint32_t semaphore)
{
    StateCounter *counter = state_counter_get(space, state_counter_of(space, semaphore));
    space->restart |= space_merges(space) && !counter->looked_at && !counter->flag;
    counter->looked_at = true;
}

/* The end of a scope of several cores was judged without this core. */
static void note_open(StateSpace *space, uint32_t core, uint32_t decl)
{
    bool fresh = pasts_note_open(&space_core(space, core)->pasts, decl);
    space->restart |= fresh && lives_are_shared(space, decl);
}

static void scan_step(StateSpace *space, uint32_t core, const UnrollStep *step)
{
    const Step *at = &step->step;
    if (step_is_conflict(at->kind))
        note_look(space, at->object);
    if (counter_adds(at) != 0)
        note_addend(space, core, at->object, false);
    if (step_is_semaphore_wait(at->kind))
        note_taker(space, core, at->object);
    if (at->kind == STEP_COPY_START && at->object != NONE) {
        note_addend(space, core, step->copy.send_semaphore, space->fluid && step->copy.send_count > 2);
        note_addend(space, core, step->copy.receive_semaphore, space->fluid && step->copy.receive_count > 2);
    }
    if (at->kind == STEP_ALLOC)
        note_open(space, core, at->object);
}

void state_counter_scan(StateSpace *space, uint32_t core)
{
    SpaceCore *self = space_core(space, core);
    uint32_t before = self->columns;
    pasts_add(&self->pasts, &self->tree, &space->sets);
    while (self->steps_scanned < self->tree.steps.count)
        scan_step(space, core, tree_step(&self->tree, self->steps_scanned++));
    if (self->columns != before)
        widen_rows(space, self, before);
}
