/* gauge.c - counts as sums: who adds to which semaphore, found by scanning each step once when a core's tree gains it. */
#include "../../model/counter.h"
#include "component.h"
#include "lives.h"
#include "memory.h"
#include "walk.h"
#include <string.h>

uint32_t walk_gauge_of(Walk *walk, uint32_t semaphore)
{
    if (semaphore >= walk->gauge_of.count)
        store_push(&walk->gauge_of, semaphore + 1 - walk->gauge_of.count);
    uint32_t *known = &STORE(uint32_t, &walk->gauge_of, semaphore);
    if (*known)
        return *known - 1;
    const Decl *decl = program_decl(walk->program, program_semaphore_decl(walk->program, semaphore));
    Gauge *gauge = store_push(&walk->gauges, 1);
    *gauge = (Gauge){.semaphore = semaphore, .limit = decl->limit, .flag = decl->semaphore_kind == SEMAPHORE_FLAG};
    gauge->owner = program_semaphore_core(walk->program, semaphore);
    gauge->life = lives_of_semaphore(walk, semaphore);
    *known = (uint32_t)walk->gauges.count;
    if (gauge->flag) {
        gauge->device = gauge->owner / walk->program->cores_per_device;
        gauge->slot = memory_flag_slot(walk, semaphore, gauge->device);
    }
    return *known - 1;
}

/* The rows so far had `before` columns each. */
static void widen_rows(Walk *walk, WalkCore *core, uint32_t before)
{
    size_t rows = core->components.count;
    Store narrow = core->taken;
    reservation_store(&walk->reservation, &core->taken, sizeof(int64_t), walk->components_max * (size_t)core->columns);
    int64_t *to = store_push(&core->taken, rows * core->columns);
    for (size_t row = 0; row < rows && narrow.count > 0; row++)
        memcpy(to + row * core->columns, &STORE(int64_t, &narrow, row * before), before * sizeof(int64_t));
    reservation_give_up(&narrow);
}

static void add_feeder(Feeder **list, uint32_t *count, Feeder feeder)
{
    *list = g_renew(Feeder, *list, *count + 1);
    (*list)[(*count)++] = feeder;
}

static void add_other(Others *others, Feeder feeder)
{
    if (others->first.column == 0)
        others->first = feeder;
    else
        add_feeder(&others->feeder, &others->more, feeder);
}

static void feeds(Walk *walk, uint32_t core, uint32_t semaphore, bool coarse)
{
    if (semaphore == NONE)
        return;
    WalkCore *self = walk_core(walk, core);
    uint32_t id = walk_gauge_of(walk, semaphore);
    Gauge *gauge = walk_gauge(walk, id);
    gauge->coarse |= coarse;
    if (id >= self->column_of.count)
        store_push(&self->column_of, id + 1 - self->column_of.count);
    uint32_t *column = &STORE(uint32_t, &self->column_of, id);
    if (*column)
        return;
    *column = ++self->columns;
    Feeder feeder = {.core = core, .column = *column - 1};
    add_feeder(&gauge->feeder, &gauge->feeders, feeder);
    for (uint32_t i = 1; i < walk->others.count; i++) {
        Others *others = &STORE(Others, &walk->others, i);
        if (others->gauge == id && others->core != core)
            add_other(others, feeder);
    }
}

uint32_t walk_others_of(Walk *walk, uint32_t gauge, uint32_t core)
{
    uint32_t key[2] = {gauge, core}, id = intern_add(&walk->others_keys, key, sizeof key);
    if (id < walk->others.count)
        return id;
    Others *others = store_push(&walk->others, 1);
    *others = (Others){.gauge = gauge, .core = core};
    for (uint32_t i = 0; i < walk_gauge(walk, gauge)->feeders; i++)
        if (walk_gauge(walk, gauge)->feeder[i].core != core)
            add_other(others, walk_gauge(walk, gauge)->feeder[i]);
    return id;
}

static void note_taker(Walk *walk, uint32_t core, uint32_t semaphore)
{
    Gauge *gauge = walk_gauge(walk, walk_gauge_of(walk, semaphore));
    bool shared = gauge->taker != 0 && gauge->taker != core + 1;
    walk->restart |= walk->merges && shared && !gauge->shared;
    gauge->shared |= shared;
    gauge->taker = core + 1;
}

static void note_look(Walk *walk, uint32_t semaphore)
{
    Gauge *gauge = walk_gauge(walk, walk_gauge_of(walk, semaphore));
    walk->restart |= walk->merges && !gauge->looked_at && !gauge->flag;
    gauge->looked_at = true;
}

/* Until when a scope of several cores lives was judged without this one. */
static void note_open(Walk *walk, uint32_t core, uint32_t decl)
{
    bool fresh = tree_note_open(&walk_core(walk, core)->tree, decl);
    walk->restart |= fresh && lives_are_shared(walk, decl);
}

static void scan_step(Walk *walk, uint32_t core, const UnrollStep *step)
{
    const Step *at = &step->step;
    if (step_is_conflict(at->kind))
        note_look(walk, at->object);
    if (counter_adds(at) != 0)
        feeds(walk, core, at->object, false);
    if (step_is_semaphore_wait(at->kind))
        note_taker(walk, core, at->object);
    if (at->kind == STEP_COPY_START && at->object != NONE) {
        feeds(walk, core, step->copy.send_semaphore, walk->fluid && step->copy.send_count > 2);
        feeds(walk, core, step->copy.receive_semaphore, walk->fluid && step->copy.receive_count > 2);
    }
    if (at->kind == STEP_ALLOC)
        note_open(walk, core, at->object);
}

void walk_scan_steps(Walk *walk, uint32_t core)
{
    WalkCore *self = walk_core(walk, core);
    uint32_t before = self->columns;
    while (self->steps_scanned < self->tree.steps.count)
        scan_step(walk, core, tree_step(&self->tree, self->steps_scanned++));
    if (self->columns != before)
        widen_rows(walk, self, before);
}
