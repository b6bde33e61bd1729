/* no_return.c - depth-first search over the continuations of a prefix, until one ends without the fault. The first prefix that no
 * continuation escapes from is found by bisection.
 *
 * Visited states are not expanded again. A state is what decides the future: each core's position and what it has observed, all counts,
 * the moments done of each copy. An execution cannot step back, so each step down replays the path from the start.
 */
#include "no_return.h"
#include <string.h>
#include "../../model/label.h"
#include "../../model/rng.h"
#include "../run/child.h"
#include "../run/judge.h"

enum { EFFORT = 400000 };                       /* moves, over all runs */

typedef enum Escape { ESCAPE_FOUND, ESCAPE_NONE, ESCAPE_UNKNOWN } Escape;

typedef struct NoReturn {
    Execution *execution;
    const ExecutionOptions *options;
    const Finding *finding;
    const Program *program;
    GArray *path;                               /* of Move */
    uint64_t *looked;                           /* by core: hash of the values it has observed */
    GHashTable *seen;                           /* of hashes */
    uint64_t effort;
} NoReturn;

static void note_look(NoReturn *n, Move move)
{
    const Request *request = move.copy == NONE ? execution_pending(n->execution, move.core) : NULL;
    if (request == NULL || !step_is_conflict(request->step.kind))
        return;
    uint64_t value = (uint64_t)machine_count(execution_machine(n->execution), request->step.object);
    n->looked[move.core] = rng_mix(rng_mix(n->looked[move.core]) + value);
}

static void follow(NoReturn *n)
{
    memset(n->looked, 0, n->program->cores * sizeof *n->looked);
    execution_begin(n->execution, n->options);
    for (guint i = 0; i < n->path->len; i++) {
        Move move = g_array_index(n->path, Move, i);
        note_look(n, move);
        bool done = execution_do(n->execution, move);
        g_assert(done);
    }
    n->effort -= child_told_to_stop() ? n->effort : MIN(n->effort, n->path->len + 1);
}

static uint64_t hash_state(NoReturn *n)
{
    Execution *e = n->execution;
    uint64_t hash = 0;
    for (uint32_t c = 0; c < n->program->cores; c++) {
        hash = rng_mix(rng_mix(hash + execution_position(e, c)) + n->looked[c]);
        uint32_t copy;
        for (uint32_t o = 0; (copy = execution_find_copy(e, c, o)) != NONE; o++)
            for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
                hash = rng_mix(hash + (execution_moment_done(e, copy, moment) ? 2 : 1));
    }
    for (uint32_t s = 0; s < n->program->semaphores; s++)
        hash = rng_mix(hash + (uint64_t)machine_count(execution_machine(e), s));
    return hash | 1;
}

static Escape look_for_escape(NoReturn *n)
{
    if (n->effort == 0)
        return ESCAPE_UNKNOWN;
    follow(n);
    if (!g_hash_table_add(n->seen, (gpointer)(gsize)hash_state(n)))
        return ESCAPE_NONE;
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_enabled(n->execution, moves);
    if (moves->len == 0)
        return judge_shows(n->execution, n->finding) ? ESCAPE_NONE : ESCAPE_FOUND;
    Escape escape = ESCAPE_NONE;
    for (guint i = 0; i < moves->len && escape == ESCAPE_NONE; i++) {
        g_array_append_val(n->path, g_array_index(moves, Move, i));
        escape = look_for_escape(n);
        g_array_set_size(n->path, n->path->len - 1);
    }
    return escape;
}

static Escape escape_after(NoReturn *n, guint prefix)
{
    g_hash_table_remove_all(n->seen);
    g_array_set_size(n->path, 0);
    g_array_append_vals(n->path, n->finding->moves->data, prefix);
    return look_for_escape(n);
}

/* The length of the shortest prefix without an escape; 0: unknown, or nothing escapes from the start. */
static guint bisect(NoReturn *n)
{
    guint low = 0, high = n->finding->moves->len;
    if (high == 0 || escape_after(n, 0) != ESCAPE_FOUND || escape_after(n, high) != ESCAPE_NONE)
        return 0;
    while (high - low > 1) {
        guint middle = (low + high) / 2;
        Escape escape = escape_after(n, middle);
        if (escape == ESCAPE_UNKNOWN)
            return 0;
        *(escape == ESCAPE_FOUND ? &low : &high) = middle;
    }
    return high;
}

static char *name_move(NoReturn *n, guint index)
{
    const Move move = g_array_index(n->finding->moves, Move, index);
    g_array_set_size(n->path, 0);
    g_array_append_vals(n->path, n->finding->moves->data, index);
    follow(n);
    const Request *request = execution_pending(n->execution, move.core);
    uint32_t copy = move.copy == NONE ? NONE : execution_find_copy(n->execution, move.core, move.copy);
    if (move.copy == NONE ? request == NULL : copy == NONE)
        return NULL;
    uint32_t id = move.copy == NONE ? request->step.site : STORE(Copy, &execution_record(n->execution)->copies, copy).site;
    g_autofree char *core = program_describe_core(n->program, move.core), *where = program_describe_site(n->program, id);
    uint32_t label = copy == NONE ? 0 : STORE(Copy, &execution_record(n->execution)->copies, copy).label;
    g_autofree char *agent = move.copy == NONE ? g_strdup(core) : label_describe_copy(n->program, core, move.copy, label);
    StepKind kind = move.copy == NONE ? (StepKind)request->step.kind : (StepKind)move.moment;
    return g_strdup_printf("the %s of %s at %s", step_kind_name(kind), agent, where);
}

void no_return_find(Execution *execution, const ExecutionOptions *options, Finding *finding)
{
    const Program *program = machine_program(execution_machine(execution));
    if (finding->moves == NULL || (finding->id != FAULT_DEADLOCK && finding->id != FAULT_ASSERT))
        return;
    NoReturn n = { .execution = execution, .options = options, .finding = finding, .program = program, .effort = EFFORT,
                   .path = g_array_new(FALSE, FALSE, sizeof(Move)), .looked = g_new0(uint64_t, program->cores),
                   .seen = g_hash_table_new(NULL, NULL) };
    guint point = bisect(&n);
    g_autofree char *move = point > 0 ? name_move(&n, point - 1) : NULL;
    if (move != NULL) {
        char *why = g_strdup_printf("%s%sAfter %s, move %u of the schedule, no schedule avoids the fault.",
                                    finding->why != NULL ? finding->why : "", finding->why != NULL ? "\n" : "", move, point);
        g_free(finding->why);
        finding->why = why;
    }
    g_array_unref(n.path);
    g_free(n.looked);
    g_hash_table_unref(n.seen);
}
