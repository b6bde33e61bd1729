/* test_minimise.c - shorter schedules: for each built-in wrong twin at 3 to 6 devices no move can go; for small ones neither a shorter
 * schedule nor one with fewer changes of agent exists among all there are.
 *
 * The brute force walks all states in order of length, by replaying from the start, and keeps for each (state, last agent) the fewest
 * changes. It shares nothing with minimise.c but the judge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/check/catalogue.h"
#include "../../checker/check/worker.h"
#include "../../checker/explain/minimise.h"
#include "../../checker/explain/reorder.h"
#include "../../checker/proof/prove.h"
#include "../../kernels/pallas/module.h"
#include "../support/sanitized.h"

enum { STATES_MAX = 150, MOVES_MAX = 150 };

static ExecutionOptions options = { .fill = 0x5b };      /* without contents where they do not matter */

typedef struct Bench {
    CheckSpec spec;
    WorkerShared *shared;
    Outcome *outcome;                           /* NULL: not applicable */
    bool looks_at_data;                         /* the recorded run did: a racing value may lead a core another way */
} Bench;

static void bench_init(Bench *bench, const char *program, uint32_t devices)
{
    *bench = (Bench){ .spec = { .open = pl_module_open, .program = program, .cores = 1, .search = SEARCH_PROVE, .in_process = true } };
    mesh_line(&bench->spec.mesh, devices);
    bench->shared = worker_shared_new(&bench->spec, deadline_in(0));
    worker_serve(&bench->shared->control, bench->shared, WORKER_RUN);
    bench->looks_at_data = bench->shared->record->values_observed;      /* replays overwrite the record */
    if (bench->shared->ran)
        bench->outcome = prove_record(bench->shared->record, &(ProveOptions){ 0 });
}

static void bench_clear(Bench *bench)
{
    outcome_free(bench->outcome);
    execution_free(bench->shared->execution);
    record_free(bench->shared->record);
    program_free(bench->shared->program);
    worker_shared_free(bench->shared);
}

/* Replays all but one move, and what is no longer possible without it. */
static bool shows_without(Execution *execution, const Finding *finding, guint without)
{
    const GArray *moves = finding->moves;
    const Move dropped = g_array_index(moves, Move, without);
    g_autofree bool *done = g_new0(bool, moves->len);
    done[without] = true;
    for (guint i = without; i < moves->len && dropped.copy == NONE; i++)
        done[i] |= g_array_index(moves, Move, i).core == dropped.core && g_array_index(moves, Move, i).copy == NONE;
    execution_begin(execution, &options);
    for (bool moved = true; moved;) {
        moved = false;
        for (guint i = 0; i < moves->len; i++)
            if (!done[i] && execution_do(execution, g_array_index(moves, Move, i)))
                done[i] = moved = true;
    }
    return minimise_shows(execution, finding);
}

static bool shows(Execution *execution, const Finding *finding)
{
    execution_begin(execution, &options);
    for (guint i = 0; i < finding->moves->len; i++)
        assert_true(execution_do(execution, g_array_index(finding->moves, Move, i)));
    return minimise_shows(execution, finding);
}

typedef struct ReplayNode { guint parent; Move move; guint switches; } ReplayNode;

static void replay_node(Execution *execution, const GArray *nodes, guint node)
{
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(Move));
    for (; g_array_index(nodes, ReplayNode, node).parent != G_MAXUINT; node = g_array_index(nodes, ReplayNode, node).parent)
        g_array_append_val(path, g_array_index(nodes, ReplayNode, node).move);
    execution_begin(execution, &options);
    for (guint i = path->len; i-- > 0;)
        assert_true(execution_do(execution, g_array_index(path, Move, i)));
}

/* Positions, moments, and who moved last. */
static GBytes *key_of(Execution *execution, const Program *program, Move last)
{
    GByteArray *key = g_byte_array_new();
    for (uint32_t c = 0; c < program->cores; c++) {
        uint32_t position = execution_position(execution, c);
        g_byte_array_append(key, (const guint8 *)&position, sizeof position);
    }
    for (uint32_t c = 0; c < program->cores; c++)
        for (uint32_t o = 0; execution_find_copy(execution, c, o) != NONE; o++)
            for (StepKind moment = STEP_EARLY_SEND; moment <= STEP_WRITE; moment++) {
                guint8 done = execution_moment_done(execution, execution_find_copy(execution, c, o), moment);
                g_byte_array_append(key, &done, 1);
            }
    const uint32_t agent[] = { last.core, last.copy };
    g_byte_array_append(key, (const guint8 *)agent, sizeof agent);
    return g_byte_array_free_to_bytes(key);
}

typedef struct Best { guint length, switches; bool known; } Best;

/* One level: all that one more move leads to. */
static guint next_level(Execution *execution, const Program *program, GArray *nodes, guint first, guint last)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (guint node = first; node < last && nodes->len - last < STATES_MAX; node++) {
        replay_node(execution, nodes, node);
        execution_enabled(execution, moves);
        g_autoptr(GArray) possible = g_array_copy(moves);
        for (guint m = 0; m < possible->len; m++) {
            Move move = g_array_index(possible, Move, m);
            const ReplayNode from = g_array_index(nodes, ReplayNode, node);
            bool change = from.parent != G_MAXUINT && (from.move.core != move.core || from.move.copy != move.copy);
            replay_node(execution, nodes, node);
            execution_do(execution, move);
            GBytes *key = key_of(execution, program, move);
            guint found = GPOINTER_TO_UINT(g_hash_table_lookup(seen, key));
            ReplayNode now = { node, move, from.switches + change };
            if (found == 0) {
                g_array_append_val(nodes, now);
                g_hash_table_insert(seen, key, GUINT_TO_POINTER(nodes->len));
                continue;
            }
            g_bytes_unref(key);
            if (g_array_index(nodes, ReplayNode, found - 1).switches > now.switches)
                g_array_index(nodes, ReplayNode, found - 1) = now;
        }
    }
    return nodes->len;
}

static Best brute_force(Execution *execution, const Program *program, const Finding *finding)
{
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(ReplayNode));
    ReplayNode root = { G_MAXUINT, { 0, NONE, 0 }, 0 };
    g_array_append_val(nodes, root);
    guint first = 0, last = 1;
    for (guint length = 0; length <= finding->moves->len; length++) {
        Best best = { length, G_MAXUINT, false };
        for (guint node = first; node < last; node++) {
            replay_node(execution, nodes, node);
            if (!minimise_shows(execution, finding))
                continue;
            best.known = true;
            best.switches = MIN(best.switches, g_array_index(nodes, ReplayNode, node).switches);
        }
        if (best.known)
            return best;
        guint end = next_level(execution, program, nodes, first, last);
        if (end - last >= STATES_MAX)
            return (Best){ 0, 0, false };
        first = last, last = end;
    }
    return (Best){ 0, 0, false };
}

static unsigned compared;

static void check_finding(Bench *bench, Finding *finding, bool brute)
{
    Execution *execution = bench->shared->execution;
    const char *name = bench->spec.program, *fault = fault_name(finding->id);
    guint before = finding->moves->len, before_switches = reorder_switches(finding->moves);
    if (before > MOVES_MAX && mesh_devices(&bench->spec.mesh) > 3)
        return;                                 /* each move would be left out in turn, by a run of all others */
    uint64_t effort = 1000000;
    bool data = finding->id == FAULT_ASSERT || finding->id == FAULT_UNINITIALISED || bench->looks_at_data;
    options.without_contents = !data;
    if (!minimise(execution, &options, finding, &effort)) {
        if (bench->looks_at_data)
            return;                             /* a racing value led away from it: see outcome_drop_unreached */
        fail_msg("%s: the schedule of %s shows nothing", name, fault);
    }
    guint after = finding->moves->len, switches = reorder_switches(finding->moves);
    if (!shows(execution, finding))
        fail_msg("%s: the shorter schedule of %s shows nothing", name, fault);
    assert_true(after <= before);
    if (after == before)
        assert_true(switches <= before_switches);
    if (after > MOVES_MAX)
        return;
    assert_true(effort > 0);
    for (guint i = 0; i < after && finding->id != FAULT_DEADLOCK; i++)
        if (shows_without(execution, finding, i))
            fail_msg("%s, %u devices, %s: move %u can go", name, mesh_devices(&bench->spec.mesh), fault, i);
    if (!brute)
        return;
    Best best = brute_force(execution, bench->shared->program, finding);
    compared += best.known;
    bool free = bench->outcome->conflicts == 0;     /* else orders on contended objects are kept as they were */
    if (best.known && (best.length != after || (free ? best.switches != switches : best.switches > switches)))
        fail_msg("%s, %u devices, %s: %u moves, %u changes; there is one of %u moves with %u changes", name,
                 mesh_devices(&bench->spec.mesh), fault, after, switches, best.length, best.switches);
}

static void check_program(const char *name, uint32_t devices, bool brute)
{
    Bench bench;
    bench_init(&bench, name, devices);
    for (guint i = 0; bench.outcome != NULL && i < bench.outcome->findings->len; i++) {
        Finding *finding = bench.outcome->findings->pdata[i];
        if (finding->moves != NULL && finding->id != FAULT_DIVERGENCE)
            check_finding(&bench, finding, brute);
    }
    bench_clear(&bench);
}

static void each_program(uint32_t least, uint32_t greatest, bool brute)
{
    char *error = NULL;
    GPtrArray *catalogue = catalogue_read(pl_module_open, NULL, &error);
    assert_non_null(catalogue);
    for (guint i = 0; i < catalogue->len; i++) {
        const CatalogueEntry *entry = catalogue->pdata[i];
        for (uint32_t devices = least; entry->expected_faults && devices <= greatest; devices++)
            check_program(entry->name, devices, brute);
    }
    g_ptr_array_unref(catalogue);
}

static void no_move_of_a_wrong_twin_can_go(void **state)
{
    (void)state;
    each_program(3, SANITIZED ? 4 : 6, false);
}

static void none_is_shorter_among_all(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();                                 /* it would take ten minutes, most of them for the search that is compared with */
    compared = 0;
    each_program(2, 2, true);
    print_message("%u schedules compared with all there are\n", compared);
    assert_true(compared >= 20);
}

static void so_are_those_of_sixty_four_devices(void **state)
{
    (void)state;
    check_program("all_gather_shared_semaphore", 64, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_move_of_a_wrong_twin_can_go),
        cmocka_unit_test(none_is_shorter_among_all),
        cmocka_unit_test(so_are_those_of_sixty_four_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
