/* test_foreign_checkpoints.c - checkpoints with a changed number and a valid checksum: each is refused, or the search reports the same
 * as without the change, or less.
 *
 * A checkpoint is trusted: a forged one can claim that everything was covered. Here one number is changed at a time. SOAK_SECONDS=600 sets
 * the duration.
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
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../../checker/check/check.h"
#include "../../checker/run/checkpoint.h"
#include "../../kernels/pallas/module.h"
#include "../../model/rng.h"
#include "../support/one_file.h"

typedef struct Written { const char *program; uint32_t devices; Search search; unsigned modes; uint64_t states, runs; } Written;

/* Of each search one that is right and one that is wrong, and the ways of enumerating. The limits cut them short in the middle. */
static const Written CASES[] = {
    { "all_gather", 2, SEARCH_ENUMERATE, 0, 60, 0 }, { "missing_signal", 3, SEARCH_ENUMERATE, 0, 6, 0 },
    { "right_permute_no_barrier", 2, SEARCH_ENUMERATE, 0, 12, 0 }, { "all_gather", 2, SEARCH_ENUMERATE, ENUMERATE_SWEEP, 60, 0 },
    { "all_gather", 2, SEARCH_ENUMERATE, ENUMERATE_MERGE_LOCAL, 20, 0 }, { "g03_equality_poll", 2, SEARCH_ENUMERATE, 0, 60, 0 },
    { "g09_count_then_reset", 3, SEARCH_AUTO, 0, 0, 30 }, { "g03_equality_poll", 2, SEARCH_AUTO, 0, 0, 3 },
    { "g09_count_then_reset", 3, SEARCH_RANDOM, 0, 0, 5 }, { "all_gather", 2, SEARCH_PCT, 0, 0, 5 },
};

/* "error", or the verdict and the faults. */
static char *say(const Written *one, bool whole, const char *checkpoint, const char *resume)
{
    CheckSpec spec = { .open = pl_module_open, .program = one->program, .cores = 1, .search = one->search, .modes = one->modes,
                       .limits.states = whole ? 0 : one->states, .limits.runs = whole ? 200 : one->runs, .checkpoint = checkpoint,
                       .resume = resume, .limits.seconds = 100 };
    mesh_line(&spec.mesh, one->devices);
    CheckResult *result = check_run(&spec);
    GString *said = g_string_new(verdict_name(result->verdict));
    for (guint i = 0; result->verdict != VERDICT_ERROR && i < result->outcome->findings->len; i++)
        g_string_append_printf(said, " %s", fault_name(((const Finding *)g_ptr_array_index(result->outcome->findings, i))->id));
    if (result->verdict == VERDICT_ERROR && (result->error == NULL || strchr(result->error, '\n') != NULL
                                             || strstr(result->error, "internal error") != NULL))
        fail_msg("not one line that helps: %s", result->error);
    check_result_free(result);
    return g_string_free(said, FALSE);
}

static void write_file(char *bytes, gsize length)
{
    const uint64_t checksum = XXH3_64bits(bytes, length - sizeof checksum);
    memcpy(bytes + length - sizeof checksum, &checksum, sizeof checksum);
    assert_true(g_file_set_contents(one_file, bytes, (gssize)length, NULL));
}

/* Of 8 or 4 bytes: nothing, all bits, the largest, one more, one less. */
static void change(char *at, unsigned width, unsigned how)
{
    uint64_t number = 0;
    memcpy(&number, at, width);
    const uint64_t all = width == 8 ? UINT64_MAX : UINT32_MAX, to[] = { 0, all, all >> 1, number + 1, number - 1 };
    memcpy(at, &to[how], width);
}

static void try_changes(const Written *one, Rng *rng, unsigned times, unsigned count[2])
{
    g_autofree char *bytes = NULL;
    gsize length;
    g_unlink(one_file);
    g_autofree char *cut = say(one, false, one_file, NULL), *unchanged = NULL;
    assert_true(g_file_get_contents(one_file, &bytes, &length, NULL));
    unchanged = say(one, true, NULL, one_file);
    assert_string_not_equal(unchanged, "error");
    const gsize magic = strlen(CHECKPOINT_MAGIC);
    uint64_t identity;
    memcpy(&identity, bytes + magic, sizeof identity);
    const gsize begin = magic + sizeof identity + identity, fields = (length - 16 - begin) / 4;
    for (unsigned i = 0; i < times; i++) {
        g_autofree char *changed = g_memdup2(bytes, length);
        const gsize field = rng_below(rng, fields);
        const unsigned how = (unsigned)(i % 5), width = i % 10 < 5 || field + 2 > fields ? 4 : 8;
        change(changed + begin + 4 * field, width, how);
        write_file(changed, length);
        g_autofree char *said = say(one, true, NULL, one_file);
        count[strcmp(said, "error") == 0]++;
        const bool cautious = strcmp(said, "bounded") == 0 && strcmp(unchanged, "verified") == 0;
        if (strcmp(said, "error") != 0 && strcmp(said, unchanged) != 0 && !cautious)
            fail_msg("%s, search %s, modes %u: %u bytes at %zu of %zu, change %u: \"%s\" in place of \"%s\"", one->program,
                     search_name(one->search), one->modes, width, (size_t)(4 * field), (size_t)(4 * fields), how, said, unchanged);
    }
}

static void a_number_that_was_changed_is_refused_or_changes_no_verdict(void **state)
{
    (void)state;
    const char *soak = g_getenv("SOAK_SECONDS");
    const gint64 until = soak ? g_get_monotonic_time() + g_ascii_strtoll(soak, NULL, 10) * G_USEC_PER_SEC : 0;
    Rng rng;
    rng_init(&rng, 5);
    unsigned count[2] = { 0, 0 };
    for (unsigned i = 0; i < G_N_ELEMENTS(CASES) || g_get_monotonic_time() < until; i++)
        try_changes(&CASES[i % G_N_ELEMENTS(CASES)], &rng, soak ? 100 : 20, count);
    assert_true(count[1] > count[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_was_changed_is_refused_or_changes_no_verdict),
    };
    return cmocka_run_group_tests(tests, one_file_set_up, one_file_tear_down);
}
