/* test_orders.c - each fault is labelled with the orders of copies under which it holds, by a schedule or by a whole check under the order.
 *
 * Every label is compared with what a check under that order finds. Each kernel has a form that is right under every order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <heddle/pallas.h>
#include "../../checker/advise/advise.h"
#include "../../checker/check/orders.h"
#include "../../kernels/pallas/module.h"
#include "../support/checked.h"

enum { WRONG, RIGHT, N = 16 };

#define TWIN pl_parameter(twin)
#define SENDS(kernel, what, ...) \
    PROGRAM(kernel, what) \
    { \
        pl_choose("twin", WRONG, RIGHT); \
        pl_launch(kernel, .args = {pl_input(PL_F32, N), pl_vmem(PL_F32, N), pl_vmem(PL_F32, N), pl_dma_semaphore(), \
                                   pl_dma_semaphore(2), ## __VA_ARGS__}); \
    }

static PlCopy copy_to_next(PlRef input, PlRef block, PlRef send, PlRef recv)
{
    PlCopy copy = pl_make_async_remote_copy(input, block, send, recv, pl_device((pl_device_id() + 1) % pl_num_devices()));
    pl_copy_start(copy);
    return copy;
}

/* One semaphore for both: the first wait may be for the second copy. */
KERNEL(over_one_link, input, first, second, send, recv)
{
    PlCopy a = copy_to_next(input, first, send, pl_at(recv, 0));
    PlCopy b = copy_to_next(input, second, send, pl_at(recv, TWIN == RIGHT));
    pl_copy_wait_recv(a);
    pl_load(first);
    pl_copy_wait_recv(b);
    pl_load(second);
    pl_copy_wait_send(a);
    pl_copy_wait_send(b);
}
SENDS(over_one_link, "right if copies of a link arrive in order")

KERNEL(too_early, input, first, second, send, recv)
{
    PlCopy a = copy_to_next(input, first, send, pl_at(recv, 0)), b = copy_to_next(input, second, send, pl_at(recv, 1));
    pl_copy_wait_recv(a);
    if (TWIN == WRONG)
        pl_load(second);
    pl_copy_wait_recv(b);
    pl_load(second);
    pl_copy_wait_send(a);
    pl_copy_wait_send(b);
}
SENDS(too_early, "looks before the second copy has arrived")

KERNEL(locally, input, first, second, send, recv)
{
    (void)send;
    PlCopy a = pl_async_copy(input, first, pl_at(recv, 0)), b = pl_async_copy(input, second, pl_at(recv, TWIN == RIGHT));
    pl_copy_wait(a);
    pl_load(first);
    pl_copy_wait(b);
    pl_load(second);
}
SENDS(locally, "right if copies of a core are complete in order")

/* Whoever comes first is looked at; in the wrong form what was not waited for by its own semaphore. */
KERNEL(after_a_look, input, first, second, send, recv, turn)
{
    pl_semaphore_signal(turn, 1, pl_device((pl_device_id() + 1) % pl_num_devices()));
    int early = pl_semaphore_read(turn);
    PlCopy a = copy_to_next(input, first, send, pl_at(recv, 0));
    PlCopy b = copy_to_next(input, second, send, pl_at(recv, TWIN == RIGHT));
    pl_copy_wait_recv(a);
    if (early)
        pl_load(first);
    pl_copy_wait_recv(b);
    pl_semaphore_wait(turn, 1);
    pl_copy_wait_send(a);
    pl_copy_wait_send(b);
}
SENDS(after_a_look, "the same, in some classes", pl_regular_semaphore())

/* ---- running them ---- */

enum { UNORDERED = 1 << DMA_ORDER_UNORDERED, LINK = 1 << DMA_ORDER_LINK_FIFO, ISSUE = 1 << DMA_ORDER_ISSUE_ORDER };

static const Override TWINS[] = { { "twin", WRONG }, { "twin", RIGHT } };

static CheckSpec spec_of(const char *program, unsigned twin, DmaOrder order)
{
    CheckSpec spec = checked_spec(program, 2, 1, SEARCH_AUTO);
    spec.override = &TWINS[twin], spec.overrides = 1;
    spec.knobs.dma_order = order;
    return spec;
}

static bool is_found_under(const char *program, DmaOrder order, const char *key)
{
    const CheckSpec spec = spec_of(program, WRONG, order);
    CheckResult *result = checked(&spec);
    bool found = false;
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        g_autofree char *own = finding_key(result->program, result->outcome->findings->pdata[i]);
        found |= strcmp(own, key) == 0;
    }
    checked_free(result);
    return found;
}

static void a_fault_is_labelled_with_the_orders_under_which_it_is_found(void **state)
{
    static const struct { const char *program; uint8_t holds; } CASES[] = {
        { "over_one_link", UNORDERED }, { "too_early", UNORDERED | LINK | ISSUE }, { "locally", UNORDERED | LINK },
        { "after_a_look", UNORDERED },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        const CheckSpec wrong = spec_of(CASES[i].program, WRONG, DMA_ORDER_UNORDERED);
        const CheckSpec right = spec_of(CASES[i].program, RIGHT, DMA_ORDER_UNORDERED);
        CheckResult *twin = checked(&right), *result = checked(&wrong);
        assert_int_equal(twin->verdict, VERDICT_VERIFIED);
        check_settle_orders(result);
        assert_int_equal(result->outcome->findings->len, 1);
        const Finding *finding = result->outcome->findings->pdata[0];
        g_autofree char *key = finding_key(result->program, finding);
        assert_int_equal(finding->holds, CASES[i].holds);
        assert_int_equal(finding->open, 0);
        for (DmaOrder order = DMA_ORDER_UNORDERED; order <= DMA_ORDER_ISSUE_ORDER; order++)
            assert_int_equal(is_found_under(CASES[i].program, order, key), finding->holds >> order & 1);
        checked_free(result);
        checked_free(twin);
    }
}

KERNEL(of_both_sorts, input, first, second, send, recv)
{
    PlCopy a = copy_to_next(input, first, send, pl_at(recv, 0));
    PlCopy b = copy_to_next(input, second, send, pl_at(recv, TWIN == RIGHT));
    pl_copy_wait_recv(a);
    pl_load(first);
    if (TWIN == WRONG)
        pl_load(second);
    pl_copy_wait_recv(b);
    pl_copy_wait_send(a);
    pl_copy_wait_send(b);
}
SENDS(of_both_sorts, "one fault under every order, and before it in the source one that needs copies to overtake")

static void faults_under_every_order_come_first(void **state)
{
    (void)state;
    const CheckSpec spec = spec_of("of_both_sorts", WRONG, DMA_ORDER_UNORDERED);
    CheckResult *result = checked(&spec);
    check_settle_orders(result);
    assert_int_equal(result->outcome->findings->len, 2);
    const Finding *first = result->outcome->findings->pdata[0], *second = result->outcome->findings->pdata[1];
    assert_int_equal(orders_hold(first), HOLDS_ALWAYS);
    assert_int_equal(orders_hold(second), HOLDS_UNLESS_LINK_FIFO);
    checked_free(result);
}

static void only_stricter_orders_than_the_one_in_force_are_tried(void **state)
{
    (void)state;
    const CheckSpec spec = spec_of("too_early", WRONG, DMA_ORDER_LINK_FIFO);
    CheckResult *result = checked(&spec);
    check_settle_orders(result);
    const Finding *finding = result->outcome->findings->pdata[0];
    assert_int_equal(finding->holds, LINK | ISSUE);
    checked_free(result);
}

static void what_a_limit_ends_is_not_decided(void **state)
{
    (void)state;
    CheckSpec spec = spec_of("after_a_look", WRONG, DMA_ORDER_UNORDERED);
    CheckResult *result = checked(&spec);
    ((CheckSpec *)result->spec)->limits.runs = 1, ((CheckSpec *)result->spec)->limits.states = 1;
    check_settle_orders(result);
    const Finding *finding = result->outcome->findings->pdata[0];
    assert_int_equal(finding->holds, UNORDERED);
    assert_int_equal(finding->open, LINK | ISSUE);
    assert_int_equal(orders_hold(finding), HOLDS_UNDECIDED);
    checked_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_is_labelled_with_the_orders_under_which_it_is_found),
        cmocka_unit_test(faults_under_every_order_come_first),
        cmocka_unit_test(only_stricter_orders_than_the_one_in_force_are_tried),
        cmocka_unit_test(what_a_limit_ends_is_not_decided),
    };
    return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
