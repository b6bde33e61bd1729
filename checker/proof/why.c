/* why.c - in sentences: which wait was meant to put two steps in order, and what else can satisfy it.
 *
 * The later step of a race waited for something, or should have: for a copy's write the wait on its receive semaphore that stands last
 * before the other access, for its read the one on its send semaphore, for a core's access the wait before the other copy's start that
 * takes what the core has signalled since.
 */
#include <glib.h>
#include <string.h>

#include "prover.h"

enum { RIVALS_SHOWN = 3 };

char *why_core(const Prover *prover, uint32_t core)
{
    uint32_t per = prover->index->per_device;
    return per > 1 ? g_strdup_printf("device %u core %u", core / per, core % per) : g_strdup_printf("device %u", core);
}

char *why_site(const Prover *prover, uint32_t site)
{
    const Site *s = program_get_site(prover->program, site);
    return g_strdup_printf("%s:%u", program_text(prover->program, s->file), s->line);
}

static char *name_signal(const Prover *prover, const Signal *signal)
{
    g_autofree char *core = why_core(prover, signal->core);
    g_autofree char *site = why_site(prover, index_step(prover->index, signal->core, signal->position)->site);
    if (signal->copy_end == NONE)
        return g_strdup_printf("the signal of %s at %s", core, site);
    return g_strdup_printf("copy %u of %s at %s", index_copy(prover->index, signal->copy_end / 2)->ordinal, core, site);
}

/* Signals that need not come after the wait, other than the one in question. */
static void append_rivals(const Prover *prover, GString *text, uint32_t semaphore, const Wait *wait, uint32_t except)
{
    const Index *index = prover->index;
    uint32_t rivals = 0, shown = 0;
    gsize begin = text->len;
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++) {
        if (i == except || clocks_at_signal(prover->clocks, i, wait->core) > wait->position)
            continue;
        if (rivals++ >= RIVALS_SHOWN)
            continue;
        g_autofree char *name = name_signal(prover, &index->signal[i]);
        bool told = shown > 0 && strstr(text->str + begin, name) != NULL;       /* several signals of one line in a row */
        if (!told)
            g_string_append_printf(text, "%s%s", shown > 0 ? ", " : " ", name);
        shown++;
    }
    if (rivals > shown)
        g_string_append_printf(text, " and %u more", rivals - shown);
    if (rivals == 0)
        g_string_append(text, " what is counted early");
}

static void append_wait(const Prover *prover, GString *text, uint32_t semaphore, const Wait *wait, uint32_t signal, const char *what)
{
    g_autofree char *where = why_site(prover, index_step(prover->index, wait->core, wait->position)->site);
    g_autofree char *core = why_core(prover, wait->core), *name = program_describe_semaphore(prover->program, semaphore);
    g_string_append_printf(text, "The wait of %s at %s on %s was meant to come after %s, but it can be satisfied without it, by", core,
                           where,
                           name, what);
    append_rivals(prover, text, semaphore, wait, signal);
    g_string_append_c(text, '.');
}

/* The last wait on the semaphore that comes before the other step; NULL: none. */
static const Wait *last_wait_before(Prover *prover, uint32_t semaphore, const Event *other)
{
    const Index *index = prover->index;
    const Wait *found = NULL;
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        Event wait = index_event(index, index->wait[i].core, index->wait[i].position);
        if (wait.core == other->core ? wait.position < other->position : order_must(prover->order, &wait, other))
            found = &index->wait[i];
    }
    return found;
}

/* `copy` first: its end was to be waited for before `other`. */
static bool explain_copy(Prover *prover, GString *text, const Event *copy, const Event *other)
{
    const Index *index = prover->index;
    unsigned end = copy->kind == STEP_WRITE;
    const Copy *c = index_copy(index, copy->copy);
    uint32_t semaphore = end ? c->receive_semaphore : c->send_semaphore;
    if (!end && semaphore == NONE)
        semaphore = c->receive_semaphore;       /* a local copy */
    if (semaphore == NONE)
        return false;
    g_autofree char *site = why_site(prover, c->site), *issuer = why_core(prover, c->core);
    g_autofree char *what = g_strdup_printf("the %s of copy %u of %s at %s", end ? "write" : "read", c->ordinal, issuer, site);
    const Wait *wait = last_wait_before(prover, semaphore, other);
    if (wait) {
        append_wait(prover, text, semaphore, wait, index->copy_signal[copy->copy * 2 + end], what);
        return true;
    }
    g_autofree char *name = program_describe_semaphore(prover->program, semaphore);
    g_string_append_printf(text, "No wait on %s, which would say that %s is done, comes before the other step.", name, what);
    return true;
}

/* The wait before `other` of its core that takes something `first`'s core has signalled after `first`. */
static bool explain_step(Prover *prover, GString *text, const Event *first, const Event *other)
{
    const Index *index = prover->index;
    g_autofree char *what_core = why_core(prover, first->core);
    g_autofree char *site = why_site(prover, index_step(index, first->core, first->position)->site);
    g_autofree char *what = g_strdup_printf("the access of %s at %s", what_core, site);
    for (uint32_t position = other->position; position-- > 0;) {
        const Step *step = index_step(index, other->core, position);
        if (!index_is_wait(step))
            continue;
        for (uint32_t i = index->signal_first[step->object]; i < index->signal_first[step->object + 1]; i++)
            if (index->signal[i].core == first->core && index->signal[i].position > first->position) {
                append_wait(prover, text, step->object, &index->wait[index->link[index_slot(index, other->core, position)]], i, what);
                return true;
            }
    }
    g_autofree char *core = why_core(prover, other->core), *where = why_site(prover, index_step(index, other->core, other->position)->site);
    g_string_append_printf(text, "Nothing that %s waits for before %s tells it that %s is done.", core, where, what);
    return true;
}

/* The one that the record did first was meant to be first. */
char *why_race(Prover *prover, const Event *a, const Event *b)
{
    GString *text = g_string_new(NULL);
    bool a_first = prover_age(prover, a) <= prover_age(prover, b);
    const Event *first = a_first ? a : b, *second = a_first ? b : a;
    bool told = first->copy != NONE ? explain_copy(prover, text, first, second) : explain_step(prover, text, first, second);
    if (!told) {
        g_string_free(text, TRUE);
        return NULL;
    }
    return g_string_free(text, FALSE);
}

static char *why_lifetime(Prover *prover, const Tally *fault)
{
    Lifespan life = fault->is_semaphore ? lifespan_of_semaphore(prover, fault->object) : lifespan_of_object(prover, fault->object);
    const Span *span = fault->have < 0 && life.exit ? life.entry : life.span;
    uint32_t position = span ? (fault->have < 0 ? span[life.first_core].begin : span[life.first_core].end) : NONE;
    if (position == NONE)
        return g_strdup("Its life never begins there.");
    g_autofree char *where = why_site(prover, index_step(prover->index, life.first_core, position)->site);
    g_autofree char *core = why_core(prover, life.first_core);
    return g_strdup_printf(fault->have < 0 ? "Its life begins when %s passes %s, and nothing makes this step come after that."
                           : "Its life ends when %s passes %s, and nothing makes this step come before that.", core, where);
}

static char *why_leftover(Prover *prover, const Tally *fault)
{
    const Index *index = prover->index;
    GString *text = g_string_new("Signals that no wait takes, or that come too late for one:");
    uint32_t shown = 0, signals = 0, owner = program_semaphore_core(prover->program, fault->object);
    for (uint32_t i = index->signal_first[fault->object + 1]; i-- > index->signal_first[fault->object];) {
        const Signal *signal = &index->signal[i];
        if (fault->places && clocks_at_signal(prover->clocks, i, owner) > fault->a.position)
            continue;
        if (signals++ >= RIVALS_SHOWN)
            continue;
        g_autofree char *name = name_signal(prover, signal);
        g_string_append_printf(text, "%s %s", shown++ ? "," : "", name);
    }
    g_string_append(text, signals > shown ? ", and earlier ones." : ".");
    return g_string_free(text, FALSE);
}

static char *why_in_flight(Prover *prover, const Tally *fault)
{
    GString *text = g_string_new(NULL);
    explain_copy(prover, text, &fault->a, &fault->b);
    return g_string_free(text, FALSE);
}

char *why_fault(Prover *prover, const Tally *fault)
{
    switch (fault->id) {
    case FAULT_RACE:
        return why_race(prover, &fault->a, &fault->b);
    case FAULT_LIFETIME:
        return why_lifetime(prover, fault);
    case FAULT_LEFTOVER:
        return why_leftover(prover, fault);
    case FAULT_IN_FLIGHT:
        return why_in_flight(prover, fault);
    case FAULT_MISMATCH:
        return fault->places > 1 ? why_race(prover, &fault->b, &fault->a) : NULL;
    case FAULT_DEADLOCK: case FAULT_OUT_OF_BOUNDS: case FAULT_UNINITIALISED: case FAULT_SHAPE: case FAULT_SPACE: case FAULT_REVISIT:
    case FAULT_ASSERT: case FAULT_OVERFLOW: case FAULT_DIVERGENCE: case FAULT_NO_PROGRESS: case FAULT_CRASH: case FAULT_COUNT:
        break;
    }
    return NULL;
}
