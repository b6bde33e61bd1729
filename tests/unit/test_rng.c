/* test_rng.c - the generator gives the numbers of its published definition, and bounded ones evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/rng.h"

/* The first outputs of SplitMix64 from seed 1234567, as its authors and several libraries list them. */
static void mixing_is_splitmix64(void **state)
{
    (void)state;
    static const uint64_t EXPECTED[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    uint64_t seed = 1234567;
    for (size_t i = 0; i < G_N_ELEMENTS(EXPECTED); i++)
        assert_true(rng_mix(seed += UINT64_C(0x9e3779b97f4a7c15)) == EXPECTED[i]);
}

/* xoshiro256** from the state {1, 2, 3, 4}: the first by hand is rotl(2 * 5, 7) * 9 = 11520. */
static void the_sequence_is_that_of_xoshiro256starstar(void **state)
{
    (void)state;
    Rng rng = {.state = {1, 2, 3, 4}};
    static const uint64_t EXPECTED[] = {
        11520, 0, 1509978240, UINT64_C(1215971899390074240), UINT64_C(1216172134540287360), UINT64_C(607988272756665600),
        UINT64_C(16172922978634559625), UINT64_C(8476171486693032832),
    };
    for (size_t i = 0; i < G_N_ELEMENTS(EXPECTED); i++)
        assert_true(rng_next(&rng) == EXPECTED[i]);
}

static void one_seed_gives_one_sequence(void **state)
{
    (void)state;
    Rng a, b, c;
    rng_init(&a, 7);
    rng_init(&b, 7);
    rng_init(&c, 8);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = rng_next(&a);
        assert_true(value == rng_next(&b));
        same += value == rng_next(&c);
    }
    assert_int_equal(same, 0);
}

static void bounded_numbers_stay_below_and_are_even(void **state)
{
    (void)state;
    Rng rng;
    rng_init(&rng, 1);
    for (uint64_t bound = 1; bound <= 13; bound++) {
        int count[13] = {0}, rounds = 20000 * (int)bound;
        for (int i = 0; i < rounds; i++) {
            uint64_t value = rng_below(&rng, bound);
            assert_true(value < bound);
            count[value]++;
        }
        for (uint64_t value = 0; value < bound; value++)
            assert_in_range(count[value], 19000, 21000);
    }
    uint64_t bound = UINT64_C(3) << 62;         /* a careless generator would favour one third of these */
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        uint64_t value = rng_below(&rng, bound);
        assert_true(value < bound);
        low += value < UINT64_C(1) << 62;
    }
    assert_in_range(low, 9600, 10400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixing_is_splitmix64),
        cmocka_unit_test(the_sequence_is_that_of_xoshiro256starstar),
        cmocka_unit_test(one_seed_gives_one_sequence),
        cmocka_unit_test(bounded_numbers_stay_below_and_are_even),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
