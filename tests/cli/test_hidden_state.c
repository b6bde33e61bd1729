/* test_hidden_state.c - what a kernel keeps outside of the machine is named and refused, and what PROGRAM leaves is there in every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../support/binary.h"
#include "../support/sanitized.h"

/* Each in one line, which begins with the program and says what it was. */
static void want_refused(const char *program, const char *what, const char *more)
{
    g_autofree char *words = g_strdup_printf("check ./hidden.so:%s -n 2 %s", program, more);
    g_autofree char *begin = g_strdup_printf("heddle: %s, 2 devices: ", program);
    assert_int_equal(binary_run(words), 2);
    const char *line = strstr(binary_text, begin), *end = line ? strchr(line, '\n') : NULL;
    const char *found = line ? strstr(line, what) : NULL;
    if (found == NULL || found > end || strstr(binary_text, "internal error") != NULL)
        fail_msg("%s: nothing about \"%s\" in:\n%s", program, what, binary_text);
}

static void memory_that_outlives_an_operation_is_named(void **state)
{
    static const char *const kept[][2] = {
        { "static_alone", "static variable plain;" }, { "static_in_helper", "static variable calls;" },
        { "static_in_structure", "static variable structure;" }, { "thread_local", "thread-local variable of_thread;" },
        { "block_of_program", "a heap block of 12 bytes that is older" }, { "block_of_strdup", "a heap block of 2 bytes" },
        { "block_freed", "frees memory that was allocated before" }, { "pages_mapped", "memory that is older" },
        { "static_put_back", "static variable my_id;" }, { "static_restored", "static variable plain;" },
        { "handle_in_static", "static variable handle;" },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
        want_refused(kept[i][0], kept[i][1], "");
    if (!SANITIZED)                             /* its malloc is not ours */
        want_refused("block_of_constructor", "a heap block of 4 bytes that is older", "");
}

static void functions_with_a_state_are_named(void **state)
{
    static const char *const called[][2] = {
        { "error_number", "error_number uses errno" }, { "environment", "environment calls setenv" },
        { "random_numbers", "calls srand" }, { "tokens", "calls strtok" }, { "thread_key", "calls pthread_setspecific" },
        { "file_read", "calls fgetc" }, { "file_made", "calls fopen" }, { "clock_read", "calls clock" }, { "time_read", "calls time" },
        { "process_id", "calls getpid" },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(called); i++)
        want_refused(called[i][0], called[i][1], "");
}

static void functions_of_values_keep_nothing_either(void **state)
{
    (void)state;
    want_refused("fill_counts", "the function of values has written to the static variable plain", "");
    want_refused("expected_counts", "the function of values has written to the static variable plain", "");
    want_refused("fill_throws", "throws calls rand", "");
    assert_int_equal(binary_run("check ./hidden.so:values_of_program -n 2"), 0);
    binary_says("results checked");
}

static void what_a_kernel_never_set_or_where_it_lies_decides_nothing(void **state)
{
    (void)state;
    want_refused("own_address", "must be a function of what it observes", "");
    want_refused("unset_block", "must be a function of what it observes", "");
}

static void a_static_that_one_order_alone_writes_to_is_found_by_each_search(void **state)
{
    static const char *const searches[] = { "auto", "enumerate", "random" };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(searches); i++) {
        g_autofree char *more = g_strdup_printf("--search %s", searches[i]);
        want_refused("static_in_another_order", "static variable plain;", more);
    }
}

static void what_program_leaves_is_there_in_every_run(void **state)
{
    static const char *const searches[] = { "auto", "enumerate", "random --runs 10" };         /* no conflict: each covers all */
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(searches); i++) {
        g_autofree char *right = g_strdup_printf("check ./hidden.so:reads_what_program_left -n 2 --search %s", searches[i]);
        g_autofree char *wrong = g_strdup_printf("check ./hidden.so:waits_as_often_as_told -n 2 --search %s", searches[i]);
        assert_int_equal(binary_run(right), 0);
        assert_int_equal(binary_run(wrong), 1);
        binary_says("deadlock");
    }
    assert_int_equal(binary_run("check ./hidden.so:waits_as_often_as_told -n 2 -D rounds=0"), 0);
}

static void replays_begin_with_what_program_left(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check ./hidden.so:waits_as_often_as_told -n 2 --schedules left"), 1);
    g_autofree char *schedule = binary_first_schedule("left");
    g_autofree char *words = g_strdup_printf("replay %s", schedule), *inside = g_strdup_printf("replay --in-process %s", schedule);
    assert_int_equal(binary_run(words), 1);
    assert_int_equal(binary_run(inside), 1);
}

static void write_late(const char *before)
{
    g_autofree char *text = g_strdup_printf("#include <heddle/pallas.h>\nstatic int kept;\nKERNEL(late, sem)\n{\n"
        "    if (pl_device_id() == 0) { pl_semaphore_signal(sem, 1, pl_device(1)); return; }\n"
        "    if (pl_semaphore_read(sem) == 0) { pl_semaphore_wait(sem, 1); return; }\n"
        "    %s pl_semaphore_wait(sem, kept + 2);\n}\n"
        "PROGRAM(late, \"late\") { PL_NEEDS(pl_num_devices() == 2, \"two\"); pl_launch(late, .args = {pl_regular_semaphore()}); }\n",
        before);
    binary_write("late.c", text);
}

/* A schedule of an earlier source leads to what that source did not do. */
static void a_replay_that_comes_to_hidden_state_says_so(void **state)
{
    (void)state;
    write_late("");
    assert_int_equal(binary_run("check late.c -n 2 --schedules late"), 1);
    g_autofree char *schedule = binary_first_schedule("late"), *words = g_strdup_printf("replay %s", schedule);
    assert_int_equal(binary_run(words), 1);
    write_late("kept = 7;");
    assert_int_equal(binary_run(words), 2);
    binary_says("static variable kept;");
}

static void a_block_of_a_core_is_its_own(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check ./hidden.so:allocates ./hidden.so:puts_back_at_once -n 2"), 0);
    assert_int_equal(binary_run("check ./hidden.so:allocates -n 2 --search enumerate"), 0);
    assert_int_equal(binary_run("check ./hidden.so:counts_in_a_block -n 2"), 1);         /* it looks three times in vain */
    assert_int_equal(binary_run("check ./hidden.so:counts_in_a_block -n 2 --search enumerate"), 1);
}

/* A library that comes with the kernel is watched as the kernel is. */
static void a_library_of_the_kernel_keeps_nothing_either(void **state)
{
    static const char library[] = "#include <stdlib.h>\n"
        "int counter; static int inside; static _Thread_local int of_thread; static int *block;\n"
        "static __attribute__((constructor)) void begin(void) { block = calloc(1, 4); }\n"
        "int count(void) { return ++inside; }\nint count_here(void) { return ++of_thread; }\nint count_there(void) { return ++*block; }\n"
        "int throw(void) { return rand(); }\nint twice(int x) { return 2 * x; }\n";
    static const char *const use[][2] = {
        { "counter++", "the variable counter of libown.so;" }, { "count()", "the variable inside of libown.so;" },
        { "count_here()", "the thread-local variable of_thread of libown.so;" }, { "throw()", "throw calls rand" },
        { "count_there()", "a heap block of 4 bytes" },
    };
    g_autofree char *path = binary_path("own.c"), *kernel = binary_path("uses.c"), *object = binary_path("libown.so");
    g_autofree char *compile = g_strdup_printf("cc -shared -fPIC -o %s %s", object, path);
    (void)state;
    assert_true(g_file_set_contents(path, library, -1, NULL));
    assert_false(binary_tool(compile));
    g_autoptr(GString) text = g_string_new("#include <heddle/pallas.h>\nextern int counter;\nint count(void), count_here(void), "
                                           "count_there(void), throw(void), twice(int);\n");
    for (size_t i = 0; i <= G_N_ELEMENTS(use); i++)
        g_string_append_printf(text, "KERNEL(k%zu, sem) { %s; pl_semaphore_signal(sem, twice(1)); pl_semaphore_wait(sem, 2); }\n"
                               "PROGRAM(k%zu, \"use %zu\") { pl_launch(k%zu, .args = {pl_regular_semaphore()}); }\n", i,
                               i < G_N_ELEMENTS(use) ? use[i][0] : "(void)counter", i, i, i);
    assert_true(g_file_set_contents(kernel, text->str, -1, NULL));
    g_autofree char *flags = g_strdup_printf("-n 2 --cflags '-L%s -Wl,--no-as-needed,-rpath,%s -lown'", binary_folder, binary_folder);
    g_autofree char *all = g_strdup_printf("check ./uses.c %s", flags);
    g_autofree char *right = g_strdup_printf("check ./uses.c:k%zu %s", G_N_ELEMENTS(use), flags);
    assert_int_equal(binary_run(all), 2);
    for (size_t i = 0; i + (SANITIZED ? 1 : 0) < G_N_ELEMENTS(use); i++)
        binary_says(use[i][1]);
    assert_int_equal(binary_run(right), 0);
}

static void write_unset(const char *body)
{
    g_autofree char *text = g_strdup_printf("#include <heddle/pallas.h>\n#include <stdlib.h>\nKERNEL(k, sem)\n{\n    int x;\n    %s\n}\n"
                                            "PROGRAM(k, \"k\") { pl_launch(k, .args = {pl_regular_semaphore()}); }\n", body);
    binary_write("unset.c", text);
}

/* Also where the compiler sees it within a macro of ours. */
static void a_local_that_was_never_set_is_named_in_one_line(void **state)
{
    static const char *const wrong[][2] = {
        { "for (int i = 0; i < x; i++) pl_semaphore_wait(sem, 1);", "unset.c:6: " },
        { "(void)x; if (({ int y; y > 0; })) pl_semaphore_wait(sem, 1);", "unset.c:6: " },
        { "if (pl_device_id() > 0) x = 1; pl_semaphore_signal(sem, x); pl_semaphore_wait(sem, x);", "unset.c:5: " },
        { "struct { int a, b; } s; s.a = x = 1; if (s.b > 0) pl_semaphore_wait(sem, s.a);", "unset.c:6: " },
        { "int *p = malloc(4); x = *p; if (x > 0) pl_semaphore_wait(sem, 1);", "unset.c:6: " },
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        write_unset(wrong[i][0]);
        assert_int_equal(binary_run("check unset.c -n 2"), 2);
        assert_true(g_str_has_prefix(binary_text, "heddle: "));
        binary_says(wrong[i][1]);
        binary_says("a kernel must set what it reads");
        assert_ptr_equal(strchr(binary_text, '\n'), strrchr(binary_text, '\n'));
    }
    assert_int_equal(binary_run("compile unset.c"), 2);
    binary_says("-Werror=uninitialized");
    write_unset("bool set = false; if (pl_device_id() > 0) { x = 1; set = true; } pl_delay(1); if (set) { pl_semaphore_signal(sem, x); "
                "pl_semaphore_wait(sem, 1); }");
    assert_int_equal(binary_run("check unset.c -n 2"), 0);
    write_unset("x = no_such; int y; if (y) pl_delay(x);");             /* there is more to say */
    assert_int_equal(binary_run("check unset.c -n 2"), 2);
    binary_says("unset.c does not compile");
}

static int set_up(void **state)
{
    if (binary_set_up(state) != 0)
        return -1;
    binary_use_kernels("hidden");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_that_outlives_an_operation_is_named),
        cmocka_unit_test(functions_with_a_state_are_named),
        cmocka_unit_test(functions_of_values_keep_nothing_either),
        cmocka_unit_test(what_a_kernel_never_set_or_where_it_lies_decides_nothing),
        cmocka_unit_test(a_static_that_one_order_alone_writes_to_is_found_by_each_search),
        cmocka_unit_test(what_program_leaves_is_there_in_every_run),
        cmocka_unit_test(replays_begin_with_what_program_left),
        cmocka_unit_test(a_replay_that_comes_to_hidden_state_says_so),
        cmocka_unit_test(a_block_of_a_core_is_its_own),
        cmocka_unit_test(a_local_that_was_never_set_is_named_in_one_line),
        cmocka_unit_test(a_library_of_the_kernel_keeps_nothing_either),
    };
    return cmocka_run_group_tests(tests, set_up, binary_tear_down);
}
