/* test_options.c - the command line against its table: what is read, what is refused and in which words, what help must not forget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/command/manual.h"
#include "../../checker/command/options.h"
#include "../../checker/report/suggest.h"

/* Parses "check ring -n 4", split at spaces. */
static OptionsResult parse(Options *options, const char *line, char **error)
{
    char *whole = g_strdup_printf("heddle %s", line), **argv = g_strsplit(whole, " ", -1);
    OptionsResult result = options_parse(options, g_strv_length(argv), argv, error);
    g_strfreev(argv);
    g_free(whole);
    return result;
}

static void assert_sizes(const char *line, unsigned count, const uint32_t *expected)
{
    Options options;
    char *error;
    assert_int_equal(parse(&options, line, &error), OPTIONS_RUN);
    assert_int_equal(options.devices->len, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(g_array_index(options.devices, uint32_t, i), expected[i]);
    options_clear(&options);
}

static void assert_refused(const char *line, const char *word)
{
    Options options;
    char *error;
    assert_int_equal(parse(&options, line, &error), OPTIONS_BAD);
    if (!strstr(error, word) || strchr(error, '\n'))
        fail_msg("heddle %s: says \"%s\", not a line about \"%s\"", line, error, word);
    g_free(error);
    options_clear(&options);
}

static void sizes_are_numbers_ranges_and_lists(void **state)
{
    (void)state;
    assert_sizes("check ring -n 4", 1, (uint32_t[]){4});
    assert_sizes("check ring -n4", 1, (uint32_t[]){4});
    assert_sizes("check -n 2..5 ring", 4, (uint32_t[]){2, 3, 4, 5});
    assert_sizes("check ring -n 2,4,8", 3, (uint32_t[]){2, 4, 8});
    assert_sizes("check ring --devices=2..3,7", 3, (uint32_t[]){2, 3, 7});
    assert_sizes("check ring -qn3", 1, (uint32_t[]){3});
    assert_sizes("check ring", 0, NULL);
}

static void malformed_values_are_refused_in_one_line(void **state)
{
    (void)state;
    static const char *const bad_sizes[] = {"x", "0", "-1", "2..", "..4", "4..2", "2,", ",2", "2;4", "4x", "9999999999999999999", "1048577",
                                            "1..1000000", "2..3..4", "0x10", "+4"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad_sizes); i++) {
        char *line = g_strdup_printf("check ring -n %s", bad_sizes[i]);
        assert_refused(line, "-n");
        g_free(line);
    }
    assert_refused("check ring --mesh x", "--mesh");
    assert_refused("check ring --mesh x=0", "--mesh");
    assert_refused("check ring --cores 0", "--cores");
    assert_refused("check ring -D rows", "-D");
    assert_refused("check ring -D =4", "-D");
    assert_refused("check ring -D rows=8..", "-D");
    assert_refused("check ring -D rows=9223372036854775808", "-D");
    assert_refused("check ring --search fast", "auto|prove|enumerate|");
    assert_refused("check ring --sweep", "--search enumerate");
    assert_refused("check ring --dma-order fifo", "unordered|link-fifo|issue-order");
    assert_refused("check ring --states 0", "--states");
    assert_refused("check ring --time 5x", "--time");
    assert_refused("check ring --time nan", "--time");
    assert_refused("check ring --memory -5", "--memory");
    assert_refused("check ring --first=yes", "takes no value");
    assert_refused("check ring -n", "needs N");
}

static void what_is_missing_or_too_much_is_said(void **state)
{
    (void)state;
    assert_refused("check", "needs a kernel");
    assert_refused("replay", "needs a schedule");
    assert_refused("replay a b", "leave b out");
    assert_refused("chekc ring", "did you mean heddle check");
    assert_refused("check ring --serach prove", "did you mean --search");
    assert_refused("check ring --certificate x", "unknown option --certificate");
    assert_refused("explain --json", "unknown option");
    assert_refused("check ring --mesh x=4,y=2 -n 9", "the mesh has 8 devices, -n asks for 9");
}

static void limits_take_units(void **state)
{
    (void)state;
    Options options;
    char *error;
    assert_int_equal(parse(&options, "check ring --memory 2G --time 5m --states 100 --seed 7", &error), OPTIONS_RUN);
    assert_true(options.limits.memory == 2ull << 30);
    assert_true(options.limits.seconds > 299.9 && options.limits.seconds < 300.1);
    assert_true(options.limits.states == 100 && options.seed == 7);
    options_clear(&options);
}

static void the_last_definition_of_a_parameter_counts(void **state)
{
    (void)state;
    Options options;
    char *error;
    assert_int_equal(parse(&options, "check ring -D rows=1 -Drows=8..64 -D k=-3", &error), OPTIONS_RUN);
    assert_int_equal(options.defines->len, 2);
    const Define *rows = options.defines->pdata[0], *k = options.defines->pdata[1];
    assert_string_equal(rows->name, "rows");
    assert_true(rows->first == 8 && rows->last == 64);
    assert_true(k->first == -3 && k->last == -3);
    options_clear(&options);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    Options options;
    char *error;
    assert_int_equal(parse(&options, "check -- -n ring", &error), OPTIONS_RUN);
    assert_int_equal(options.operands->len, 2);
    assert_string_equal(options.operands->pdata[0], "-n");
    options_clear(&options);
}

static void knobs_begin_with_their_cautious_values(void **state)
{
    (void)state;
    Options options;
    char *error;
    assert_int_equal(parse(&options, "check ring", &error), OPTIONS_RUN);
    assert_int_equal(options.knobs.dma_order, DMA_ORDER_UNORDERED);
    assert_int_equal(options.knobs.dma_progress, DMA_PROGRESS_FLUID);
    assert_int_equal(options.knobs.bounds, BOUNDS_LOGICAL);
    assert_int_equal(options.knobs.scopes, SCOPES_STATIC);
    assert_int_equal(options.knobs.at_bounds, AT_BOUNDS_GO_ON);
    assert_int_equal(options.knobs.windows, WINDOWS_PIPELINED);
    assert_int_equal(options.knobs.data, DATA_REAL);
    options_clear(&options);
    const char *others = "check r --dma-order issue-order --dma-progress=whole --bounds padded --stop-at-bounds --scopes strict "
                         "--data opaque --windows sequential";
    assert_int_equal(parse(&options, others, &error), OPTIONS_RUN);
    assert_int_equal(options.knobs.dma_order, DMA_ORDER_ISSUE_ORDER);
    assert_int_equal(options.knobs.dma_progress, DMA_PROGRESS_WHOLE);
    assert_int_equal(options.knobs.bounds, BOUNDS_PADDED);
    assert_int_equal(options.knobs.scopes, SCOPES_STRICT);
    assert_int_equal(options.knobs.at_bounds, AT_BOUNDS_STOP);
    assert_int_equal(options.knobs.windows, WINDOWS_SEQUENTIAL);
    assert_int_equal(options.knobs.data, DATA_OPAQUE);
    options_clear(&options);
}

static void help_fits_80_columns(void **state)
{
    (void)state;
    for (const CommandSpec *command = command_table;; command++) {
        g_autoptr(GString) help = g_string_new(NULL);
        manual_help(help, command->name ? command->command : 0);
        g_auto(GStrv) line = g_strsplit(help->str, "\n", -1);
        for (char **at = line; *at != NULL; at++)
            if (strlen(*at) > 80)
                fail_msg("%s", *at);
        if (command->name == NULL)
            break;
    }
}

static void every_option_is_in_help_man_page_and_completion(void **state)
{
    (void)state;
    GString *man = g_string_new(NULL), *completion = g_string_new(NULL);
    manual_man(man);
    manual_completion(completion);
    for (const CommandSpec *command = command_table; command->name; command++) {
        GString *help = g_string_new(NULL);
        manual_help(help, command->command);
        assert_non_null(strstr(completion->str, command->name));
        for (const OptionSpec *spec = option_table; spec->commands; spec++) {
            char *form = spec->name ? g_strdup_printf("--%s", spec->name) : g_strdup_printf("-%c", spec->letter);
            char **part = g_strsplit(form, "-", -1), *roff = g_strjoinv("\\-", part);
            if (spec->commands & command->command)
                assert_non_null(strstr(help->str, form));
            assert_non_null(strstr(man->str, roff));
            assert_non_null(strstr(completion->str, form));
            g_strfreev(part);
            g_free(roff);
            g_free(form);
        }
        g_string_free(help, TRUE);
    }
    g_string_free(completion, TRUE);
    g_string_free(man, TRUE);
}

static void only_near_names_are_suggested(void **state)
{
    (void)state;
    GPtrArray *names = g_ptr_array_new();
    g_ptr_array_add(names, "all_gather");
    g_ptr_array_add(names, "all_reduce");
    g_ptr_array_add(names, "race");
    assert_string_equal(suggest_nearest(names, "all_gahter"), "all_gather");
    assert_string_equal(suggest_nearest(names, "allreduce"), "all_reduce");
    assert_string_equal(suggest_nearest(names, "rcae"), "race");
    assert_null(suggest_nearest(names, "permute"));
    assert_null(suggest_nearest(names, ""));
    g_ptr_array_unref(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_numbers_ranges_and_lists),
        cmocka_unit_test(malformed_values_are_refused_in_one_line),
        cmocka_unit_test(what_is_missing_or_too_much_is_said),
        cmocka_unit_test(limits_take_units),
        cmocka_unit_test(the_last_definition_of_a_parameter_counts),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(knobs_begin_with_their_cautious_values),
        cmocka_unit_test(help_fits_80_columns),
        cmocka_unit_test(every_option_is_in_help_man_page_and_completion),
        cmocka_unit_test(only_near_names_are_suggested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
