/* test_init.c - heddle init writes a file to begin with, and writes over none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <glib.h>

#include "../support/binary.h"

static void a_new_file_holds_a_right_kernel_and_its_wrong_twin(void **state)
{
    (void)state;
    assert_int_equal(binary_run("init a_ring.c"), 0);
    binary_says("a_ring.c: a kernel and its wrong twin; heddle test a_ring.c -n 2..4");
    assert_int_equal(binary_run("test a_ring.c -n 2..4"), 0);
    binary_says("a_ring: verified, as declared, at 3 sizes");
    binary_says("a_ring_wrong: race from 3 devices, as declared, at 3 sizes");
}

static void a_file_that_is_there_stays_as_it_is(void **state)
{
    (void)state;
    binary_write("mine.c", "mine");
    assert_int_equal(binary_run("init mine.c"), 2);
    binary_says("heddle: mine.c exists, and is left as it is; name another file\n");
    g_autofree char *path = binary_path("mine.c"), *text = NULL;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    assert_string_equal(text, "mine");
}

static void a_name_that_no_kernel_can_have_is_refused(void **state)
{
    (void)state;
    static const struct { const char *command, *says; } CASES[] = {
        { "init", "heddle init needs the name of a new C file" },
        { "init 9.c", "9.c: heddle init needs the name of a new C file, of letters, digits and _" },
        { "init .c", ".c: heddle init needs the name" },
        { "init ring.py", "ring.py: heddle init needs the name" },
        { "init nowhere/a_ring.c", "cannot write nowhere/a_ring.c: No such file or directory" },
        { "init one.c two.c", "too many arguments: leave two.c out" },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        assert_int_equal(binary_run(CASES[i].command), 2);
        binary_says(CASES[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_holds_a_right_kernel_and_its_wrong_twin),
        cmocka_unit_test(a_file_that_is_there_stays_as_it_is),
        cmocka_unit_test(a_name_that_no_kernel_can_have_is_refused),
    };
    return cmocka_run_group_tests_name("init", tests, binary_set_up, binary_tear_down);
}
