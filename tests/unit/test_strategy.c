/* test_strategy.c - how schedules are sampled: the promised odds of each strategy, measured.
 *
 * Seeds are fixed, so a test passes always or never. The odds in comments are those of failing with a random seed if the strategy is right.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../checker/sample/strategy.h"
#include "../support/script.h"

enum { SEED = 11 };

typedef struct Sampled { Script *script; GArray *moves, *done; } Sampled;      /* of Move: possible now; of this run */

static void set_up(Sampled *s, uint32_t devices, void (*body)(Core *, const Launch *))
{
    s->script = script_of(devices, 1, body);
    s->moves = g_array_new(FALSE, FALSE, sizeof(Move));
    s->done = g_array_new(FALSE, FALSE, sizeof(Move));
}

static void tear_down(Sampled *s)
{
    g_array_unref(s->moves);
    g_array_unref(s->done);
    script_free(s->script);
}

static void step_alone(Core *core, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        core_signal(core, 0, script_ref(script_now->semaphore), 1, SCRIPT_OWN);
}

static void copy_to_the_right(Core *core)
{
    script_copy_all(core, 1, script_now->buffer, script_now->buffer, (core->device + 1) % core->program->devices);
}

/* s->done: the moves of this run. */
static void sample(Sampled *s, Strategy *strategy, uint64_t run, uint64_t steps_expected)
{
    g_array_set_size(s->done, 0);
    execution_begin(s->script->execution, NULL);
    strategy_begin(strategy, run, steps_expected);
    for (execution_enabled(s->script->execution, s->moves); s->moves->len > 0; execution_enabled(s->script->execution, s->moves)) {
        const Move move = g_array_index(s->moves, Move, strategy_choose(strategy, s->script->execution, s->moves));
        g_array_append_val(s->done, move);
        assert_true(execution_do(s->script->execution, move));
    }
    execution_end(s->script->execution);
}

static Move done_at(const Sampled *s, guint i)
{
    return g_array_index(s->done, Move, i);
}

/* Where in the run a core did its n-th step. */
static guint when(const Sampled *s, uint32_t core, unsigned n)
{
    for (guint i = 0; i < s->done->len; i++)
        if (done_at(s, i).core == core && done_at(s, i).copy == NONE && n-- == 0)
            return i;
    fail_msg("core %u has no such step", core);
    return 0;
}

static char *name_of(const Sampled *s)
{
    GString *name = g_string_new(NULL);
    for (guint i = 0; i < s->done->len; i++) {
        const Move move = done_at(s, i);
        g_string_append_printf(name, "%u.%d.%u ", move.core, (int)move.copy, move.copy == NONE ? 0 : move.moment);
    }
    return g_string_free(name, FALSE);
}

/* Every schedule of the program, with the product of 1 / (moves that were possible). */
static void list_schedules(Sampled *s, GArray *prefix, double probability, GHashTable *all)
{
    execution_begin(s->script->execution, NULL);
    g_array_set_size(s->done, 0);
    for (guint i = 0; i < prefix->len; i++) {
        const Move move = g_array_index(prefix, Move, i);
        assert_true(execution_do(s->script->execution, move));
        g_array_append_val(s->done, move);
    }
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_enabled(s->script->execution, moves);
    execution_end(s->script->execution);
    if (moves->len == 0)
        g_hash_table_insert(all, name_of(s), g_memdup2(&(double[2]){ probability, 0 }, sizeof(double[2])));
    for (guint i = 0; i < moves->len; i++) {
        g_array_append_val(prefix, g_array_index(moves, Move, i));
        list_schedules(s, prefix, probability / moves->len, all);
        g_array_set_size(prefix, prefix->len - 1);
    }
}

SCRIPT_BODY(two_or_three_and_a_copy)
{
    if (core->device == 0) {
        copy_to_the_right(core);
        step_alone(core, 1);
    } else {
        step_alone(core, 2);
    }
}

/* Chi-square: of n cells it has mean n - 1 and standard deviation sqrt(2 (n - 1)); five of them are exceeded with odds of about 1 in
 * 100,000 (more than for a normal variable, as its tail is longer).
 */
static void random_gives_each_schedule_the_product_of_its_choices(void **state)
{
    (void)state;
    enum { RUNS = 60000 };
    Sampled s;
    set_up(&s, 2, two_or_three_and_a_copy);
    g_autoptr(GHashTable) all = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GArray) prefix = g_array_new(FALSE, FALSE, sizeof(Move));
    list_schedules(&s, prefix, 1, all);
    /* 4 moves of device 0 and its copy in 3 orders (start first, write after read), among which 2 of device 1 go in 15 ways */
    assert_int_equal(g_hash_table_size(all), 45);
    Strategy *strategy = strategy_new(STRATEGY_RANDOM, SEED, 1);
    for (uint64_t run = 0; run < RUNS; run++) {
        sample(&s, strategy, run, 1);
        g_autofree char *name = name_of(&s);
        double *cell = g_hash_table_lookup(all, name);
        assert_non_null(cell);
        cell[1]++;
    }
    double sum = 0, whole = 0;
    GHashTableIter iter;
    gpointer value;
    for (g_hash_table_iter_init(&iter, all); g_hash_table_iter_next(&iter, NULL, &value);) {
        const double *cell = value, expected = cell[0] * RUNS;
        assert_true(expected >= 20);
        sum += (cell[1] - expected) * (cell[1] - expected) / expected;
        whole += cell[0];
    }
    assert_true(fabs(whole - 1) < 1e-9);
    const double free_cells = g_hash_table_size(all) - 1;
    if (fabs(sum - free_cells) > 5 * sqrt(2 * free_cells))
        fail_msg("chi-square %g of %g", sum, free_cells);
    strategy_free(strategy);
    tear_down(&s);
}

enum { CORES = 3, STEPS = 6 };                  /* of each core in the tests of pct */

SCRIPT_BODY(step_by_step)
{
    step_alone(core, STEPS);
}

/* Faults of depth 1, 2 and 3: as many orderings between steps of two cores are needed, and enough. */
static bool meets(const Sampled *s, unsigned depth)
{
    if (depth == 1)
        return when(s, 2, STEPS - 1) < when(s, 0, 0);
    bool between = when(s, 0, 2) < when(s, 1, 2) && when(s, 1, 2) < when(s, 0, 3);
    return between && (depth == 2 || when(s, 0, 3) < when(s, 1, 3));
}

static unsigned count_meetings(Sampled *s, StrategyKind kind, unsigned depth, unsigned runs)
{
    Strategy *strategy = strategy_new(kind, SEED, depth);
    unsigned met = 0;
    for (uint64_t run = 0; run < runs; run++) {
        sample(s, strategy, run, CORES * STEPS);
        assert_int_equal(s->done->len, CORES * STEPS);
        met += meets(s, depth);
    }
    strategy_free(strategy);
    return met;
}

/* The bound: a run meets a fault of depth d with probability p >= 1 / (n k^(d-1)), here n = 3, k = 18. With r runs the number of meetings
 * is at least binomial (r, p), with mean m = r p and deviation below sqrt(m); it is below m - 4 sqrt(m) with odds of less than exp(-8), 1
 * in 2,980 (Chernoff: P(X <= m - t) <= exp(-t^2 / 2m)), for each of the three depths.
 */
static void pct_meets_faults_as_often_as_its_bound_says(void **state)
{
    (void)state;
    Sampled s;
    set_up(&s, CORES, step_by_step);
    unsigned runs = 200;
    for (unsigned depth = 1; depth <= 3; depth++) {
        double bound = 1.0 / CORES / pow(CORES * STEPS, depth - 1), mean = runs * bound;
        unsigned met = count_meetings(&s, STRATEGY_PCT, depth, runs);
        if (met < mean - 4 * sqrt(mean))
            fail_msg("depth %u: met %u times in %u runs, expected are %g", depth, met, runs, mean);
        runs *= CORES * STEPS;
    }
    /* random: all of core 2 before the first step of core 0 has odds below 1 in 2^6; 67 of 200 are out of its reach */
    assert_true(count_meetings(&s, STRATEGY_RANDOM, 1, 200) < 15);
    tear_down(&s);
}

static void what_is_promised_is_never_rounded_up(void **state)
{
    (void)state;
    g_autofree char *many = strategy_promise(STRATEGY_PCT, 2, 2, 20, 100000), *few = strategy_promise(STRATEGY_PCT, 3, 3, 7, 10);
    assert_non_null(strstr(many, "1/(n k) = 0.025, in 100000 runs with at least 0.99 "));
    assert_non_null(strstr(few, "1/(n k^2) = 0.0068, in 10 runs with at least 0.065 "));      /* 0.006803, 0.06597 */
    assert_null(strategy_promise(STRATEGY_RANDOM, 3, 2, 20, 10));
}

enum { FAR = 9 };

/* Device 0 stores once; device 1 stores to the same word after many steps of its own. */
SCRIPT_BODY(store_soon_or_late)
{
    if (core->device == 1)
        step_alone(core, FAR - 1);
    core_flag_store(core, 0, script_ref(script_now->flag), (Target){ 0, NONE }, core->device);
}

static unsigned count_late(Sampled *s, StrategyKind kind, unsigned runs)
{
    Strategy *strategy = strategy_new(kind, SEED, 1);
    unsigned late = 0;
    for (uint64_t run = 0; run < runs; run++) {
        sample(s, strategy, run, 1);
        late += when(s, 1, FAR - 1) < when(s, 0, 0);
    }
    strategy_free(strategy);
    return late;
}

/* pos: the one store comes last if its score is the lowest of 1 + FAR, so 1 in 10; random: 1 in 2^9. 4,000 runs give 400, with deviation
 * 19, against 8, with deviation 3: five deviations are exceeded with odds of less than 1 in a million.
 */
static void pos_is_not_led_astray_by_steps_that_touch_nothing_in_common(void **state)
{
    (void)state;
    Sampled s;
    set_up(&s, 2, store_soon_or_late);
    unsigned late = count_late(&s, STRATEGY_POS, 4000);
    assert_in_range(late, 305, 495);
    assert_in_range(count_late(&s, STRATEGY_RANDOM, 4000), 0, 25);
    tear_down(&s);
}

enum { COPIES = 4, AFTER = 6 };                 /* of each core in the tests of starve */

SCRIPT_BODY(copy_and_go_on)
{
    for (unsigned i = 0; i < COPIES; i++)
        copy_to_the_right(core);
    step_alone(core, AFTER);
}

typedef bool (*Claim)(const Sampled *s);

static bool is_write(Move move)
{
    return move.copy != NONE && move.moment == STEP_WRITE;
}

static bool all_writes_come_last(const Sampled *s)
{
    bool begun = false;
    for (guint i = 0; i < s->done->len; i++) {
        begun |= is_write(done_at(s, i));
        if (begun && !is_write(done_at(s, i)))
            return false;
    }
    return begun;
}

static bool last_in_is_first_out(const Sampled *s)
{
    for (uint32_t core = 0; core < s->script->program->cores; core++) {
        uint32_t before = NONE;
        for (guint i = 0; i < s->done->len; i++) {
            const Move move = done_at(s, i);
            if (!is_write(move) || move.core != core)
                continue;
            if (move.copy > before)
                return false;
            before = move.copy;
        }
    }
    return true;
}

static bool all_that_is_left_is(const Sampled *s, bool (*belongs)(Move move, uint32_t core), uint32_t core)
{
    bool begun = false;
    for (guint i = 0; i < s->done->len; i++) {
        begun |= belongs(done_at(s, i), core);
        if (begun && !belongs(done_at(s, i), core))
            return false;
    }
    return begun;
}

static bool is_copy_of(Move move, uint32_t core)
{
    return move.core == core && move.copy != NONE;
}

static bool is_of(Move move, uint32_t core)
{
    return move.core == core;
}

static bool is_first_copy_of(Move move, uint32_t core)
{
    return move.core == core && move.copy == 0;
}

static bool some_link_is_slow(const Sampled *s)
{
    return all_that_is_left_is(s, is_copy_of, 0) || all_that_is_left_is(s, is_copy_of, 1)
        || all_that_is_left_is(s, is_copy_of, 2);
}

static bool some_device_is_slow(const Sampled *s)
{
    return all_that_is_left_is(s, is_of, 0) || all_that_is_left_is(s, is_of, 1) || all_that_is_left_is(s, is_of, 2);
}

static bool a_first_copy_is_overtaken_by_all(const Sampled *s)
{
    return all_that_is_left_is(s, is_first_copy_of, 0) || all_that_is_left_is(s, is_first_copy_of, 1)
        || all_that_is_left_is(s, is_first_copy_of, 2);
}

static unsigned count_claims(Sampled *s, StrategyKind kind, Claim claim, unsigned runs)
{
    Strategy *strategy = strategy_new(kind, SEED, 1);
    unsigned held = 0;
    for (uint64_t run = 0; run < runs; run++) {
        sample(s, strategy, run, 1);
        held += claim(s);
    }
    strategy_free(strategy);
    return held;
}

/* Six victims are as likely as each other, so each adversary should come in 60 runs with odds of failing of (5/6)^60, 1 in 56,000; a copy
 * is one of 3 cores' and one of 4, the first of its core: (1 - 1/24)^120, 1 in 165.
 */
static void starve_is_late_and_slow_and_last_in_first_out(void **state)
{
    (void)state;
    Sampled s;
    set_up(&s, 3, copy_and_go_on);
    assert_true(count_claims(&s, STRATEGY_STARVE, all_writes_come_last, 60) >= 1);
    assert_true(count_claims(&s, STRATEGY_STARVE, last_in_is_first_out, 60) >= 1);
    assert_true(count_claims(&s, STRATEGY_STARVE, some_link_is_slow, 60) >= 1);
    assert_true(count_claims(&s, STRATEGY_STARVE, some_device_is_slow, 60) >= 1);
    assert_true(count_claims(&s, STRATEGY_STARVE, a_first_copy_is_overtaken_by_all, 120) >= 1);
    static const Claim CLAIMS[] = { all_writes_come_last, last_in_is_first_out, some_link_is_slow, some_device_is_slow };
    for (size_t i = 0; i < G_N_ELEMENTS(CLAIMS); i++)
        assert_int_equal(count_claims(&s, STRATEGY_RANDOM, CLAIMS[i], 1000), 0);
    tear_down(&s);
}

static void a_run_depends_on_its_number_and_the_seed_alone(void **state)
{
    (void)state;
    Sampled s;
    set_up(&s, 3, copy_and_go_on);
    for (StrategyKind kind = STRATEGY_RANDOM; kind < STRATEGY_KINDS; kind++) {
        Strategy *one = strategy_new(kind, SEED, 3), *other = strategy_new(kind, SEED, 3), *seed = strategy_new(kind, SEED + 1, 3);
        unsigned same = 0;
        for (uint64_t run = 10; run-- > 0;) {
            sample(&s, other, run, 60);
            g_autofree char *name = name_of(&s);
            sample(&s, seed, run, 60);
            g_autofree char *foreign = name_of(&s);
            sample(&s, one, 1000 + run, 60);
            sample(&s, one, run, 60);
            g_autofree char *again = name_of(&s);
            assert_string_equal(again, name);
            same += g_str_equal(name, foreign);
        }
        assert_true(same < 3);
        strategy_free(one);
        strategy_free(other);
        strategy_free(seed);
    }
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_gives_each_schedule_the_product_of_its_choices),
        cmocka_unit_test(pct_meets_faults_as_often_as_its_bound_says),
        cmocka_unit_test(what_is_promised_is_never_rounded_up),
        cmocka_unit_test(pos_is_not_led_astray_by_steps_that_touch_nothing_in_common),
        cmocka_unit_test(starve_is_late_and_slow_and_last_in_first_out),
        cmocka_unit_test(a_run_depends_on_its_number_and_the_seed_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
