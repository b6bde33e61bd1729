/* expectation.c - each expectation on each device. */
#include "expectation.h"

bool expectation_holds(Machine *machine, const Expectation *expectation)
{
    for (uint32_t device = 0; device < machine_program(machine)->devices; device++) {
        Unexpected unexpected = { 0 };
        bool holds = expectation->holds(machine, expectation, device, &unexpected);
        g_free(unexpected.message);
        if (!holds)
            return false;
    }
    return true;
}

static void judge(Machine *machine, const Expectation *expectation, uint32_t device, GArray *unmet)
{
    Program *program = machine_program(machine);
    Unexpected unexpected = { 0 };
    if (expectation->holds(machine, expectation, device, &unexpected))
        return;
    g_autofree char *message = unexpected.message;
    bool unwritten = message != NULL && g_str_has_prefix(message, EXPECTATION_UNWRITTEN);
    uint32_t text = program_string(program, message ? message : "a result differs from the expected one");
    const Unmet one = { .fault = unwritten ? FAULT_UNINITIALISED : FAULT_ASSERT, .core = device * program->cores_per_device,
                        .site = expectation->site, .message = program_text(program, text) };
    g_array_append_val(unmet, one);
}

GArray *expectation_judge(Machine *machine)
{
    const Program *program = machine_program(machine);
    GArray *unmet = g_array_new(FALSE, FALSE, sizeof(Unmet));
    machine_tell_reached_results(machine);
    for (size_t i = 0; i < program->expectations.count; i++)
        for (uint32_t device = 0; device < program->devices; device++)
            judge(machine, &STORE(Expectation, &program->expectations, i), device, unmet);
    return unmet;
}

const Expectation *expectation_at(const Program *program, uint32_t site)
{
    for (size_t i = 0; i < program->expectations.count; i++)
        if (STORE(Expectation, &program->expectations, i).site == site)
            return &STORE(Expectation, &program->expectations, i);
    return NULL;
}
