/* test_inputs_random.c - random programs with inputs: all inputs in one search, against a whole check of each.
 *
 * A program's input is three numbers, 0 or 1. Each changes one operation: a count, a region, a target, a stored value, or whether it is
 * there. The search must doubt each input whose own check is not verified; shapes that leave something out are noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../checker/check/check.h"
#include "../../checker/check/shape.h"
#include "../../model/input.h"
#include "../support/random_program.h"

enum { CHANGES = 3, VALUES = 2, INPUTS = 8, OPERATIONS = 7 };

static RandomProgram base;

static RandomOp *pick_operation(RandomProgram *random, Rng *rng)
{
    uint32_t core = (uint32_t)rng_below(rng, random->cores);
    for (int tries = 0; random->ops[core] == 0 && tries < 8; tries++)
        core = (uint32_t)rng_below(rng, random->cores);
    return random->ops[core] == 0 ? NULL : &random->op[core][rng_below(rng, random->ops[core])];
}

/* Another part of the same buffer, of the same size, if it has one. */
static void move_region(const RandomProgram *random, RandomPlace *place)
{
    const RandomThing *thing = &random->thing[place->thing];
    const int last = place->start + (place->count > 0 ? place->count - 1 : 0) * place->stride;
    if (place->start > 0)
        place->start = 0;
    else if (last + 1 < thing->elements)
        place->start++;
}

/* Another buffer of that kind, if there is one as large. */
static void name_another(const RandomProgram *random, RandomPlace *place, unsigned launch)
{
    const RandomThing *thing = &random->thing[place->thing];
    for (int i = 1; i < random->things; i++) {
        const int other = (place->thing + i) % random->things;
        const RandomThing *like = &random->thing[other];
        if (like->space == thing->space && like->elements >= thing->elements && !like->scoped && !thing->scoped && like->real == thing->real
            && (like->launches >> launch & 1) != 0) {
            place->thing = (int8_t)other;
            return;
        }
    }
}

/* By 0: nothing. Changes what the operation does, not whether the program can be built. */
static void change(RandomProgram *random, Rng *rng, int64_t by)
{
    RandomOp *op = pick_operation(random, rng);
    const uint64_t how = rng_below(rng, 3);
    if (op == NULL || by == 0)
        return;
    if (op->kind == OP_SIGNAL || op->kind == OP_WAIT || op->kind == OP_WAIT_KEEP)
        op->value = (uint8_t)(op->value + by);
    else if (op->kind == OP_STORE || op->kind == OP_SWAP)
        op->value ^= (uint8_t)by;
    const bool on_memory = op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_SWAP;
    if ((on_memory || op->kind == OP_COPY) && how == 0)
        name_another(random, &op->at, op->launch);
    else if (on_memory || (op->kind == OP_COPY && how == 1))
        move_region(random, &op->at);
    else if (op->kind == OP_COPY && op->remote && random->devices > 1)
        op->at.core = op->receive.core = (uint8_t)((op->receive.core + by * random->cores_per_device) % random->cores);
}

static void build(Program *program, const ProgramEntry *entry)
{
    (void)entry;
    RandomProgram *random = program_alloc(program, sizeof *random);
    *random = base;
    Rng rng;
    rng_init(&rng, base.seed);
    for (int i = 0; i < CHANGES; i++) {
        int64_t value = 0;
        input_draw(program, 0, VALUES - 1, NONE, &value);
        change(random, &rng, value);
    }
    random_build_into(program, random);
}

static ProgramModule *open_random(const char *path, char **error)
{
    static const ProgramEntry entry = { .name = "random", .summary = "", .source = "random", .build = build };
    static ProgramModule module = { .entry = &entry, .entries = 1 };
    (void)path, (void)error;
    return &module;
}

static CheckSpec spec_of_base(void)
{
    CheckSpec spec = { .open = open_random, .program = "random", .cores = base.cores_per_device, .knobs = base.knobs };
    mesh_line(&spec.mesh, base.devices);
    return spec;
}

static Verdict check_whole(unsigned number)
{
    const int64_t input[CHANGES] = { number / 4, number / 2 % 2, number % 2 };
    CheckSpec spec = spec_of_base();
    spec.input = input, spec.input_values = CHANGES, spec.first = true;
    CheckResult *result = check_run(&spec);
    Verdict verdict = result->verdict;
    check_result_free(result);
    return verdict;
}

typedef struct InputsCompared { uint64_t right, wrong, shapes, shared; bool missed; } InputsCompared;

/* Each buffer twice, so that an operation can name another one. */
static void add_buffers(RandomProgram *random)
{
    const int things = random->things;
    for (int i = 0; i < things && random->things < RANDOM_THINGS_MAX; i++)
        if (random->thing[i].space != SPACE_SEMAPHORE && !random->thing[i].scoped)
            random->thing[random->things++] = random->thing[i];
}

/* A missed input is a wrong verdict that nobody would see. */
static void compare(uint64_t seed, unsigned canary, InputsCompared *total)
{
    static const uint32_t features[] = { RANDOM_TIDY, RANDOM_TIDY | RANDOM_CORES, RANDOM_TIDY | RANDOM_DATA, RANDOM_TIDY | RANDOM_FLUID,
                                         RANDOM_TIDY | RANDOM_LAUNCHES, RANDOM_TIDY | RANDOM_CONFLICTS };
    random_generate(&base, seed, features[seed % G_N_ELEMENTS(features)], OPERATIONS);
    add_buffers(&base);
    if (check_whole(0) != VERDICT_VERIFIED)
        return;
    CheckSpec spec = spec_of_base();
    spec.inputs = INPUTS_ALL, spec.shape_canary = canary, spec.first = true;
    unsigned not_right = 0;
    for (unsigned number = 0; number < INPUTS; number++)
        not_right += check_whole(number) != VERDICT_VERIFIED;
    CheckResult *result = check_run(&spec);
    const InputTally *tally = result->inputs;
    total->missed |= tally->doubted < not_right;
    total->right += INPUTS - not_right, total->wrong += not_right;
    total->shapes += tally->shapes, total->shared += INPUTS - tally->shapes;
    if (canary == 0) {
        assert_int_equal(tally->tried, INPUTS);
        assert_true(tally->whole);
        assert_false(total->missed);
        assert_int_equal(result->verdict == VERDICT_VERIFIED, not_right == 0);
    }
    check_result_free(result);
}

static void a_search_over_all_inputs_doubts_each_one_whose_own_check_is_not_verified(void **state)
{
    InputsCompared total = { 0 };
    (void)state;
    for (uint64_t seed = 0; seed < 160; seed++)
        compare(seed, 0, &total);
    assert_true(total.right > 50 && total.wrong > 50 && total.shared > 50);
}

static void shapes_that_leave_something_out_are_noticed(void **state)
{
    static const unsigned parts[] = { SHAPE_REGIONS, SHAPE_COUNTS, SHAPE_TARGETS };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        InputsCompared total = { 0 };
        for (uint64_t seed = 0; seed < 300 && !total.missed; seed++)
            compare(seed, parts[i], &total);
        assert_true(total.missed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_over_all_inputs_doubts_each_one_whose_own_check_is_not_verified),
        cmocka_unit_test(shapes_that_leave_something_out_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
