/* test_entry_random.c - random programs in which a core is stuck in the first launch: both searches find the same entry barriers, and all
 * ways of deciding the program agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/run/entry_barriers.h"
#include "../../model/entry.h"
#include "../support/sanitized.h"
#include "campaign.h"

typedef struct Counted { unsigned stuck, differ, skipped, open, barriers; } Counted;

/* One wait of the first launch is for more than anybody ever signals; false: there is none. */
static bool get_stuck(RandomProgram *random)
{
    RandomOp *waits[RANDOM_CORES_MAX * RANDOM_OPS_MAX];
    unsigned count = 0;
    for (unsigned core = 0; core < random->cores; core++)
        for (unsigned i = 0; i < random->ops[core]; i++) {
            RandomOp *op = &random->op[core][i];
            if (op->kind == OP_WAIT && op->launch == 0 && random->thing[op->at.thing].kind == SEMAPHORE_REGULAR)
                waits[count++] = op;
        }
    if (count > 0)
        waits[random->seed % count]->value = UINT8_MAX;
    return count > 0;
}

static Outcome *decide(Program *program, const Record *record, bool by_states, bool contents)
{
    const ClassesOptions classes = { .contents = contents };
    const EnumerateOptions states = { .limits.states = 20000, .contents = contents };
    if (!by_states && !classes_needed(record))
        return prove_record(record, &(ProveOptions){ 0 });
    Unroller *unroller = unroller_new(program);
    Outcome *outcome = by_states ? enumerate_run(unroller_source(unroller), &states)
        : classes_run(unroller_source(unroller), &classes, NULL);
    unroller_free(unroller);
    return outcome;
}

/* What is known of the launches in the end, as a check finds it; NULL: too many states. g_malloc */
static char *find_barriers(const RandomProgram *random, bool by_states, Counted *counted)
{
    Program *program = random_build(random);
    Record *record = record_new(program);
    Execution *execution = execution_new(program, record);
    bool again = true, whole = true;
    while (again && whole && program->usage_error == NULL) {
        entry_barriers_run(execution, &(ExecutionOptions){ .fill = 0x5b });
        Outcome *outcome = decide(program, record, by_states, random->features & RANDOM_DATA);
        whole = outcome->complete && !outcome->incomplete_after_race;
        again = entry_barriers_update(program, false);
        counted->open += !again && by_states && entry_passed_by_all(program) < program->launches.count;
        again |= !again && outcome->findings->len > 0 && entry_barriers_presume(program);
        outcome_free(outcome);
    }
    GString *barriers = g_string_new(NULL);
    for (uint32_t l = 0; l < program->launches.count; l++) {
        g_string_append_c(barriers, program_launch(program, l)->entry_barrier ? '1' : '0');
        counted->barriers += by_states && program_launch(program, l)->entry_barrier;
    }
    whole &= program->usage_error == NULL;
    execution_free(execution);
    record_free(record);
    program_free(program);
    return g_string_free(barriers, !whole);
}

static void compare(RandomProgram *random, Counted *counted)
{
    const DifferentialOptions options = { .states_max = 5000 };
    DifferentialStats stats = { 0 };
    g_autofree char *by_classes = find_barriers(random, false, counted), *by_states = find_barriers(random, true, counted);
    counted->stuck++;
    if (by_classes == NULL || by_states == NULL) {
        counted->skipped++;
        return;
    }
    g_autofree char *difference = differential_compare(random, &options, &stats);
    if (strcmp(by_classes, by_states) == 0 && difference == NULL)
        return;
    counted->differ++;
    GString *text = g_string_new(NULL);
    random_print(random, text);
    printf("seed %" G_GUINT64_FORMAT ": barriers %s by proof and classes, %s by states; %s\n%s\n", random->seed, by_classes, by_states,
           difference ? difference : "", text->str);
    g_string_free(text, TRUE);
}

static void barriers_after_a_launch_that_gets_stuck_are_the_same(void **state)
{
    static const CampaignMix MIX[] = { CAMPAIGN_PLAIN, CAMPAIGN_CONFLICTS, CAMPAIGN_WILD };
    Counted counted = { 0 };
    (void)state;
    for (uint64_t seed = 7000001; counted.stuck < sanitized_share(600); seed++) {
        RandomProgram random;
        random_generate(&random, seed, campaign_features(seed, MIX[seed % 3]) | RANDOM_LAUNCHES | RANDOM_TIDY, 8);
        if (random.launches > 1 && get_stuck(&random))
            compare(&random, &counted);
    }
    printf("%u programs, %u too large or steered by a race, %u with a launch that somebody never gets to, %u entry barriers, %u differ\n",
           counted.stuck, counted.skipped, counted.open, counted.barriers, counted.differ);
    assert_int_equal(counted.differ, 0);
    assert_true(counted.open > 0 && counted.skipped < counted.stuck / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(barriers_after_a_launch_that_gets_stuck_are_the_same) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
