/* test_store.c - memory that a child fills and its parent reads, limits, and sets of keys. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/rng.h"
#include "../../model/store.h"

static void items_keep_their_addresses_and_begin_as_zero(void **state)
{
    (void)state;
    Store store;
    store_init(&store, sizeof(uint32_t), 1000000);
    uint32_t *first = store_push(&store, 1);
    for (uint32_t i = 1; i < 1000000; i++) {
        uint32_t *item = store_push(&store, 1);
        assert_int_equal(*item, 0);
        assert_ptr_equal(item, first + i);
        *item = i;
    }
    for (uint32_t i = 0; i < 1000000; i++)
        assert_int_equal(STORE(uint32_t, &store, i), i);
    store_clear(&store);
    assert_null(store.base);
}

static void a_reset_store_is_zero_again_small_or_large(void **state)
{
    (void)state;
    for (size_t items = 10; items <= 1000000; items *= 10) {
        Store store;
        store_init(&store, 8, 1000000);
        char *base = store.base;
        memset(store_push(&store, items), 0xff, items * 8);
        store_reset(&store);
        assert_int_equal(store.count, 0);
        assert_ptr_equal(store.base, base);
        const char *again = store_push(&store, items);
        for (size_t i = 0; i < items * 8; i++)
            assert_int_equal(again[i], 0);
        store_clear(&store);
    }
}

static void what_was_truncated_is_gone_and_the_rest_is_as_it_was(void **state)
{
    (void)state;
    enum { KEYS = 1000, KEPT = 300 };
    Store store;
    Intern intern;
    store_init(&store, sizeof(uint32_t), KEYS);
    intern_init(&intern, 2 * KEYS, KEYS * 16);
    for (uint32_t i = 0; i < KEYS; i++)
        *(uint32_t *)store_push(&store, 1) = i + 1, intern_add(&intern, "0123456789abcdef", 1 + i % 16), intern_add(&intern, &i, sizeof i);
    uint32_t kept = (uint32_t)intern_count(&intern) - KEYS / 2, key = KEYS - 1;
    store_truncate(&store, KEPT);
    intern_truncate(&intern, kept);
    assert_int_equal(store.count, KEPT);
    assert_int_equal(STORE(uint32_t, &store, KEPT - 1), KEPT);
    assert_int_equal(*(uint32_t *)store_push(&store, 1), 0);
    assert_int_equal(intern_count(&intern), kept);
    assert_int_equal(intern_find(&intern, &key, sizeof key), NONE);
    assert_int_equal(intern_add(&intern, &key, sizeof key), kept);
    assert_int_equal(intern_find(&intern, "0123456789abcdef", 1), 0);
    for (uint32_t id = 0; id <= kept; id++) {
        size_t bytes;
        const void *at = intern_get(&intern, id, &bytes);
        assert_int_equal(intern_find(&intern, at, bytes), id);
    }
    intern_clear(&intern);
    store_clear(&store);
}

static size_t resident_kib(const void *base)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512], start[32];
    size_t kib = 0;
    bool here = false;
    snprintf(start, sizeof start, "%lx-", (unsigned long)base);
    while (fgets(line, sizeof line, maps)) {
        if (strncmp(line, start, strlen(start)) == 0)
            here = true;
        else if (here && sscanf(line, "Rss: %zu kB", &kib) == 1)
            break;
    }
    fclose(maps);
    return kib;
}

static void memory_is_committed_by_touching_and_given_back_by_reset(void **state)
{
    (void)state;
    Store store;
    store_init(&store, 1, (size_t)1 << 40);
    assert_true(resident_kib(store.base) < 64);
    memset(store_push(&store, 8 << 20), 1, 8 << 20);
    assert_true(resident_kib(store.base) >= 8 << 10);
    store_reset(&store);
    assert_true(resident_kib(store.base) < 64);
    store_clear(&store);
}

/* Runs work in a child; returns how it ended. */
static int in_child(void (*work)(void *data), void *data)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        work(data);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return status;
}

typedef struct SharedParts { Store numbers; Intern names; } SharedParts;

static void fill_shared(void *data)
{
    SharedParts *shared = data;
    for (uint32_t i = 0; i < 50000; i++) {
        char name[32];
        *(uint32_t *)store_push(&shared->numbers, 1) = i * 3;
        int length = snprintf(name, sizeof name, "name %u", i);
        intern_add(&shared->names, name, (size_t)length + 1);
    }
}

static void what_a_child_pushes_its_parent_reads(void **state)
{
    (void)state;
    Store holder;
    store_init(&holder, sizeof(SharedParts), 1);
    SharedParts *shared = store_push(&holder, 1);    /* the Stores' own fields are shared too */
    store_init(&shared->numbers, sizeof(uint32_t), 100000);
    intern_init(&shared->names, 100000, 4 << 20);
    assert_int_equal(in_child(fill_shared, shared), 0);
    assert_int_equal(shared->numbers.count, 50000);
    assert_int_equal(STORE(uint32_t, &shared->numbers, 49999), 49999 * 3);
    assert_int_equal(intern_count(&shared->names), 50000);
    assert_string_equal(intern_get(&shared->names, 777, NULL), "name 777");
    assert_int_equal(intern_add(&shared->names, "name 4242", 10), 4242);
    intern_clear(&shared->names);
    store_clear(&shared->numbers);
    store_clear(&holder);
}

static void exhausted(const char *what)
{
    (void)what;
    _exit(42);
}

static void push_too_many(void *data)
{
    Store *store = data;
    store_set_limit(0, exhausted);
    while (store->count <= 1024)
        store_push(store, 1);
}

static void push_huge(void *data)
{
    store_set_limit(0, exhausted);
    store_push(data, SIZE_MAX / 2);
}

static void a_full_store_calls_the_handler(void **state)
{
    (void)state;
    Store store;
    store_init(&store, 4, 1024);
    int status = in_child(push_too_many, &store);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    status = in_child(push_huge, &store);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    store_clear(&store);
}

static void push_without_handler(void *data)
{
    store_set_limit(0, NULL);
    store_push(data, 5000);
}

static void without_a_handler_the_process_ends_as_for_bad_input(void **state)
{
    (void)state;
    Store store;
    store_init(&store, 4, 1024);
    int status = in_child(push_without_handler, &store);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    store_clear(&store);
}

static void push_up_to_the_limit(void *data)
{
    Store *store = data;
    store_push(store, 500);
    store_set_limit(1000, exhausted);
    store_push(store, 1000);
    if (store_bytes_used() != 1000)
        _exit(1);
    store_reset(store);
    store_push(store, 1000);
    store_set_limit(1000, exhausted);
    if (store_bytes_used() != 0)
        _exit(2);
    store_push(store, 1001);
}

static void the_limit_counts_bytes_since_it_was_set(void **state)
{
    (void)state;
    Store store;
    store_init(&store, 1, 100000);
    int status = in_child(push_up_to_the_limit, &store);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
    store_clear(&store);
}

static void a_store_of_one_process_is_zero_whatever_was_in_the_one_before(void **state)
{
    (void)state;
    for (size_t items = 10; items <= 1000000; items *= 10)
        for (int round = 0; round < 100; round++) {
            Store first, second;                /* two at a time: each has memory of its own */
            store_init_own(&first, 8, 1000000);
            store_init_own(&second, 8, 1000000);
            assert_true(first.base != second.base);
            char *bytes = store_push(&first, items), *others = store_push(&second, 1);
            assert_true(bytes[0] == 0 && memcmp(bytes, bytes + 1, items * 8 - 1) == 0 && others[0] == 0);
            memset(bytes, 0xff, items * 8);
            assert_int_equal(others[0], 0);
            if (round % 2)
                store_reset(&first);
            store_clear(&first);
            store_clear(&second);
            round += items > 10000 ? 20 : 0;
        }
}

static void write_clear_and_write_again(void *data)
{
    Store *store = data, again;
    *(uint32_t *)store_push(store, 1) = 43;
    store_clear(store);
    store_init_own(&again, sizeof(uint32_t), 1000);
    uint32_t *item = store_push(&again, 1);
    if (*item != 0)
        _exit(1);
    *item = 44;
}

static void what_a_child_does_with_a_store_of_its_own_its_parent_does_not_see(void **state)
{
    (void)state;
    Store store, other;
    store_init_own(&other, sizeof(uint32_t), 1000);
    store_clear(&other);                        /* kept when the child is forked: it and its parent both use it next */
    store_init_own(&store, sizeof(uint32_t), 1000);
    *(uint32_t *)store_push(&store, 1) = 42;
    assert_int_equal(in_child(write_clear_and_write_again, &store), 0);
    assert_int_equal(STORE(uint32_t, &store, 0), 42);
    assert_int_equal(*(uint32_t *)store_push(&store, 1), 0);
    store_init_own(&other, sizeof(uint32_t), 1000);
    assert_int_equal(*(uint32_t *)store_push(&other, 1), 0);
    store_clear(&other);
    store_clear(&store);
}

static void keys_get_dense_ids_in_order_of_arrival(void **state)
{
    (void)state;
    Intern intern;
    intern_init(&intern, 300000, 8 << 20);
    Rng rng;
    rng_init(&rng, 5);
    GHashTable *seen = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    uint32_t next = 0;
    for (int i = 0; i < 400000; i++) {
        uint64_t key[4] = {rng_below(&rng, 100000), 7, 7, 7};
        size_t bytes = 2 + key[0] % 29;
        GBytes *copy = g_bytes_new(key, bytes);
        gpointer known;
        bool present = g_hash_table_lookup_extended(seen, copy, NULL, &known);
        uint32_t id = intern_add(&intern, key, bytes);
        assert_int_equal(id, present ? GPOINTER_TO_UINT(known) : next);
        if (present)
            g_bytes_unref(copy);
        else
            g_hash_table_insert(seen, copy, GUINT_TO_POINTER(next++));
    }
    assert_int_equal(intern_count(&intern), next);
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, seen);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        size_t bytes, length;
        const void *data = g_bytes_get_data(key, &length), *kept = intern_get(&intern, GPOINTER_TO_UINT(value), &bytes);
        assert_int_equal(bytes, length);
        assert_memory_equal(kept, data, length);
        assert_int_equal((uintptr_t)kept % 8, 0);
    }
    g_hash_table_unref(seen);
    intern_clear(&intern);
}

static void the_empty_key_and_prefixes_are_keys_of_their_own(void **state)
{
    (void)state;
    Intern intern;
    intern_init(&intern, 10, 100);
    assert_int_equal(intern_add(&intern, "", 0), 0);
    assert_int_equal(intern_add(&intern, "", 1), 1);
    assert_int_equal(intern_add(&intern, "ab", 1), 2);
    assert_int_equal(intern_add(&intern, "ab", 2), 3);
    assert_int_equal(intern_add(&intern, NULL, 0), 0);
    assert_int_equal(intern_add(&intern, "a", 1), 2);
    size_t bytes = 9;
    intern_get(&intern, 0, &bytes);
    assert_int_equal(bytes, 0);
    intern_clear(&intern);
}

static void an_intern_holds_as_many_keys_as_it_was_made_for(void **state)
{
    (void)state;
    Intern intern;
    intern_init(&intern, 5000, 5000 * sizeof(uint32_t));
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++)
            assert_int_equal(intern_add(&intern, &i, sizeof i), i);
    intern_clear(&intern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_keep_their_addresses_and_begin_as_zero),
        cmocka_unit_test(a_reset_store_is_zero_again_small_or_large),
        cmocka_unit_test(what_was_truncated_is_gone_and_the_rest_is_as_it_was),
        cmocka_unit_test(memory_is_committed_by_touching_and_given_back_by_reset),
        cmocka_unit_test(what_a_child_pushes_its_parent_reads),
        cmocka_unit_test(a_full_store_calls_the_handler),
        cmocka_unit_test(without_a_handler_the_process_ends_as_for_bad_input),
        cmocka_unit_test(the_limit_counts_bytes_since_it_was_set),
        cmocka_unit_test(a_store_of_one_process_is_zero_whatever_was_in_the_one_before),
        cmocka_unit_test(what_a_child_does_with_a_store_of_its_own_its_parent_does_not_see),
        cmocka_unit_test(keys_get_dense_ids_in_order_of_arrival),
        cmocka_unit_test(the_empty_key_and_prefixes_are_keys_of_their_own),
        cmocka_unit_test(an_intern_holds_as_many_keys_as_it_was_made_for),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
