/* test_adversary.c - kernels that were written to get a wrong verdict out of the checker: both searches must say what the rules say.
 *
 * Each is small and has one trick. Where it is right, a twin beside it is wrong, or the other way round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/pallas.h>
#include "../../kernels/pallas/module.h"
#include "../support/checked.h"
#include "../support/sanitized.h"

/* ---- launches ---- */

/* Device 0 waits in the first launch for what device 1 does in the third. The second communicates in one of them only: then no device
 * begins it before all others have come. */
KERNEL(waits_on_0, sem, at_home)
{
    pl_semaphore_signal(at_home, 1, pl_device(1 - pl_device_id()));
    pl_semaphore_wait(at_home, 1);
    if (pl_device_id() == 0)
        pl_semaphore_wait(sem, 1);
}
KERNEL(keeps_to_itself, block) { pl_store(block, pl_tile_zeros(PL_F32, 8)); }
KERNEL(looks_around, sem)
{
    pl_semaphore_signal(sem, 1, pl_device(1 - pl_device_id()));
    pl_semaphore_wait(sem, 1);
}
KERNEL(helps_from_1, sem)
{
    if (pl_device_id() == 1)
        pl_semaphore_signal(sem, 1, pl_device(0));
}

PROGRAM(helped_from_a_later_launch, "no entry barrier where nobody communicates")
{
    PlRef sem = pl_semaphore_output(PL_REGULAR);
    pl_launch(waits_on_0, .args = {sem, pl_regular_semaphore()});
    pl_launch(keeps_to_itself, .args = {pl_vmem(PL_F32, 8)});
    pl_launch(helps_from_1, .args = {sem}, .skip_device_barrier = true);
}

PROGRAM(help_behind_a_barrier, "an entry barrier before the launch that helps")
{
    PlRef sem = pl_semaphore_output(PL_REGULAR);
    pl_launch(waits_on_0, .args = {sem, pl_regular_semaphore()});
    pl_launch(looks_around, .args = {pl_regular_semaphore()});
    pl_launch(helps_from_1, .args = {sem}, .skip_device_barrier = true);
}

/* The launch communicates only where the look came late, which no first run shows. */
KERNEL(helps_if_late, sem, own)
{
    int64_t seen = pl_core_index() == 0 ? pl_semaphore_read(own) : 0;
    if (pl_core_index() == 1)
        pl_semaphore_signal(own, 1, pl_core(0));
    if (pl_device_id() == 1 && seen == 1)
        pl_semaphore_signal(sem, 0, pl_device(0));
    if (pl_core_index() == 0)
        pl_semaphore_wait(own, 1);
}
KERNEL(waits_first, sem, at_home)
{
    if (pl_core_index() == 0) {
        pl_semaphore_signal(at_home, 1, pl_device(1 - pl_device_id()));
        pl_semaphore_wait(at_home, 1);
        if (pl_device_id() == 0)
            pl_semaphore_wait(sem, 1);
    }
}
KERNEL(helps_from_core_0, sem)
{
    if (pl_device_id() == 1 && pl_core_index() == 0)
        pl_semaphore_signal(sem, 1, pl_device(0));
}

PROGRAM(barrier_by_chance, "whether there is an entry barrier shows in some orders only")
{
    PlRef sem = pl_semaphore_output(PL_REGULAR);
    pl_launch(waits_first, .args = {sem, pl_regular_semaphore()});
    pl_launch(helps_if_late, .args = {sem, pl_regular_semaphore()});
    pl_launch(helps_from_core_0, .args = {sem}, .skip_device_barrier = true);
}

KERNEL(two_take, sem)
{
    if (pl_core_index() == 0)
        pl_semaphore_signal(sem, 1);
    pl_semaphore_wait(pl_core_ref(sem, 0), 1);
}

PROGRAM(two_take_one, "two cores wait for one signal: who gets it depends on the order, and is no other kernel")
{
    pl_launch(two_take, .args = {pl_regular_semaphore()});
}

static PlRef open_counter(void) { return pl_regular_semaphore(); }
KERNEL(polls_a_sibling, done)
{
    PL_SCOPED PlRef counter = open_counter();
    if (pl_core_index() == 0) {
        pl_semaphore_signal(counter, 2);
        pl_semaphore_wait(done, 1);
        pl_semaphore_wait(counter, 2);
    } else {
        while (pl_semaphore_read(pl_core_ref(counter, 0)) < 2)
            continue;
        pl_semaphore_signal(done, 1, pl_core(0));
    }
}

PROGRAM(polls_a_sibling, "the first look may come before the sibling has opened its scope")
{
    pl_launch(polls_a_sibling, .args = {pl_regular_semaphore()});
}

/* ---- values ---- */

/* A race that the program allows decides what device 0 does, in the order only in which it looks late. */
static double by_device(int device, const int64_t *index)
{
    (void)index;
    return device == 0 ? 3 : 5;
}

KERNEL(steered_by_an_exempt_race, box, look, send, recv, extra)
{
    PlCopy copy = pl_make_async_remote_copy(box, box, send, recv, pl_device(1 - pl_device_id()));
    if (pl_device_id() == 0) {
        if (pl_semaphore_read(look) == 1 && pl_load_int(pl_at(box, 0)) == 3)
            pl_semaphore_signal(extra, 1);
        pl_semaphore_wait(look, 1);
        pl_copy_wait_recv(copy);
    } else {
        pl_semaphore_signal(look, 1, pl_device(0));
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    }
}

PROGRAM(steered_by_an_exempt_race, "what is left over depends on an exempted race")
{
    PlRef box = pl_input_in(PL_SMEM, PL_I32, 1);
    pl_fill(box, by_device);
    pl_exempt(box, PL_RACE, "meant");
    pl_launch(steered_by_an_exempt_race,
              .args = {box, pl_regular_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(), pl_regular_semaphore()});
}

/* ---- polls ---- */

KERNEL(has_patience, sem)
{
    volatile int looks = 0;
    while (pl_semaphore_read(sem) < 1 && looks < pl_parameter(patience))
        looks++;
}

PROGRAM(some_patience, "looks in vain a few times, then goes on")
{
    (void)PARAMETER(patience, 40, 1, 100000);
    pl_launch(has_patience, .args = {pl_regular_semaphore()});
}

PROGRAM(long_patience, "looks in vain so often that it might be for ever")
{
    (void)PARAMETER(patience, 3000, 1, 100000);
    pl_launch(has_patience, .args = {pl_regular_semaphore()});
}

KERNEL(loses_patience, sem)
{
    volatile int looks = 0;
    while (pl_semaphore_read(sem) < 1 && (pl_core_index() == 0 || looks < 3000))
        looks += pl_core_index();
    if (pl_core_index() == 0)
        pl_semaphore_wait(sem, 1);
    else
        pl_semaphore_signal(sem, 1, pl_core(0));
}

PROGRAM(waits_for_patience, "polls until another core has lost its patience, which might be never")
{
    pl_launch(loses_patience, .args = {pl_regular_semaphore()});
}

KERNEL(has_none, sem)
{
    while (pl_semaphore_read(sem) < 1)
        continue;
}

PROGRAM(polls_for_ever, "nobody will signal")
{
    pl_launch(has_none, .args = {pl_regular_semaphore()});
}

/* Its stack is large where it polls: that it came back to where it was can be seen all the same. */
KERNEL(polls_with_much_in_hand, sem)
{
    volatile char much[12000];
    much[0] = 1;
    if (pl_device_id() == 0)
        pl_semaphore_signal(sem, much[0], pl_device(1));
    else
        while (pl_semaphore_read(sem) < much[0])
            continue;
    if (pl_device_id() == 1)
        pl_semaphore_wait(sem, 1);
}

PROGRAM(polls_with_much_in_hand, "a large local array beside a poll")
{
    pl_launch(polls_with_much_in_hand, .args = {pl_regular_semaphore()});
}

KERNEL(leaves_traces, sem, traces)
{
    while (pl_semaphore_read(sem) < 1)
        pl_semaphore_signal(traces, 1);
}

PROGRAM(polls_and_leaves_traces, "a loop that changes something each time")
{
    pl_launch(leaves_traces, .args = {pl_regular_semaphore(), pl_regular_semaphore()});
}

KERNEL(polls_memory, box, send, recv)
{
    PlCopy copy = pl_make_async_remote_copy(box, box, send, recv, pl_device(1 - pl_device_id()));
    if (pl_device_id() == 0) {
        while (pl_load_int(pl_at(box, 0)) != 5)
            continue;
        pl_copy_wait_recv(copy);
    } else {
        pl_copy_start(copy);
        pl_copy_wait_send(copy);
    }
}

PROGRAM(polls_memory, "races with the copy that it waits for")
{
    PlRef box = pl_input_in(PL_SMEM, PL_I32, 1);
    pl_fill(box, by_device);
    pl_launch(polls_memory, .args = {box, pl_dma_semaphore(), pl_dma_semaphore()});
}

/* ---- running them ---- */

typedef struct Foe {
    const char *program;
    uint32_t devices, cores;
    FaultId fault;                              /* FAULT_COUNT: none */
    Scopes scopes;                              /* 0: static */
} Foe;

static CheckResult *check_scopes(const Foe *at, Search search)
{
    CheckSpec spec = checked_spec(at->program, at->devices, at->cores, search);
    spec.knobs.scopes = at->scopes;
    return checked(&spec);
}

/* Nothing, one fault and its id, or several. */
static char *told(const CheckResult *result)
{
    if (result->outcome == NULL)
        return g_strdup(result->error != NULL ? result->error : verdict_name(result->verdict));
    GString *out = g_string_new(result->outcome->complete ? verdict_name(result->verdict) : "bounded");
    for (guint i = 0; i < result->outcome->findings->len; i++)
        g_string_append_printf(out, " %s", fault_name(((const Finding *)result->outcome->findings->pdata[i])->id));
    return g_string_free(out, FALSE);
}

/* open: whether its polls end is not decided, so neither is anything that rests on that. (With the address sanitizer: its red zones lie
 * between what is compared of two states of a core.) */
static char *expected_of(const Foe *at, bool open)
{
    if (at->fault == FAULT_COUNT || (open && at->fault == FAULT_NO_PROGRESS))
        return g_strdup(open ? "bounded" : "verified");
    return g_strdup_printf("%s %s", open ? "bounded" : "faulty", fault_name(at->fault));
}

static void want(const Foe *cases, size_t count, bool open)
{
    static const Search SEARCHES_ASKED[] = { SEARCH_AUTO, SEARCH_ENUMERATE };
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; s < G_N_ELEMENTS(SEARCHES_ASKED); s++) {
            g_autofree char *expected = expected_of(&cases[i], open);
            CheckResult *result = check_scopes(&cases[i], SEARCHES_ASKED[s]);
            g_autofree char *found = told(result);
            if (strcmp(found, expected) != 0)
                fail_msg("%s, %s: %s, expected %s", cases[i].program, search_name(SEARCHES_ASKED[s]), found, expected);
            checked_free(result);
        }
}

static void entry_barriers_are_those_that_launches_turn_out_to_have(void **state)
{
    static const Foe cases[] = {
        { "helped_from_a_later_launch", 2, 1, FAULT_COUNT, 0 }, { "help_behind_a_barrier", 2, 1, FAULT_DEADLOCK, 0 },
        { "barrier_by_chance", 2, 2, FAULT_DEADLOCK, 0 },
    };
    (void)state;
    want(cases, G_N_ELEMENTS(cases), false);
}

static void who_takes_a_signal_is_a_matter_of_order(void **state)
{
    static const Foe cases[] = { { "two_take_one", 1, 1, FAULT_COUNT, 0 }, { "two_take_one", 1, 2, FAULT_DEADLOCK, 0 } };
    (void)state;
    want(cases, G_N_ELEMENTS(cases), false);
}

static void a_look_in_vain_is_a_look(void **state)
{
    static const Foe cases[] = { { "polls_a_sibling", 1, 2, FAULT_COUNT, 0 }, { "polls_a_sibling", 1, 2, FAULT_LIFETIME, SCOPES_STRICT } };
    (void)state;
    want(cases, G_N_ELEMENTS(cases), SANITIZED);
}

static void what_an_exempted_race_steers_to_in_some_order_is_found(void **state)
{
    const Foe at = { "steered_by_an_exempt_race", 2, 1, FAULT_LEFTOVER, 0 };
    (void)state;
    CheckResult *by_classes = check_scopes(&at, SEARCH_AUTO), *by_states = check_scopes(&at, SEARCH_ENUMERATE);
    assert_int_equal(by_classes->verdict, VERDICT_FAULTY);
    assert_int_equal(by_states->verdict, VERDICT_FAULTY);
    checked_free(by_classes);
    checked_free(by_states);
}

static void a_loop_that_may_end_is_no_fault(void **state)
{
    static const Foe ends = { "some_patience", 1, 1, FAULT_COUNT, 0 };
    static const Foe cases[] = { { "polls_for_ever", 1, 1, FAULT_NO_PROGRESS, 0 },
                                  { "polls_with_much_in_hand", 2, 1, FAULT_COUNT, 0 } };
    static const Foe open[] = { { "long_patience", 1, 1, FAULT_COUNT, 0 }, { "polls_and_leaves_traces", 1, 1, FAULT_COUNT, 0 },
                                 { "waits_for_patience", 1, 2, FAULT_COUNT, 0 }, { "polls_memory", 2, 1, FAULT_RACE, 0 } };
    (void)state;
    want(&ends, 1, false);
    want(cases, G_N_ELEMENTS(cases), SANITIZED);
    for (size_t i = 0; i < G_N_ELEMENTS(open); i++)
        for (unsigned s = 0; s < 2; s++) {
            CheckResult *result = check_scopes(&open[i], s ? SEARCH_ENUMERATE : SEARCH_AUTO);
            if (result->verdict != (open[i].fault == FAULT_COUNT ? VERDICT_BOUNDED : VERDICT_FAULTY))
                fail_msg("%s: %s", open[i].program, verdict_name(result->verdict));
            checked_free(result);
        }
}

/* More looks than the recorded run does before it takes a poll for endless. */
static void the_proof_alone_does_not_guess_that_a_poll_has_no_end(void **state)
{
    (void)state;
    const Override patience = { "patience", 30000 };
    CheckSpec spec = { .open = pl_module_open, .program = "long_patience", .cores = 1, .search = SEARCH_PROVE, .override = &patience,
                       .overrides = 1 };
    mesh_line(&spec.mesh, 1);
    CheckResult *result = checked(&spec);
    g_autofree char *found = told(result);
    assert_string_equal(found, "bounded");
    assert_int_equal(result->verdict, VERDICT_BOUNDED);
    checked_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entry_barriers_are_those_that_launches_turn_out_to_have),
        cmocka_unit_test(who_takes_a_signal_is_a_matter_of_order),
        cmocka_unit_test(a_look_in_vain_is_a_look),
        cmocka_unit_test(a_loop_that_may_end_is_no_fault),
        cmocka_unit_test(the_proof_alone_does_not_guess_that_a_poll_has_no_end),
        cmocka_unit_test(what_an_exempted_race_steers_to_in_some_order_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
