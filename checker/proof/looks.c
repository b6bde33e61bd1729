/* looks.c - what a core saw at the line of a failed assertion, or last before it: whose value that is, who writes there later, and which
 * wait was meant to keep the core from looking before that.
 */
#include "../../model/counter.h"
#include "prover.h"
#include "unheard.h"

enum { LOOKS_SHOWN = 3, LATER_SHOWN = 2 };

typedef struct Look {
    const Step *step, *writer, *before;         /* who wrote last before it, and who before that; NULL: nobody */
    const Step *later[LATER_SHOWN];             /* the next ones, by other cores */
    unsigned laters;
    int64_t value;
} Look;

static bool changes(const Step *step, int64_t value)
{
    return counter_writes(step, value) || step->kind == STEP_SIGNAL || step->kind == STEP_WAIT;
}

/* Follows the word or count through the record. at: where the look stands there; its length: it would be next. */
static Look look_at(const Prover *prover, const Step *look, size_t at)
{
    const Store *steps = &prover->record->steps;
    Look found = { .step = look };
    int64_t value = program_decl(prover->program, program_semaphore_decl(prover->program, look->object))->initial;
    for (size_t i = 0; i < steps->count; i++) {
        const Step *step = &STORE(Step, steps, i);
        if (i == at)
            found.value = value;
        if (!step_on_counter(step->kind) || step->object != look->object || !changes(step, value))
            continue;
        value = counter_after(step, value);
        if (i < at)
            found.before = found.writer, found.writer = step;
        else if (step->core != look->core && found.laters < LATER_SHOWN)
            found.later[found.laters++] = step;
    }
    if (at == steps->count)
        found.value = value;
    return found;
}

static Event event_of(const Index *index, const Step *step)
{
    uint32_t position = 0;
    while (index_step(index, step->core, position) != step)
        position++;
    return index_event(index, step->core, position);
}

static void append_look(const Prover *prover, GString *text, const Look *look)
{
    g_autofree char *name = program_describe_semaphore(prover->program, look->step->object);
    bool word = step_has(look->step->kind, STEP_ON_FLAG), told = look->step->kind == STEP_EXPECT_COUNT;     /* by the message */
    if (!told)
        g_string_append_printf(text, "%s%s is %" G_GINT64_FORMAT, text->len ? " " : "", name, look->value);
    gsize begin = text->len;
    if (word && look->writer == NULL)
        g_string_append(text, ", its initial value");
    if (word && look->writer != NULL) {
        g_autofree char *words = step_words(prover->program, look->writer), *time = step_words_time(prover->record, look->writer);
        g_string_append_printf(text, ", from %s%s", words, time);
    }
    if (word && look->before != NULL && look->before->core != look->writer->core) {
        g_autofree char *words = step_words(prover->program, look->before), *time = step_words_time(prover->record, look->before);
        g_string_append_printf(text, ", after %s%s", words, time);
    }
    for (unsigned i = 0; i < look->laters; i++) {
        g_autofree char *words = step_words(prover->program, look->later[i]), *time = step_words_time(prover->record, look->later[i]);
        g_string_append_printf(text, "%s%s%s", i > 0 ? " and " : told ? "" : "; ", words, time);
    }
    text->str[begin] = told ? g_ascii_toupper(text->str[begin]) : text->str[begin];
    g_string_append(text, look->laters > 1 ? " come later." : look->laters == 1 ? " comes later." : told ? "" : ".");
}

/* Which wait lets the core look before the first later write? */
static void append_wait(Prover *prover, GString *text, const Look *look)
{
    Event self = event_of(prover->index, look->step);
    for (unsigned i = 0; i < look->laters; i++) {
        Event later = event_of(prover->index, look->later[i]);
        g_autofree char *words = step_words(prover->program, look->later[i]);
        g_string_append_c(text, ' ');
        if (why_early(prover, text, &later, &self, words))
            return;
        g_string_truncate(text, text->len - 1);
    }
}

static bool is_look(const Step *step)
{
    return (step_learns(step) && step_on_counter(step->kind)) || step->kind == STEP_EXPECT_COUNT;
}

static bool is_told(const GArray *told, uint32_t object)
{
    for (guint i = 0; i < told->len; i++)
        if (g_array_index(told, uint32_t, i) == object)
            return true;
    return false;
}

/* Whichever of the operations of that line. */
static bool on_line(const Program *program, const Step *step, uint32_t site)
{
    const Site *a = program_get_site(program, step->site), *b = program_get_site(program, site);
    return a->file == b->file && a->line == b->line;
}

char *looks_before(Prover *prover, const Raised *raised)
{
    const uint32_t core = raised->core, site = raised->site;
    const Index *index = prover->index;
    GString *text = g_string_new(NULL);
    g_autoptr(GArray) told = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (raised->object != NONE) {               /* the word that is polled */
        const Step next = { .kind = STEP_FLAG_LOAD, .core = raised->core, .object = raised->object };
        Look look = look_at(prover, &next, prover->record->steps.count);
        append_look(prover, text, &look);
        g_array_append_val(told, next.object);
    }
    for (uint32_t position = index_length(index, core); position-- > 0 && told->len < LOOKS_SHOWN;) {
        const Step *step = index_step(index, core, position);
        bool same_line = on_line(prover->program, step, site);
        if (!is_look(step) || (told->len > 0 && !same_line) || is_told(told, step->object))
            continue;
        g_array_append_val(told, step->object);
        Look look = look_at(prover, step, index->step[index_slot(index, core, position)]);
        append_look(prover, text, &look);
        append_wait(prover, text, &look);
        Event self = index_event(index, core, position);
        unheard_of_others(prover, text, &self);
        if (!same_line)
            break;
    }
    return g_string_free(text, text->len == 0);
}
