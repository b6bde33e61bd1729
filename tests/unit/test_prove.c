/* test_prove.c - the proof on the counterexamples that taught its rules, each a few steps long, and on known numbers of racing pairs.
 *
 * Random programs and the comparison with the enumeration are test_differential's.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include "../../checker/proof/prove.h"
#include "../support/shapes.h"

static const Knobs FLUID = {.dma_progress = DMA_PROGRESS_FLUID}, WHOLE = {.dma_progress = DMA_PROGRESS_WHOLE};
static const Knobs FIFO = {.dma_progress = DMA_PROGRESS_WHOLE, .dma_order = DMA_ORDER_LINK_FIFO};
static const Knobs ISSUE = {.dma_progress = DMA_PROGRESS_WHOLE, .dma_order = DMA_ORDER_ISSUE_ORDER};

static uint64_t count_of(const Outcome *outcome, FaultId id)
{
    uint64_t count = 0;
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        if (finding->id == id) {
            assert_non_null(finding->moves);
            count += finding->count;
        }
    }
    return count;
}

/* So many faults of that kind and none of any other; the script is freed. */
static void expect(Script *script, FaultId id, uint64_t count)
{
    const Outcome *outcome = script_prove(script);
    assert_true(outcome->complete);
    assert_int_equal(outcome->end_states->len, 1);
    for (guint i = 0; i < outcome->findings->len; i++)
        assert_int_equal(((const Finding *)g_ptr_array_index(outcome->findings, i))->id, id);
    assert_int_equal(count_of(outcome, id), count);
    script_free(script);
}

static void a_wait_for_zero_needs_nothing(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_access(s, 0, STEP_LOAD, s->buffer, 0);
    script_signal(s, 0, script_sem(s, 1, 0), 1);
    script_wait(s, 1, script_sem(s, 1, 0), 0);
    script_send(s, 1, 1, 0, 0, 0);
    expect(s, FAULT_RACE, 1);
}

static void a_wait_takes_any_of_the_signals(void **state)
{
    (void)state;
    Script *s = script_small(3, 1, &WHOLE);
    for (uint32_t sender = 1; sender < 3; sender++)
        script_send(s, sender, 0, 0, sender, 0);
    script_wait(s, 0, script_dma(s, 0, 0), 4);
    script_access(s, 0, STEP_LOAD, s->buffer, 1);
    script_wait(s, 0, script_dma(s, 0, 0), 4);
    script_access(s, 0, STEP_LOAD, s->buffer, 2);
    expect(s, FAULT_RACE, 1);
}

static void both_waits_before_both_loads_are_right(void **state)
{
    (void)state;
    Script *s = script_small(3, 1, &FLUID);
    for (uint32_t sender = 1; sender < 3; sender++)
        script_send(s, sender, 0, 0, sender, 0);
    for (unsigned i = 0; i < 2; i++)
        script_wait(s, 0, script_dma(s, 0, 0), 4);
    for (uint32_t slot = 1; slot < 3; slot++)
        script_access(s, 0, STEP_LOAD, s->buffer, slot);
    expect(s, FAULT_RACE, 0);
}

/* One wait for 4 of the 8 bytes that two copies bring: whole copies leave one of them open, halves leave both. */
static void halves_of_two_copies_make_a_whole(void **state)
{
    (void)state;
    for (unsigned fluid = 0; fluid < 2; fluid++) {
        Script *s = script_small(2, 1, fluid ? &FLUID : &WHOLE);
        script_send(s, 1, 0, 0, 1, 0);
        script_signal(s, 1, script_sem(s, 0, 0), 1);
        script_wait(s, 0, script_dma(s, 0, 0), 4);
        script_access(s, 0, STEP_LOAD, s->buffer, 1);
        script_wait(s, 0, script_sem(s, 0, 0), 1);
        script_signal(s, 0, script_sem(s, 1, 0), 1);
        script_wait(s, 1, script_sem(s, 1, 0), 1);
        script_send(s, 1, 0, 0, 2, 0);
        script_wait(s, 0, script_dma(s, 0, 0), 4);
        script_access(s, 0, STEP_LOAD, s->buffer, 2);
        expect(s, FAULT_RACE, 0);
    }
    for (unsigned fluid = 0; fluid < 2; fluid++) {
        Script *s = script_small(2, 1, fluid ? &FLUID : &WHOLE);
        for (uint32_t slot = 1; slot < 3; slot++)
            script_send(s, 1, 0, 0, slot, 0);
        script_wait(s, 0, script_dma(s, 0, 0), 7);
        script_access(s, 0, STEP_LOAD, s->buffer, 1);
        script_access(s, 0, STEP_LOAD, s->buffer, 2);
        expect(s, FAULT_RACE, fluid ? 2 : 0);
    }
}

static void a_wait_that_keeps_needs_what_was_taken_and_its_value(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    for (uint32_t slot = 1; slot < 3; slot++) {
        script_access(s, 1, STEP_STORE, s->buffer, slot);
        script_send(s, 1, slot, 0, slot, slot);
        script_wait(s, 0, script_dma(s, 0, slot), 4);
        script_signal(s, 0, script_sem(s, 1, 0), 1);
    }
    script_wait(s, 1, script_sem(s, 1, 0), 1);
    script_step(s, 1, STEP_WAIT_KEEP, script_sem(s, 1, 0), 1, NONE);
    script_access(s, 1, STEP_STORE, s->buffer, 2);            /* after both arrivals, hence after both reads */
    expect(s, FAULT_RACE, 0);
}

static void keeping_takes_nothing_from_the_next_wait(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_send(s, 1, 0, 0, 1, 0);
    script_send(s, 1, 0, 0, 2, 0);
    script_step(s, 0, STEP_WAIT_KEEP, script_dma(s, 0, 0), 8, NONE);
    script_wait(s, 0, script_dma(s, 0, 0), 4);
    script_access(s, 0, STEP_LOAD, s->buffer, 1);
    script_access(s, 0, STEP_LOAD, s->buffer, 2);
    expect(s, FAULT_RACE, 0);
}

/* Two cores of a device meet at a barrier: each is after what the other did before it, and so is a core that they signal. */
static void a_core_barrier_is_one_event(void **state)
{
    (void)state;
    Script *s = script_small(2, 2, &WHOLE);
    script_access(s, 0, STEP_STORE, s->buffer, 0);
    script_access(s, 1, STEP_STORE, s->buffer, 1);
    for (uint32_t core = 0; core < 2; core++)
        script_step(s, core, STEP_CORE_BARRIER, 0, 0, 0);
    script_access(s, 0, STEP_LOAD, s->buffer, 1);
    script_access(s, 1, STEP_LOAD, s->buffer, 0);
    script_signal(s, 0, script_sem(s, 2, 0), 1);
    script_wait(s, 2, script_sem(s, 2, 0), 1);
    script_send(s, 2, 0, 1, 1, 0);                    /* after core 0's load of slot 1, whose signal it waits for */
    expect(s, FAULT_RACE, 0);
}

/* Three copies along one link; only the last one's arrival is waited for. In order of issue that says that all have arrived. */
static void a_chain_of_copies_is_released_by_its_last(void **state)
{
    (void)state;
    const Knobs *knobs[] = {&WHOLE, &FIFO, &ISSUE};
    for (unsigned i = 0; i < G_N_ELEMENTS(knobs); i++) {
        Script *s = script_small(2, 1, knobs[i]);
        for (uint32_t slot = 1; slot < 4; slot++)
            script_send(s, 1, 0, 0, slot, slot - 1);
        script_wait(s, 0, script_dma(s, 0, 2), 4);
        for (uint32_t slot = 1; slot < 4; slot++)
            script_access(s, 0, STEP_LOAD, s->buffer, slot);
        expect(s, FAULT_RACE, i == 0 ? 2 : 0);
    }
}

/* Two copies on one semaphore, waited for once: whichever is counted, in order the first one is there. */
static void a_chain_counts_its_signals_together(void **state)
{
    (void)state;
    for (unsigned fifo = 0; fifo < 2; fifo++) {
        Script *s = script_small(2, 1, fifo ? &FIFO : &WHOLE);
        for (uint32_t slot = 1; slot < 3; slot++)
            script_send(s, 1, 0, 0, slot, 0);
        script_wait(s, 0, script_dma(s, 0, 0), 4);
        script_access(s, 0, STEP_LOAD, s->buffer, 1);
        expect(s, FAULT_RACE, fifo ? 0 : 1);
    }
}

/* A read is over when its own signal or its copy's arrival is known. Device 0 passes when either of two signals has come; both depend on
 * the same copy, one through its send semaphore, one through device 1. Neither signal is necessary, and yet the read is over. */
static void a_read_may_be_over_without_either_sign_alone(void **state)
{
    (void)state;
    Script *s = script_small(3, 1, &WHOLE);
    script_copy(s, 0, s->buffer, 0, s->buffer, 1, 1, script_dma(s, 0, 0), script_dma(s, 1, 1), true);
    script_wait(s, 0, script_dma(s, 0, 0), 4);                     /* the first signal is passed on to device 2 */
    script_signal(s, 0, script_sem(s, 2, 0), 1);
    script_wait(s, 1, script_dma(s, 1, 1), 4);                     /* so does the second */
    script_signal(s, 1, script_sem(s, 2, 0), 1);
    script_wait(s, 2, script_sem(s, 2, 0), 1);                 /* one of them is enough here */
    script_send(s, 2, 2, 0, 0, 2);                                        /* overwrites what the first copy read */
    expect(s, FAULT_RACE, 0);
}

/* Of two equal copies on one semaphore: the first wait can be satisfied by the second copy, after the second wait both are there. */
static void the_first_of_two_equal_waits_mismatches(void **state)
{
    (void)state;
    Script *s = script_small(1, 1, &WHOLE);
    for (uint32_t slot = 1; slot < 3; slot++)
        script_copy(s, 0, s->buffer, 0, s->buffer, slot, 0, NONE, script_dma(s, 0, 0), false);
    for (uint32_t ordinal = 0; ordinal < 2; ordinal++)
        script_step(s, 0, STEP_WAIT, script_dma(s, 0, 0), 4, ordinal);
    expect(s, FAULT_MISMATCH, 1);
}

static void the_highest_count_is_before_a_wait(void **state)
{
    (void)state;
    for (int64_t limit = 1; limit <= 2; limit++) {
        Script *s = script_small(2, 1, &WHOLE);
        program_decl(s->program, s->semaphore)->limit = limit;
        for (unsigned i = 0; i < 2; i++)
            script_signal(s, 1, script_sem(s, 0, 0), 1);
        for (unsigned i = 0; i < 2; i++)
            script_wait(s, 0, script_sem(s, 0, 0), 1);
        expect(s, FAULT_OVERFLOW, limit == 1);
    }
}

/* A launch of two devices with scoped declarations, in a program with lifetimes. */
static Script *new_launch(const Knobs *knobs, bool entry_barrier)
{
    Script *s = script_small(2, 1, knobs);
    s->program->bare = false;
    program_launch(s->program, 0)->entry_barrier = entry_barrier;
    return s;
}

static uint32_t new_scope(Script *s, Space space, SemaphoreKind kind, uint32_t elements)
{
    DeclSpec spec = {.space = space, .semaphore_kind = kind, .dtype = space == SPACE_SEMAPHORE ? DTYPE_I32 : DTYPE_U8, .life = LIFE_SCOPE,
                     .ndim = space == SPACE_SEMAPHORE ? 1 : 2, .size = {elements, 4}, .opaque = true, .input = true, .collective_id = -1,
                     .name = "scoped"};
    return program_scope_decl(s->program, 0, (uint32_t)s->program->decls.count, &spec);
}

/* The count at the scope's end can be 1, although the wait that comes later finds what it needs in the other life. */
static void a_later_wait_hides_no_leftover(void **state)
{
    (void)state;
    Script *s = new_launch(&WHOLE, true);
    uint32_t scoped = new_scope(s, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, 1), mine = script_semaphore_id(s, scoped, 0, 0);
    script_step(s, 0, STEP_ALLOC, scoped, 0, 0);
    script_signal(s, 1, mine, 1);
    script_step(s, 0, STEP_FREE, scoped, 0, 0);
    expect(s, FAULT_LEFTOVER, 1);
}

static void a_scope_may_be_named_before_it_opens(void **state)
{
    (void)state;
    for (unsigned strict = 0; strict < 2; strict++) {
        Knobs knobs = {.dma_progress = DMA_PROGRESS_WHOLE, .scopes = strict ? SCOPES_STRICT : SCOPES_STATIC};
        Script *s = new_launch(&knobs, true);
        uint32_t scoped = new_scope(s, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, 1), mine = script_semaphore_id(s, scoped, 0, 0);
        script_signal(s, 1, mine, 1);
        script_step(s, 0, STEP_ALLOC, scoped, 0, 0);
        script_wait(s, 0, mine, 1);
        script_step(s, 0, STEP_FREE, scoped, 0, 0);
        expect(s, FAULT_LIFETIME, strict);
    }
}

static void without_an_entry_barrier_the_other_may_not_have_entered(void **state)
{
    (void)state;
    for (unsigned barrier = 0; barrier < 2; barrier++) {
        Knobs knobs = {.dma_progress = DMA_PROGRESS_WHOLE};
        Script *s = new_launch(&knobs, barrier);
        uint32_t scoped = new_scope(s, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, 1), mine = script_semaphore_id(s, scoped, 0, 0);
        script_signal(s, 1, mine, 1);
        script_step(s, 0, STEP_ALLOC, scoped, 0, 0);
        script_wait(s, 0, mine, 1);
        script_step(s, 0, STEP_FREE, scoped, 0, 0);
        expect(s, FAULT_LIFETIME, barrier ? 0 : 1);
    }
}

/* The read is waited for, the write by nobody: the target may leave before it, its own device before that is fine. */
static void a_copy_is_in_flight_at_its_target(void **state)
{
    (void)state;
    Script *s = new_launch(&WHOLE, true);
    uint32_t scoped = new_scope(s, SPACE_HBM, 0, 2);
    for (uint32_t core = 0; core < 2; core++)
        script_step(s, core, STEP_ALLOC, scoped, 0, 0);
    script_copy(s, 1, scoped, 0, scoped, 1, 0, script_dma(s, 1, 0), script_dma(s, 0, 0), true);
    script_wait(s, 1, script_dma(s, 1, 0), 4);
    script_signal(s, 1, script_sem(s, 0, 0), 1);
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    for (uint32_t core = 0; core < 2; core++)
        script_step(s, core, STEP_FREE, scoped, 0, 0);
    const Outcome *outcome = script_prove(s);
    assert_int_equal(count_of(outcome, FAULT_IN_FLIGHT), 1);
    assert_int_equal(count_of(outcome, FAULT_LIFETIME), 1);
    script_free(s);
}

static Script *new_unwritten(uint32_t devices)
{
    Script *s = script_small(devices, 1, &WHOLE);
    program_decl(s->program, s->buffer)->input = false;
    return s;
}

static void a_load_of_nothing_is_uninitialised(void **state)
{
    (void)state;
    Script *s = new_unwritten(1);
    script_access(s, 0, STEP_LOAD, s->buffer, 0);
    script_access(s, 0, STEP_STORE, s->buffer, 0);
    script_access(s, 0, STEP_LOAD, s->buffer, 0);
    expect(s, FAULT_UNINITIALISED, 1);
}

/* Either of two writes has come before the load, neither for certain: two races, and nothing more to say about that place. */
static void one_of_two_writes_always_comes_first(void **state)
{
    (void)state;
    Script *s = new_unwritten(3);
    program_decl(s->program, s->buffer)->input = true;
    for (uint32_t sender = 1; sender < 3; sender++)
        script_send(s, sender, 0, 0, 1, 0);
    script_wait(s, 0, script_dma(s, 0, 0), 4);
    script_access(s, 0, STEP_LOAD, s->buffer, 1);
    expect(s, FAULT_RACE, 3);
}

/* The wait of device 1 could do without device 0's signal if device 2's came first, but that one follows this wait: a signal that comes
 * later in the record counts, and only the fixed point shows that it cannot help. */
static void passes_repeat_until_nothing_falls(void **state)
{
    (void)state;
    Script *s = script_small(3, 1, &WHOLE);
    script_access(s, 0, STEP_STORE, s->buffer, 0);
    script_signal(s, 0, script_sem(s, 1, 0), 1);
    script_wait(s, 1, script_sem(s, 1, 0), 1);
    script_signal(s, 1, script_sem(s, 2, 0), 1);
    script_wait(s, 2, script_sem(s, 2, 0), 1);
    script_send(s, 2, 1, 0, 0, 0);
    script_signal(s, 2, script_sem(s, 1, 0), 1);               /* later in the record, and yet it may be first */
    script_signal(s, 1, script_sem(s, 2, 0), 1);
    expect(s, FAULT_RACE, 0);
}

static void a_look_at_a_count_is_a_conflict(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_step(s, 0, STEP_SEMAPHORE_READ, script_sem(s, 0, 0), 0, 0);
    script_signal(s, 1, script_sem(s, 0, 0), 1);
    const Outcome *outcome = script_prove(s);
    assert_false(outcome->complete);
    assert_int_equal(outcome->conflicts, 1);
    assert_int_equal(outcome->limits->len, 1);
    assert_string_equal(g_ptr_array_index(outcome->limits, 0), "conflicts");
    script_free(s);
}

static void a_look_that_nobody_disturbs_is_none(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    script_signal(s, 0, script_sem(s, 0, 0), 1);
    script_step(s, 0, STEP_SEMAPHORE_READ, script_sem(s, 0, 0), 0, 0);
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    expect(s, FAULT_RACE, 0);
}

static void two_waiters_are_a_conflict_even_if_one_is_stuck(void **state)
{
    (void)state;
    Script *s = script_small(1, 2, &WHOLE);
    script_signal(s, 0, script_sem(s, 0, 0), 1);
    script_wait(s, 0, script_sem(s, 0, 0), 1);
    script_wait(s, 1, script_sem(s, 0, 0), 1);
    const Outcome *outcome = script_prove(s);
    assert_false(outcome->complete);
    assert_int_equal(count_of(outcome, FAULT_DEADLOCK), 1);
    script_free(s);
}

/* A flag that is only added to, and awaited with >=, is a semaphore that keeps: who waits has heard of the adds it needs. */
static void added_flags_order_without_conflict(void **state)
{
    (void)state;
    for (uint32_t need = 1; need <= 2; need++) {
        Script *s = script_small(3, 1, &WHOLE);
        uint32_t flags = script_semaphore(s, SEMAPHORE_FLAG, 1, "flag"), flag = script_semaphore_id(s, flags, 0, 0);
        script_access(s, 0, STEP_STORE, s->buffer, 0);
        script_step(s, 0, STEP_FLAG_ADD, flag, 1, 0);
        script_step(s, 1, STEP_FLAG_ADD, flag, 1, 0);
        script_step(s, 2, STEP_FLAG_WAIT, flag, need, COMPARE_GE);
        script_send(s, 2, 1, 0, 0, 0);
        expect(s, FAULT_RACE, need == 1);
    }
}

static void a_cycle_of_waits_is_told_as_such(void **state)
{
    (void)state;
    Script *s = script_small(2, 1, &WHOLE);
    for (uint32_t core = 0; core < 2; core++) {
        script_signal(s, core, script_sem(s, 1 - core, 0), 1);
        script_wait(s, core, script_sem(s, core, 0), 2);
        script_signal(s, core, script_sem(s, 1 - core, 0), 1);
    }
    const Outcome *outcome = script_prove(s);
    assert_int_equal(count_of(outcome, FAULT_DEADLOCK), 1);
    const Finding *finding = g_ptr_array_index(outcome->findings, 0);
    assert_non_null(strstr(finding->why, "the count is 1, it needs 2"));
    assert_non_null(strstr(finding->why, "device 0 needs device 1 needs device 0"));
    script_free(s);
}

static void known_numbers_of_racing_pairs(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 8; n++) {
        expect(shape_all_gather(n, &WHOLE, false), FAULT_RACE, 0);
        expect(shape_all_gather(n, &FLUID, true), FAULT_RACE, n * (n - 2));
        for (uint32_t k = 1; k <= 3; k++)
            expect(shape_credit_gather(n, k, k + 1), FAULT_RACE, n >= k + 2 ? n * (n - k - 1) : 0);
    }
    static const uint64_t two_slots[] = {0, 3, 16}, all_reduce[] = {12, 42, 92};
    for (uint32_t n = 2; n <= 4; n++) {
        expect(shape_two_slots(n, n - 1, true), FAULT_RACE, 0);
        expect(shape_two_slots(n, n - 1, false), FAULT_RACE, two_slots[n - 2]);
        expect(shape_all_reduce(n, true), FAULT_RACE, 0);
        expect(shape_all_reduce(n, false), FAULT_RACE, all_reduce[n - 2]);
    }
}

/* Many accesses to one place are swept instead of compared in pairs; the counts are those of all pairs. */
static void sweeps_count_what_pairs_would(void **state)
{
    (void)state;
    enum { LOADS = 40, COPIES = 60 };
    Script *s = script_small(2, 1, &WHOLE);
    for (unsigned i = 0; i < LOADS; i++)
        script_access(s, 0, STEP_LOAD, s->buffer, 1);
    for (unsigned i = 0; i < COPIES; i++) {
        script_send(s, 1, 0, 0, 1, 0);
        if (i == COPIES / 2)
            script_signal(s, 1, script_sem(s, 0, 0), 1);
    }
    script_wait(s, 0, script_dma(s, 0, 0), 4 * COPIES);
    for (unsigned i = 0; i < LOADS; i++)
        script_access(s, 0, STEP_LOAD, s->buffer, 1);
    expect(s, FAULT_RACE, LOADS * COPIES + COPIES * (COPIES - 1) / 2);
}

/* The first race is near the beginning, and its schedule needs no later or unrelated steps. */
static void a_schedule_is_short_however_long_the_program(void **state)
{
    (void)state;
    Script *script = shape_all_gather(48, &FLUID, true);
    const Outcome *outcome = script_prove(script);
    assert_int_equal(count_of(outcome, FAULT_RACE), 48 * 46);
    guint least = G_MAXUINT;
    for (guint i = 0; i < outcome->findings->len; i++)
        least = MIN(least, ((const Finding *)g_ptr_array_index(outcome->findings, i))->moves->len);
    assert_true(least < 40);
    script_free(script);
}

static void limits_end_a_proof_as_bounded(void **state)
{
    (void)state;
    Script *script = shape_all_gather(16, &WHOLE, false);
    script_run(script);
    ProveOptions little_memory = {.limits.memory = 100000}, little_time = {.limits.seconds = 1e-9};
    const ProveOptions *options[] = {&little_memory, &little_time};
    const char *limit[] = {"memory", "time"};
    for (unsigned i = 0; i < 2; i++) {
        Outcome *outcome = prove_record(script->record, options[i]);
        assert_false(outcome->complete);
        assert_int_equal(outcome->limits->len, 1);
        assert_string_equal(g_ptr_array_index(outcome->limits, 0), limit[i]);
        outcome_free(outcome);
    }
    script_free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_zero_needs_nothing),
        cmocka_unit_test(a_wait_takes_any_of_the_signals),
        cmocka_unit_test(both_waits_before_both_loads_are_right),
        cmocka_unit_test(halves_of_two_copies_make_a_whole),
        cmocka_unit_test(a_wait_that_keeps_needs_what_was_taken_and_its_value),
        cmocka_unit_test(keeping_takes_nothing_from_the_next_wait),
        cmocka_unit_test(a_core_barrier_is_one_event),
        cmocka_unit_test(a_chain_of_copies_is_released_by_its_last),
        cmocka_unit_test(a_chain_counts_its_signals_together),
        cmocka_unit_test(a_read_may_be_over_without_either_sign_alone),
        cmocka_unit_test(the_first_of_two_equal_waits_mismatches),
        cmocka_unit_test(the_highest_count_is_before_a_wait),
        cmocka_unit_test(a_later_wait_hides_no_leftover),
        cmocka_unit_test(a_scope_may_be_named_before_it_opens),
        cmocka_unit_test(without_an_entry_barrier_the_other_may_not_have_entered),
        cmocka_unit_test(a_copy_is_in_flight_at_its_target),
        cmocka_unit_test(a_load_of_nothing_is_uninitialised),
        cmocka_unit_test(one_of_two_writes_always_comes_first),
        cmocka_unit_test(passes_repeat_until_nothing_falls),
        cmocka_unit_test(a_look_at_a_count_is_a_conflict),
        cmocka_unit_test(a_look_that_nobody_disturbs_is_none),
        cmocka_unit_test(two_waiters_are_a_conflict_even_if_one_is_stuck),
        cmocka_unit_test(added_flags_order_without_conflict),
        cmocka_unit_test(a_cycle_of_waits_is_told_as_such),
        cmocka_unit_test(known_numbers_of_racing_pairs),
        cmocka_unit_test(sweeps_count_what_pairs_would),
        cmocka_unit_test(a_schedule_is_short_however_long_the_program),
        cmocka_unit_test(limits_end_a_proof_as_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
