/* test_classes.c - known numbers of classes: programs over shared words and over semaphores, each visited once and no run in vain.
 *
 * The numbers are those of the literature's own tests, or follow from counting: dependent are two steps on one word if one of them writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../checker/classes/classes.h"
#include "../support/sanitized.h"
#include "../support/script.h"

typedef struct Words {                          /* each core runs `run` over the words of one device */
    uint32_t word, lock;                        /* decls */
    int n;
    void (*run)(Core *core, const struct Words *words);
} Words;

static const Target HOME = { 0, NONE };

static int64_t get(Core *core, const Words *words, int x)
{
    return core_flag_load(core, script_line(core, 1), script_at(words->word, x), HOME);
}

static void put(Core *core, const Words *words, int x, int64_t value)
{
    core_flag_store(core, script_line(core, 2), script_at(words->word, x), HOME, value);
}

static bool cas(Core *core, const Words *words, int x, int64_t expected, int64_t value)
{
    return core_flag_compare_and_swap(core, script_line(core, 3), script_at(words->word, x), HOME, expected, value) == expected;
}

static void fetch_add(Core *core, const Words *words, int x)
{
    core_flag_add(core, script_line(core, 4), script_at(words->word, x), HOME, 1, true);
}

static void lock(Core *core, const Words *words, int l)
{
    while (core_flag_compare_and_swap(core, script_line(core, 5), script_at(words->lock, l), HOME, 0, 1) != 0)
        ;
}

static void unlock(Core *core, const Words *words, int l)
{
    core_flag_store(core, script_line(core, 6), script_at(words->lock, l), HOME, 0);
}

static Words words_now;

SCRIPT_BODY(run_words) { words_now.run(core, &words_now); }

typedef struct CountedClasses { uint64_t classes, redundant, findings; bool complete; } CountedClasses;

static CountedClasses explore(Script *script, const ClassesOptions *options)
{
    Outcome *outcome = classes_run(script_source(script), options, NULL);
    CountedClasses counted = { outcome->classes, outcome->redundant, outcome->findings->len, outcome->complete };
    outcome_free(outcome);
    return counted;
}

/* Each program is explored again by searches that are divided early and often. */
enum { DIVIDED_MAX = 3000 };
static const ClassesOptions DIVIDED[] = {
    { .audit = true, .units = 2, .budget = 1 }, { .audit = true, .units = 5, .budget = 1, .workers = 2 },
    { .audit = true, .units = 16, .budget = 3, .workers = 2 }, { .audit = true, .units = 40, .budget = 2, .workers = 3 },
};

static void want_same(CountedClasses one, CountedClasses divided, unsigned how)
{
    if (one.classes != divided.classes || divided.redundant != 0)
        print_message("divided as %u: %lu classes in place of %lu, %lu redundant\n", how, (unsigned long)divided.classes,
                      (unsigned long)one.classes, (unsigned long)divided.redundant);
    assert_int_equal(divided.classes, one.classes);
    assert_int_equal(divided.redundant, 0);
    assert_int_equal(divided.findings, one.findings);
    assert_int_equal(divided.complete, one.complete);
}

static Script *make_words(uint32_t threads, uint32_t count, int n, void (*run)(Core *, const Words *))
{
    Script *script = script_around(threads, NULL, run_words);
    words_now = (Words){ .n = n, .run = run };
    words_now.word = script_semaphore(script, SEMAPHORE_FLAG, count, "word");
    words_now.lock = script_semaphore(script, SEMAPHORE_FLAG, 64, "lock");
    return script;
}

static CountedClasses count_words(uint32_t threads, uint32_t count, int n, void (*run)(Core *, const Words *))
{
    Script *script = make_words(threads, count, n, run);
    CountedClasses counted = explore(script, &(ClassesOptions){ .audit = true });
    if (counted.classes <= DIVIDED_MAX)
        for (size_t i = 0; i < G_N_ELEMENTS(DIVIDED); i++)
            want_same(counted, explore(script, &DIVIDED[i]), (unsigned)i);
    script_free(script);
    return counted;
}

enum { SANITIZED_MAX = 3000 };                   /* classes of a program that is counted with the address sanitizer, too */

/* A program as for count_words. */
static void expect(const char *what, int n, uint64_t expected, uint32_t threads, uint32_t words, int size,
                   void (*run)(Core *, const Words *))
{
    if (SANITIZED && expected > SANITIZED_MAX)
        return;
    CountedClasses counted = count_words(threads, words, size, run);
    if (counted.classes != expected || counted.redundant != 0)
        print_message("%s(%d): %lu classes, %lu redundant\n", what, n, (unsigned long)counted.classes, (unsigned long)counted.redundant);
    assert_int_equal(counted.classes, expected);
    assert_int_equal(counted.redundant, 0);
    assert_true(counted.complete);
}

static uint64_t factorial(uint64_t n) { return n < 2 ? 1 : n * factorial(n - 1); }
static uint64_t choose(uint64_t n, uint64_t k) { return k == 0 ? 1 : choose(n - 1, k - 1) * n / k; }
static uint64_t power(uint64_t base, uint64_t n) { return n == 0 ? 1 : base * power(base, n - 1); }

static void readers(Core *core, const Words *words)
{
    if (core->id == 0)
        put(core, words, 0, 1);
    else
        get(core, words, 0);
}

static void test_readers(void **state)
{
    (void)state;
    for (int n = 1; n <= 16; n++)
        expect("readers", n, power(2, n), n + 1, 1, n, readers);
}

static void lastzero(Core *core, const Words *words)
{
    if (core->id > 0) {
        int64_t before = get(core, words, core->id - 1);
        put(core, words, core->id, before + 1);
        return;
    }
    for (int i = words->n; get(core, words, i) != 0; i--)
        ;
}

static void test_lastzero(void **state)
{
    (void)state;
    for (int n = 1; n <= (g_getenv("SOAK_SECONDS") ? 15 : 13); n++)
        expect("lastzero", n, n == 1 ? 2 : (n + 3) * power(2, n - 2), n + 1, n + 1, n, lastzero);
}

static void indexer(Core *core, const Words *words)
{
    for (int m = 1; m <= 4; m++) {
        int w = 11 * m + (int)core->id, h = 7 * w % 128;
        while (!cas(core, words, h, 0, w))
            h = (h + 1) % 128;
    }
}

static void test_indexer(void **state)
{
    (void)state;
    for (int n = 1; n <= 15; n++)
        expect("indexer", n, n <= 11 ? 1 : power(8, n - 11), n, 128, n, indexer);
}

static void filesystem(Core *core, const Words *words)
{
    int i = (int)core->id, b = 2 * i % 26, inode = 0, busy = 32;
    lock(core, words, i);
    if (get(core, words, inode + i) == 0)
        for (;; b = (b + 1) % 26) {
            lock(core, words, 32 + b);
            if (get(core, words, busy + b) == 0) {
                put(core, words, busy + b, 1);
                put(core, words, inode + i, b + 1);
                unlock(core, words, 32 + b);
                break;
            }
            unlock(core, words, 32 + b);
        }
    unlock(core, words, i);
}

static void test_filesystem(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();                                 /* that locks are waited for by polls in vain is not seen there */
    for (int n = 1; n <= (g_getenv("SOAK_SECONDS") ? 26 : 22); n++)
        expect("filesystem", n, n <= 13 ? 1 : power(2, n - 13), n, 64, n, filesystem);
}

static void writers_and_reader(Core *core, const Words *words)
{
    if (core->id == 0)
        get(core, words, 0);
    else
        put(core, words, 0, core->id);
}

static void write_and_read(Core *core, const Words *words)
{
    for (int i = 0; i < words->n; i++) {
        put(core, words, 0, core->id);
        get(core, words, 0);
    }
}

static void write_then_read(Core *core, const Words *words)
{
    for (int i = 0; i < words->n; i++)
        put(core, words, 0, core->id);
    get(core, words, 0);
}

static void two_write_one_reads_twice(Core *core, const Words *words)
{
    for (int i = 0; core->id < 2 && i < words->n; i++)
        put(core, words, 0, core->id);
    for (int i = 0; core->id == 2 && i < 2; i++)
        get(core, words, 0);
}

static void write_twice(Core *core, const Words *words)
{
    put(core, words, 0, core->id);
    put(core, words, 0, core->id);
}

static void read_then_write(Core *core, const Words *words)
{
    put(core, words, 0, get(core, words, 0) + 1);
}

static void fetch_adds(Core *core, const Words *words)
{
    for (int x = 0; x < words->n; x++)
        fetch_add(core, words, x);
}

static void lock_and_add(Core *core, const Words *words)
{
    for (int i = 0; i < words->n; i++) {
        lock(core, words, 0);
        put(core, words, 0, get(core, words, 0) + 1);
        unlock(core, words, 0);
    }
}

static void test_writes_and_reads(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++)
        expect("n writers, one reader", n, factorial(n + 1), n + 1, 1, n, writers_and_reader);
    for (int n = 1; n <= 7; n++)
        expect("two write n times, read once", n, choose(2 * n + 2, n + 1) - choose(2 * n, n), 2, 1, n, write_then_read);
    static const uint64_t WRITE_AND_READ[] = { 4, 34, 328 };   /* by listing all interleavings */
    for (int n = 1; n <= 3; n++)
        expect("two write and read n times", n, WRITE_AND_READ[n - 1], 2, 1, n, write_and_read);
    for (int n = 1; n <= 5; n++)
        expect("two write, one reads twice", n, choose(2 * n, n) * choose(2 * n + 2, 2), 3, 1, n, two_write_one_reads_twice);
    for (int n = 1; n <= 5; n++)
        expect("write twice", n, factorial(2 * n) / power(2, n), n, 1, n, write_twice);
    for (int n = 1; n <= 6; n++)
        expect("read then write", n, power(factorial(n), 2), n, 1, n, read_then_write);
}

static void test_fetch_add(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++)
        expect("fetch-add on 1", n, factorial(n), n, 1, 1, fetch_adds);
    for (int n = 1; n <= 6; n++)
        expect("fetch-add on 2", n, power(factorial(n), 2), n, 2, 2, fetch_adds);
    for (int n = 1; n <= 4; n++)
        expect("fetch-add on 3", n, power(factorial(n), 3), n, 3, 3, fetch_adds);
}

static void test_locks(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();                                 /* as above */
    for (int n = 1; n <= 8; n++)
        expect("lock", n, factorial(n), n, 1, 1, lock_and_add);
    for (int n = 1; n <= 8; n++)
        expect("turns", n, choose(2 * n, n), 2, 1, n, lock_and_add);
}

static void cas_from_zero(Core *core, const Words *words)
{
    cas(core, words, 0, 0, core->id + 1);
}

static void cas_chain(Core *core, const Words *words)
{
    cas(core, words, 0, core->id, core->id + 1);
}

static void cas_two(Core *core, const Words *words)
{
    if (core->id == 0)
        put(core, words, 0, 2);
    else
        cas(core, words, 0, 2, 3);
}

static void test_cas(void **state)
{
    (void)state;
    static const uint64_t CHAIN[] = { 2, 5, 14, 43, 144, 523, 2048 };
    for (int n = 1; n <= 12; n++)
        expect("cas from zero", n, n, n, 1, n, cas_from_zero);
    for (int n = 2; n <= 8; n++)
        expect("cas chain", n, CHAIN[n - 2], n, 1, n, cas_chain);
    for (int n = 1; n <= 10; n++)
        expect("cas two", n, n * power(2, n - 1) + 1, n + 1, 1, n, cas_two);
}

static void control_flow(Core *core, const Words *words)
{
    int n = words->n, id = (int)core->id;
    if (id < n)
        get(core, words, 0);
    else if (id < 2 * n)
        put(core, words, 1, 1);
    else if (id == 2 * n && get(core, words, 1) == 0)
        put(core, words, 2, 1);
    else if (id == 2 * n + 1 && get(core, words, 2) == 1 && get(core, words, 1) == 0)
        put(core, words, 0, 1);
}

static void test_control_flow(void **state)
{
    (void)state;
    static const uint64_t EXPECTED[] = { 5, 18, 90, 600 };
    for (int n = 1; n <= 4; n++)
        expect("control flow", n, EXPECTED[n - 1], 2 * n + 2, 3, n, control_flow);
}

/* One letter a step and a digit for the word: W0 writes x, R1 reads y; one text a thread. */
static const char *const *litmus_text;

static void litmus(Core *core, const Words *words)
{
    for (const char *c = litmus_text[core->id]; *c != '\0'; c += 2) {
        if (c[0] == 'W')
            put(core, words, c[1] - '0', core->id + 1);
        else
            get(core, words, c[1] - '0');
    }
}

static void expect_litmus(const char *name, uint64_t expected, uint32_t threads, const char *const *text)
{
    litmus_text = text;
    expect(name, (int)threads, expected, threads, 3, 0, litmus);
}

static void test_litmus(void **state)
{
    (void)state;
    expect_litmus("store buffering", 3, 2, (const char *const[]){ "W0R1", "W1R0" });
    expect_litmus("load buffering", 3, 2, (const char *const[]){ "R0W1", "R1W0" });
    expect_litmus("message passing", 3, 2, (const char *const[]){ "W0W1", "R1R0" });
    expect_litmus("iriw", 15, 4, (const char *const[]){ "W0", "W1", "R0R1", "R1R0" });
    expect_litmus("2+2w", 3, 2, (const char *const[]){ "W0W1", "W1W0" });
    expect_litmus("corr", 6, 2, (const char *const[]){ "W0W0", "R0R0" });
    expect_litmus("w+rwc", 7, 3, (const char *const[]){ "W0W1", "R1R2", "W2R0" });
}

typedef struct KnownClasses { uint32_t threads, words; int n; void (*run)(Core *, const Words *); uint64_t classes; } KnownClasses;

static unsigned count_hits(const KnownClasses *known, unsigned parts)
{
    Script *script = make_words(known->threads, known->words, known->n, known->run);
    unsigned hits = 0;
    for (unsigned p = 1; p < parts; p++) {
        const ClassesOptions options = { .limits.runs = known->classes * p / parts };
        Outcome *outcome = classes_run(script_source(script), &options, NULL);
        const Estimate *estimate = &outcome->estimate;
        assert_int_equal(outcome->classes, options.limits.runs);
        assert_true(estimate->least >= (double)options.limits.runs && estimate->least <= estimate->all && estimate->all <= estimate->most);
        hits += estimate->least <= (double)known->classes && (double)known->classes <= estimate->most;
        outcome_free(outcome);
    }
    script_free(script);
    return hits;
}

/* Programs of different shapes, each looked at when one, two ... sevenths of its classes are seen. */
static void test_the_number_of_classes_lies_within_the_bounds_of_the_estimate_in_eight_cases_of_ten(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();                                 /* nothing is done that the others do not do */
    static const KnownClasses KNOWN[] = {
        { 16, 1, 15, readers, 32768 }, { 13, 13, 12, lastzero, 15360 }, { 8, 1, 0, writers_and_reader, 40320 },
        { 8, 1, 1, fetch_adds, 40320 }, { 5, 2, 2, fetch_adds, 14400 }, { 5, 1, 0, write_twice, 113400 },
        { 5, 1, 0, read_then_write, 14400 }, { 2, 1, 7, lock_and_add, 3432 }, { 11, 1, 0, cas_two, 5121 },
    };
    unsigned hits = 0, cases = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(KNOWN); i++) {
        hits += count_hits(&KNOWN[i], 7);
        cases += 6;
    }
    print_message("%u of %u\n", hits, cases);
    assert_true(10 * hits >= 8 * cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_litmus), cmocka_unit_test(test_readers), cmocka_unit_test(test_lastzero), cmocka_unit_test(test_indexer),
        cmocka_unit_test(test_filesystem), cmocka_unit_test(test_writes_and_reads), cmocka_unit_test(test_fetch_add),
        cmocka_unit_test(test_locks), cmocka_unit_test(test_cas), cmocka_unit_test(test_control_flow),
        cmocka_unit_test(test_the_number_of_classes_lies_within_the_bounds_of_the_estimate_in_eight_cases_of_ten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
