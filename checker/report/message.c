/* message.c - a sentence for each kind of fault, from the places and numbers that finding.h defines for it. */
#include "message.h"
#include <string.h>
#include "../../model/label.h"
#include "../check/orders.h"
#include "../facts/step_words.h"
#include "describe.h"

static char *say_race(const Program *program, const Finding *finding)
{
    char *first = describe_action(program, &finding->place[0]), *second = describe_action(program, &finding->place[1]);
    char *message = g_strdup_printf("%s, %s, and nothing orders the two", first, second);
    g_free(second);
    g_free(first);
    return message;
}

/* A moment of a copy touches a buffer and a semaphore: the finding's object is the one that does not exist. */
static char *say_lifetime(const Program *program, const Finding *finding)
{
    const Place *place = &finding->place[0];
    char *action = describe_action(program, place);
    if (finding->object_is_semaphore && !step_on_counter(place->kind) && finding->object != NONE) {
        char *agent = describe_agent(program, place), *semaphore = program_describe_semaphore(program, finding->object);
        g_free(action);
        action = g_strdup_printf("%s, by its %s, counts on %s", agent, step_kind_name(place->kind), semaphore);
        g_free(semaphore);
        g_free(agent);
    }
    char *message = g_strdup_printf("%s, which may not exist %s then", action, finding->have < 0 ? "yet" : "any more");
    g_free(action);
    return message;
}

static char *say_deadlock(const CheckResult *result)
{
    unsigned stuck = 0;
    for (uint32_t core = 0; result->record && core < result->record->ends.count; core++)
        stuck += STORE(CoreState, &result->record->ends, core).end != CORE_FINISHED;
    return stuck ? g_strdup_printf("no step is possible any more, and %u of %u cores %s not finished", stuck, result->program->cores,
                                   stuck == 1 ? "has" : "have")
                 : g_strdup("no step is possible any more, and some core has not finished");
}

static char *say_leftover(const Program *program, const Finding *finding)
{
    char *semaphore = program_describe_semaphore(program, finding->object);
    char *end = finding->places ? describe_action(program, &finding->place[0]) : g_strdup("the program ends");
    char *message = g_strdup_printf("%s can still be at %" G_GINT64_FORMAT " and not at 0 when %s", semaphore, finding->have, end);
    g_free(end);
    g_free(semaphore);
    return message;
}

static char *say_in_flight(const Program *program, const Finding *finding)
{
    char *copy = describe_agent(program, &finding->place[0]), *region = describe_object(program, &finding->place[0]);
    char *exit = describe_action(program, &finding->place[1]);
    char *message = g_strdup_printf("%s may not have %s %s yet when %s", copy, finding->place[0].kind == STEP_READ ? "read" : "written",
                                    region ? region : "its data", exit);
    g_free(exit);
    g_free(region);
    g_free(copy);
    return message;
}

static char *say_mismatch(const Program *program, const Finding *finding)
{
    char *wait = describe_action(program, &finding->place[0]), *copy = describe_agent(program, &finding->place[1]);
    char *message = g_strdup_printf("%s for %s, but can pass before that copy is complete", wait, copy);
    g_free(copy);
    g_free(wait);
    return message;
}

static char *say_overflow(const Program *program, const Finding *finding)
{
    char *semaphore = program_describe_semaphore(program, finding->object);
    char *message = g_strdup_printf("%s can reach %" G_GINT64_FORMAT ", above its limit of %" G_GINT64_FORMAT, semaphore, finding->have,
                                    finding->need);
    g_free(semaphore);
    return message;
}

static char *say_uninitialised(const Program *program, const Finding *finding)
{
    char *load = describe_action(program, &finding->place[0]);
    char *message = g_strdup_printf("%s before anybody has written there", load);
    g_free(load);
    return message;
}

static char *say_stop(const Program *program, const Finding *finding)
{
    char *action = finding->places ? describe_agent(program, &finding->place[0]) : g_strdup("a core");
    char *message = g_strdup_printf("%s cannot go on after what it did here (%s)", action, fault_name(finding->id));
    g_free(action);
    return message;
}

char *message_text(const CheckResult *result, const Finding *finding)
{
    const Program *program = result->program;
    if (finding->message)
        return g_strdup(finding->message);
    switch ((unsigned)finding->id) {             /* all others stop the core and have a message */
    case FAULT_RACE:
        return say_race(program, finding);
    case FAULT_LIFETIME:
        return say_lifetime(program, finding);
    case FAULT_DEADLOCK:
        return say_deadlock(result);
    case FAULT_LEFTOVER:
        return say_leftover(program, finding);
    case FAULT_IN_FLIGHT:
        return say_in_flight(program, finding);
    case FAULT_MISMATCH:
        return say_mismatch(program, finding);
    case FAULT_OVERFLOW:
        return say_overflow(program, finding);
    case FAULT_UNINITIALISED:
        return say_uninitialised(program, finding);
    default:
        return say_stop(program, finding);
    }
}

/* One line for a stuck core, from the end of the recorded run. */
static void append_stuck(GString *out, const Program *program, uint32_t core, const Step *pending)
{
    Place place = {.core = core, .copy = NONE, .kind = pending->kind, .site = pending->site, .object = pending->object, .region = NONE,
                   .launch = pending->launch};
    char *action = describe_action(program, &place), *where = program_describe_site(program, pending->site);
    g_string_append_printf(out, "%s%s", out->len ? "; " : "", action);
    if (step_is_semaphore_wait(pending->kind))
        g_string_append_printf(out, " for %u", pending->value);
    g_string_append_printf(out, " at %s", where);
    g_free(where);
    g_free(action);
}

#define STUCK_MAX 8

static char *stuck_cores(const CheckResult *result)
{
    GString *out = g_string_new(NULL);
    unsigned stuck = 0;
    for (uint32_t core = 0; core < result->record->ends.count; core++) {
        const CoreState *state = &STORE(CoreState, &result->record->ends, core);
        if (state->end == CORE_BLOCKED && stuck++ < STUCK_MAX)
            append_stuck(out, result->program, core, &state->pending);
    }
    if (stuck > STUCK_MAX)
        g_string_append_printf(out, "; and %u more", stuck - STUCK_MAX);
    if (out->len)
        g_string_append_c(out, '.');
    return g_string_free(out, out->len == 0);
}

/* Leaves out each "(described at ...)" that an earlier one repeats. */
static void say_described_once(GString *text)
{
    static const char WORDS[] = " (described at ";
    for (char *at = text->str; (at = strstr(at, WORDS)) != NULL;) {
        gsize begin = at - text->str, bytes = strcspn(at, ")") + 1;
        g_autofree char *said = g_strndup(at, bytes);
        bool first = strstr(text->str, said) == at;
        if (!first)
            g_string_erase(text, begin, bytes);
        at = text->str + begin + (first ? bytes : 0);
    }
}

/* Where the copies among its places were described, unless the reason says so. */
static void append_described(GString *out, const Program *program, const Finding *finding)
{
    for (unsigned p = 0; p < finding->places; p++) {
        const Place *place = &finding->place[p];
        if (place->copy == NONE || place->described == NONE || place->described == place->site)
            continue;
        g_autofree char *agent = describe_agent(program, place), *where = program_describe_site(program, place->described);
        g_autofree char *said = g_strdup_printf("described at %s", where);
        if (strstr(out->str, said) != NULL)
            continue;
        agent[0] = g_ascii_toupper(agent[0]);
        g_string_append_printf(out, "%s%s was %s.", out->len ? " " : "", agent, said);
    }
}

char *message_why(const CheckResult *result, const Finding *finding)
{
    g_autofree char *stuck = finding->why == NULL && finding->id == FAULT_DEADLOCK && result->record ? stuck_cores(result) : NULL;
    GString *out = g_string_new(finding->why ? finding->why : stuck ? stuck : "");
    say_described_once(out);
    append_described(out, result->program, finding);
    return g_string_free(out, out->len == 0);
}

static char *undecided_orders(const Finding *finding)
{
    GString *words = g_string_new(NULL);
    for (DmaOrder order = DMA_ORDER_UNORDERED; order <= DMA_ORDER_ISSUE_ORDER; order++) {
        g_autofree char *name = describe_knob_value(&(const Knobs){ .dma_order = order }, KNOB_DMA_ORDER);
        if (finding->holds >> order & 1)
            g_string_append_printf(words, "%s%s", words->len ? " and " : "under --dma-order ", name);
    }
    for (DmaOrder order = DMA_ORDER_UNORDERED, any = 0; order <= DMA_ORDER_ISSUE_ORDER; order++) {
        g_autofree char *name = describe_knob_value(&(const Knobs){ .dma_order = order }, KNOB_DMA_ORDER);
        if (finding->open >> order & 1)
            g_string_append_printf(words, "%s%s", any++ ? " and " : "; not decided under ", name);
    }
    return g_string_free(words, FALSE);
}

char *message_holds(const CheckResult *result, const Finding *finding)
{
    if (finding->holds == 0)
        return NULL;
    switch (orders_hold(finding)) {
    case HOLDS_UNDECIDED:
        return undecided_orders(finding);
    case HOLDS_UNLESS_ISSUE_ORDER:
        return g_strdup("only if copies of one core may overtake each other; not under --dma-order issue-order");
    case HOLDS_UNLESS_LINK_FIFO:
        return g_strdup("only if copies of one link may overtake each other; not under --dma-order link-fifo");
    case HOLDS_ALWAYS:
        break;
    }
    bool said = result->spec->knobs.dma_order == DMA_ORDER_ISSUE_ORDER || !orders_matter(result->record);
    return said ? NULL : g_strdup("under every order of copies");
}

const char *message_holds_briefly(const Finding *finding)
{
    static const char *const WORDS[] = { NULL, "orders of copies not decided", "only if copies of one core overtake",
                                         "only if copies of one link overtake" };
    return WORDS[orders_hold(finding)];
}

static char *say_delay(const Program *program, const Delay *delay)
{
    g_autofree char *core = program_describe_core(program, delay->core), *where = program_describe_site(program, delay->site);
    if (delay->copy != NONE) {
        g_autofree char *copy = label_describe_copy(program, core, delay->copy, delay->label);
        return g_strdup_printf("%s, started at %s, must be slow; a delay in the kernel cannot cause it", copy, where);
    }
    if (label_marks_site(program, delay->site))
        return g_strdup_printf("%s must be slow to start the copies of windows at %s; a delay in the kernel cannot cause it", core, where);
    if (delay->times == 1)
        return g_strdup_printf("put a delay at %s before %s", core, where);
    return g_strdup_printf("put a delay at %s before %s, on the %u%s visit", core, where, delay->times,
                           ordinal_end(delay->times));
}

GPtrArray *message_delays(const Program *program, const Finding *finding)
{
    GPtrArray *lines = finding->delays ? g_ptr_array_new_with_free_func(g_free) : NULL;
    if (lines && finding->delays->len == 0)
        g_ptr_array_add(lines, g_strdup("none is needed: it happens when all run at the same pace"));
    for (guint i = 0; lines && i < finding->delays->len; i++)
        g_ptr_array_add(lines, say_delay(program, &g_array_index(finding->delays, Delay, i)));
    return lines;
}

unsigned message_switches(const Finding *finding)
{
    unsigned switches = 0;
    for (guint i = 1; finding->moves && i < finding->moves->len; i++) {
        const Move *before = &g_array_index(finding->moves, Move, i - 1), *move = before + 1;
        switches += before->core != move->core || before->copy != move->copy;
    }
    return switches;
}

char *message_key(const Program *program, const Finding *finding)
{
    GString *key = g_string_new(program->name);
    g_string_append_printf(key, " %s", fault_name(finding->id));
    if (finding->object != NONE) {
        uint32_t decl = finding->object_is_semaphore ? program_semaphore_decl(program, finding->object)
                                                     : program_object_decl(program, finding->object);
        g_string_append_printf(key, " of %s", program_text(program, program_decl(program, decl)->name));
    }
    for (unsigned i = 0; i < finding->places; i++) {
        char *where = program_describe_site(program, finding->place[i].site);
        g_string_append_printf(key, " %s at %s", step_kind_name(finding->place[i].kind), where);
        g_free(where);
        for (uint32_t call = program_caller(program, finding->place[i].site); call != NONE; call = program_caller(program, call)) {
            g_autofree char *words = describe_call(program, call);
            g_string_append_printf(key, " %s", words);
        }
    }
    return g_string_free(key, FALSE);
}

char *message_count(const Finding *finding)
{
    if (finding->count <= 1)
        return g_strdup("");
    return g_strdup_printf(" (one of %s%" G_GUINT64_FORMAT "%s)", finding->at_most ? "at most " : "", finding->count,
                           finding->places == 2 ? " such pairs" : "");
}
