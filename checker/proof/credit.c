/* credit.c - walks back over the steps of the core that comes too early. */
#include "credit.h"
#include "../../model/counter.h"

enum { WORDS_TRIED = 64 };                      /* looks at words, each of which costs a walk over the record */

static bool is_counted(const Index *index, const Step *step)
{
    return step_is_semaphore_wait(step->kind) || (step->kind == STEP_FLAG_WAIT && !index->contended[step->object]);
}

/* A signal for this wait that the core of `first` gives after it. */
static bool find_signal(const Index *index, const Event *first, const Wait *wait, Credit *credit)
{
    for (uint32_t i = index->signal_first[wait->semaphore]; i < index->signal_first[wait->semaphore + 1]; i++)
        if (index->signal[i].core == first->core && index->signal[i].position > first->position && givers_reach(index, wait, i)) {
            credit->counted = wait, credit->signal = i;
            return true;
        }
    return false;
}

/* The values of the word in the order of the record: what the look finds, and a later write of the core of `first` that would do, too. */
static bool find_write(const Prover *prover, const Event *first, const Step *look, Credit *credit)
{
    const Store *steps = &prover->record->steps;
    const Step *begin = index_step(prover->index, first->core, first->position), *last = NULL;
    int64_t value = program_decl(prover->program, program_semaphore_decl(prover->program, look->object))->initial;
    credit->meant = NULL, credit->signal = NONE, credit->counted = NULL;
    for (size_t i = 0; i < steps->count && credit->meant == NULL; i++) {
        const Step *step = &STORE(Step, steps, i);
        if (step == look)
            credit->accepted = last, credit->value = value;
        if (step->object != look->object || !counter_writes(step, value))
            continue;
        value = counter_after(step, value);
        last = step;
        bool serves = look->kind == STEP_FLAG_WAIT ? counter_permits(look, value) : value == credit->value;
        if (step > look && step > begin && step->core == first->core && serves)
            credit->meant = step;
    }
    return credit->meant != NULL;
}

bool credit_find(const Prover *prover, const Event *first, const Event *other, Credit *credit)
{
    const Index *index = prover->index;
    unsigned words = 0;
    for (uint32_t position = other->position; position-- > 0 && words < WORDS_TRIED;) {
        const Step *step = credit->wait = index_step(index, other->core, position);
        if (is_counted(index, step)) {
            if (find_signal(index, first, &index->wait[index->link[index_slot(index, other->core, position)]], credit))
                return true;
        } else if (step_has(step->kind, STEP_ON_FLAG) && step->kind != STEP_FLAG_STORE && !step_is_plain_add(step)) {
            words++;
            if (find_write(prover, first, step, credit))
                return true;
        }
    }
    return false;
}
