/* test_classes_random.c - classes of random programs over words: as many as there are orders, and the same faults as by enumeration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../checker/classes/classes.h"
#include "../../checker/enumerate/enumerate.h"
#include "../support/random_words.h"
#include "../support/sanitized.h"
#include "again.h"

enum { INTERLEAVINGS_MAX = 20000, STATES_MAX = 20000 };

typedef struct Subject { RandomProgram random; Program *program; } Subject;

static Outcome *explore_with(Program *program, const ClassesOptions *options)
{
    Unroller *unroller = unroller_new(program);
    char *error = NULL;
    Outcome *outcome = classes_run(unroller_source(unroller), options, &error);
    if (outcome == NULL)
        print_message("%s\n", error);
    assert_non_null(outcome);
    unroller_free(unroller);
    return outcome;
}

static Outcome *explore(Program *program)
{
    return explore_with(program, &(ClassesOptions){ .audit = true });
}

static void fail_with(const Subject *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail_with(const Subject *subject, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autoptr(GString) text = g_string_new(NULL);
    random_print(&subject->random, text);
    print_message("%s\n%s", what, text->str);
    fail();
}

static void want_findings(const Subject *subject, const Outcome *one, const Outcome *other, const char *what);
static void want_ends(const Subject *subject, const Outcome *classes, const Outcome *states);

static bool same_ends(const GArray *one, const GArray *other)
{
    bool same = one->len == other->len;
    for (guint i = 0; same && i < one->len; i++)
        same = g_array_index(one, uint64_t, i) == g_array_index(other, uint64_t, i);
    return same;
}

static void want_again(const Subject *subject, const ClassesOptions *options, uint64_t cut, const Outcome *expected)
{
    g_autofree char *differs = again_by_classes(subject->program, options, cut, expected);
    if (differs != NULL)
        fail_with(subject, "%s", differs);
}

/* A search that is divided early and often, by whatever workers, sees what the search by one unit saw. */
static void want_same_divided(const Subject *subject, uint64_t seed, const Outcome *whole)
{
    const ClassesOptions options = { .audit = true, .units = 2 + seed % 7, .budget = 1 + seed / 7 % 3, .workers = seed % 3 + 1 };
    Outcome *divided = explore_with(subject->program, &options);
    if (divided->classes != whole->classes || divided->redundant != 0 || divided->complete != whole->complete)
        fail_with(subject, "divided: %lu classes in place of %lu, %lu redundant", (unsigned long)divided->classes,
                  (unsigned long)whole->classes, (unsigned long)divided->redundant);
    want_findings(subject, whole, divided, "only undivided");
    want_findings(subject, divided, whole, "only divided");
    if (!random_polls(&subject->random))
        want_ends(subject, divided, whole);
    want_again(subject, &options, 0, divided);
    if (seed % 2 == 0)
        want_again(subject, &options, 1 + seed % MAX(divided->classes, 1), divided);
    outcome_free(divided);
}

static void count_pure_words(uint64_t first, unsigned programs, unsigned ops)
{
    for (uint64_t seed = first; seed < first + sanitized_share(programs); seed++) {
        Subject subject;
        random_generate_words(&subject.random, seed, RANDOM_PURE, ops);
        uint64_t expected = random_count_classes(&subject.random, INTERLEAVINGS_MAX);
        if (expected == 0)
            continue;
        subject.program = random_build(&subject.random);
        Outcome *outcome = explore(subject.program);
        if (outcome->classes != expected || outcome->redundant != 0)
            fail_with(&subject, "%lu classes, expected %lu; %lu redundant", (unsigned long)outcome->classes, (unsigned long)expected,
                      (unsigned long)outcome->redundant);
        want_same_divided(&subject, seed, outcome);
        outcome_free(outcome);
        program_free(subject.program);
    }
}

static void test_counts(void **state)
{
    (void)state;
    count_pure_words(1, 3000, 7);
    count_pure_words(100000, 1000, 10);
}

static bool has_key(const Program *program, const Outcome *outcome, const Finding *finding)
{
    Outcome *both = outcome_new();
    bool found = false;
    for (guint i = 0; i < outcome->findings->len && !found; i++) {
        const Finding *other = g_ptr_array_index(outcome->findings, i);
        if (other->id != finding->id || other->places != finding->places)
            continue;
        Finding *copy[2] = { g_memdup2(finding, sizeof *finding), g_memdup2(other, sizeof *other) };
        for (unsigned k = 0; k < 2; k++) {
            copy[k]->message = copy[k]->why = NULL, copy[k]->lines = NULL;
            copy[k]->moves = copy[k]->clashes = copy[k]->instances = NULL;
            g_ptr_array_add(both->findings, copy[k]);
        }
        outcome_settle(both, program);
        found = both->findings->len == 1;
        g_ptr_array_set_size(both->findings, 0);
    }
    outcome_free(both);
    return found;
}

/* A load that races in one class and reads unwritten data in another may be reported as either or both: not compared. */
static bool is_told_by_race(const Outcome *outcome, const Finding *finding)
{
    bool told = false;
    for (guint i = 0; i < outcome->findings->len && finding->id == FAULT_UNINITIALISED; i++) {
        const Finding *race = g_ptr_array_index(outcome->findings, i);
        told |= race->id == FAULT_RACE
            && (race->place[0].site == finding->place[0].site || race->place[1].site == finding->place[0].site);
    }
    return told;
}

static void want_findings(const Subject *subject, const Outcome *one, const Outcome *other, const char *what)
{
    for (guint i = 0; i < one->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(one->findings, i);
        if (has_key(subject->program, other, finding) || is_told_by_race(one, finding))
            continue;
        uint32_t line = finding->places ? program_get_site(subject->program, finding->place[0].site)->line : 0;
        uint32_t second = finding->places > 1 ? program_get_site(subject->program, finding->place[1].site)->line : 0;
        fail_with(subject, "%s: %s at %u, %u", what, fault_name(finding->id), line, second);
    }
}

static void want_ends(const Subject *subject, const Outcome *classes, const Outcome *states)
{
    if (!same_ends(classes->end_states, states->end_states))
        fail_with(subject, "%u end states in %lu classes, %u by enumeration", classes->end_states->len, (unsigned long)classes->classes,
                  states->end_states->len);
}

static void compare_with_states(uint64_t first, unsigned programs, unsigned ops, RandomMix mix)
{
    unsigned compared = 0;
    for (uint64_t seed = first; seed < first + sanitized_share(programs); seed++) {
        Subject subject;
        random_generate_words(&subject.random, seed, mix, ops);
        const Knobs knobs = { .dma_progress = seed % 2 ? DMA_PROGRESS_FLUID : DMA_PROGRESS_WHOLE, .dma_order = (DmaOrder)(seed / 2 % 3) };
        subject.random.knobs = knobs;
        subject.program = random_build(&subject.random);
        Unroller *unroller = unroller_new(subject.program);
        Outcome *states = enumerate_run(unroller_source(unroller), &(EnumerateOptions){ .limits.states = STATES_MAX });
        unroller_free(unroller);
        if (states->complete) {
            Outcome *classes = explore(subject.program);
            if (!classes->complete || classes->redundant != 0)
                fail_with(&subject, "complete %d, %lu classes, %lu redundant", classes->complete, (unsigned long)classes->classes,
                          (unsigned long)classes->redundant);
            want_findings(&subject, states, classes, "only by enumeration");
            want_findings(&subject, classes, states, "only by classes");
            if (!random_polls(&subject.random))
                want_ends(&subject, classes, states);
            if (seed % 3 == 0)
                want_same_divided(&subject, seed, classes);
            outcome_free(classes);
            compared++;
        }
        outcome_free(states);
        program_free(subject.program);
    }
    print_message("%u of %u programs compared\n", compared, sanitized_share(programs));
}

static void test_against_states(void **state)
{
    (void)state;
    compare_with_states(1, 1000, 9, RANDOM_PURE);
    compare_with_states(1, 1000, 8, RANDOM_POLLING);
    compare_with_states(1, 2000, 9, RANDOM_ALL);
}

/* The test of the test: how many programs it takes until a deliberate mistake gives other classes or end states than there are, by all
 * mixes in turn. 0: never. */
static unsigned programs_until_noticed(ClassesCanary canary)
{
    enum { PROGRAMS = 3000 };
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        Subject subject;
        random_generate_words(&subject.random, seed, seed % 2 ? RANDOM_PURE : RANDOM_POLLING, 8);
        Program *program = random_build(&subject.random);
        Outcome *sound = explore(program), *broken = explore_with(program, &(ClassesOptions){ .audit = true, .canary = canary });
        bool noticed = sound->classes != broken->classes || !same_ends(sound->end_states, broken->end_states);
        outcome_free(sound);
        outcome_free(broken);
        program_free(program);
        if (noticed)
            return (unsigned)seed;
    }
    return 0;
}

static void every_canary_is_noticed(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();                                 /* of how memory is used they say nothing */
    unsigned missed = 0;
    for (ClassesCanary canary = CLASSES_SOUND + 1; canary < CLASSES_CANARY_LOOKS_IGNORED; canary++) {      /* the rest: test_canaries */
        unsigned programs = programs_until_noticed(canary);
        print_message("  mistake %d noticed at program %u\n", (int)canary, programs);
        missed += programs == 0;
    }
    assert_int_equal(missed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_counts), cmocka_unit_test(test_against_states),
                                        cmocka_unit_test(every_canary_is_noticed) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
