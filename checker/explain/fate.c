/* fate.c - depth first over all continuations of a prefix, until one comes to its end without the fault; states met before are not gone on
 * from again. A state is what decides the future: where each core stands and what it has looked at so far, counts, what each copy has done.
 * There is no way back in a run: each step down is a run from the start. The longer the prefix the fewer continuations; so the first
 * prefix that leaves no way out is found by bisection.
 */
#include "fate.h"
#include <string.h>
#include "../../model/label.h"
#include "../../model/rng.h"
#include "../run/child.h"
#include "../run/judge.h"

enum { EFFORT = 400000 };                       /* moves of all runs */

typedef enum Way { WAY_OUT, WAY_NONE, WAY_UNKNOWN } Way;

typedef struct Fate {
    Execution *execution;
    const ExecutionOptions *options;
    const Finding *finding;
    const Program *program;
    GArray *path;                               /* of Move */
    uint64_t *looked;                           /* by core: hash of what it has looked at */
    GHashTable *seen;                           /* of hashes */
    uint64_t effort;
} Fate;

static void note_look(Fate *f, Move move)
{
    const Request *request = move.copy == NONE ? execution_pending(f->execution, move.core) : NULL;
    if (request == NULL || !step_is_conflict(request->step.kind))
        return;
    uint64_t value = (uint64_t)machine_count(execution_machine(f->execution), request->step.object);
    f->looked[move.core] = rng_mix(rng_mix(f->looked[move.core]) + value);
}

static void follow(Fate *f)
{
    memset(f->looked, 0, f->program->cores * sizeof *f->looked);
    execution_begin(f->execution, f->options);
    for (guint i = 0; i < f->path->len; i++) {
        Move move = g_array_index(f->path, Move, i);
        note_look(f, move);
        bool done = execution_do(f->execution, move);
        g_assert(done);
    }
    f->effort -= child_told_to_stop() ? f->effort : MIN(f->effort, f->path->len + 1);
}

static uint64_t hash_state(Fate *f)
{
    Execution *e = f->execution;
    uint64_t hash = 0;
    for (uint32_t c = 0; c < f->program->cores; c++) {
        hash = rng_mix(rng_mix(hash + execution_position(e, c)) + f->looked[c]);
        uint32_t copy;
        for (uint32_t o = 0; (copy = execution_find_copy(e, c, o)) != NONE; o++)
            for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++)
                hash = rng_mix(hash + (execution_moment_done(e, copy, moment) ? 2 : 1));
    }
    for (uint32_t s = 0; s < f->program->semaphores; s++)
        hash = rng_mix(hash + (uint64_t)machine_count(execution_machine(e), s));
    return hash | 1;
}

static Way look_for_way_out(Fate *f)
{
    if (f->effort == 0)
        return WAY_UNKNOWN;
    follow(f);
    if (!g_hash_table_add(f->seen, (gpointer)(gsize)hash_state(f)))
        return WAY_NONE;
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_enabled(f->execution, moves);
    if (moves->len == 0)
        return judge_shows(f->execution, f->finding) ? WAY_NONE : WAY_OUT;
    Way way = WAY_NONE;
    for (guint i = 0; i < moves->len && way == WAY_NONE; i++) {
        g_array_append_val(f->path, g_array_index(moves, Move, i));
        way = look_for_way_out(f);
        g_array_set_size(f->path, f->path->len - 1);
    }
    return way;
}

static Way after(Fate *f, guint prefix)
{
    g_hash_table_remove_all(f->seen);
    g_array_set_size(f->path, 0);
    g_array_append_vals(f->path, f->finding->moves->data, prefix);
    return look_for_way_out(f);
}

/* So many moves leave no way out, one less does; 0: unknown, or there was none in the beginning. */
static guint bisect(Fate *f)
{
    guint low = 0, high = f->finding->moves->len;
    if (high == 0 || after(f, 0) != WAY_OUT || after(f, high) != WAY_NONE)
        return 0;
    while (high - low > 1) {
        guint middle = (low + high) / 2;
        Way way = after(f, middle);
        if (way == WAY_UNKNOWN)
            return 0;
        *(way == WAY_OUT ? &low : &high) = middle;
    }
    return high;
}

static char *name_move(Fate *f, guint index)
{
    const Move move = g_array_index(f->finding->moves, Move, index);
    g_array_set_size(f->path, 0);
    g_array_append_vals(f->path, f->finding->moves->data, index);
    follow(f);
    const Request *request = execution_pending(f->execution, move.core);
    uint32_t copy = move.copy == NONE ? NONE : execution_find_copy(f->execution, move.core, move.copy);
    if (move.copy == NONE ? request == NULL : copy == NONE)
        return NULL;
    uint32_t id = move.copy == NONE ? request->step.site : STORE(Copy, &execution_record(f->execution)->copies, copy).site;
    g_autofree char *core = program_describe_core(f->program, move.core), *where = program_describe_site(f->program, id);
    uint32_t label = copy == NONE ? 0 : STORE(Copy, &execution_record(f->execution)->copies, copy).label;
    g_autofree char *agent = move.copy == NONE ? g_strdup(core) : label_describe_copy(f->program, core, move.copy, label);
    StepKind kind = move.copy == NONE ? (StepKind)request->step.kind : (StepKind)move.moment;
    return g_strdup_printf("the %s of %s at %s", step_kind_name(kind), agent, where);
}

void fate_find(Execution *execution, const ExecutionOptions *options, Finding *finding)
{
    const Program *program = machine_program(execution_machine(execution));
    if (finding->moves == NULL || (finding->id != FAULT_DEADLOCK && finding->id != FAULT_ASSERT))
        return;
    Fate f = { .execution = execution, .options = options, .finding = finding, .program = program, .effort = EFFORT,
               .path = g_array_new(FALSE, FALSE, sizeof(Move)), .looked = g_new0(uint64_t, program->cores),
               .seen = g_hash_table_new(NULL, NULL) };
    guint point = bisect(&f);
    g_autofree char *move = point > 0 ? name_move(&f, point - 1) : NULL;
    if (move != NULL) {
        char *why = finding->why != NULL ? g_strdup_printf("%s\nAfter %s, move %u of the schedule, no schedule avoids the fault.",
                                                           finding->why, move, point)
            : g_strdup_printf("After %s, move %u of the schedule, no schedule avoids the fault.", move, point);
        g_free(finding->why);
        finding->why = why;
    }
    g_array_unref(f.path);
    g_free(f.looked);
    g_hash_table_unref(f.seen);
}
