/* help.c - one sentence for each cause, by what the cause is about; for faults that have none, the line of `heddle explain` that fits. */
#include "help.h"
#include <string.h>

static const Decl *semaphore_of(const Program *program, const Cause *cause)
{
    return cause->semaphore == NONE ? NULL : program_decl(program, program_semaphore_decl(program, cause->semaphore));
}

static const char *against_passing(const Decl *semaphore)
{
    if (semaphore && semaphore->semaphore_kind == SEMAPHORE_FLAG)
        return "A flag keeps its value: give each round a value of its own, or each sender a word of its own.";
    if (semaphore && semaphore->semaphore_kind == SEMAPHORE_DMA)
        return "Give each copy that can be in flight at the same time a semaphore of its own, such as pl_at(recv_sems, step), or let its "
               "sender wait for a credit.";
    return "Give each sender, or each round, a semaphore of its own; or wait for all that may have signalled.";
}

static const char *against_disorder(const Finding *finding)
{
    if (finding->id != FAULT_LIFETIME)
        return "Let the one that must be first signal when it is done, and the other wait for that: a credit for each slot that is free.";
    return finding->have < 0 ? "Have the devices meet first, at the entry barrier or with a handshake on the barrier semaphore."
                             : "Stay until everything that others send you has arrived: wait for each signal and copy before you leave.";
}

static const char *against_cause(const Program *program, const Finding *finding)
{
    switch ((CauseKind)finding->cause.kind) {
    case CAUSE_WAIT_PASSES:
        return against_passing(semaphore_of(program, &finding->cause));
    case CAUSE_WAIT_LATE:
        return "Move that wait up, before the step that needs it.";
    case CAUSE_UNAWAITED:
        return finding->id == FAULT_LEFTOVER ? "Wait for everything that is signalled; a copy signals its send semaphore, too."
                                             : "Wait for the copy: its issuer with pl_copy_wait_send, its receiver with pl_copy_wait_recv.";
    case CAUSE_UNORDERED:
        return against_disorder(finding);
    case CAUSE_COUNT:
        return "A wait takes exactly its value. Do not give credits that nobody needs after a loop, or take them there.";
    case CAUSE_STUCK:
        return "Signal, or start your copy, before you wait for the others.";
    case CAUSE_UNSERVED:
        return "Compare what is signalled with what is waited for: the count, the semaphore, the device, and on which branches.";
    case CAUSE_UNKNOWN:
        break;
    }
    return NULL;
}

/* A line of `heddle explain`, from 1; 0: none. */
static unsigned line_of_explanation(const Program *program, const Finding *finding)
{
    StepKind kind = finding->places > 0 ? (StepKind)finding->place[0].kind : STEP_KIND_COUNT;
    const Decl *decl = finding_decl(program, finding);
    switch ((unsigned)finding->id) {
    case FAULT_UNINITIALISED:
        return !decl || !program_decl_is_result(decl);
    case FAULT_NO_PROGRESS:
        return kind == STEP_SEMAPHORE_READ ? 1 : kind == STEP_FLAG_LOAD ? 3 : 2;
    case FAULT_SPACE:
    case FAULT_REVISIT:
    case FAULT_MISMATCH:
    case FAULT_OVERFLOW:
    case FAULT_DIVERGENCE:
    case FAULT_CRASH:
        return 1;
    default:                                    /* the others say what would be right, or depend on their cause */
        return 0;
    }
}

char *help_words(const Program *program, const Finding *finding)
{
    const char *known = against_cause(program, finding);
    unsigned wanted = line_of_explanation(program, finding);
    if (known || wanted == 0)
        return g_strdup(known);
    g_auto(GStrv) item = g_strsplit(fault_repairs(finding->id), "  - ", -1);
    g_assert(wanted < g_strv_length(item));
    g_auto(GStrv) line = g_strsplit(g_strstrip(item[wanted]), "\n    ", -1);
    return g_strjoinv(" ", line);
}
