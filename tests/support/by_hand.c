/* by_hand.c - see by_hand.h. */
#include "by_hand.h"

void by_hand_init(ByHand *check, Script *script, const char *name, const char *source)
{
    *check = (ByHand){ .script = script, .spec = { .program = name, .source = source, .cores = 1, .mesh = script->program->mesh } };
    script->program->name = name, script->program->source = source;
    script_run(script);
    check->result = (CheckResult){ .spec = &check->spec, .verdict = VERDICT_FAULTY, .program = script->program, .record = script->record,
                                   .outcome = outcome_new() };
}

Finding *by_hand_assert(ByHand *check, const char *message)
{
    Finding *finding = finding_new(FAULT_ASSERT);
    finding->message = g_strdup(message);
    g_ptr_array_add(check->result.outcome->findings, finding);
    return finding;
}

void by_hand_clear(ByHand *check)
{
    outcome_free(check->result.outcome);
    script_free(check->script);
}
