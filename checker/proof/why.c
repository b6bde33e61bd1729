/* why.c - reasons in sentences: which wait was meant to order two steps, and what else can satisfy it.
 *
 * The later step of a race should have waited: for a copy's write, by the last wait on its receive semaphore before the other access; for
 * its read, by the one on its send semaphore; for a core's access, by a wait that takes what that core signals after it. Where there is no
 * such wait, the clocks tell what the later step does know of the other core.
 */
#include <glib.h>
#include <string.h>
#include "../../model/label.h"

#include "credit.h"
#include "prover.h"
#include "unheard.h"

enum { RIVALS_TRIED = 8 };

/* Signals, other than the expected one, that need not come after the wait. */
static GArray *rivals_of(const Prover *prover, const Wait *wait, uint32_t except)
{
    const Index *index = prover->index;
    GArray *rivals = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = index->signal_first[wait->semaphore]; i < index->signal_first[wait->semaphore + 1]; i++)
        if (i != except && clocks_at_signal(prover->clocks, i, wait->core) <= wait->position)
            g_array_append_val(rivals, i);
    return rivals;
}

/* Can the rivals, and early bytes of the expected signal, satisfy it? */
static bool can_do_without(const Prover *prover, const Wait *wait, uint32_t signal)
{
    const Signal *meant = &prover->index->signal[signal];
    g_autoptr(GArray) rivals = rivals_of(prover, wait, signal);
    int64_t sum = meant->copy_end == NONE ? 0 : moment_early_part(index_is_fluid(prover->index), meant->inc);
    for (guint i = 0; i < rivals->len; i++)
        sum += prover->index->signal[g_array_index(rivals, uint32_t, i)].inc;
    return sum >= wait->total;
}

static void append_rivals(const Prover *prover, GString *text, const Wait *wait, uint32_t except)
{
    const Signal *meant = &prover->index->signal[except];
    g_autoptr(GArray) rivals = rivals_of(prover, wait, except);
    uint32_t value = index_step(prover->index, wait->core, wait->position)->value;
    if (rivals->len > 0) {
        g_autofree char *words = givers_words(prover, rivals);
        g_string_append_printf(text, "it can be satisfied without it, by %s.", words);
    } else if (meant->copy_end != NONE && value < meant->inc) {
        g_string_append_printf(text, "it takes %u of the %u that the copy signals, and only the last of them says that all has arrived.",
                               value, meant->inc);
    } else {
        g_string_append(text, "early bytes can satisfy it.");
    }
}

static char *wait_words(const Prover *prover, const Step *wait)
{
    g_autofree char *where = program_describe_site(prover->program, wait->site), *core = program_describe_core(prover->program, wait->core);
    g_autofree char *name = program_describe_semaphore(prover->program, wait->object), *time = step_words_time(prover->record, wait);
    return g_strdup_printf("%s of %s at %s on %s%s", step_is_wait(wait->kind) ? "wait" : "look", core, where, name, time);
}

/* The wait on a flag word, or look at one: whose value it accepts, and whose was meant. */
static void append_accepted(const Prover *prover, GString *text, const Credit *credit)
{
    if (credit->accepted == NULL) {
        g_string_append_printf(text, "it accepts the initial %" G_GINT64_FORMAT, credit->value);
    } else {
        g_autofree char *words = step_words(prover->program, credit->accepted), *time = step_words_time(prover->record, credit->accepted);
        g_string_append(text, "it accepts ");
        if (credit->accepted->kind != STEP_FLAG_STORE)
            g_string_append_printf(text, "the %" G_GINT64_FORMAT " of ", credit->value);
        g_string_append_printf(text, "%s%s", words, time);
    }
    g_autofree char *meant = step_words(prover->program, credit->meant), *time = step_words_time(prover->record, credit->meant);
    bool again = credit->accepted != NULL && credit->accepted->site == credit->meant->site && credit->accepted->core == credit->meant->core;
    g_string_append_printf(text, "; %s%s was meant.", again ? "that" : meant, time);
}

static void append_credit(const Prover *prover, GString *text, const Credit *credit, const char *what)
{
    g_autofree char *words = wait_words(prover, credit->wait);
    prover_blame(prover, CAUSE_WAIT_PASSES, credit->wait->site, credit->wait->object);
    g_string_append_printf(text, "The %s was meant to come after %s, but ", words, what);
    if (credit->counted)
        append_rivals(prover, text, credit->counted, credit->signal);
    else
        append_accepted(prover, text, credit);
}

static bool credit_fails(const Prover *prover, const Credit *credit)
{
    return credit->counted == NULL || can_do_without(prover, credit->counted, credit->signal);
}

bool why_early(const Prover *prover, GString *text, const Event *first, const Event *other, const char *what)
{
    Credit credit;
    bool found = credit_find(prover, first, other, &credit);
    if (found)
        append_credit(prover, text, &credit, what);
    return found;
}

/* A signal that satisfies the wait instead may itself come too early, because of another wait: then that is the cause. */
static bool append_earlier_cause(const Prover *prover, GString *text, const Wait *wait, uint32_t signal)
{
    g_autoptr(GArray) rivals = rivals_of(prover, wait, signal);
    Event end = index_event(prover->index, wait->core, wait->position);
    for (guint i = 0; i < MIN(rivals->len, RIVALS_TRIED); i++) {
        const Signal *rival = &prover->index->signal[g_array_index(rivals, uint32_t, i)];
        Event early = index_event(prover->index, rival->core, rival->position);
        const Step *step = index_step(prover->index, wait->core, wait->position);
        g_autofree char *words = step_words(prover->program, step), *time = step_words_time(prover->record, step);
        g_autofree char *what = g_strconcat(words, time, NULL);
        Credit credit;
        if (rival->core == wait->core)
            continue;
        bool heard = credit_find(prover, &end, &early, &credit);
        if (heard && credit_fails(prover, &credit)) {
            append_credit(prover, text, &credit, what);
            return true;
        }
        gsize before = text->len;
        g_autofree char *start = step_words(prover->program, index_step(prover->index, early.core, early.position));
        start[0] = g_ascii_toupper(start[0]);
        g_string_append_printf(text, "%s was meant to come after %s", start, what);
        if (!heard && unheard_untaken(prover, text, &end, &early))
            return true;
        g_string_truncate(text, before);
    }
    return false;
}

/* A signal that satisfies the wait instead is given too early, as its core heard only of itself. */
static void append_deaf_rival(const Prover *prover, GString *text, const Wait *wait, uint32_t signal)
{
    g_autoptr(GArray) rivals = rivals_of(prover, wait, signal);
    for (guint i = 0; i < MIN(rivals->len, RIVALS_TRIED); i++) {
        const Signal *rival = &prover->index->signal[g_array_index(rivals, uint32_t, i)];
        Event early = index_event(prover->index, rival->core, rival->position);
        if (rival->core != wait->core && unheard_of_others(prover, text, &early))
            return;
    }
}

static void append_wait(const Prover *prover, GString *text, const Wait *wait, uint32_t signal, const char *what)
{
    const Step *step = index_step(prover->index, wait->core, wait->position);
    g_autofree char *words = wait_words(prover, step);
    prover_blame(prover, CAUSE_WAIT_PASSES, step->site, step->object);
    bool earlier = append_earlier_cause(prover, text, wait, signal);
    if (earlier)
        g_string_append_printf(text, " So the %s, which was meant to come after %s, does not: ", words, what);
    else
        g_string_append_printf(text, "The %s was meant to come after %s, but ", words, what);
    append_rivals(prover, text, wait, signal);
    if (!earlier)
        append_deaf_rival(prover, text, wait, signal);
}

/* How many steps of `core` must come before `other`; false: the clocks cannot tell. */
static bool steps_before(Prover *prover, const Event *other, uint32_t core, uint32_t *steps)
{
    const Step *step = index_step(prover->index, other->core, other->position);
    if (prover->order->chosen || other->core == core || step_is_join(step->kind))
        return false;
    if (clocks_entry(prover->clocks, other, core, steps))
        return true;
    Asked asked = { index_slot(prover->index, other->core, other->position), core };
    clocks_learn(prover->clocks, &asked, 1, prover->arena);
    return clocks_entry(prover->clocks, other, core, steps);
}

/* Behind "nothing tells `other` that `first` is done": what would, or "; all that device 0 knows of device 1 by then is that it has passed
 * the ... at kernel.c:45." */
static void append_known(Prover *prover, GString *text, const Event *first, const Event *other)
{
    uint32_t steps = 0, core = first->core;
    if (unheard_append(prover, text, first, other))
        return;
    if (!steps_before(prover, other, core, &steps)) {
        g_string_append_c(text, '.');
        return;
    }
    g_autofree char *name = program_describe_core(prover->program, core), *self = program_describe_core(prover->program, other->core);
    const Step *last = steps > 0 ? index_step(prover->index, core, steps - 1) : NULL;
    if (last == NULL || last->kind == STEP_ENTER) {
        g_string_append_printf(text, "; %s does not wait for anything that %s does before that.", self, name);
        return;
    }
    g_autofree char *where = program_describe_site(prover->program, last->site);
    g_string_append_printf(text, "; all that %s knows of %s by then is that it has passed the %s at %s.", self, name,
                           step_kind_name((StepKind)last->kind), where);
}

/* The last wait on the semaphore that comes before the other step and is late enough to be meant for the signal; NULL: none. */
static const Wait *last_wait_before(Prover *prover, uint32_t semaphore, uint32_t signal, const Event *other)
{
    const Index *index = prover->index;
    const Wait *found = NULL;
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++) {
        Event wait = index_event(index, index->wait[i].core, index->wait[i].position);
        bool before = wait.core == other->core ? wait.position < other->position : order_must(prover->order, &wait, other);
        if (before && (found == NULL || !givers_reach(index, found, signal)))
            found = &index->wait[i];
    }
    return found != NULL && givers_reach(index, found, signal) ? found : NULL;
}

/* The wait that is meant for the copy, of whatever core; NULL: there is none. */
static const Wait *wait_for_copy(const Index *index, uint32_t semaphore, uint32_t signal)
{
    for (uint32_t i = index->wait_first[semaphore]; i < index->wait_first[semaphore + 1]; i++)
        if (givers_reach(index, &index->wait[i], signal))
            return &index->wait[i];
    return NULL;
}

/* Another core waits for the copy, and the core that comes too early waits for that core: which of the two waits fails? */
static bool explain_relayed(const Prover *prover, GString *text, uint32_t signal, const Event *other, uint32_t semaphore, const char *what)
{
    const Wait *wait = wait_for_copy(prover->index, semaphore, signal);
    if (wait == NULL || wait->core == other->core)
        return false;
    Event end = index_event(prover->index, wait->core, wait->position);
    Credit credit;
    if (!credit_find(prover, &end, other, &credit))
        return false;
    if (credit_fails(prover, &credit)) {
        const Step *step = index_step(prover->index, wait->core, wait->position);
        g_autofree char *words = step_words(prover->program, step), *time = step_words_time(prover->record, step);
        g_autofree char *relayed = g_strdup_printf("%s%s for %s", words, time, what);
        append_credit(prover, text, &credit, relayed);
    } else {
        append_wait(prover, text, wait, signal, what);
    }
    return true;
}

/* "the exit of device 0 at kernel.c:12", "the read of copy 1 of device 0 at kernel.c:12" */
static char *event_words(const Prover *prover, const Event *event)
{
    const Index *index = prover->index;
    const Copy *copy = event->copy == NONE ? NULL : index_copy(index, event->copy);
    g_autofree char *core = program_describe_core(prover->program, event->core);
    g_autofree char *who = copy ? label_describe_copy(prover->program, core, copy->ordinal, copy->label) : g_strdup(core);
    g_autofree char *where = program_describe_site(prover->program, index_step(index, event->core, event->position)->site);
    return g_strdup_printf("the %s of %s at %s", step_kind_name((StepKind)event->kind), who, where);
}

/* No wait before the other step covers the copy: which core waits for the copy, if any, and what the other step's core knows of it. */
static void explain_unawaited(Prover *prover, GString *text, const Event *copy, const Event *other, uint32_t semaphore, const char *what)
{
    const Index *index = prover->index;
    uint32_t slot = copy->copy * 2 + (semaphore == index_copy(index, copy->copy)->receive_semaphore);
    uint32_t at = prover->releases->at[slot];
    g_autofree char *there = event_words(prover, other);
    if (at == NONE || at == 0) {
        g_autofree char *name = program_describe_semaphore(prover->program, semaphore);
        prover_blame(prover, CAUSE_UNAWAITED, index_copy(index, copy->copy)->site, semaphore);
        g_string_append_printf(text, "No wait on %s, which would say that %s is done, comes before %s.", name, what, there);
        return;
    }
    uint32_t waiter = releases_core(prover->releases, semaphore, slot);
    g_autofree char *core = program_describe_core(prover->program, waiter);
    g_autofree char *where = program_describe_site(prover->program, index_step(index, waiter, at - 1)->site);
    core[0] = g_ascii_toupper(core[0]);
    if (waiter == other->core && at > other->position) {
        prover_blame(prover, CAUSE_WAIT_LATE, index_step(index, waiter, at - 1)->site, semaphore);
        g_string_append_printf(text, "%s waits for %s only at %s, after %s.", core, what, where, there);
        return;
    }
    prover_blame(prover, CAUSE_UNORDERED, index_step(index, other->core, other->position)->site, NONE);
    g_string_append_printf(text, "%s waits for %s only at %s, and nothing makes %s come after that", core, what, where, there);
    const Wait *meant = wait_for_copy(index, semaphore, index->copy_signal[slot]);
    Event end = index_event(index, waiter, meant != NULL && meant->core == waiter ? MIN(meant->position, at - 1) : at - 1);
    append_known(prover, text, &end, other);
}

/* The copy was meant to be first: `other` should have come after a wait for its end. True: there is such a wait. */
static bool explain_copy(Prover *prover, GString *text, const Event *copy, const Event *other)
{
    const Index *index = prover->index;
    bool end = copy->kind == STEP_WRITE;
    const Copy *c = index_copy(index, copy->copy);
    bool by_receive = end || c->send_semaphore == NONE;         /* a local copy has no other */
    uint32_t semaphore = by_receive ? c->receive_semaphore : c->send_semaphore;
    if (semaphore == NONE)
        return false;
    uint32_t signal = index->copy_signal[copy->copy * 2 + by_receive];
    g_autofree char *site = label_describe_start(prover->program, c->site, c->described);
    g_autofree char *issuer = program_describe_core(prover->program, c->core);
    g_autofree char *copy_text = label_describe_copy(prover->program, issuer, c->ordinal, c->label);
    if (label_marks_site(prover->program, c->site)) {
        copy_text[0] = g_ascii_toupper(copy_text[0]);
        prover_blame(prover, CAUSE_UNAWAITED, c->site, NONE);
        g_string_append_printf(text, "%s at %s runs concurrently with the kernel, and nothing in a kernel can wait for it. With one buffer "
                               "(.buffers = 1, in Pallas pl.Buffered(1)) no grid step begins before it is complete.", copy_text, site);
        return false;
    }
    g_autofree char *what = g_strdup_printf("the %s of %s at %s", end ? "write" : "read", copy_text, site);
    const Wait *wait = last_wait_before(prover, semaphore, signal, other);
    if (wait)
        append_wait(prover, text, wait, signal, what);
    else if (explain_relayed(prover, text, signal, other, semaphore, what))
        return true;
    else
        explain_unawaited(prover, text, copy, other, semaphore, what);
    return wait != NULL;
}

static bool explain_step(Prover *prover, GString *text, const Event *first, const Event *other)
{
    const Index *index = prover->index;
    g_autofree char *what = step_words(prover->program, index_step(index, first->core, first->position));
    if (why_early(prover, text, first, other, what))
        return true;
    g_autofree char *core = program_describe_core(prover->program, other->core);
    g_autofree char *where = program_describe_site(prover->program, index_step(index, other->core, other->position)->site);
    prover_blame(prover, CAUSE_UNORDERED, index_step(index, other->core, other->position)->site, NONE);
    g_string_append_printf(text, "Nothing that %s waits for before %s tells it that %s is done", core, where, what);
    append_known(prover, text, first, other);
    return false;
}

static bool explain(Prover *prover, GString *text, const Event *first, const Event *second)
{
    return first->copy != NONE ? explain_copy(prover, text, first, second) : explain_step(prover, text, first, second);
}

typedef struct TouchedBytes { uint32_t object, region; bool writes; } TouchedBytes;

static TouchedBytes touch_of(const Prover *prover, const Event *event)
{
    if (event->copy != NONE) {
        const Copy *copy = index_copy(prover->index, event->copy);
        bool writes = event->kind == STEP_WRITE;
        return (TouchedBytes){ writes ? copy->target : copy->source, writes ? copy->target_region : copy->source_region, writes };
    }
    const Step *step = index_step(prover->index, event->core, event->position);
    return (TouchedBytes){ step->object, step->value, step->kind != STEP_LOAD };
}

/* The core's first step that writes those bytes; false: there is none. */
static bool first_store(const Prover *prover, uint32_t core, uint32_t object, const Region *region, Event *store)
{
    const Index *index = prover->index;
    for (uint32_t position = 0; position < index_length(index, core); position++) {
        const Step *step = index_step(index, core, position);
        *store = index_event(index, core, position);
        if ((step->kind == STEP_STORE || step->kind == STEP_SWAP) && step->object == object
            && region_overlaps(region, program_get_region(prover->program, step->value)))
            return true;
    }
    return false;
}

/* Is the buffer an input, or does another write to the read's bytes come before it in every execution? */
static bool has_its_data(Prover *prover, const Event *read, const Event *except)
{
    const Index *index = prover->index;
    TouchedBytes touch = touch_of(prover, read);
    const Region *region = program_get_region(prover->program, touch.region);
    if (program_decl(prover->program, program_object_decl(prover->program, touch.object))->input)
        return true;
    for (uint32_t i = 0; i < index->copies; i++) {
        const Copy *copy = index_copy(index, i);
        Event write = index_moment(index, i, STEP_WRITE);
        if (copy->target == touch.object && i != except->copy
            && region_overlaps(region, program_get_region(prover->program, copy->target_region))
            && order_known(prover->order, &write, read) == ORDER_YES)
            return true;
    }
    for (uint32_t core = 0; core < index->cores; core++) {
        Event store;
        if (first_store(prover, core, touch.object, region, &store) && order_must(prover->order, &store, read))
            return true;
    }
    return false;
}

/* Does that core ever wait for the write of the copy? */
static bool is_awaited_by(const Prover *prover, const Event *event, uint32_t core)
{
    uint32_t slot = event->copy * 2 + 1;
    return event->copy != NONE && event->kind == STEP_WRITE && prover->releases->at[slot] != NONE
        && releases_core(prover->releases, index_copy(prover->index, event->copy)->receive_semaphore, slot) == core;
}

/* Does the core say behind `first` that it is done, to the core of `other`, which does not listen? */
static bool says_so(const Prover *prover, const Event *first, const Event *other)
{
    const Cause before = *prover->cause;
    g_autoptr(GString) ignored = g_string_new(NULL);
    bool says = first->core != other->core && unheard_untaken(prover, ignored, first, other);
    *prover->cause = before;
    return says;
}

/* A guess which of two racing accesses was meant to be first, if no wait tells: that of the earlier launch; a write before a read that has
 * no data otherwise; what its core says is done; the one earlier in its core's program, as all cores run similar code; a copy that the
 * other core waits for. */
static bool is_meant_first(Prover *prover, const Event *a, const Event *b)
{
    uint16_t a_launch = index_step(prover->index, a->core, a->position)->launch;
    uint16_t b_launch = index_step(prover->index, b->core, b->position)->launch;
    if (a_launch != b_launch)
        return a_launch < b_launch;
    bool a_writes = touch_of(prover, a).writes, b_writes = touch_of(prover, b).writes;
    if (a_writes && !b_writes && !has_its_data(prover, b, a))
        return true;
    if (b_writes && !a_writes && !has_its_data(prover, a, b))
        return false;
    bool a_says = says_so(prover, a, b), b_says = says_so(prover, b, a);
    if (a_says != b_says)
        return a_says;
    return a->position != b->position ? a->position < b->position : !is_awaited_by(prover, b, a->core);
}

/* The record did one of the two first; if no wait was meant to ensure that, the other order may have been meant. */
static char *why_race(Prover *prover, const Event *a, const Event *b, Meant *meant_first)
{
    GString *text = g_string_new(NULL);
    bool a_first = prover_age(prover, a) <= prover_age(prover, b);
    const Event *first = a_first ? a : b, *second = a_first ? b : a;
    bool as_done = true, meant = explain(prover, text, first, second);
    if (!meant) {
        g_string_truncate(text, 0);
        meant = explain(prover, text, second, first);
        as_done = !meant;
    }
    if (!meant) {
        g_string_truncate(text, 0);
        as_done = is_meant_first(prover, first, second);
        explain(prover, text, as_done ? first : second, as_done ? second : first);
    }
    *meant_first = as_done == a_first ? MEANT_FIRST : MEANT_SECOND;
    return g_string_free(text, text->len == 0);
}

static char *why_lifetime(Prover *prover, const FaultTally *fault)
{
    Lifespan life = fault->is_semaphore ? lifespan_of_semaphore(prover, fault->object) : lifespan_of_object(prover, fault->object);
    const StepSpan *span = fault->have < 0 && life.exit ? life.entry : life.span;
    uint32_t position = span ? (fault->have < 0 ? span[life.first_core].begin : span[life.first_core].end) : NONE;
    if (position == NONE)
        return g_strdup("Its life never begins there.");
    g_autofree char *where = program_describe_site(prover->program, index_step(prover->index, life.first_core, position)->site);
    g_autofree char *core = program_describe_core(prover->program, life.first_core);
    GString *text = g_string_new(NULL);
    Event border = index_event(prover->index, life.first_core, position);
    bool early = fault->have < 0;
    g_autoptr(GString) more = g_string_new(NULL);
    bool meant = explain(prover, more, early ? &border : &fault->a, early ? &fault->a : &border);
    g_string_printf(text, early ? "Its life begins when %s passes %s, and nothing makes this step come after that"
                    : "Its life ends when %s passes %s, and nothing makes this step come before that", core, where);
    if (meant || !early)
        g_string_append_printf(text, ". %s", more->str);
    else
        append_known(prover, text, &border, &fault->a);
    return g_string_free(text, FALSE);
}

static char *why_in_flight(Prover *prover, const FaultTally *fault)
{
    GString *text = g_string_new(NULL);
    explain_copy(prover, text, &fault->a, &fault->b);
    return g_string_free(text, FALSE);
}

/* An unwritten load: which step does write there? */
static char *why_uninitialised(const Prover *prover, const FaultTally *fault)
{
    const Index *index = prover->index;
    TouchedBytes touch = touch_of(prover, &fault->a);
    const Region *region = program_get_region(prover->program, touch.region);
    for (size_t i = 0; i < prover->record->steps.count; i++) {
        const Step *step = &STORE(Step, &prover->record->steps, i);
        bool copies = step->kind == STEP_COPY_START && step->object != NONE, stores = step->kind == STEP_STORE || step->kind == STEP_SWAP;
        const Copy *copy = copies ? index_copy(index, step->object) : NULL;
        uint32_t object = copies ? copy->target : step->object, written = copies ? copy->target_region : step->value;
        if ((!copies && !stores) || object != touch.object || !region_overlaps(region, program_get_region(prover->program, written)))
            continue;
        g_autofree char *core = program_describe_core(prover->program, step->core);
        g_autofree char *where = program_describe_site(prover->program, step->site);
        return g_strdup_printf("The %s of %s at %s writes there, but only later.", step_kind_name((StepKind)step->kind), core,
                               where);
    }
    return g_strdup("Nothing in this run writes there.");
}

char *why_fault(Prover *prover, const FaultTally *fault, Meant *meant)
{
    Meant ignored;
    *meant = MEANT_UNKNOWN;
    switch ((unsigned)fault->id) {
    case FAULT_RACE:
        return why_race(prover, &fault->a, &fault->b, meant);
    case FAULT_LIFETIME:
        return why_lifetime(prover, fault);
    case FAULT_LEFTOVER:
        return leftover_why(prover, fault);
    case FAULT_IN_FLIGHT:
        return why_in_flight(prover, fault);
    case FAULT_MISMATCH:
        return fault->places > 1 ? why_race(prover, &fault->b, &fault->a, &ignored) : NULL;
    case FAULT_UNINITIALISED:
        return why_uninitialised(prover, fault);
    default:                                    /* the message is enough */
        return NULL;
    }
}
