/* unheard.c - looks at the signals behind the one step, then at the waits before the other. */
#include "unheard.h"
#include <glib.h>

/* Does the core wait on it before that position, so that no wait is missing there? */
static bool is_awaited_before(const Index *index, uint32_t semaphore, const Event *other)
{
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++)
        if (index->wait[i].core == other->core && index->wait[i].position < other->position)
            return true;
    return false;
}

bool unheard_untaken(const Prover *prover, GString *text, const Event *first, const Event *other)
{
    const Index *index = prover->index;
    for (uint32_t position = first->position + 1; position < index_length(index, first->core); position++) {
        const Step *step = index_step(index, first->core, position);
        if (step->kind != STEP_SIGNAL || program_semaphore_core(prover->program, step->object) != other->core
            || is_awaited_before(index, step->object, other))
            continue;
        g_autoptr(GString) waits = g_string_new(NULL);
        int64_t taken = leftover_waits(prover, waits, step->object), given = index_given(index, step->object);
        if (taken >= given)
            continue;
        g_autofree char *words = step_words(prover->program, step), *name = program_describe_semaphore(prover->program, step->object);
        g_autofree char *who = program_describe_core(prover->program, other->core);
        who[0] = g_ascii_toupper(who[0]);
        prover_blame(prover, waits->len == 0 ? CAUSE_UNAWAITED : CAUSE_COUNT, step->site, step->object);
        g_string_append_printf(text, ". %s would learn that from %s, on %s, ", who, words, name);
        if (waits->len == 0)
            g_string_append(text, "but nobody waits for it.");
        else
            g_string_append_printf(text, "but waits take only %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ", at %s.", taken, given,
                                   waits->str);
        return true;
    }
    return false;
}

/* Who gives to a semaphore, all of them cores. NULL: copies do, nobody does, or the core of `first` does behind it; or before it, but then
 * only what the other core does not give itself. */
static GArray *givers_but(const Index *index, uint32_t semaphore, const Event *first, uint32_t other)
{
    GArray *signals = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    bool own = false, heard = false, copies = false;
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++) {
        const Signal *signal = &index->signal[i];
        copies |= signal->copy_end != NONE;
        own |= signal->core == other;
        heard |= signal->core == first->core && signal->position > first->position;
        g_array_append_val(signals, i);
    }
    for (guint i = 0; i < signals->len && !own; i++)
        heard |= index->signal[g_array_index(signals, uint32_t, i)].core == first->core;
    if (copies || heard || signals->len == 0)
        g_clear_pointer(&signals, g_array_unref);
    return signals;
}

static void append_hears(const Prover *prover, GString *text, const Step *wait, const char *givers)
{
    g_autofree char *words = step_words(prover->program, wait), *name = program_describe_semaphore(prover->program, wait->object);
    prover_blame(prover, CAUSE_WAIT_PASSES, wait->site, wait->object);
    g_string_append_printf(text, "%s, on %s, hears only of %s", words, name, givers);
}

/* The last wait before the other step, if it hears of cores, but of nothing that is of use. */
static bool append_elsewhere(const Prover *prover, GString *text, const Event *first, const Event *other)
{
    const Index *index = prover->index;
    for (uint32_t position = other->position; position-- > 0;) {
        const Step *step = index_step(index, other->core, position);
        bool waits = step_is_semaphore_wait(step->kind) && step->value > 0;
        g_autoptr(GArray) signals = waits ? givers_but(index, step->object, first, other->core) : NULL;
        if (signals == NULL)
            continue;
        g_autofree char *givers = givers_words(prover, signals);
        g_string_append(text, ". Before it ");
        append_hears(prover, text, step, givers);
        return true;
    }
    return false;
}

/* The signals of a semaphore in words, if its own core gives them all. NULL: it does not. g_free. */
static char *own_signals(const Prover *prover, const Step *wait)
{
    const Index *index = prover->index;
    g_autoptr(GArray) signals = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = index->signal_first[wait->object]; i < index->signal_first[wait->object + 1]; i++) {
        if (index->signal[i].copy_end != NONE || index->signal[i].core != wait->core)
            return NULL;
        g_array_append_val(signals, i);
    }
    return signals->len > 0 ? givers_words(prover, signals) : NULL;
}

/* The same of a flag word: the last of the steps that write it, before that index of the record. */
static char *own_words(const Prover *prover, const Step *wait, size_t until)
{
    const Step *last = NULL;
    for (size_t i = 0; i < prover->record->steps.count; i++) {
        const Step *step = &STORE(Step, &prover->record->steps, i);
        bool writes = step->kind == STEP_FLAG_STORE || step->kind == STEP_FLAG_ADD || step->kind == STEP_FLAG_CAS;
        if (!writes || step->object != wait->object)
            continue;
        if (step->core != wait->core)
            return NULL;
        last = i < until || last == NULL ? step : last;
    }
    return last != NULL ? step_words(prover->program, last) : NULL;
}

/* The last wait before that step that hears only of its own core. NULL: there is none. givers: g_free. */
static const Step *deaf_wait(const Prover *prover, const Event *step, char **givers)
{
    const Index *index = prover->index;
    for (uint32_t position = step->position; position-- > 0;) {
        const Step *wait = index_step(index, step->core, position);
        *givers = NULL;
        if (step_is_semaphore_wait(wait->kind) && wait->value > 0)
            *givers = own_signals(prover, wait);
        else if (wait->kind == STEP_FLAG_WAIT)
            *givers = own_words(prover, wait, index->step[index_slot(index, step->core, position)]);
        if (*givers != NULL)
            return wait;
    }
    return NULL;
}

bool unheard_of_others(const Prover *prover, GString *text, const Event *step)
{
    g_autofree char *givers = NULL;
    const Step *wait = deaf_wait(prover, step, &givers);
    if (wait == NULL)
        return false;
    g_string_append(text, text->len > 0 ? " Before it " : "Before that ");
    append_hears(prover, text, wait, givers);
    g_string_append_c(text, '.');
    return true;
}

bool unheard_but_itself(const Prover *prover, GString *text, const Event *step)
{
    g_autofree char *givers = NULL;
    const Step *wait = deaf_wait(prover, step, &givers);
    if (wait == NULL)
        return false;
    g_string_append(text, ". Before it ");
    append_hears(prover, text, wait, givers);
    return true;
}

bool unheard_append(const Prover *prover, GString *text, const Event *first, const Event *other)
{
    if (first->core == other->core)
        return false;
    if (unheard_untaken(prover, text, first, other))
        return true;
    bool found = append_elsewhere(prover, text, first, other) || unheard_but_itself(prover, text, other);
    g_string_append(text, found ? "." : "");
    return found;
}
