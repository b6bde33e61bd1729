/* test_selection.c - which programs, at which sizes, a command line stands for; and what an author is told whose file does not compile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <glib/gstdio.h>

#include "../support/binary.h"

#define KERNEL_K "#include <heddle/pallas.h>\nKERNEL(k) { }\n"

static void a_program_of_two_axes_gets_a_mesh_for_each_size(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check mesh_all_reduce -n 4,6 -q"), 0);
    binary_says("4 devices (x=2,y=2): verified");
    binary_says("6 devices (x=3,y=2): verified");
}

static void a_folder_stands_for_its_files(void **state)
{
    (void)state;
    g_autofree char *kernels = binary_path("kernels");
    assert_int_equal(g_mkdir(kernels, 0700), 0);
    assert_int_equal(binary_run("check kernels"), 2);
    binary_says("heddle: kernels holds no .c file with a PROGRAM\n");
    binary_write("kernels/b.c", KERNEL_K "PROGRAM(b1, \"\") { pl_launch(k); }\nPROGRAM(b2, \"\") { pl_launch(k); }\n");
    binary_write("kernels/a.c", KERNEL_K "PROGRAM(a1, \"\") { pl_launch(k); }\n");
    binary_write("kernels/none.c", "int helper;\n");
    assert_int_equal(binary_run("list kernels --names"), 0);
    assert_string_equal(binary_text, "a1\nb1\nb2\n");
    assert_int_equal(binary_run("check ./kernels/ -n 2 -q"), 0);
    binary_says("a1, 2 devices: verified");
    binary_says("b2, 2 devices: verified");
}

/* Nothing of the macro behind the call is shown. */
static void a_mistake_in_a_call_is_shown_at_its_line(void **state)
{
    (void)state;
    static const struct { const char *line, *says[2]; } CASES[] = {
        { "pl_async_remote_copy(a, a, s, s, 1);", { "broken.c:4:", "hint: a device is pl_device(id), " } },
        { "pl_semaphore_signal(s, 1, 1);", { "broken.c:4:", "hint: a device is pl_device(id), " } },
        { "pl_copy_start(pl_make_async_copy(a, a, s));", { "broken.c:4:", "hint: pl_copy_start takes a variable, " } },
        { "if (pl_device_id() == 0) {", { "broken.c:6:", "hint: a closing brace is missing above this KERNEL or PROGRAM" } },
        { "pl_load(pl_at(a, 1);", { "broken.c:4:", "hint: a closing parenthesis is missing " } },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autofree char *text = g_strdup_printf("#include <heddle/pallas.h>\nKERNEL(k, a, s)\n{\n    %s\n}\nPROGRAM(p, \"\")\n{\n"
                                                "    pl_launch(k, .args = { pl_vmem(PL_F32, 8), pl_dma_semaphore() });\n}\n",
                                                CASES[i].line);
        binary_write("broken.c", text);
        assert_int_equal(binary_run("check broken.c -n 2"), 2);
        binary_says(CASES[i].says[0]);
        binary_says(CASES[i].says[1]);
        assert_null(strstr(binary_text, "#define"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_two_axes_gets_a_mesh_for_each_size),
        cmocka_unit_test(a_folder_stands_for_its_files),
        cmocka_unit_test(a_mistake_in_a_call_is_shown_at_its_line),
    };
    return cmocka_run_group_tests_name("selection", tests, binary_set_up, binary_tear_down);
}
