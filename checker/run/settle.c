/* settle.c - run, look, run again. */
#include "settle.h"
#include "edit.h"

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

void settle_run(Execution *execution, const ExecutionOptions *options, const Globals *globals)
{
    const Record *record = execution_record(execution);
    bool again;
    do {
        globals_restore(globals);
        execution_run_eager(execution, options);
        bool stuck = record_any_ended(record, CORE_BLOCKED), stopped = record_any_ended(record, CORE_STOPPED);
        again = !stopped && !execution_limit_reached(execution) && settle_launches(record->program, !stuck);
    } while (again && record->program->usage_error == NULL);
}
