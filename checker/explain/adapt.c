/* adapt.c - alignment as in diff (longest common subsequence): operations of one kind match, and match better on the same line.
 *
 * A schedule lists a join once, under one member. The other members' lines skip that position, which is taken for a join of any kind.
 */
#include "adapt.h"
#include "../../model/join.h"
#include "../../model/moment.h"
#include <stdio.h>
#include <string.h>

enum { ANY_JOIN = STEP_KIND_COUNT, CELLS_MAX = 4000000, SAME_KIND = 1, SAME_LINE = 4 };

typedef struct AdaptOperation { uint8_t kind; uint32_t line; } AdaptOperation;

typedef struct Agent {                          /* one core, in the old and the new kernel */
    GArray *was, *is;                           /* of AdaptOperation, by position */
    uint32_t *now;                              /* old position -> new position; NONE: it is gone */
} Agent;

typedef struct Adapt {
    Execution *execution;
    const Record *record;
    Program *program;
    Agent *agents;                              /* by core */
    GArray *moves;                              /* of Move: those done so far */
} Adapt;

/* "core 0.1 @3 copy start file.c:12": position, kind and line; false: not a core's line. */
static bool read_operation(const char *text, uint32_t *position, AdaptOperation *operation)
{
    unsigned device, index, number;
    int used = 0;
    if (sscanf(text, "core %u.%u @%u %n", &device, &index, &number, &used) != 3 || used == 0)
        return false;
    *position = number, *operation = (AdaptOperation){ ANY_JOIN, 0 };
    size_t best = 0;
    for (StepKind kind = 0; kind < STEP_EARLY_SEND; kind++) {
        size_t length = strlen(step_kind_name(kind));
        if (length > best && g_str_has_prefix(text + used, step_kind_name(kind)))
            best = length, operation->kind = (uint8_t)kind;
    }
    const char *colon = strrchr(text, ':');
    if (colon != NULL)
        operation->line = (uint32_t)g_ascii_strtoull(colon + 1, NULL, 10);
    return true;
}

static bool read_move(const Adapt *a, const char *line, Move *move)
{
    return schedule_parse_line(a->program->devices, a->program->cores_per_device, line, move);
}

static void read_old(Adapt *a, const GPtrArray *lines)
{
    const AdaptOperation open = { ANY_JOIN, 0 };
    for (guint i = 0; i < lines->len; i++) {
        Move move;
        uint32_t position;
        AdaptOperation operation;
        const char *line = g_ptr_array_index(lines, i);
        if (!read_move(a, line, &move) || !read_operation(line, &position, &operation) || position > CELLS_MAX)
            continue;
        GArray *was = a->agents[move.core].was;
        while (was->len <= position)
            g_array_append_val(was, open);
        g_array_index(was, AdaptOperation, position) = operation;
    }
}

static void read_new(Adapt *a)
{
    for (size_t i = 0; i < a->record->steps.count; i++) {
        const Step *step = &STORE(Step, &a->record->steps, i);
        if (moment_is(step->kind))
            continue;
        AdaptOperation operation = { step->kind, program_get_site(a->program, step->site)->line };
        g_array_append_val(a->agents[step->core].is, operation);
    }
    for (uint32_t core = 0; core < a->program->cores; core++) {         /* the pending step of a blocked core counts as well */
        const CoreState *state = &STORE(CoreState, &a->record->ends, core);
        AdaptOperation operation = { state->pending.kind, program_get_site(a->program, state->pending.site)->line };
        if (state->end == CORE_BLOCKED)
            g_array_append_val(a->agents[core].is, operation);
    }
}

static uint32_t match(const AdaptOperation *was, const AdaptOperation *is)
{
    if (was->kind == ANY_JOIN)
        return step_is_join(is->kind) ? SAME_KIND : 0;
    return was->kind != is->kind ? 0 : was->line == is->line ? SAME_KIND + SAME_LINE : SAME_KIND;
}

static void align(Agent *agent)
{
    guint rows = agent->was->len, columns = agent->is->len;
    agent->now = g_new(uint32_t, rows + 1);
    for (guint i = 0; i <= rows; i++)
        agent->now[i] = NONE;
    if ((uint64_t)(rows + 1) * (columns + 1) > CELLS_MAX)
        return;
    g_autofree uint32_t *best = g_new0(uint32_t, (gsize)(rows + 1) * (columns + 1));       /* of the suffixes from row and column on */
#define BEST(i, j) best[(gsize)(i) * (columns + 1) + (j)]
    for (guint i = rows; i-- > 0;)
        for (guint j = columns; j-- > 0;) {
            uint32_t both = match(&g_array_index(agent->was, AdaptOperation, i), &g_array_index(agent->is, AdaptOperation, j));
            BEST(i, j) = MAX(MAX(BEST(i + 1, j), BEST(i, j + 1)), both ? both + BEST(i + 1, j + 1) : 0);
        }
    for (guint i = 0, j = 0; i < rows && j < columns;) {
        uint32_t both = match(&g_array_index(agent->was, AdaptOperation, i), &g_array_index(agent->is, AdaptOperation, j));
        if (both && BEST(i, j) == both + BEST(i + 1, j + 1))
            agent->now[i++] = j++;
        else if (BEST(i, j) == BEST(i, j + 1))
            j++;
        else
            i++;
    }
#undef BEST
}

static bool move_now(Adapt *a, Move move)
{
    if (!execution_do(a->execution, move))
        return false;
    g_array_append_val(a->moves, move);
    return true;
}

/* Does the core's next step; for a join, through the member that is enabled. */
static bool step_core(Adapt *a, uint32_t core)
{
    if (move_now(a, (Move){ core, NONE, 0 }))
        return true;
    const Request *request = execution_pending(a->execution, core);
    if (request == NULL || !step_is_join(request->step.kind))
        return false;
    const Step step = request->step;
    for (uint32_t other = 0; other < a->program->cores; other++) {
        const Request *at = execution_pending(a->execution, other);
        if (at != NULL && join_is_same(a->program, &at->step, &step) && execution_is_enabled(a->execution, (Move){ other, NONE, 0 })) {
            uint32_t before = execution_position(a->execution, core);
            move_now(a, (Move){ other, NONE, 0 });
            return execution_position(a->execution, core) > before;
        }
    }
    return false;
}

/* A copy whose start is not in the old schedule; its moments are done as soon as a core may need them. */
static bool is_new_copy(const Adapt *a, Move move)
{
    const Record *record = execution_record(a->execution);
    uint32_t index = move.copy == NONE ? NONE : execution_find_copy(a->execution, move.core, move.copy);
    if (index == NONE)
        return false;
    const Agent *agent = &a->agents[move.core];
    for (guint i = 0; i < agent->was->len; i++)
        if (agent->now[i] == STORE(Copy, &record->copies, index).position)
            return false;
    return true;
}

static bool do_new_copies(Adapt *a)
{
    bool moved = false;
    g_autoptr(GArray) enabled = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_enabled(a->execution, enabled);
    for (guint i = 0; i < enabled->len; i++) {
        Move move = g_array_index(enabled, Move, i);
        moved |= is_new_copy(a, move) && move_now(a, move);
    }
    return moved;
}

/* Runs the core until its step at this new position is done. */
static bool reach(Adapt *a, uint32_t core, uint32_t position)
{
    bool moved = false;
    while (execution_position(a->execution, core) <= position && (step_core(a, core) || do_new_copies(a)))
        moved = true;
    return moved;
}

/* The new ordinal of an old copy: that of the copy started where the old start is now. NONE: it is gone. */
static uint32_t copy_now(const Adapt *a, uint32_t core, uint32_t ordinal)
{
    const Agent *agent = &a->agents[core];
    uint32_t starts = 0;
    for (guint i = 0; i < agent->was->len; i++) {
        if (g_array_index(agent->was, AdaptOperation, i).kind != STEP_COPY_START || starts++ != ordinal)
            continue;
        if (agent->now[i] == NONE)
            return NONE;
        for (size_t c = 0; c < a->record->copies.count; c++) {
            const Copy *copy = &STORE(Copy, &a->record->copies, c);
            if (copy->core == core && copy->position == agent->now[i])
                return copy->ordinal;
        }
        return NONE;
    }
    return NONE;
}

static bool follow_line(Adapt *a, const char *line)
{
    Move move;
    uint32_t position;
    AdaptOperation operation;
    if (!read_move(a, line, &move))
        return false;
    if (move.copy != NONE) {
        move.copy = copy_now(a, move.core, move.copy);
        return move.copy != NONE && move_now(a, move);
    }
    if (!read_operation(line, &position, &operation) || position >= a->agents[move.core].was->len)
        return false;
    uint32_t now = a->agents[move.core].now[position];
    return now != NONE && reach(a, move.core, now);
}

/* A step of the old schedule moves to its match; one that was only pending, to the core's next step of that kind. */
static void adapt_place(Adapt *a, Place *place)
{
    const Agent *agent = &a->agents[place->core];
    if (place->copy != NONE) {
        uint32_t copy = copy_now(a, place->core, place->copy);
        place->copy = copy != NONE ? copy : place->copy;
        return;
    }
    if (place->position < agent->was->len) {
        if (agent->now[place->position] != NONE)
            place->position = agent->now[place->position];
        return;
    }
    for (uint32_t p = execution_position(a->execution, place->core); p < agent->is->len; p++)
        if (g_array_index(agent->is, AdaptOperation, p).kind == place->kind) {
            if (p > 0)
                reach(a, place->core, p - 1);
            place->position = p;
            return;
        }
}

void adapt_schedule(Execution *execution, const ExecutionOptions *options, const Record *record, const GPtrArray *lines, Finding *finding)
{
    Program *program = record->program;
    Adapt a = { execution, record, program, g_new0(Agent, program->cores), g_array_new(FALSE, FALSE, sizeof(Move)) };
    for (uint32_t core = 0; core < program->cores; core++)
        a.agents[core] = (Agent){ g_array_new(FALSE, FALSE, sizeof(AdaptOperation)), g_array_new(FALSE, FALSE, sizeof(AdaptOperation)),
                                  NULL };
    read_old(&a, lines);
    read_new(&a);
    for (uint32_t core = 0; core < program->cores; core++)
        align(&a.agents[core]);
    execution_begin(execution, options);
    for (bool moved = true; moved;) {
        moved = false;
        for (guint i = 0; i < lines->len; i++)
            moved |= follow_line(&a, g_ptr_array_index(lines, i));
    }
    for (unsigned p = 0; p < finding->places; p++)
        adapt_place(&a, &finding->place[p]);
    for (uint32_t core = 0; core < program->cores; core++) {
        g_array_unref(a.agents[core].was);
        g_array_unref(a.agents[core].is);
        g_free(a.agents[core].now);
    }
    g_free(a.agents);
    g_array_unref(finding->moves);
    finding->moves = a.moves;
}
