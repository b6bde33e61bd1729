/* entry_barriers.c - a fixed point over what runs show of the launches. */
#include "entry_barriers.h"
#include "../../model/entry.h"
#include "edit.h"
#include "lookahead.h"
#include <string.h>

bool entry_barriers_update(Program *program, bool finished)
{
    uint32_t launches = (uint32_t)program->launches.count;
    g_autofree bool *before = g_new(bool, launches + 1);
    for (uint32_t i = 0; i < launches; i++)
        before[i] = program_launch(program, i)->entry_barrier;
    entry_settle(program, finished);
    edit_settle(program);
    bool changed = false;
    for (uint32_t i = 0; i < launches; i++)
        changed |= before[i] != program_launch(program, i)->entry_barrier;
    return changed;
}

bool entry_barriers_presume(Program *program)
{
    entry_presume(program);
    return entry_barriers_update(program, false);
}

enum { COMMUNICATES = 1, USES_BARRIER_SEMAPHORE = 2, PASSED = 4, PRESUMED = 8 };

char *entry_barriers_facts(const Program *program)
{
    GString *facts = g_string_new(NULL);
    uint32_t passed = entry_passed_by_all(program);
    for (uint32_t i = 0; i < program->launches.count; i++) {
        const Launch *launch = program_launch(program, i);
        unsigned digit = (launch->communicates ? COMMUNICATES : 0) | (launch->uses_barrier_semaphore ? USES_BARRIER_SEMAPHORE : 0)
            | (i < passed ? PASSED : 0) | (launch->presumed ? PRESUMED : 0);
        g_string_append_printf(facts, "%x", digit);
    }
    return g_string_free(facts, FALSE);
}

/* Where all cores got past the same launches, the facts say so. */
char *entry_barriers_known(const Program *program)
{
    const uint32_t all = entry_passed_by_all(program);
    GString *passed = g_string_new(NULL);
    bool some = false;
    for (uint32_t c = 0; c < program->cores; c++) {
        const uint32_t own = STORE(uint32_t, &program->passed, c);
        g_string_append_printf(passed, "%c%u", c ? ',' : '/', own);
        some |= own != all;
    }
    char *facts = entry_barriers_facts(program), *known = g_strdup_printf("%s%s", facts, some ? passed->str : "");
    g_free(facts);
    g_string_free(passed, TRUE);
    return known;
}

void entry_barriers_add_facts(Program *program, const char *facts)
{
    uint32_t passed = 0;
    const size_t launches = strcspn(facts, "/");
    if (launches != program->launches.count)
        return;
    for (uint32_t i = 0; i < program->launches.count; i++) {
        Launch *launch = program_launch(program, i);
        int digit = g_ascii_xdigit_value(facts[i]);
        launch->communicates |= (digit & COMMUNICATES) != 0;
        launch->uses_barrier_semaphore |= (digit & USES_BARRIER_SEMAPHORE) != 0;
        launch->presumed |= (digit & PRESUMED) != 0;
        passed += passed == i && (digit & PASSED) != 0;
    }
    const char *own = facts + launches;
    for (uint32_t c = 0; c < program->cores; c++) {
        const uint64_t further = *own != '\0' ? g_ascii_strtoull(own + 1, (char **)&own, 10) : 0;
        entry_pass(program, c, MAX(passed, (uint32_t)MIN(further, launches)));
    }
}

void entry_barriers_note_stuck(Execution *execution)
{
    const Record *record = execution_record(execution);
    if (record_any_ended(record, CORE_BLOCKED) && !entry_is_settled(record->program))
        lookahead_run(execution);
}

void entry_barriers_run(Execution *execution, const ExecutionOptions *options)
{
    const Record *record = execution_record(execution);
    bool again;
    do {
        execution_run_eager(execution, options);
        if (!execution_limit_reached(execution))
            entry_barriers_note_stuck(execution);
        again = !execution_limit_reached(execution) && entry_barriers_update(record->program, record_all_finished(record));
    } while (again && record->program->usage_error == NULL);
}
