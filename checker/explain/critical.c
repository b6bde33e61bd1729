/* critical.c - runs that share a prefix with the schedule, and differ from it in one order. */
#include "critical.h"
#include "../../model/label.h"
#include "../../model/moment.h"
#include "../facts/step_words.h"
#include "../run/child.h"
#include "minimise.h"

enum { EFFORT = 200000, STEPS_MAX = 5000, OTHERS_MAX = 4, MOVES_MAX = 2000 };
/* Moves in all, and of one run; steps of others before it is let go; moves of a schedule that is looked at. */

typedef struct Critical {
    Execution *execution;
    const ExecutionOptions *options;
    const Finding *finding;
    uint64_t results, effort;
} Critical;

/* A move on a semaphore or flag word: a core's step, or the moment at which a copy is counted. */
typedef struct Chosen {
    uint32_t object;                            /* NONE: it is on none */
    Place place;
    Step step;                                  /* of a core */
} Chosen;

static Chosen choice_of(Execution *e, Move move)
{
    const Request *request = move.copy == NONE ? execution_pending(e, move.core) : NULL;
    if (request != NULL && step_on_counter(request->step.kind))
        return (Chosen){ request->step.object, place_of_step(&request->step, execution_position(e, move.core)), request->step };
    const uint32_t index = move.copy == NONE ? NONE : execution_find_copy(e, move.core, move.copy);
    if (index == NONE)
        return (Chosen){ .object = NONE };
    const Copy *copy = &STORE(Copy, &execution_record(e)->copies, index);
    return (Chosen){ .object = moment_semaphore(copy, move.moment), .place = place_of_moment(copy, move.moment) };
}

static void follow(Critical *c, guint moves)
{
    execution_begin(c->execution, c->options);
    for (guint i = 0; i < moves; i++)
        execution_do(c->execution, g_array_index(c->finding->moves, Move, i));
    c->effort -= child_told_to_stop() ? c->effort : MIN(c->effort, moves + 1);
}

/* One move of another agent than `held` (NULL: of any), and what it is if it is on that object. False: there is none. */
static bool move_other(Critical *c, const Move *held, uint32_t object, Chosen *on_object)
{
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_enabled(c->execution, moves);
    for (guint i = 0; i < moves->len && c->effort > 0; i++) {
        const Move move = g_array_index(moves, Move, (i + c->effort) % moves->len);
        if (held != NULL && move.core == held->core && move.copy == held->copy)
            continue;
        *on_object = choice_of(c->execution, move);
        if (on_object->object != object || (move.copy != NONE && moment_is_early(move.moment)))         /* a landing says more */
            on_object->object = NONE;
        c->effort--;
        return execution_do(c->execution, move);
    }
    return false;
}

/* Is a count left on any semaphore of the launches? Those of scopes have another life each time. */
static bool counts_are_left(Execution *e)
{
    const Program *program = execution_record(e)->program;
    for (uint32_t s = 0; s < program->semaphores; s++) {
        const Decl *decl = program_decl(program, program_semaphore_decl(program, s));
        if (decl->semaphore_kind != SEMAPHORE_FLAG && machine_count(execution_machine(e), s) != 0)
            return true;
    }
    return false;
}

static bool ends_right(Critical *c)
{
    Chosen ignored;
    for (unsigned steps = 0; steps < STEPS_MAX && move_other(c, NULL, NONE, &ignored); steps++)
        ;
    const Record *record = execution_record(c->execution);
    for (uint32_t core = 0; core < record->program->cores; core++)
        if (execution_pending(c->execution, core) != NULL)
            return false;
    if (record->raised.count != 0)
        return false;
    if (c->finding->id == FAULT_DIVERGENCE)
        return machine_hash_results(execution_machine(c->execution)) == c->results;
    return c->finding->id == FAULT_LEFTOVER ? !counts_are_left(c->execution) : !minimise_shows(c->execution, c->finding);
}

/* Holds the agent of that move back until the others have done `others` steps on its object. */
static bool holds_until(Critical *c, guint at, unsigned others, Chosen *late, Chosen *first)
{
    const Move move = g_array_index(c->finding->moves, Move, at);
    follow(c, at);
    *late = choice_of(c->execution, move);
    if (late->object == NONE)
        return false;
    for (unsigned steps = 0; others > 0 && steps < STEPS_MAX; steps++) {
        if (!move_other(c, &move, late->object, first))
            return false;
        others -= first->object != NONE;
    }
    return others == 0;
}

/* "the flag load of device 0 at kernel.c:9", "copy 2 of device 1 at kernel.c:7 lands" */
static char *words_of(const Program *program, const Chosen *chosen)
{
    static const char *const DOES[] = { "has read bytes", "has read", "has written bytes", "lands" };
    if (chosen->place.copy == NONE)
        return step_words(program, &chosen->step);
    const Place *place = &chosen->place;
    g_autofree char *core = program_describe_core(program, place->core);
    g_autofree char *name = label_describe_copy(program, core, place->copy, place->label);
    g_autofree char *where = label_describe_start(program, place->site, place->described);
    return g_strdup_printf("%s at %s %s", name, where, DOES[place->kind - STEP_EARLY_SEND]);
}

static void note(const Program *program, Finding *finding, const Chosen *first, const Chosen *late)
{
    finding->criticals = 2;
    finding->critical[0] = first->place, finding->critical[1] = late->place;
    g_autofree char *before = words_of(program, first), *after = words_of(program, late), *why = finding->why;
    finding->why = g_strdup_printf("%s%s%s if %s%s before %s.", why ? why : "", why ? "\n" : "",
                                   finding->id == FAULT_DIVERGENCE ? "It ends with the other results" : "Right", before,
                                   first->place.copy != NONE ? "" : " comes", after);
}

void critical_find(Execution *execution, const ExecutionOptions *options, uint64_t results, Finding *finding)
{
    Critical c = { execution, options, finding, results, EFFORT };
    const unsigned depends = 1u << FAULT_DEADLOCK | 1u << FAULT_ASSERT | 1u << FAULT_NO_PROGRESS | 1u << FAULT_DIVERGENCE
        | 1u << FAULT_LEFTOVER;
    if (finding->moves == NULL || finding->moves->len > MOVES_MAX || !(depends >> finding->id & 1))
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
