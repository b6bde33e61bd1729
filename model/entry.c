/* entry.c - how far cores have come in any run; this only grows. */
#include "entry.h"
#include <glib.h>

void entry_pass(Program *program, uint32_t core, uint32_t launches)
{
    uint32_t *passed = &STORE(uint32_t, &program->passed, core), before = __atomic_load_n(passed, __ATOMIC_RELAXED);
    while (before < launches
           && !__atomic_compare_exchange_n(passed, &before, launches, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

uint32_t entry_passed_by_all(const Program *program)
{
    uint32_t least = (uint32_t)program->launches.count;
    for (uint32_t c = 0; c < program->cores; c++)
        least = MIN(least, __atomic_load_n(&STORE(uint32_t, &program->passed, c), __ATOMIC_RELAXED));
    return least;
}

static bool begins_without_barrier(const Launch *launch)
{
    return launch->host || launch->skip_device_barrier || launch->uses_barrier_semaphore
        || (launch->collective_id >= 0 && !launch->allow_unused_collective_id);
}

static void settle(Program *program, Launch *launch, bool passed, bool finished)
{
    if (launch->host)
        return;
    if (launch->collective_id >= 0 && finished && !launch->uses_barrier_semaphore && !launch->allow_unused_collective_id)
        program_set_usage_error(program, launch->site,
                                "launch of %s has collective_id %d, but its kernel never uses the barrier semaphore: drop "
                                "collective_id, or allow it by name", program_text(program, launch->name), launch->collective_id);
    launch->entry_barrier = (launch->communicates || (launch->presumed && !passed)) && !begins_without_barrier(launch);
}

void entry_settle(Program *program, bool finished)
{
    uint32_t passed = entry_passed_by_all(program);
    for (uint32_t i = 0; i < program->launches.count; i++)
        settle(program, program_launch(program, i), i < passed, finished);
}

void entry_presume(Program *program)
{
    for (uint32_t i = entry_passed_by_all(program); i < program->launches.count; i++)
        program_launch(program, i)->presumed = true;
}

bool entry_is_settled(const Program *program)
{
    for (uint32_t i = entry_passed_by_all(program); i < program->launches.count; i++) {
        const Launch *launch = program_launch(program, i);
        bool decided = launch->communicates && launch->collective_id < 0;       /* otherwise it may yet use its own barrier */
        if (!decided && !begins_without_barrier(launch))
            return false;
    }
    return true;
}
