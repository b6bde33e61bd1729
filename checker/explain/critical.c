/* critical.c - runs that share a prefix with the schedule, and differ from it in one order. */
#include "critical.h"
#include "../facts/step_words.h"
#include "../run/child.h"
#include "minimise.h"

enum { EFFORT = 200000, STEPS_MAX = 5000, OTHERS_MAX = 4, MOVES_MAX = 2000 };
/* Moves in all, and of one run; steps of others before it is let go; moves of a schedule that is looked at. */

typedef struct Critical {
    Execution *execution;
    const ExecutionOptions *options;
    const Finding *finding;
    uint64_t effort;
} Critical;

static const Step *counter_step(Execution *e, Move move)
{
    const Request *request = move.copy == NONE ? execution_pending(e, move.core) : NULL;
    return request != NULL && step_on_counter(request->step.kind) ? &request->step : NULL;
}

static void follow(Critical *c, guint moves)
{
    execution_begin(c->execution, c->options);
    for (guint i = 0; i < moves; i++)
        execution_do(c->execution, g_array_index(c->finding->moves, Move, i));
    c->effort -= child_told_to_stop() ? c->effort : MIN(c->effort, moves + 1);
}

typedef struct Chosen { Step step; uint32_t position; } Chosen;

/* One move of another core than `held` (NONE: of any), and the step on `object` that it is, if it is one. False: there is none. */
static bool move_other(Critical *c, uint32_t held, uint32_t object, Chosen *on_object)
{
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_enabled(c->execution, moves);
    for (guint i = 0; i < moves->len && c->effort > 0; i++) {
        const Move move = g_array_index(moves, Move, (i + c->effort) % moves->len);
        const Step *step = counter_step(c->execution, move);
        if (move.core == held && move.copy == NONE)
            continue;
        on_object->step.kind = STEP_STOP;
        if (step != NULL && step->object == object)
            *on_object = (Chosen){ *step, execution_position(c->execution, move.core) };
        c->effort--;
        return execution_do(c->execution, move);
    }
    return false;
}

static bool ends_right(Critical *c)
{
    Chosen ignored;
    for (unsigned steps = 0; steps < STEPS_MAX && move_other(c, NONE, NONE, &ignored); steps++)
        ;
    const Record *record = execution_record(c->execution);
    for (uint32_t core = 0; core < record->program->cores; core++)
        if (execution_pending(c->execution, core) != NULL)
            return false;
    return !minimise_shows(c->execution, c->finding) && record->raised.count == 0;
}

/* Holds the core of that move back until the others have done `others` steps on its object. */
static bool holds_until(Critical *c, guint at, unsigned others, Chosen *late, Chosen *first)
{
    const Move move = g_array_index(c->finding->moves, Move, at);
    follow(c, at);
    const Step *step = counter_step(c->execution, move);
    if (step == NULL)
        return false;
    *late = (Chosen){ *step, execution_position(c->execution, move.core) };
    for (unsigned steps = 0; others > 0 && steps < STEPS_MAX; steps++) {
        if (!move_other(c, move.core, late->step.object, first))
            return false;
        others -= first->step.kind != STEP_STOP;
    }
    return others == 0;
}

static void note(const Program *program, Finding *finding, const Chosen *first, const Chosen *late)
{
    finding->criticals = 2;
    finding->critical[0] = place_of_step(&first->step, first->position), finding->critical[1] = place_of_step(&late->step, late->position);
    g_autofree char *before = step_words(program, &first->step), *after = step_words(program, &late->step), *why = finding->why;
    finding->why = g_strdup_printf("%s%sRight if %s comes before %s.", why ? why : "", why ? "\n" : "", before, after);
}

void critical_find(Execution *execution, const ExecutionOptions *options, Finding *finding)
{
    Critical c = { execution, options, finding, EFFORT };
    bool depends = finding->id == FAULT_DEADLOCK || finding->id == FAULT_ASSERT || finding->id == FAULT_NO_PROGRESS;
    if (finding->moves == NULL || finding->moves->len > MOVES_MAX || !depends)
        return;
    for (guint at = finding->moves->len; at-- > 0 && c.effort > 0;)
        for (unsigned others = 1; others <= OTHERS_MAX; others++) {
            Chosen late, first;
            if (!holds_until(&c, at, others, &late, &first))
                break;
            if (ends_right(&c)) {
                note(machine_program(execution_machine(execution)), finding, &first, &late);
                return;
            }
        }
}
