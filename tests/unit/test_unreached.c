/* test_unreached.c - a report says which operations of a kernel nothing executed, at the sizes where that is so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../checker/check/check.h"
#include "../../kernels/pallas/module.h"

static unsigned unreached(const char *program, uint32_t devices, uint32_t *last_line)
{
    CheckSpec spec = { .open = pl_module_open, .program = program, .cores = 1 };
    mesh_line(&spec.mesh, devices);
    CheckResult *result = check_run(&spec);
    assert_int_equal(result->verdict, VERDICT_VERIFIED);
    unsigned count = 0;
    for (guint i = 0; i < result->advice->len; i++) {
        const Advice *advice = g_ptr_array_index(result->advice, i);
        if (advice->id != ADVICE_UNREACHED)
            continue;
        uint32_t line = program_get_site(result->program, advice->place[0].site)->line;
        assert_true(count == 0 || line > *last_line);           /* in the order of the text */
        *last_line = line;
        count++;
    }
    check_result_free(result);
    return count;
}

static void operations_that_a_small_ring_never_needs_are_named(void **state)
{
    uint32_t line = 0;
    (void)state;
    assert_int_equal(unreached("credits", 2, &line), 2);        /* two devices never wait for a credit, nor give one */
    assert_int_equal(unreached("credits", 3, &line), 0);
}

static void a_kernel_that_does_everything_has_none(void **state)
{
    uint32_t line = 0;
    (void)state;
    assert_int_equal(unreached("all_reduce", 2, &line), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_that_a_small_ring_never_needs_are_named),
        cmocka_unit_test(a_kernel_that_does_everything_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
