/* settle.c - run, look, run again. */
#include "settle.h"
#include "edit.h"
#include <string.h>

bool settle_launches(Program *program, bool finished)
{
    uint32_t launches = (uint32_t)program->launches.count;
    g_autofree bool *before = g_new(bool, launches + 1);
    for (uint32_t i = 0; i < launches; i++)
        before[i] = program_launch(program, i)->entry_barrier;
    program_settle_launches(program, finished);
    edit_settle(program);
    bool changed = false;
    for (uint32_t i = 0; i < launches; i++)
        changed |= before[i] != program_launch(program, i)->entry_barrier;
    return changed;
}

enum { COMMUNICATES = 1, USES_BARRIER_SEMAPHORE = 2 };

char *settle_facts(const Program *program)
{
    GString *facts = g_string_new(NULL);
    for (uint32_t i = 0; i < program->launches.count; i++) {
        const Launch *launch = program_launch(program, i);
        g_string_append_c(facts, (char)('0' + (launch->communicates ? COMMUNICATES : 0)
                                        + (launch->uses_barrier_semaphore ? USES_BARRIER_SEMAPHORE : 0)));
    }
    return g_string_free(facts, FALSE);
}

void settle_add_facts(Program *program, const char *facts)
{
    if (strlen(facts) != program->launches.count)
        return;
    for (uint32_t i = 0; i < program->launches.count; i++) {
        Launch *launch = program_launch(program, i);
        launch->communicates |= (facts[i] - '0') & COMMUNICATES;
        launch->uses_barrier_semaphore |= ((facts[i] - '0') & USES_BARRIER_SEMAPHORE) != 0;
    }
}

void settle_run(Execution *execution, const ExecutionOptions *options)
{
    const Record *record = execution_record(execution);
    bool again;
    do {
        execution_run_eager(execution, options);
        bool stuck = record_any_ended(record, CORE_BLOCKED), stopped = record_any_ended(record, CORE_STOPPED);
        again = !stopped && !execution_limit_reached(execution) && settle_launches(record->program, !stuck);
    } while (again && record->program->usage_error == NULL);
}
