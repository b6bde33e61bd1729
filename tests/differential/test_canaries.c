/* test_canaries.c - the test of the differential test: each rule of the proof that is broken on purpose must be noticed, and what the
 * enumeration makes of looks at counts and flags, and of rotations.
 *
 * A canary is given programs with the features that its rule is about, up to a number; the first that two ways of deciding disagree on
 * is enough. That the same programs show no difference where nothing is broken is test_differential's business, and is asked here once
 * more for the one that was noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include "../support/random_rotate.h"
#include "../support/sanitized.h"
#include "differential.h"

enum { PROGRAMS_MAX = 3000, FIRST_SEED = 900001 };

typedef struct Canary {
    ProveCanary id;
    const char *name;
    uint32_t features;
} Canary;

static const Canary CANARIES[] = {
    { PROVE_CANARY_MAXIMUM, "maximum in place of the order statistic", RANDOM_TIDY },
    { PROVE_CANARY_ONE_PASS, "the fixed point not repeated", RANDOM_TIDY },
    { PROVE_CANARY_KEEP_TAKES, "a wait that keeps takes", RANDOM_TIDY | RANDOM_KEEP },
    { PROVE_CANARY_KEEP_NEEDS_VALUE_ONLY, "a wait that keeps needs its value only", RANDOM_TIDY | RANDOM_KEEP },
    { PROVE_CANARY_WAIT_FOR_ZERO, "a wait for 0 needs the first signal", RANDOM_TIDY | RANDOM_ZERO },
    { PROVE_CANARY_NO_FLUID, "fluid ignored", RANDOM_TIDY | RANDOM_FLUID },
    { PROVE_CANARY_NEED_WHOLE, "completion of all bytes, under fluid too", RANDOM_TIDY | RANDOM_FLUID },
    { PROVE_CANARY_REGULAR_COUNTS_BYTES, "a copy on a REGULAR semaphore counts bytes", RANDOM_TIDY | RANDOM_REGULAR },
    { PROVE_CANARY_NO_CHAINS, "order of copies forgotten", RANDOM_TIDY | RANDOM_LINK_FIFO },
    { PROVE_CANARY_EARLY_NOT_CHAINED, "early bytes not behind the earlier write",
      RANDOM_TIDY | RANDOM_LINK_FIFO | RANDOM_FLUID | RANDOM_MISMATCH },
    { PROVE_CANARY_JOIN_ONE_SIDED, "members of a join not ordered among each other", RANDOM_TIDY | RANDOM_BARRIERS | RANDOM_LAUNCHES },
    { PROVE_CANARY_OWN_ENTRY, "a life has always begun", RANDOM_TIDY | RANDOM_LAUNCHES },
    { PROVE_CANARY_LEFTOVER_AT_END, "left over is what the record ended with", RANDOM_TIDY | RANDOM_LAUNCHES | RANDOM_SCOPES },
    { PROVE_CANARY_OVERFLOW_AT_END, "the highest count is the last", RANDOM_TIDY | RANDOM_LIMITS },
    { PROVE_CANARY_READ_IS_RELEASED, "a copy complete at the next wait on its semaphore", RANDOM_TIDY },
    { PROVE_CANARY_IN_FLIGHT_ISSUER, "a write held against its issuer's exit", RANDOM_TIDY | RANDOM_LAUNCHES },
    { PROVE_CANARY_SWEEP_IGNORES_READS, "reads do not race", RANDOM_TIDY },
    { PROVE_CANARY_WRONG_IN_CHAIN, "one signal too few of a chain", RANDOM_TIDY },
    { PROVE_CANARY_WRITES_DO_NOT_CLASH, "what two writes leave is known", RANDOM_TIDY | RANDOM_DATA },
    { PROVE_CANARY_EXEMPT_STANDS, "an exempt leftover hides a lifetime", RANDOM_TIDY | RANDOM_LAUNCHES | RANDOM_EXEMPT },
    { PROVE_CANARY_OPEN_TAKEN_AS_ORDERED, "what clocks leave open taken as ordered", RANDOM_TIDY },
};

/* Mistakes about which classes need no proof of their own. */
static const struct { ClassesCanary id; const char *name; } OF_CLASSES[] = {
    { CLASSES_CANARY_LOOKS_IGNORED, "with looks set aside nothing is a fault" },
    { CLASSES_CANARY_STEPS_IGNORED, "all classes have the same steps" },
};

/* Mistakes with looks at counts and flags. */
static const struct { EnumerateCanary id; const char *name; uint32_t features; } OF_STATES[] = {
    { ENUMERATE_CANARY_LOOK_SEES_OWN, "a look that does not see what others add", RANDOM_TIDY | RANDOM_CONFLICTS },
    { ENUMERATE_CANARY_LOOK_IS_MERGED, "local steps that somebody looks at, merged", RANDOM_TIDY | RANDOM_CONFLICTS },
    { ENUMERATE_CANARY_EXPECTED_HOLDS, "an expected count that is always there", RANDOM_TIDY | RANDOM_CONFLICTS },
    { ENUMERATE_CANARY_FLAG_IS_FIRST, "a look that sees the first value of a flag", RANDOM_TIDY | RANDOM_FLAGS },
    { ENUMERATE_CANARY_SWAP_IS_BLIND, "a compare-and-swap that does not compare", RANDOM_TIDY | RANDOM_FLAGS },
    { ENUMERATE_CANARY_FOLD_EARLY, "a poll folded at its first look", RANDOM_TIDY | RANDOM_CONFLICTS | RANDOM_FLAGS },
    { ENUMERATE_CANARY_SPIN_ALONE, "a poll that nobody can end", RANDOM_TIDY | RANDOM_CONFLICTS },
    { ENUMERATE_CANARY_NOTHING_IS_UNWRITTEN, "a load outside gets what nobody wrote", RANDOM_TIDY | RANDOM_STOPS },
    { ENUMERATE_CANARY_STOP_HIDES, "a stop that hides what was raised before", RANDOM_TIDY | RANDOM_STOPS },
};

/* Mistakes about states that rotations turn into each other. */
static const struct { EnumerateCanary id; const char *name; } OF_ROTATIONS[] = {
    { ENUMERATE_CANARY_ONE_ROTATION, "one of the rotations judged" },
    { ENUMERATE_CANARY_ANY_BYTES, "any bytes stand for any others" },
    { ENUMERATE_CANARY_ANY_OVERLAP, "bytes stand for others, whatever they overlap" },
};

/* False: the seed gives no program. */
static bool generate(RandomProgram *random, unsigned index, uint32_t features, bool rotated)
{
    random_generate(random, FIRST_SEED + index, features, rotated ? 4 : 8);
    if (rotated && !random_rotate(random))
        return false;
    if (rotated && index % 4 > 0)
        random_disturb(random);
    return true;
}

/* How many programs it took, 0: none was noticed. */
static unsigned programs_until_noticed(const DifferentialOptions *broken, uint32_t features, bool rotated)
{
    DifferentialStats stats = { 0 };
    const DifferentialOptions sound = { .states_max = broken->states_max, .quick = broken->quick };
    for (unsigned i = 0; i < PROGRAMS_MAX; i++) {
        RandomProgram random;
        if (!generate(&random, i, features, rotated))
            continue;
        g_autofree char *difference = differential_compare(&random, broken, &stats);
        if (difference == NULL)
            continue;
        g_autofree char *real = differential_compare(&random, &sound, &stats);
        assert_null(real);
        return i + 1;
    }
    return 0;
}

static bool is_noticed(const char *name, const DifferentialOptions *broken, uint32_t features, bool rotated)
{
    unsigned programs = programs_until_noticed(broken, features, rotated);
    printf("  %-50s %s %u\n", name, programs ? "noticed at program" : "NOT NOTICED in", programs ? programs : PROGRAMS_MAX);
    fflush(stdout);
    return programs > 0;
}

static void every_canary_is_noticed(void **state)
{
    (void)state;
    unsigned noticed = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(CANARIES); i++) {
        const DifferentialOptions broken = { .canary = CANARIES[i].id, .states_max = 5000, .quick = true };
        noticed += is_noticed(CANARIES[i].name, &broken, CANARIES[i].features, false);
    }
    assert_int_equal(noticed, PROVE_CANARY_COUNT - 1);
}

static void every_class_that_is_wrongly_spared_its_proof_is_noticed(void **state)
{
    (void)state;
    unsigned noticed = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(OF_CLASSES); i++) {
        const DifferentialOptions broken = { .classes_canary = OF_CLASSES[i].id, .states_max = 5000 };
        noticed += is_noticed(OF_CLASSES[i].name, &broken, RANDOM_TIDY | RANDOM_CONFLICTS, false);
    }
    assert_int_equal(noticed, CLASSES_CANARY_COUNT - CLASSES_CANARY_LOOKS_IGNORED);
}

/* By the classes, by other ways of enumerating, or because a schedule does not show what it should. */
static void every_canary_of_the_enumeration_is_noticed(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();                                 /* polls are not compared there */
    unsigned noticed = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(OF_STATES); i++) {
        const DifferentialOptions broken = { .states_canary = OF_STATES[i].id, .states_max = 5000 };
        noticed += is_noticed(OF_STATES[i].name, &broken, OF_STATES[i].features, false);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(OF_ROTATIONS); i++) {
        const DifferentialOptions broken = { .states_canary = OF_ROTATIONS[i].id, .states_max = 5000 };
        noticed += is_noticed(OF_ROTATIONS[i].name, &broken, RANDOM_TIDY | RANDOM_FLUID, true);
    }
    assert_int_equal(noticed, ENUMERATE_CANARY_COUNT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_canary_is_noticed),
                                        cmocka_unit_test(every_class_that_is_wrongly_spared_its_proof_is_noticed),
                                        cmocka_unit_test(every_canary_of_the_enumeration_is_noticed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
