/* test_enumerate_workers.c - several workers see what one sees, where states hold flags and contents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include "../../checker/enumerate/enumerate.h"
#include "../support/outcomes.h"
#include "../support/script.h"

static uint32_t after(const Core *core)
{
    return (core->device + 1) % core->program->devices;
}

static void raise_flag(Core *core, uint32_t device)
{
    core_flag_add(core, script_line(core, 1), script_ref(script_now->flag), script_on(device), 1, false);
}

static int64_t see_flag(Core *core, unsigned line)
{
    return core_flag_load(core, script_line(core, line), script_ref(script_now->flag), SCRIPT_OWN);
}

static void tell(Core *core, uint32_t device, unsigned element)
{
    core_signal(core, script_line(core, 2), script_at(script_now->semaphore, element), 1, script_on(device));
}

static void wait_to_be_told(Core *core)
{
    core_wait(core, script_line(core, 3), script_at(script_now->semaphore, 1), 1, true);
}

SCRIPT_BODY(raises_and_sees)
{
    uint32_t next = after(core);
    raise_flag(core, next);
    if (see_flag(core, 10) == 1)
        tell(core, next, 0);
    core_flag_compare_and_swap(core, script_line(core, 20), script_ref(script_now->flag), script_on(next), 1, 2);
    tell(core, next, 1);
    wait_to_be_told(core);
}

SCRIPT_BODY(expects_and_raises)
{
    if (core->device == 2 && see_flag(core, 5) == 0)
        core_stop(core, script_line(core, 6), FAULT_ASSERT, "no");
    raises_and_sees(core, launch);
}

SCRIPT_BODY(polls_its_flag)
{
    raise_flag(core, after(core));
    while (see_flag(core, 10) < 1)
        continue;
    tell(core, after(core), 1);
    wait_to_be_told(core);
}

SCRIPT_BODY(polls_on)
{
    polls_its_flag(core, launch);
    while (core->device == 2 && see_flag(core, 50) != 2)
        continue;
}

SCRIPT_BODY(passes_round)
{
    script_store(core, 1, script_now->scratch, core->device % 4);
    script_copy_all(core, 2, script_now->scratch, script_now->buffer, after(core));
    if (core->device % 2) {
        CopyDesc copy = script_describe_copy(script_now->scratch, script_now->buffer, after(core));
        core_copy_wait(core, script_line(core, 3), &copy, COPY_WAIT_RECEIVE, false);
        if (script_load(core, 4, script_now->buffer) != (core->device - 1) % 4)
            core_stop(core, script_line(core, 5), FAULT_ASSERT, "no");
    } else {
        tell(core, after(core), 0);
    }
}

SCRIPT_BODY(passes_too_early)
{
    passes_round(core, launch);
    if (core->device == 2 && script_load(core, 6, script_now->buffer) != 1)
        core_stop(core, script_line(core, 7), FAULT_ASSERT, "no");
}

static void workers_see_what_one_sees(void **state)
{
    (void)state;
    static const struct { void (*body)(Core *, const Launch *); uint32_t devices; bool contents; guint findings; } CASES[] = {
        { raises_and_sees, 5, false, 0 }, { expects_and_raises, 5, false, 1 }, { polls_its_flag, 6, false, 0 },
        { polls_on, 6, false, 1 }, { passes_round, 6, true, 0 }, { passes_too_early, 6, true, 2 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
        Script *script = script_of(CASES[i].devices, 1, CASES[i].body);
        EnumerateOptions options = {.contents = CASES[i].contents};
        Outcome *one = enumerate_run(script_source(script), &options);
        assert_true(one->complete);
        assert_int_equal(one->findings->len, CASES[i].findings);
        assert_true(one->states > 50000);       /* levels are wide enough for threads */
        for (options.workers = 2; options.workers <= 4; options.workers++) {
            Outcome *other = enumerate_run(script_source(script), &options);
            g_autofree char *differs = outcomes_differ(other, one, "several workers");
            if (differs != NULL)
                fail_msg("%s", differs);
            outcome_free(other);
        }
        outcome_free(one);
        script_free(script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(workers_see_what_one_sees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
