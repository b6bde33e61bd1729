/* test_foreign_schedules.c - schedules from elsewhere, or from a bad disk: refused with one line, or followed; nothing else happens.
 *
 * SOAK_SECONDS=600 sets the duration.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

#include "../../checker/check/check.h"
#include "../../checker/report/schedule_file.h"
#include "../../kernels/pallas/module.h"
#include "../../model/rng.h"
#include "../support/one_file.h"

typedef enum Answer { SHOWN, NOT_SHOWN, REFUSED } Answer;

/* The schedule of the first fault of a built-in program, as a file; the same text wherever this tree lies. */
static char *schedule_of(const char *program, uint32_t devices)
{
    CheckSpec spec = { .open = pl_module_open, .program = program, .cores = 1 };
    char *error = NULL, *text = NULL;
    mesh_line(&spec.mesh, devices);
    CheckResult *result = check_run(&spec);
    assert_int_equal(result->verdict, VERDICT_FAULTY);
    assert_true(schedule_write(result, g_ptr_array_index(result->outcome->findings, 0), one_file, &error));
    check_result_free(result);
    assert_true(g_file_get_contents(one_file, &text, NULL, NULL));
    char *line = strstr(text, "folder "), *end = strchr(line, '\n');
    memmove(line + strlen("folder ."), end, strlen(end) + 1);
    line[strlen("folder ")] = '.';
    return text;
}

/* What a replay of the file says; of one that is refused the line, which is one, names the file or the program and says what to do. */
static Answer answer_to_file(char **line)
{
    const ReplayOptions options = { .limits.seconds = 1800 };    /* 65,535 devices take ten seconds, on an idle machine */
    ReplayResult *replay = schedule_replay(pl_module_open, one_file, NULL, &options);
    Answer answer = replay->error ? REFUSED : replay->shown ? SHOWN : NOT_SHOWN;
    if (replay->error != NULL)
        assert_null(strchr(replay->error, '\n'));
    else if (replay->check->outcome->limits->len > 0)
        fail_msg("cut short: %s", (char *)g_ptr_array_index(replay->check->outcome->limits, 0));
    if (line != NULL)
        *line = g_strdup(replay->error);
    replay_result_free(replay);
    return answer;
}

static Answer answer(const char *text, gssize bytes)
{
    assert_true(g_file_set_contents(one_file, text, bytes, NULL));
    return answer_to_file(NULL);
}

static void refused(const char *text, const char *with, const char *instead, const char *words)
{
    g_autoptr(GString) changed = g_string_new(text);
    g_autofree char *line = NULL;
    assert_int_equal(g_string_replace(changed, with, instead, 1), 1);
    assert_true(g_file_set_contents(one_file, changed->str, (gssize)changed->len, NULL));
    if (answer_to_file(&line) != REFUSED)
        fail_msg("\"%s\" instead of \"%s\" was accepted", instead, with);
    if (strstr(line, words) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", line, words);
}

static void an_object_that_the_program_has_not_is_refused(void **state)
{
    (void)state;
    g_autofree char *text = schedule_of("right_permute_no_barrier", 3);
    assert_int_equal(answer(text, -1), SHOWN);
    refused(text, "fault lifetime 1 4 0 -1 0", "fault lifetime 1 255 1 -1 0", "does not fit right_permute_no_barrier");
    refused(text, "fault lifetime 1 4 0 -1 0", "fault lifetime 1 255 0 -1 0", "does not fit right_permute_no_barrier");
    refused(text, "fault lifetime 1 4 0 -1 0", "fault lifetime 1 4294967294 0 -1 0", "does not fit");
    refused(text, "fault lifetime 1 4 0 -1 0", "fault lifetime 1 4294967295 0 -1 0", ":11: \"fault lifetime 1 4294967295 0 -1 0\"");
    refused(text, "fault lifetime 1 4 0 -1 0", "fault lifetime 1 NONE 0 -1 0", "not those of lifetime");
    refused(text, "fault lifetime 1 4 0", "fault deadlock 0 4 0", "make a new one");
    refused(text, "place 0 1 0 23 0", "place 0 1 0 23 9", "does not fit");
    refused(text, "place 0 1 0 23 0", "place 3 1 0 23 0", "\"place 3 1 0 23 0\"");
    refused(text, "place 0 1 0 23 0", "place 0 1 0 3 0", "not those of lifetime");
    refused(text, "place 0 1 0 23 0", "place 0 1 4000000000 23 0", "not those of lifetime");
    refused(text, "\nplace 0 1 0 23 0", "", "\"moves 5\"");
    refused(text, "place 0 1 0 23 0", "place 0 1 0 23 0\nplace 0 1 0 23 0", "place 0 1 0 23 0");
}

static void a_number_that_no_run_has_is_refused_at_once(void **state)
{
    (void)state;
    g_autofree char *text = schedule_of("missing_signal", 3);
    assert_int_equal(answer(text, -1), SHOWN);
    refused(text, "mesh x=3", "mesh x=2097152", ":6: \"mesh x=2097152\"");
    refused(text, "count 1 0", "count 1 -2147483648", "\"count 1 -2147483648\" is not what a schedule says there");
    refused(text, "count 1 0", "count 0 0", "count 0 0");
    refused(text, "cores 1", "cores 0", "cores 0");
    refused(text, "cores 1", "cores 4294967295", "cores 4294967295");
    refused(text, "knobs 0 0 0 0 0 0", "knobs 3 0 0 0 0 0", "knobs 3");
    refused(text, "knobs 0 0 0 0 0 0", "knobs 0 0 0 0 0 0 0", "knobs 0");
    refused(text, "seed 0", "seed -1", "seed -1");
    refused(text, "seed 0", "seed 0\nparameter nonsense=3", "nonsense");
    refused(text, "moves 7", "moves 4294967295", "\"moves 4294967295\"");
    refused(text, "moves 7", "moves 6", "make a new one");
    refused(text, "core 1.0 @2", "core 1.0 @400000000", "@400000000");
    refused(text, "core 1.0 @2", "core 99.0 @2", "is not what a schedule says there");
    refused(text, "program missing_signal", "program no_such_thing", "no program no_such_thing");
    refused(text, "\nend", "", "cut off");
    refused(text, "\nend\n", "\nend\nend\n", "end");
    refused(text, "program missing_signal\n", "", ":2:");
    refused(text, "seed 0\n", "seed 0\nseed 0\n", "seed 0");
}

/* They say nothing of windows, and mean the cautious default. */
static void a_file_of_before_there_were_windows_is_read(void **state)
{
    (void)state;
    g_autofree char *text = schedule_of("missing_signal", 3);
    g_autoptr(GString) changed = g_string_new(text);
    assert_int_equal(g_string_replace(changed, "knobs 0 0 0 0 0 0 0\n", "knobs 0 0 0 0 0\n", 1), 1);
    assert_int_equal(answer(changed->str, -1), SHOWN);
}

/* The line of the source that a move names is looked for near where it was: also where it was nowhere near. */
static void a_line_beyond_the_end_of_the_source_is_looked_for_in_it(void **state)
{
    (void)state;
    g_autofree char *text = schedule_of("missing_signal", 3), *hash = g_strndup(strstr(text, "source-hash ") + 12, 16);
    g_autoptr(GString) changed = g_string_new(text);
    assert_int_equal(g_string_replace(changed, hash, "0123456789abcdef", 1), 1);
    assert_true(g_string_replace(changed, "token_ring.c:35", "token_ring.c:4294967290", 0) > 0);
    assert_int_equal(answer(changed->str, -1), SHOWN);
}

static void what_is_no_file_of_text_is_refused(void **state)
{
    (void)state;
    g_autofree char *text = schedule_of("missing_signal", 3), *line = NULL;
    const size_t bytes = strlen(text);
    text[bytes - 10] = '\0';
    assert_int_equal(answer(text, (gssize)bytes), REFUSED);
    g_autofree char *nothing = g_malloc0(1 << 16);
    assert_int_equal(answer(nothing, 1 << 16), REFUSED);
    assert_int_equal(answer("", 0), REFUSED);
    assert_int_equal(g_unlink(one_file), 0);
    assert_int_equal(mkfifo(one_file, 0600), 0);
    assert_int_equal(answer_to_file(NULL), REFUSED);           /* and nobody waits for somebody to write */
    assert_int_equal(g_unlink(one_file), 0);
    assert_int_equal(g_mkdir(one_file, 0700), 0);
    assert_int_equal(answer_to_file(&line), REFUSED);
    assert_non_null(strstr(line, "Is a directory"));
    assert_int_equal(g_rmdir(one_file), 0);
}

/* ---- mutations ---- */

static const char *const NUMBER[] = { "0", "1", "-1", "2", "3", "7", "64", "255", "65535", "4294967294", "4294967295", "4294967296",
                                      "18446744073709551615", "99999999999999999999", "NONE", "", "1e9", "0x10", "+1", " " };

/* One number of the text becomes another. */
static GString *change_number(const char *text, Rng *rng)
{
    const size_t bytes = strlen(text);
    size_t at = rng_below(rng, bytes);
    while (!g_ascii_isdigit(text[at]))
        at = (at + 1) % bytes;
    while (at > 0 && g_ascii_isdigit(text[at - 1]))
        at--;
    GString *changed = g_string_new_len(text, (gssize)at);
    const char *behind = text + at + strspn(text + at, "0123456789");
    if (rng_below(rng, 4) == 0)
        g_string_append_printf(changed, "%" G_GUINT64_FORMAT, g_ascii_strtoull(text + at, NULL, 10) + 1);
    else
        g_string_append(changed, NUMBER[rng_below(rng, G_N_ELEMENTS(NUMBER))]);
    return g_string_append(changed, behind);
}

/* One line is gone, there twice, or somewhere else. */
static GString *change_line(const char *text, Rng *rng)
{
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    const guint lines = g_strv_length(line);
    const guint from = (guint)rng_below(rng, lines), to = (guint)rng_below(rng, lines);
    const bool keep = rng_below(rng, 2) == 0, again = rng_below(rng, 2) == 0;
    GString *changed = g_string_new(NULL);
    for (guint i = 0; i < lines; i++) {
        if (i != from || keep)
            g_string_append_printf(changed, "%s\n", line[i]);
        if (i == to && again)
            g_string_append_printf(changed, "%s\n", line[from]);
    }
    return changed;
}

static GString *change_bytes(const char *text, Rng *rng)
{
    GString *changed = g_string_new(text);
    if (rng_below(rng, 3) == 0)
        return g_string_truncate(changed, rng_below(rng, changed->len));
    for (uint64_t i = rng_below(rng, 3); i < 4; i++)
        changed->str[rng_below(rng, changed->len)] = (char)rng_below(rng, 256);
    return changed;
}

static void no_mutation_of_a_schedule_does_harm(void **state)
{
    (void)state;
    static const struct { const char *program; uint32_t devices; } of[] = {
        { "missing_signal", 3 }, { "right_permute_no_barrier", 3 }, { "all_gather_shared_semaphore", 3 },
    };
    static GString *(*const change[])(const char *text, Rng *rng) = { change_number, change_number, change_line, change_bytes };
    const char *soak = g_getenv("SOAK_SECONDS");
    const gint64 until = soak ? g_get_monotonic_time() + g_ascii_strtoll(soak, NULL, 10) * G_USEC_PER_SEC : 0;
    unsigned count[REFUSED + 1] = { 0 };
    Rng rng;
    rng_init(&rng, 12);
    for (unsigned i = 0; i < G_N_ELEMENTS(of) || g_get_monotonic_time() < until; i++) {
        g_autofree char *text = schedule_of(of[i % G_N_ELEMENTS(of)].program, of[i % G_N_ELEMENTS(of)].devices);
        for (unsigned m = 0; m < 150; m++) {
            GString *changed = change[m % G_N_ELEMENTS(change)](text, &rng);
            count[answer(changed->str, (gssize)changed->len)]++;
            g_string_free(changed, TRUE);
        }
    }
    assert_true(count[REFUSED] > count[SHOWN] + count[NOT_SHOWN]);
    assert_true(count[SHOWN] > 0 && count[NOT_SHOWN] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_that_the_program_has_not_is_refused),
        cmocka_unit_test(a_number_that_no_run_has_is_refused_at_once),
        cmocka_unit_test(a_file_of_before_there_were_windows_is_read),
        cmocka_unit_test(a_line_beyond_the_end_of_the_source_is_looked_for_in_it),
        cmocka_unit_test(what_is_no_file_of_text_is_refused),
        cmocka_unit_test(no_mutation_of_a_schedule_does_harm),
    };
    return cmocka_run_group_tests(tests, one_file_set_up, one_file_tear_down);
}
