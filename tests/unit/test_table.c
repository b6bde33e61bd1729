/* test_table.c - the set of visited states in both its forms, against a hash table of GLib. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include "../../checker/enumerate/table.h"
#include "../../model/rng.h"

enum { KEYS = 60000 };

typedef struct Visits { GHashTable *keys; uint64_t visited; } Visits;

static void want_known(void *data, const uint64_t *key)
{
    Visits *seen = data;
    seen->visited++;
    assert_true(g_hash_table_contains(seen->keys, GSIZE_TO_POINTER(key[0])));
}

/* In memory of its own, as a key may have any number of words. */
static bool add(Table *table, uint64_t key)
{
    uint64_t words[2] = {key, 0};
    return table_add(table, words);
}

static bool has(const Table *table, uint64_t key)
{
    uint64_t words[2] = {key, 0};
    return table_has(table, words);
}

static uint64_t hash_of(uint64_t key, unsigned bits)
{
    return table_hash(&key, 1, bits);
}

static bool owned(const Table *table, uint64_t key)
{
    unsigned skip = table->shape.skip;
    return skip == 0 || hash_of(key, table->shape.bits) >> (64 - skip) == table->first_bits >> (64 - skip);
}

/* Keys of so many bits, in order or at random, each offered about twice; the table begins small and grows. */
static void fill(Table *table, uint64_t bits, bool in_order)
{
    Rng rng;
    rng_init(&rng, bits);
    Visits seen = {.keys = g_hash_table_new(NULL, NULL)};
    for (uint64_t i = 1; i <= KEYS; i++) {
        uint64_t key = in_order ? 1 + i / 2 : 1 + rng_below(&rng, KEYS);
        key &= ~(uint64_t)0 >> (64 - bits);
        if (key == 0 || !owned(table, key))
            continue;
        if (table->count >= table->grow_at)
            assert_true(table_grow(table));
        assert_int_equal(add(table, key), g_hash_table_add(seen.keys, GSIZE_TO_POINTER(key)));
        assert_true(has(table, key));
        uint64_t absent = key ^ (1ull << (bits - 1));
        if (owned(table, absent) && absent != 0)
            assert_int_equal(has(table, absent), g_hash_table_contains(seen.keys, GSIZE_TO_POINTER(absent)));
    }
    assert_int_equal(table->count, g_hash_table_size(seen.keys));
    table_each(table, want_known, &seen);
    assert_int_equal(seen.visited, table->count);
    g_hash_table_destroy(seen.keys);
}

static void keys_of_any_width_are_kept_whole(void **state)
{
    (void)state;
    for (unsigned bits = 3; bits <= 64; bits += 1)
        for (int in_order = 0; in_order < 2; in_order++) {
            Table table;
            assert_true(table_init(&table, (KeyShape){.words = 1, .bits = bits}, 6));
            fill(&table, bits, in_order);
            table_clear(&table);
        }
}

static void a_table_turns_compact_when_few_bits_are_left(void **state)
{
    (void)state;
    Table table;
    assert_true(table_init(&table, (KeyShape){.words = 1, .bits = 34}, 6));
    assert_false(table.compact);                /* 34 - 2 bits are left, 28 fit */
    fill(&table, 34, false);
    assert_true(table.compact);
    assert_int_equal(table_bytes(&table), sizeof(uint32_t) << table.bits);
    table_clear(&table);
}

static void workers_tables_do_without_the_bits_that_name_the_worker(void **state)
{
    (void)state;
    for (uint64_t owner = 0; owner < 4; owner++)
        for (unsigned bits = 20; bits <= 40; bits += 10) {
            Table table;
            assert_true(table_init(&table, (KeyShape){.words = 1, .bits = bits, .skip = 2}, 6));
            table.first_bits = owner << 62;
            fill(&table, bits, true);
            table_clear(&table);
        }
}

static void a_crowded_neighbourhood_makes_a_table_grow(void **state)
{
    (void)state;
    Table table;
    assert_true(table_init(&table, (KeyShape){.words = 1, .bits = 40}, 16));
    unsigned grown_from = table.bits;
    assert_true(table.compact);
    Visits seen = {.keys = g_hash_table_new(NULL, NULL)};
    for (uint64_t key = 1; table.bits == grown_from; key++)        /* only those that belong to its first line */
        if (hash_of(key, 40) >> (64 - 12) == 0) {
            assert_true(add(&table, key));
            g_hash_table_add(seen.keys, GSIZE_TO_POINTER(key));
        }
    assert_int_equal(table.count, 15 * LINE_SLOTS + 1);
    table_each(&table, want_known, &seen);
    assert_int_equal(seen.visited, table.count);
    g_hash_table_destroy(seen.keys);
    table_clear(&table);
}

static void keys_of_several_words(void **state)
{
    (void)state;
    Table table;
    assert_true(table_init(&table, (KeyShape){.words = 3, .bits = 64}, 6));
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 1; i < KEYS / 4; i++) {
            uint64_t key[3] = {1 + i % 7, i, i % 1000};
            if (table.count >= table.grow_at)
                assert_true(table_grow(&table));
            assert_int_equal(table_add(&table, key), round == 0);
            key[2] = 1001;
            assert_false(table_has(&table, key));
        }
    assert_int_equal(table.count, KEYS / 4 - 1);
    table_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_any_width_are_kept_whole),
        cmocka_unit_test(a_table_turns_compact_when_few_bits_are_left),
        cmocka_unit_test(workers_tables_do_without_the_bits_that_name_the_worker),
        cmocka_unit_test(a_crowded_neighbourhood_makes_a_table_grow),
        cmocka_unit_test(keys_of_several_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
