/* test_enumerate_scopes.c - shared memory of a scope exists until the last core of its device that opens it in the same run leaves it: a
 * state does not always show which cores will.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <heddle/pallas.h>
#include "../../kernels/pallas/module.h"
#include "../support/checked.h"

/* Device 1 writes to the block of device 0 after a signal; there core 1 is in the scope until a signal that the bytes have arrived. */
static void scope(PlRef go, PlRef done, PlRef send, PlRef receive)
{
    PL_SCOPED PlRef block = pl_hbm(PL_F32, 8, 128);
    if (pl_device_id() == 1) {
        pl_semaphore_wait(go, 1);
        PlCopy copy = pl_async_remote_copy(block, block, send, receive, pl_device(0, 0));
        pl_copy_wait_send(copy);
    } else if (pl_core_index() == 1) {
        pl_semaphore_wait(done, 1);
    }
}

static void tell(PlRef input, PlRef go, PlRef done, PlRef receive)
{
    PlCopy alike = pl_make_async_copy(input, input, receive);
    pl_semaphore_signal(go, 1, pl_device(1, 0));
    pl_copy_wait(alike);
    pl_semaphore_signal(done, 1, pl_device(0, 1));
}

/* All cores but core 1 of device 0. */
static void do_as_usual(PlRef input, PlRef go, PlRef done, PlRef hint, PlRef send, PlRef receive)
{
    if (pl_core_index() == 0)
        scope(go, done, send, receive);
    if (pl_device_id() == 1 && pl_core_index() == 1)
        pl_semaphore_signal(hint, 1, pl_device(0, 1));
    if (pl_device_id() == 0 && pl_core_index() == 0)
        tell(input, go, done, receive);
}

KERNEL(opens_late, input, go, done, hint, send, receive)
{
    do_as_usual(input, go, done, hint, send, receive);
    if (pl_device_id() == 0 && pl_core_index() == 1) {
        pl_semaphore_wait(hint, 1);
        pl_semaphore_read(hint);
        scope(go, done, send, receive);
    }
}

KERNEL(opens_if_told, input, go, done, hint, send, receive)
{
    do_as_usual(input, go, done, hint, send, receive);
    if (pl_device_id() == 0 && pl_core_index() == 1) {
        if (pl_semaphore_read(hint) == 1)
            scope(go, done, send, receive);
        else
            pl_semaphore_wait(done, 1);
        pl_semaphore_wait(hint, 1);
    }
}

#define LAUNCH(kernel) \
    pl_launch(kernel, .args = {pl_input(PL_F32, 8, 128), pl_regular_semaphore(), pl_regular_semaphore(), pl_regular_semaphore(), \
                               pl_dma_semaphore(), pl_dma_semaphore()})

PROGRAM(opens_late, "core 1 opens the scope when core 0 may have left it")
{
    LAUNCH(opens_late);
}

PROGRAM(opens_if_told, "wrong: where core 1 is not told, nobody is left in the scope")
{
    LAUNCH(opens_if_told);
}

static CheckResult *check_modes(const char *program, Search search, unsigned modes)
{
    CheckSpec spec = checked_spec(program, 2, 2, search);
    spec.modes = modes, spec.knobs.data = DATA_OPAQUE;
    return checked(&spec);
}

static void whoever_opens_it_in_all_runs_keeps_it_alive(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        CheckResult *result = check_modes("opens_late", way ? SEARCH_ENUMERATE : SEARCH_AUTO, way == 2 ? ENUMERATE_MERGE_LOCAL : 0);
        assert_int_equal(result->verdict, VERDICT_VERIFIED);
        checked_free(result);
    }
}

static void where_looks_decide_who_opens_it_states_do_not_tell(void **state)
{
    (void)state;
    CheckResult *result = check_modes("opens_if_told", SEARCH_AUTO, 0);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    assert_int_equal(((const Finding *)g_ptr_array_index(result->outcome->findings, 0))->id, FAULT_LIFETIME);
    checked_free(result);
    result = check_modes("opens_if_told", SEARCH_ENUMERATE, 0);
    assert_int_equal(result->verdict, VERDICT_BOUNDED);
    assert_string_equal(g_ptr_array_index(result->outcome->limits, 0), "scopes");
    checked_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_opens_it_in_all_runs_keeps_it_alive),
        cmocka_unit_test(where_looks_decide_who_opens_it_states_do_not_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
