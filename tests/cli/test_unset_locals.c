/* test_unset_locals.c - what a kernel does, computes, or does in other orders hangs on no local that was never set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/check/unset_locals.h"
#include "../support/binary.h"

#define PASSED_OVER "--cflags '-Wno-uninitialized -Wno-maybe-uninitialized'"
#define WAIT "pl_semaphore_wait(sem, 1);"
#define BOTH "pl_semaphore_signal(sem, 1); " WAIT

/* unset.c: program k0, k1, ... of these bodies, each in a line of its own: that of k0 is 6, of k1 11, ... */
static void write_kernels(const char *const *body, size_t count)
{
    GString *text = g_string_new("#include <heddle/pallas.h>\n#include <string.h>\n\n");
    for (size_t i = 0; i < count; i++)
        g_string_append_printf(text, "KERNEL(k%zu, sem, out)\n{\n    int n = pl_num_devices() - 1; %s\n}\nPROGRAM(k%zu, \"%zu\") { "
                               "pl_launch(k%zu, .args = {pl_regular_semaphore(), pl_output_in(PL_SMEM, PL_I32, 1)}); }\n", i, body[i],
                               i, i, i);
    binary_write("unset.c", text->str);
    g_string_free(text, TRUE);
}

/* what: NULL: a step in the line of the body. */
static void want_refused(size_t number, const char *what)
{
    g_autofree char *line = what ? g_strdup_printf("heddle: k%zu, 2 devices: unset.c: %s depends on a local that was never set: ", number,
                                                   what)
        : g_strdup_printf("heddle: k%zu, 2 devices: unset.c:%zu: what k%zu does depends on a local that was never set: ", number,
                          6 + 5 * number, number);
    binary_says(line);
}

static void what_a_kernel_does_hangs_on_no_unset_local(void **state)
{
    static const char *const wrong[] = {
        "int x[4]; x[0] = 1; if (x[n] > 0) " WAIT,
        "bool sent[4]; for (int i = 0; i < 4; i++) if (!sent[i]) { " BOTH " }",
        "if (({ int x; x > 0; })) " WAIT,
        "int rounds; for (int i = 0; i < rounds; i++) " WAIT,
        "signed char x[7]; x[0] = -2; if (x[n] > 0) " WAIT,
        "short x[7]; x[0] = -2; if (x[n] > 0) " WAIT,
        "long x[7]; x[0] = -2; if (x[n] > 0) " WAIT,
        "double x[7]; x[0] = -2; if (x[n] > 0) " WAIT,
        "float x[7]; x[0] = -2; if (x[n] > 0) " WAIT,
        "char x[500]; x[0] = 1; if (x[n * 400] > 0) " WAIT,
        "char x[n + 4]; x[0] = 1; if (x[n] > 0) " WAIT,
        "struct { int a, b; } x[4]; x[0].a = x[0].b = 2; if (x[n].b == 1) " WAIT,
        "int x[4]; x[0] = 0; int odd = x[n] & 1; pl_semaphore_signal(sem, 1 + odd); pl_semaphore_wait(sem, 1 + odd);",
        "int x[4]; x[0] = 1; if (x[n] < 0) " WAIT,                             /* faulty, but for that reason alone */
    };
    (void)state;
    write_kernels(wrong, G_N_ELEMENTS(wrong));
    assert_int_equal(binary_run("check -q -n 2 unset.c " PASSED_OVER), 2);
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        want_refused(i, NULL);
    assert_null(strstr(binary_text, "verified"));
}

static void neither_does_what_it_computes_or_does_in_other_orders(void **state)
{
    static const char *const wrong[] = {
        "int x[4]; x[0] = 1; pl_store_int(out, x[n]);",
        "int x[4]; x[pl_semaphore_read(sem) ? 1 : 0] = 1; pl_semaphore_signal(sem, 1, pl_device(1 - pl_device_id())); " WAIT
        " if (pl_device_id() == 0 && x[0] == 0) " WAIT,
    };
    (void)state;
    write_kernels(wrong, G_N_ELEMENTS(wrong));
    assert_int_equal(binary_run("check -q -n 2 unset.c"), 2);                   /* the compiler warns of neither */
    want_refused(0, "what it computes");
    want_refused(1, "what it does in other orders");
    binary_says("never set: x (unset.c:6), or x (unset.c:11)");
}

static void a_local_that_is_set_before_it_matters_is_fine(void **state)
{
    static const char *const right[] = {
        "int x[4]; for (int i = 0; i <= n; i++) x[i] = i + 1; if (x[n] > 0) { " BOTH " }",
        "int x; bool set = false; if (pl_device_id() > 0) { x = 1; set = true; } pl_delay(1); if (set) { pl_semaphore_signal(sem, x); "
        WAIT " }",
        "struct { char a; int b; } x[2]; for (int i = 0; i < 2; i++) x[i].a = 1, x[i].b = n; if (memcmp(x, x + 1, sizeof *x) == 0) { " BOTH
        " }",
        "int x[4], y[4]; x[n] = 1; for (int i = 0; i < 4; i++) y[i] = x[i]; pl_store_int(out, y[n]);",
        "signed char x[4]; int y[4]; for (int i = 0; i <= n; i++) x[i] = -2, y[i] = 254; if (x[n] == -2 && y[n] == 254) { " BOTH " }",
        "PlCopy x[2]; for (int i = 0; i < 2; i++) x[i] = pl_make_async_copy(out, out, sem); (void)x; " BOTH,
    };
    (void)state;
    write_kernels(right, G_N_ELEMENTS(right));
    if (binary_run("check -q -n 2 unset.c") != 0)
        fail_msg("%s", binary_text);
    assert_null(strstr(binary_text, "never set"));
}

static void flags_of_the_user_change_nothing_about_it(void **state)
{
    static const char *const wrong[] = { "int x[4]; x[0] = 1; if (x[n] > 0) " WAIT };
    static const char *const flags[] = { "-O0", "-O2 -flto", "-ftrivial-auto-var-init=uninitialized" };
    (void)state;
    write_kernels(wrong, 1);
    for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
        g_autofree char *words = g_strdup_printf("check -q -n 2 unset.c --cflags '-Wno-maybe-uninitialized %s'", flags[i]);
        assert_int_equal(binary_run(words), 2);
        want_refused(0, NULL);
    }
}

static void what_the_compiler_left_of_locals_is_named_once_each(void **state)
{
    static const char dump[] =
        ";; Function k\n  [k.c:5:7] x_1 = .DEFERRED_INIT (4, 1, [k.c:5:7] &\"x\"[0]);\n"
        "  [my k.c:6:7] y ={v} .DEFERRED_INIT (16, 1, &\"y\"[0]);\n  [k.c:5:7] x_2 = .DEFERRED_INIT (4, 1, [k.c:5:7] &\"x\"[0]);\n";
    (void)state;
    g_autofree char *locals = unset_locals_find(dump);
    assert_string_equal(locals, "x (k.c:5), or y (my k.c:6)");
    assert_null(unset_locals_find("  x_1 = 5;\n"));
    g_autofree char *unknown = unset_locals_find(NULL);
    assert_non_null(unknown);
}

static void only_the_beginnings_of_locals_are_replaced(void **state)
{
    static const char pattern[] = "f:\n\tmovl\t$-16843010, -2(%rsp)\n\tmovb\t$-2, 8(%rsp)\n\tmovb\t$-2, 9(%rsp)\n"
        "\tmovl\t.L254(%rip), %eax\n\t.loc 1 254\ntable:\n\t.byte\t-2\n.LC0:\n\t.quad\t-72340172838076674\n";
    static const char zero[] = "f:\n\tmovl\t$0, -2(%rsp)\n\tmovb\t$0, 8(%rsp)\n\tmovb\t$-2, 9(%rsp)\ntable:\n\t.byte\t-2\n";
    (void)state;
    g_autofree char *bytes = unset_locals_replace(pattern, zero, UNSET_BYTES_OF_ONE);
    g_autofree char *ones = unset_locals_replace(pattern, zero, UNSET_ONES);
    assert_string_equal(bytes, "f:\n\tmovl\t$16843009, -2(%rsp)\n\tmovb\t$1, 8(%rsp)\n\tmovb\t$-2, 9(%rsp)\n\tmovl\t.L254(%rip), %eax\n"
                        "\t.loc 1 254\ntable:\n\t.byte\t-2\n.LC0:\n\t.quad\t72340172838076673\n");
    assert_non_null(strstr(ones, "movl\t$1, -2(%rsp)"));
    assert_non_null(strstr(ones, ".quad\t4294967297"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_kernel_does_hangs_on_no_unset_local),
        cmocka_unit_test(neither_does_what_it_computes_or_does_in_other_orders),
        cmocka_unit_test(a_local_that_is_set_before_it_matters_is_fine),
        cmocka_unit_test(flags_of_the_user_change_nothing_about_it),
        cmocka_unit_test(what_the_compiler_left_of_locals_is_named_once_each),
        cmocka_unit_test(only_the_beginnings_of_locals_are_replaced),
    };
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
