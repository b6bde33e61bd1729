/* test_enumerate.c - the enumeration against known numbers of states, and against the naive search on random scripts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include "../../checker/enumerate/enumerate.h"
#include "../../model/rng.h"
#include "../support/naive.h"
#include "../support/shapes.h"

static Outcome *enumerate(Script *script)
{
    EnumerateOptions options = {.states_max = 0};
    return enumerate_run(&script->source, &options);
}

static uint64_t races_of(const Outcome *outcome)
{
    uint64_t races = 0;
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        assert_int_equal(finding->id, FAULT_RACE);
        assert_non_null(finding->moves);
        races += finding->count;
    }
    return races;
}

/* Known numbers of states, transitions (0: not known) and racing pairs. */
static void expect(Script *script, uint64_t states, uint64_t transitions, uint64_t races)
{
    Outcome *outcome = enumerate(script);
    assert_true(outcome->complete);
    assert_int_equal(outcome->states, states);
    if (transitions)
        assert_int_equal(outcome->transitions, transitions);
    assert_int_equal(races_of(outcome), races);
    assert_int_equal(outcome->end_states->len, 1);
    outcome_free(outcome);
    script_free(script);
}

static void all_gather(void **state)
{
    (void)state;
    expect(shape_all_gather(2, NULL, false), 45, 90, 0);
    expect(shape_all_gather(3, NULL, false), 1429, 4623, 0);
    expect(shape_all_gather(4, NULL, false), 38337, 167572, 0);
    expect(shape_all_gather(5, NULL, false), 944605, 5178165, 0);
}

static void all_gather_with_one_receive_semaphore(void **state)
{
    (void)state;
    expect(shape_all_gather(2, NULL, true), 45, 0, 0);
    expect(shape_all_gather(3, NULL, true), 1939, 0, 3);
    expect(shape_all_gather(4, NULL, true), 92641, 0, 8);
}

static void all_gather_fluid(void **state)
{
    (void)state;
    Knobs fluid = {.dma_progress = DMA_PROGRESS_FLUID};
    expect(shape_all_gather(2, &fluid, false), 134, 0, 0);
    expect(shape_all_gather(3, &fluid, false), 7343, 0, 0);
    expect(shape_all_gather(4, &fluid, false), 331732, 0, 0);
}

static void all_gather_with_credit(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 2; k++)
        for (uint32_t n = 2; n <= 4; n++) {
            Script *script = shape_credit_gather(n, k, k + 1);
            Outcome *outcome = enumerate(script);
            assert_int_equal(races_of(outcome), n > k + 1 ? n * (n - k - 1) : 0);
            outcome_free(outcome);
            script_free(script);
            script = shape_credit_gather(n, k, k);
            outcome = enumerate(script);
            assert_int_equal(races_of(outcome), 0);
            outcome_free(outcome);
            script_free(script);
        }
}

static void right_permute(void **state)
{
    (void)state;
    static const uint64_t STATES[] = {66, 484, 3706, 28720, 223362};
    for (uint32_t n = 2; n <= 6; n++)
        expect(shape_right_permute(n), STATES[n - 2], 0, 0);
}

static void all_to_all(void **state)
{
    (void)state;
    expect(shape_all_to_all(2), 72, 0, 0);
    expect(shape_all_to_all(3), 8330, 0, 0);
}

static void two_slots(void **state)
{
    (void)state;
    expect(shape_two_slots(2, 1, true), 85, 0, 0);
    expect(shape_two_slots(3, 2, true), 1498, 0, 0);
    expect(shape_two_slots(4, 3, true), 23715, 0, 0);
    expect(shape_two_slots(2, 1, false), 77, 0, 0);
    expect(shape_two_slots(3, 2, false), 2226, 0, 3);
    expect(shape_two_slots(4, 3, false), 62011, 0, 16);
}

static void all_reduce(void **state)
{
    (void)state;
    expect(shape_all_reduce(2, true), 1412, 0, 0);
    expect(shape_all_reduce(3, true), 61543, 0, 0);
    expect(shape_all_reduce(4, true), 2649598, 0, 0);
    expect(shape_all_reduce(2, false), 2668, 0, 12);
    expect(shape_all_reduce(3, false), 334855, 0, 42);
}

/* ---- keys and limits ---- */

/* Cores that only signal: every combination of their positions is a state. */
static Script *signallers(uint32_t cores, uint32_t first_steps)
{
    Script *script = script_new(cores, 1, NULL);
    uint32_t semaphore = script_semaphore(script, SEMAPHORE_REGULAR, 1, "semaphore");
    for (uint32_t core = 0; core < cores; core++)
        for (uint32_t i = 0; i < (core ? 1 : first_steps); i++)
            script_signal(script, core, script_semaphore_id(script, semaphore, core, 0), 1);
    return script;
}

static void wide_keys(void **state)
{
    (void)state;
    expect(signallers(14, 1), 1 << 14, 14 << 13, 0);                    /* two words */
    expect(signallers(10, 200), 201 << 9, (200 << 9) + (201 * 9 << 8), 0);     /* a field that is outgrown */
    Script *script = script_new(40, 1, NULL);                           /* four words, one schedule */
    uint32_t semaphore = script_semaphore(script, SEMAPHORE_REGULAR, 1, "semaphore");
    for (uint32_t core = 0; core < 40; core++) {
        if (core)
            script_wait(script, core, script_semaphore_id(script, semaphore, core, 0), 1);
        script_signal(script, core, script_semaphore_id(script, semaphore, (core + 1) % 40, 0), 1);
    }
    expect(script, 80, 79, 0);
}

static void a_fluid_count_that_is_looked_at(void **state)
{
    (void)state;
    for (uint32_t bytes = 2; bytes <= 3; bytes++) {     /* of 2 bytes every count is seen, of 3 not */
        Script *script = script_new(2, 1, NULL);
        uint32_t buffer = script_buffer(script, SPACE_HBM, 1, bytes, "buffer");
        uint32_t semaphore = script_semaphore(script, SEMAPHORE_DMA, 1, "semaphore");
        script_copy(script, 0, buffer, 0, buffer, 0, 1, NONE, script_semaphore_id(script, semaphore, 1, 0), true);
        script_step(script, 1, STEP_SEMAPHORE_READ, script_semaphore_id(script, semaphore, 1, 0), 0, 0);
        Outcome *outcome = enumerate(script);
        assert_int_equal(outcome->complete, bytes == 2);
        assert_int_equal(outcome->limits->len, bytes - 2);
        if (bytes == 3)
            assert_string_equal(g_ptr_array_index(outcome->limits, 0), "fluid-look");
        outcome_free(outcome);
        script_free(script);
    }
}

static void too_many_cores(void **state)
{
    (void)state;
    Script *script = script_new(4096, 1, NULL);
    Outcome *outcome = enumerate(script);
    assert_false(outcome->complete);
    assert_string_equal(g_ptr_array_index(outcome->limits, 0), "memory");
    outcome_free(outcome);
    script_free(script);
}

static void limits(void **state)
{
    (void)state;
    Script *script = shape_all_gather(4, NULL, true);
    const EnumerateOptions options[] = {{.states_max = 5000}, {.memory_max = 1 << 20}, {.first = true}};
    static const char *const LIMIT[] = {"states", "memory", NULL};
    for (int i = 0; i < 3; i++) {
        Outcome *outcome = enumerate_run(&script->source, &options[i]);
        assert_false(outcome->complete);
        assert_true(outcome->states < 92641);
        assert_int_equal(outcome->limits->len, LIMIT[i] ? 1 : 0);
        if (LIMIT[i])
            assert_string_equal(g_ptr_array_index(outcome->limits, 0), LIMIT[i]);
        else
            assert_int_equal(races_of(outcome), 1);
        outcome_free(outcome);
    }
    script_free(script);
}

/* ---- against the naive search ---- */

typedef struct Mix {                            /* what random scripts are made of */
    const char *name;
    DmaOrder order;
    DmaProgress progress;
    Scopes scopes;
    bool two_cores, launches, lives, flags, steered, stops, limits, meant, regular;
} Mix;

typedef struct Maker {
    const Mix *mix;
    Script *script;
    Rng rng;
    uint32_t devices, cores, launches, barriers;
    uint32_t shared, own, dma, dma_more, regular, barrier, flag, scoped[3];
    uint8_t scope_state[3][8];                  /* by scope and core: 0 not yet, 1 open, 2 closed */
    uint32_t owed[256];                         /* by semaphore: what was sent there and not yet waited for */
} Maker;

static uint32_t below(Maker *m, uint32_t bound)
{
    return (uint32_t)rng_below(&m->rng, bound);
}

static uint32_t add_decl(Maker *m, Space space, SemaphoreKind kind, Life life, const char *name)
{
    bool buffer = space != SPACE_SEMAPHORE;
    DeclSpec spec = {.space = space, .semaphore_kind = kind, .dtype = buffer ? DTYPE_U8 : DTYPE_I32, .life = life, .opaque = buffer,
                     .collective_id = -1, .name = name, .input = m->mix->steered && buffer, .ndim = buffer ? 2 : 0, .size = {2, 3}};
    if (life == LIFE_SCOPE) {
        spec.site = program_site(m->script->program, "scope", name, 1, 0);
        return program_scope_decl(m->script->program, below(m, m->launches), 0, &spec);
    }
    return program_add_decl(m->script->program, &spec);
}

static void declare(Maker *m)
{
    Program *program = m->script->program;
    Life life = m->mix->launches ? LIFE_LAUNCHES : LIFE_ALWAYS;
    m->shared = add_decl(m, SPACE_HBM, SEMAPHORE_REGULAR, life, "shared");
    m->own = add_decl(m, SPACE_VMEM, SEMAPHORE_REGULAR, life, "own");
    m->dma = add_decl(m, SPACE_SEMAPHORE, SEMAPHORE_DMA, life, "dma");
    m->dma_more = add_decl(m, SPACE_SEMAPHORE, SEMAPHORE_DMA, life, "dma_more");
    m->regular = add_decl(m, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, life, "regular");
    m->barrier = program_barrier_decl(program, 0);
    m->flag = add_decl(m, SPACE_SEMAPHORE, SEMAPHORE_FLAG, LIFE_ALWAYS, "flag");
    m->scoped[0] = add_decl(m, SPACE_SEMAPHORE, below(m, 2) ? SEMAPHORE_DMA : SEMAPHORE_REGULAR, LIFE_SCOPE, "scoped_semaphore");
    m->scoped[1] = add_decl(m, SPACE_VMEM, SEMAPHORE_REGULAR, LIFE_SCOPE, "scoped_own");
    m->scoped[2] = add_decl(m, SPACE_HBM, SEMAPHORE_REGULAR, LIFE_SCOPE, "scoped_shared");
    if (m->mix->limits)
        program_decl(program, m->dma)->limit = 3, program_decl(program, m->regular)->limit = 1;
    for (uint32_t l = 0; l < m->launches; l++) {
        Launch *launch = program_add_launch(program);
        uint32_t decl[] = {m->shared, m->own, m->dma, m->regular, m->dma_more};
        launch->decls = below(m, 3) ? 5 : 4;
        launch->decl = program_alloc(program, sizeof decl);
        memcpy(launch->decl, decl, sizeof decl);
        launch->entry_barrier = below(m, 2);
    }
}

static uint32_t any_semaphore(Maker *m, uint32_t core)
{
    uint32_t x = below(m, 8);
    if (m->mix->lives && below(m, 3) == 0)
        return script_semaphore_id(m->script, m->scoped[0], core, 0);
    if (m->mix->launches && x == 7)
        return script_semaphore_id(m->script, m->barrier, core, 0);
    return script_semaphore_id(m->script, x < 4 ? m->dma : x < 6 ? m->dma_more : m->regular, core, 0);
}

static uint32_t any_buffer(Maker *m)
{
    if (m->mix->lives && below(m, 3) == 0)
        return m->scoped[1 + below(m, 2)];
    return below(m, 3) ? m->shared : m->own;
}

static void start_copy(Maker *m, uint32_t core)
{
    uint32_t to = below(m, m->cores), send = below(m, 3) ? any_semaphore(m, core) : NONE, receive = any_semaphore(m, to);
    script_copy(m->script, core, any_buffer(m), below(m, 2), any_buffer(m), below(m, 2), to, send, receive, below(m, 2));
    const GArray *list = m->script->core[core];
    const Copy *copy = &g_array_index(list, UnrollStep, list->len - 1).copy;
    if (send != NONE)
        m->owed[send] += copy->send_count;
    m->owed[receive] += copy->receive_count;
}

/* A semaphore of the core to which something was sent, if there is one: most waits should come to an end. */
static uint32_t owed_semaphore(Maker *m, uint32_t core)
{
    uint32_t semaphore = NONE, seen = 0;
    for (uint32_t i = 0; i < m->script->program->semaphores; i++)
        if (program_semaphore_core(m->script->program, i) == core && m->owed[i] && below(m, ++seen) == 0)
            semaphore = i;
    return semaphore != NONE && below(m, 12) ? semaphore : any_semaphore(m, core);
}

static void add_flag_step(Maker *m, uint32_t core)
{
    static const StepKind KIND[] = {STEP_FLAG_STORE, STEP_FLAG_ADD, STEP_FLAG_CAS, STEP_FLAG_WAIT, STEP_FLAG_LOAD};
    StepKind kind = KIND[below(m, 5)];
    uint32_t flag = script_semaphore_id(m->script, m->flag, below(m, m->cores), 0), value = below(m, 3), extra = 0;
    if (kind == STEP_FLAG_CAS)
        extra = below(m, 2);
    else if (kind == STEP_FLAG_WAIT)
        value = below(m, 2), extra = below(m, 6);
    else if (kind == STEP_FLAG_ADD)
        extra = m->mix->steered && below(m, 2);
    else if (kind == STEP_FLAG_LOAD)
        extra = m->mix->steered ? below(m, 2) : 0;
    script_step(m->script, core, kind, flag, value, extra);
}

static void add_life_step(Maker *m, uint32_t core, uint32_t launch)
{
    uint32_t i = below(m, 3);
    uint8_t *state = &m->scope_state[i][core];
    if (program_decl(m->script->program, m->scoped[i])->launch != launch || *state == 2)
        return;
    script_step(m->script, core, *state ? STEP_FREE : STEP_ALLOC, m->scoped[i], 0, 0);
    ++*state;
}

static void add_wait(Maker *m, uint32_t core)
{
    uint32_t semaphore = owed_semaphore(m, core), copies = 0, need = below(m, 10) ? 1 + below(m, MAX(m->owed[semaphore], 1)) : 0;
    bool takes = below(m, 4);
    script_step(m->script, core, takes ? STEP_WAIT : STEP_WAIT_KEEP, semaphore, need, NONE);
    m->owed[semaphore] -= takes ? MIN(need, m->owed[semaphore]) : 0;
    for (guint i = 0; i < m->script->core[core]->len; i++)
        copies += g_array_index(m->script->core[core], UnrollStep, i).step.kind == STEP_COPY_START;
    if (m->mix->meant && copies && below(m, 2))
        g_array_index(m->script->core[core], UnrollStep, m->script->core[core]->len - 1).step.extra = below(m, copies);
}

static void add_step(Maker *m, uint32_t core, uint32_t launch)
{
    uint32_t x = below(m, 20);
    if (x < 4) {
        uint32_t semaphore = any_semaphore(m, below(m, m->cores)), inc = 1 + below(m, 2);
        script_signal(m->script, core, semaphore, inc);
        m->owed[semaphore] += inc;
    } else if (x < 9)
        add_wait(m, core);
    else if (x < 12)
        start_copy(m, core);
    else if (x < 14)
        script_access(m->script, core, (StepKind)(STEP_LOAD + below(m, 3)), any_buffer(m), below(m, 2));
    else if (x < 16 && m->mix->flags)
        add_flag_step(m, core);
    else if (x < 16 && m->mix->lives)
        add_life_step(m, core, launch);
    else if (x == 16 && m->mix->steered)
        script_step(m->script, core, STEP_SEMAPHORE_READ, any_semaphore(m, core), 1 + below(m, 2), below(m, 2));
    else if (x == 17 && m->mix->stops)
        script_step(m->script, core, below(m, 2) ? STEP_STOP : STEP_EXPECT_COUNT, any_semaphore(m, core), FAULT_OUT_OF_BOUNDS, 0);
    else if (x >= 18 && m->mix->two_cores) {
        uint32_t first = core - core % 2;
        for (uint32_t c = first; c < first + 2; c++)
            if (below(m, 30))
                script_step(m->script, c, STEP_CORE_BARRIER, m->barriers, 0, 0);
        m->barriers++;
    }
}

/* What a steered step may jump over must be there: lists are closed with harmless signals. */
static void close_lists(Maker *m)
{
    for (uint32_t core = 0; core < m->cores && m->mix->steered; core++)
        for (int i = 0; i < 2; i++)
            script_signal(m->script, core, script_semaphore_id(m->script, m->regular, core, 0), 1);
}

static Script *make(const Mix *mix, uint64_t seed)
{
    Maker maker = {.mix = mix}, *m = &maker;
    rng_init(&m->rng, seed);
    uint32_t cores_per_device = mix->two_cores ? 2 : 1;
    m->devices = mix->two_cores ? 1 + below(m, 2) : 2 + below(m, 2);
    m->cores = m->devices * cores_per_device;
    m->launches = mix->launches ? 1 + below(m, 2) : 1;
    m->script = script_new(m->devices, cores_per_device,
                           &(Knobs){.dma_order = mix->order, .dma_progress = mix->progress, .scopes = mix->scopes});
    m->script->program->bare = !mix->launches && !mix->lives;
    declare(m);
    for (uint32_t l = 0; l < m->launches; l++) {
        for (uint32_t c = 0; c < m->cores && mix->launches; c++)
            script_step(m->script, c, STEP_ENTER, l, 0, 0);
        for (uint32_t i = 0, steps = 5 + below(m, 6); i < steps / m->launches + m->launches; i++)
            add_step(m, below(m, m->cores), l);
        for (uint32_t c = 0; c < m->cores && mix->lives; c++)
            for (int i = 0; i < 3; i++)
                if (m->scope_state[i][c] == 1)
                    script_step(m->script, c, STEP_FREE, m->scoped[i], 0, 0), m->scope_state[i][c] = 2;
        for (uint32_t c = 0; c < m->cores && mix->launches; c++)
            script_step(m->script, c, STEP_EXIT, l, 0, 0);
    }
    close_lists(m);
    return m->script;
}

static char *key_of(const Program *program, const Finding *finding)
{
    uint32_t site[2] = {finding->place[0].site, finding->place[1].site};
    return naive_key(program, finding->id, finding->places, site, finding->object_is_semaphore, finding->object);
}

/* Reductions have fewer states; all else is the same. */
static bool compare(const Script *script, const Outcome *outcome, const Naive *naive)
{
    bool reduced = outcome->modes & ~(unsigned)WALK_SWEEP;
    bool as_many = outcome->states == naive->states && outcome->transitions == naive->transitions;
    bool same = (reduced ? outcome->states <= naive->states : as_many)
        && outcome->end_states->len == naive->end_states->len && outcome->findings->len == g_hash_table_size(naive->faults)
        && memcmp(outcome->end_states->data, naive->end_states->data, naive->end_states->len * sizeof(uint64_t)) == 0;
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        g_autofree char *key = key_of(script->program, finding);
        same &= GPOINTER_TO_UINT(g_hash_table_lookup(naive->faults, key)) == finding->count && finding->moves != NULL;
    }
    return same;
}

static void print_difference(const Script *script, const Outcome *outcome, const Naive *naive)
{
    for (uint32_t core = 0; core < script->program->cores; core++)
        for (guint i = 0; i < script->core[core]->len; i++) {
            const UnrollStep *s = &g_array_index(script->core[core], UnrollStep, i);
            printf("  core %u: %u %s object %u value %u extra %d", core, core * 1000 + i + 1, step_kind_name((StepKind)s->step.kind),
                   s->step.object, s->step.value, (int)s->step.extra);
            if (s->step.kind == STEP_COPY_START)
                printf(" from %u.%u to %u.%u semaphores %d %d remote %d", s->copy.source, s->copy.source_region, s->copy.target,
                       s->copy.target_region, (int)s->copy.send_semaphore, (int)s->copy.receive_semaphore, s->copy.remote);
            printf("\n");
        }
    printf("  states %lu / naive %lu, transitions %lu / %lu, ends %u / %u\n", outcome->states, naive->states, outcome->transitions,
           naive->transitions, outcome->end_states->len, naive->end_states->len);
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        g_autofree char *key = key_of(script->program, finding);
        printf("  %s: %lu%s\n", key, finding->count, finding->moves ? "" : " (no schedule)");
    }
    GHashTableIter iter;
    gpointer key, count;
    g_hash_table_iter_init(&iter, naive->faults);
    while (g_hash_table_iter_next(&iter, &key, &count))
        printf("  naive: %s: %u\n", (char *)key, GPOINTER_TO_UINT(count));
}

static bool same_moves(const Outcome *a, const Outcome *b)
{
    bool same = a->findings->len == b->findings->len;
    for (guint i = 0; same && i < a->findings->len; i++) {
        const Finding *one = g_ptr_array_index(a->findings, i), *other = g_ptr_array_index(b->findings, i);
        same = one->moves->len == other->moves->len;
        for (guint m = 0; same && m < one->moves->len; m++) {
            const Move left = g_array_index(one->moves, Move, m), right = g_array_index(other->moves, Move, m);
            same = left.core == right.core && left.copy == right.copy && left.moment == right.moment;
        }
    }
    return same;
}

static uint64_t resumed;                        /* searches */

/* A search that a limit ends at a third of the states, gone on from its checkpoint by another number of workers. */
static Outcome *interrupted(const UnrollSource *source, const EnumerateOptions *way, uint64_t states)
{
    static const char IDENTITY[] = "test 1\n";
    char *error = NULL, path[] = "/tmp/heddle-test-XXXXXX";
    close(mkstemp(path));
    EnumerateOptions options = *way;
    options.states_max = MAX(states / 3, 1);
    options.checkpoint = checkpoint_new(path, IDENTITY, &error);
    UnrollSource fresh = *source;
    Outcome *outcome = enumerate_run(&fresh, &options);
    checkpoint_free(options.checkpoint);
    bool cut = outcome->limits->len > 0;
    if (cut && outcome->refused == NULL) {
        resumed++;
        outcome_free(outcome);
        options = *way;
        options.workers = 3 - MIN(way->workers, 2);
        options.resumed = checkpoint_read(path, IDENTITY, &error);
        assert_non_null(options.resumed);
        options.checkpoint = checkpoint_new(path, IDENTITY, &error);
        outcome = enumerate_run(&fresh, &options);
        checkpoint_free(options.checkpoint);
        g_bytes_unref(options.resumed);
    }
    unlink(path);
    return outcome;
}

/* Every way of walking all states, against the naive search. Whatever the number of workers, schedules are the same. */
static void compare_ways(const Mix *mix, uint64_t seed, const Script *script, const UnrollSource *source, const Naive *naive)
{
    static const EnumerateOptions WAY[] = {{.workers = 1}, {.workers = 2}, {.modes = WALK_SWEEP}, {.modes = WALK_SWEEP, .workers = 4},
                                           {.modes = WALK_MERGE_LOCAL}, {.modes = WALK_MERGE_LOCAL | WALK_SWEEP, .workers = 2}};
    Outcome *first = NULL;
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(WAY); i++) {
        const EnumerateOptions *way = &WAY[i % G_N_ELEMENTS(WAY)];
        UnrollSource fresh = *source;
        Outcome *outcome = i < G_N_ELEMENTS(WAY) ? enumerate_run(&fresh, way) : interrupted(source, way, naive->states);
        if (!compare(script, outcome, naive) || (first != NULL && way->modes == 0 && !same_moves(first, outcome))) {
            printf("mix %s, seed %lu, way %zu\n", mix->name, seed, i);
            print_difference(script, outcome, naive);
            fail();
        }
        if (first == NULL)
            first = outcome;
        else
            outcome_free(outcome);
    }
    outcome_free(first);
}

static void compare_mix(const Mix *mix, uint64_t first, uint64_t programs, uint64_t states_max)
{
    uint64_t compared = 0, faults = 0, states = 0;
    for (uint64_t seed = first; seed < first + programs; seed++) {
        Script *script = make(mix, seed);
        Naive *naive = naive_run(script, states_max);
        if (naive->complete) {
            UnrollSource source = naive_source(script);
            compare_ways(mix, seed, script, &source, naive);
            compared++;
            faults += g_hash_table_size(naive->faults), states += naive->states;
        }
        naive_free(naive);
        script_free(script);
    }
    printf("%s: %lu of %lu programs compared, %lu findings, %lu states, %lu searches resumed\n", mix->name, compared, programs, faults,
           states, resumed);
    assert_true(resumed > compared);
    resumed = 0;
    assert_true(compared * 2 > programs);
}

static const Mix MIXES[] = {
    {.name = "plain, whole", .progress = DMA_PROGRESS_WHOLE},
    {.name = "plain, fluid"},
    {.name = "link-fifo, whole", .order = DMA_ORDER_LINK_FIFO, .progress = DMA_PROGRESS_WHOLE},
    {.name = "link-fifo, fluid", .order = DMA_ORDER_LINK_FIFO},
    {.name = "issue-order, fluid", .order = DMA_ORDER_ISSUE_ORDER},
    {.name = "two cores", .progress = DMA_PROGRESS_WHOLE, .two_cores = true},
    {.name = "launches", .progress = DMA_PROGRESS_WHOLE, .launches = true},
    {.name = "launches, lives, two cores", .progress = DMA_PROGRESS_WHOLE, .launches = true, .lives = true, .two_cores = true},
    {.name = "launches, lives, fluid, strict", .launches = true, .lives = true, .scopes = SCOPES_STRICT},
    {.name = "flags", .progress = DMA_PROGRESS_WHOLE, .flags = true},
    {.name = "steered", .progress = DMA_PROGRESS_WHOLE, .flags = true, .steered = true},
    {.name = "stops, limits, meant waits", .launches = true, .stops = true, .limits = true, .meant = true},
};

static void random_scripts(void **state)
{
    (void)state;
    const char *programs = g_getenv("HEDDLE_TEST_PROGRAMS"), *first = g_getenv("HEDDLE_TEST_SEED");
    for (size_t i = 0; i < G_N_ELEMENTS(MIXES); i++)
        compare_mix(&MIXES[i], first ? g_ascii_strtoull(first, NULL, 10) : 1, programs ? g_ascii_strtoull(programs, NULL, 10) : 60, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_gather),
        cmocka_unit_test(all_gather_with_one_receive_semaphore),
        cmocka_unit_test(all_gather_fluid),
        cmocka_unit_test(all_gather_with_credit),
        cmocka_unit_test(right_permute),
        cmocka_unit_test(all_to_all),
        cmocka_unit_test(two_slots),
        cmocka_unit_test(all_reduce),
        cmocka_unit_test(wide_keys),
        cmocka_unit_test(a_fluid_count_that_is_looked_at),
        cmocka_unit_test(too_many_cores),
        cmocka_unit_test(limits),
        cmocka_unit_test(random_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
