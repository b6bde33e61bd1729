/* expect.c - what a program promises; promise.c judges it when all cores have finished. */
#include "expect.h"
#include <glib.h>
#include <math.h>
#include <string.h>
#include "builder.h"
#include "promise.h"

static const char *const collective_name[] = { "equal", "all_gather", "all_reduce", "reduce_scatter", "all_to_all", "permute" };

static uint32_t want_array(const PlSite *here, PlRef ref, const char *what)
{
    const Program *program = builder_program();
    const Decl *decl = program_decl(program, builder_ref(here, ref, what).decl);
    if (decl->space == SPACE_SEMAPHORE || decl->once)
        builder_misuse(here, "%s looks at pl_output and pl_input, not at %s", what, decl->once ? "scratch" : "semaphores");
    return ref.buffer;
}

static Expectation *add_expectation(const PlSite *here, Program *program, const char *name)
{
    if (program->expectations.count >= 1 << 15)
        builder_misuse(here, "more than %d expectations", 1 << 15);
    Expectation *expectation = store_push(&program->expectations, 1);
    expectation->name = program_string(program, name);
    expectation->site = builder_site(here);
    return expectation;
}

/* Numbers of elements: of the output, of the input on one device; and of devices in the group. */
static void check_elements(const PlSite *here, const PromiseCollective *c, int64_t output, int64_t input, int64_t group)
{
    const char *name = collective_name[c->collective];
    bool gathers = c->collective == PL_COLLECTIVE_ALL_GATHER, scatters = c->collective == PL_COLLECTIVE_REDUCE_SCATTER;
    if (gathers ? output != input * group : scatters ? input != output * group : input != output)
        builder_misuse(here, "pl_expect_%s: %lld elements of output and %lld of input do not fit, for %lld devices", name,
                       (long long)output, (long long)input, (long long)group);
    if (c->collective == PL_COLLECTIVE_ALL_TO_ALL && input % group != 0)
        builder_misuse(here, "pl_expect_all_to_all: %lld elements cannot be split among %lld devices", (long long)input, (long long)group);
}

static void expect(const PlSite *here, PlCollective collective, PlRef output, PlRef input, int64_t shift, const char *axis)
{
    Program *program = builder_of(here, "pl_expect_...")->program;
    uint32_t out = want_array(here, output, "pl_expect_..."), in = want_array(here, input, "pl_expect_...");
    if (!program_decl(program, in)->input)
        builder_misuse(here, "pl_expect_%s: the second ref must be a pl_input", collective_name[collective]);
    PromiseCollective *c = program_alloc(program, sizeof *c);
    *c = (PromiseCollective){ .collective = collective, .output = out, .output_view = output.view, .input = in, .input_view = input.view,
                            .shift = shift, .axis = -1, .site = builder_site(here) };
    if (axis != NULL && (c->axis = mesh_axis(&program->mesh, axis)) < 0)
        builder_misuse(here, "no axis \"%s\" in the mesh", axis);
    check_elements(here, c, view_elements(program_get_view(program, output.view)), view_elements(program_get_view(program, input.view)),
                   c->axis < 0 ? program->devices : program->mesh.size[c->axis]);
    if (program->knobs.data == DATA_OPAQUE)
        return;                                 /* there are no values; the report says that no result was checked */
    Expectation *expectation = add_expectation(here, program, collective_name[collective]);
    expectation->holds = promise_collective, expectation->closure = c;
    expectation->decls = 2, expectation->decl[0] = out, expectation->decl[1] = in;
}

static bool same_shape(const Program *program, PlRef a, PlRef b)
{
    const View *left = program_get_view(program, a.view), *right = program_get_view(program, b.view);
    const bool alike = left->dtype == right->dtype && left->ndim == right->ndim;
    return alike && memcmp(left->size, right->size, left->ndim * sizeof *left->size) == 0;
}

static void expect_values(const PlSite *here, PlRef output, PlExpected function, double tolerance, int refs, const PlRef *ref)
{
    Program *program = builder_of(here, "pl_expect_values")->program;
    uint32_t out = want_array(here, output, "pl_expect_values");
    if (!(tolerance >= 0))
        builder_misuse(here, "pl_expect_values: a tolerance of %g", tolerance);
    for (int i = 0; i < refs; i++)
        want_array(here, ref[i], function ? "pl_expect_values" : "pl_expect_same");
    if (function == NULL && !same_shape(program, output, ref[0]))
        builder_misuse(here, "pl_expect_same: the arrays differ in shape or type");
    if (program->knobs.data == DATA_OPAQUE)
        return;
    PromiseValues *values = program_alloc(program, sizeof *values + (size_t)refs * sizeof *ref);
    *values = (PromiseValues){ .function = function, .tolerance = tolerance, .output = out, .output_view = output.view,
                               .site = builder_site(here) };
    for (int i = 0; i < refs; i++)
        values->ref[i] = ref[i];
    Expectation *expectation = add_expectation(here, program, "values");
    expectation->holds = promise_values, expectation->closure = values;
    expectation->decls = function ? 1 : 2, expectation->decl[0] = out, expectation->decl[1] = function ? NONE : ref[0].buffer;
    expectation->any_value = isinf(tolerance);
}

static void expect_fault(const PlSite *here, PlFault fault, int64_t from)
{
    Builder *builder = builder_of(here, "pl_expect_fault");
    if ((unsigned)fault >= FAULT_COUNT)
        builder_misuse(here, "pl_expect_fault needs a fault such as PL_RACE");
    if (from < 0 || from > UINT32_MAX)
        builder_misuse(here, "pl_expect_fault: from %lld devices", (long long)from);
    builder->from[fault] = from > 0 ? from : 1;
}

static void exempt_one(Program *program, uint32_t decl, PlFault fault, const char *reason)
{
    program_decl(program, decl)->exempt[fault] = program_string(program, reason);
}

/* Faults that an object of this kind can have. Bits by FaultId. */
static uint32_t exemptable(const Decl *decl)
{
    bool semaphore = decl->space == SPACE_SEMAPHORE;
    uint32_t possible = 0;
    for (FaultId id = 0; id < FAULT_COUNT; id++)
        if (fault_has(id, FAULT_MAY_BE_EXEMPT) && fault_has(id, semaphore ? FAULT_OF_SEMAPHORE : FAULT_OF_BUFFER))
            possible |= 1u << id;
    if (semaphore && decl->semaphore_kind != SEMAPHORE_DMA)
        possible &= ~(1u << FAULT_MISMATCH);
    if (semaphore && decl->life == LIFE_ALWAYS)
        possible &= ~(1u << FAULT_LIFETIME);
    return semaphore && decl->semaphore_kind == SEMAPHORE_FLAG ? 0 : possible;
}

static void want_exemptable(const PlSite *here, const Decl *decl, PlFault fault)
{
    uint32_t possible = exemptable(decl);
    const char *kind = decl->space != SPACE_SEMAPHORE ? "buffer" : decl->semaphore_kind == SEMAPHORE_FLAG ? "flag" : "semaphore";
    char names[256] = "";
    if (possible >> fault & 1)
        return;
    for (unsigned id = 0; id < FAULT_COUNT; id++)
        if (possible >> id & 1) {
            g_strlcat(names, names[0] ? ", " : "", sizeof names);
            g_strlcat(names, fault_name((FaultId)id), sizeof names);
        }
    builder_misuse(here, "pl_exempt: %s cannot be exempted on a %s%s %s can", fault_name((FaultId)fault), kind,
                   names[0] ? ", but" : ":", names[0] ? names : "nothing");
}

static void exempt(const PlSite *here, PlRef ref, PlFault fault, const char *reason)
{
    Builder *builder = builder_of(here, "pl_exempt");
    if ((unsigned)fault >= FAULT_COUNT || reason == NULL || *reason == '\0')
        builder_misuse(here, "pl_exempt needs a fault such as PL_LEFTOVER, and a reason");
    want_exemptable(here, program_decl(builder->program, builder_ref(here, ref, "pl_exempt").decl), fault);
    exempt_one(builder->program, builder_ref(here, ref, "pl_exempt").decl, fault, reason);
    for (size_t i = 0; i < builder->copies_count; i++)
        if (builder->copies[i].decl == ref.buffer)
            exempt_one(builder->program, builder->copies[i].copy, fault, reason);
}

static void limit(const PlSite *here, PlRef semaphore, int64_t count)
{
    Builder *builder = builder_of(here, "pl_limit");
    Decl *decl = program_decl(builder->program, builder_ref(here, semaphore, "pl_limit").decl);
    if (decl->space != SPACE_SEMAPHORE || decl->semaphore_kind == SEMAPHORE_FLAG || count < 0)
        builder_misuse(here, "pl_limit needs a semaphore and a count of 0 or more");
    decl->limit = count;
    for (size_t i = 0; i < builder->copies_count; i++)
        if (builder->copies[i].decl == semaphore.buffer)
            program_decl(builder->program, builder->copies[i].copy)->limit = count;
}

void pl_expect_install(PlApi *api)
{
    api->expect = expect;
    api->expect_values = expect_values;
    api->given = promise_given;
    api->expect_fault = expect_fault;
    api->exempt = exempt;
    api->limit = limit;
}
