/* delay.c - runs in which a core or a copy is held back. */
#include "delay.h"
#include "../../model/moment.h"
#include "../run/child.h"
#include "../run/judge.h"

enum { HELD_MAX = 2, SINGLES_MAX = 64, PAIRS_MAX = 256, STEPS_MAX = 200000 };

typedef struct Hold { uint32_t core, position, copy; uint8_t moment; } Hold;   /* copy NONE: the core, before that step */

typedef struct DelayRun {
    Execution *execution;
    const ExecutionOptions *options;
    Hold hold[HELD_MAX + 1];
    unsigned holds;
    uint64_t steps;
} DelayRun;

static bool is_held(const DelayRun *run, Move move)
{
    for (unsigned i = 0; i < run->holds; i++) {
        const Hold *hold = &run->hold[i];
        if (hold->core != move.core || hold->copy != move.copy)
            continue;
        if (hold->copy != NONE ? hold->moment == move.moment : execution_position(run->execution, move.core) >= hold->position)
            return true;
    }
    return false;
}

/* Round-robin, one move each, until only agents held back are enabled. */
static void run_others(DelayRun *run)
{
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (bool moved = true; moved && run->steps < STEPS_MAX;) {
        moved = false;
        execution_enabled(run->execution, moves);
        for (guint i = 0; i < moves->len; i++) {
            Move move = g_array_index(moves, Move, i);
            if (is_held(run, move) || !execution_do(run->execution, move))
                continue;
            moved = true;
            run->steps++;
        }
    }
}

static void begin(DelayRun *run)
{
    run->steps = 0;
    execution_begin(run->execution, run->options);
}

static Hold hold_place(const Place *place)
{
    return (Hold){ place->core, place->position, place->copy, place->kind };
}

static uint32_t times_at(Execution *execution, uint32_t core, uint32_t site)
{
    const Record *record = execution_record(execution);
    uint32_t times = 1;
    for (size_t i = 0; i < record->steps.count; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        times += step->core == core && program_same_line(record->program, step->site, site) && !moment_is(step->kind);
    }
    return times;
}

static void add_delay(Finding *finding, Delay delay)
{
    if (finding->delays == NULL)
        finding->delays = g_array_new(FALSE, FALSE, sizeof(Delay));
    g_array_append_val(finding->delays, delay);
}

/* Holds the core before its own access, or before it starts the copy. */
static bool try_core(DelayRun *run, const Finding *finding, const Place *first, const Place *second, Delay *delay)
{
    run->hold[0] = (Hold){ first->core, first->position, NONE, 0 };
    run->hold[1] = hold_place(second);
    run->holds = 2;
    begin(run);
    run_others(run);
    bool shown = first->copy == NONE ? judge_shows(run->execution, finding) : judge_is_next(run->execution, second);
    const Request *late = execution_pending(run->execution, first->core);
    if (!shown || late == NULL || execution_position(run->execution, first->core) != first->position)
        return false;
    *delay = (Delay){ first->core, NONE, 0, late->step.site, times_at(run->execution, first->core, late->step.site) };
    return true;
}

static bool try_copy(DelayRun *run, const Finding *finding, const Place *first, const Place *second, Delay *delay)
{
    if (first->copy == NONE)
        return false;
    run->hold[0] = hold_place(first);
    run->hold[1] = hold_place(second);
    run->holds = 2;
    begin(run);
    run_others(run);
    *delay = (Delay){ first->core, first->copy, first->label, first->site, 1 };
    return judge_shows(run->execution, finding);
}

/* Holds the first core of the device before it enters the launch in which the object's life begins. */
static void delay_lifetime(DelayRun *run, Finding *finding)
{
    Execution *execution = run->execution;
    const Program *program = machine_program(execution_machine(execution));
    uint32_t decl = finding->object_is_semaphore ? program_semaphore_decl(program, finding->object)
        : program_object_decl(program, finding->object);
    uint32_t core = finding->object_is_semaphore ? program_semaphore_core(program, finding->object)
        : program_object_device(program, finding->object) * program->cores_per_device;
    core -= core % program->cores_per_device;
    uint32_t launch = program_decl(program, decl)->launch, last;
    if (program_decl(program, decl)->life == LIFE_LAUNCHES
        && !program_decl_launches(program, decl, core / program->cores_per_device, &launch, &last))
        return;
    run->hold[0] = hold_place(&finding->place[0]), run->holds = 1;
    begin(run);
    run_others(run);
    const Record *record = execution_record(execution);
    uint32_t position = 0, found = NONE;
    for (size_t i = 0; i < record->steps.count && found == NONE; i++) {
        const Step *step = &STORE(Step, &record->steps, i);
        if (step->core != core || moment_is(step->kind))
            continue;
        found = step->kind == STEP_ENTER && step->object == launch ? position : NONE;
        position++;
    }
    run->hold[1] = (Hold){ core, found, NONE, 0 }, run->holds = 2;
    begin(run);
    run_others(run);
    const Request *late = execution_pending(execution, core);
    if (found != NONE && late != NULL && judge_shows(execution, finding))
        add_delay(finding, (Delay){ core, NONE, 0, late->step.site, times_at(execution, core, late->step.site) });
}

/* Holds the copy until the device is about to leave the launch. */
static void delay_in_flight(DelayRun *run, Finding *finding)
{
    Delay delay;
    if (try_copy(run, finding, &finding->place[0], &finding->place[1], &delay))
        add_delay(finding, delay);
}

static void delay_race(DelayRun *run, Finding *finding)
{
    const Place *first = &finding->place[finding->meant == MEANT_SECOND], *second = &finding->place[finding->meant != MEANT_SECOND];
    Delay delay;
    if (try_core(run, finding, first, second, &delay) || try_copy(run, finding, first, second, &delay))
        add_delay(finding, delay);
}

static void add_hold(GArray *holds, Hold hold)
{
    for (guint i = 0; i < holds->len; i++)
        if (g_array_index(holds, Hold, i).core == hold.core && g_array_index(holds, Hold, i).position == hold.position)
            return;
    g_array_append_val(holds, hold);
}

/* Candidates for a delay: each core before its first step and, at each context switch of the schedule, the enabled cores not chosen. */
static GArray *interruptions(DelayRun *run, const GArray *schedule)
{
    Execution *execution = run->execution;
    GArray *holds = g_array_new(FALSE, FALSE, sizeof(Hold));
    uint32_t cores = machine_program(execution_machine(execution))->cores;
    execution_begin(execution, run->options);
    for (uint32_t c = 0; c < cores; c++)
        add_hold(holds, (Hold){ c, 0, NONE, 0 });
    for (guint i = 0; i + 1 < schedule->len && execution_do(execution, g_array_index(schedule, Move, i)); i++) {
        Move move = g_array_index(schedule, Move, i), next = g_array_index(schedule, Move, i + 1);
        bool same_agent = next.core == move.core && next.copy == move.copy;
        for (uint32_t c = 0; c < cores && !same_agent; c++) {
            bool other = c != next.core || next.copy != NONE;
            if (other && execution_is_enabled(execution, (Move){ c, NONE, 0 }))
                add_hold(holds, (Hold){ c, execution_position(execution, c), NONE, 0 });
        }
    }
    return holds;
}

/* Holds those cores as long as others are enabled, then releases them and runs to the end. */
static bool leads_to_deadlock(DelayRun *run, Finding *finding)
{
    Delay delay[HELD_MAX];
    unsigned holds = run->holds;
    if (child_told_to_stop())
        return false;
    begin(run);
    run_others(run);
    for (unsigned i = 0; i < holds; i++) {
        const Request *late = execution_pending(run->execution, run->hold[i].core);
        if (late == NULL || execution_position(run->execution, run->hold[i].core) != run->hold[i].position)
            return false;
        delay[i] = (Delay){ run->hold[i].core, NONE, 0, late->step.site, times_at(run->execution, run->hold[i].core, late->step.site) };
    }
    run->holds = 0;
    run_others(run);
    if (!judge_shows(run->execution, finding))
        return false;
    for (unsigned i = 0; i < holds; i++)
        add_delay(finding, delay[i]);
    return true;
}

static void delay_deadlock(DelayRun *run, Finding *finding)
{
    run->holds = 0;
    if (leads_to_deadlock(run, finding)) {
        finding->delays = g_array_new(FALSE, FALSE, sizeof(Delay));
        return;
    }
    g_autoptr(GArray) holds = interruptions(run, finding->moves);
    for (guint i = 0; i < MIN(holds->len, SINGLES_MAX) && finding->delays == NULL; i++) {
        run->hold[0] = g_array_index(holds, Hold, i), run->holds = 1;
        leads_to_deadlock(run, finding);
    }
    guint pairs = 0;
    for (guint i = 0; i < holds->len && finding->delays == NULL; i++)
        for (guint j = i + 1; j < holds->len && pairs < PAIRS_MAX && finding->delays == NULL; j++, pairs++) {
            run->hold[0] = g_array_index(holds, Hold, i), run->hold[1] = g_array_index(holds, Hold, j), run->holds = 2;
            leads_to_deadlock(run, finding);
        }
}

void delay_find(Execution *execution, const ExecutionOptions *options, Finding *finding)
{
    DelayRun run = { .execution = execution, .options = options };
    if (finding->id == FAULT_RACE)
        delay_race(&run, finding);
    else if (finding->id == FAULT_DEADLOCK)
        delay_deadlock(&run, finding);
    else if (finding->id == FAULT_LIFETIME && finding->have < 0)
        delay_lifetime(&run, finding);
    else if (finding->id == FAULT_IN_FLIGHT)
        delay_in_flight(&run, finding);
}
