/* givers.c - signals in words: grouped by line, then by the device that gave them. */
#include <glib.h>

#include "../../model/label.h"
#include "prover.h"

enum { LINES_SHOWN = 3, NAMES_SHOWN = 3 };

typedef struct GiverLine {                      /* signals of one line of the source, all of copies with one line of making or none */
    uint32_t site, described;                        /* described: Copy.described if it is another line, else NONE */
    bool copies, several_cores;
    const char *word;                           /* what a core does there */
    GArray *signals;                            /* of uint32_t */
} GiverLine;

static GiverLine *line_of(const Prover *prover, GArray *lines, const Signal *signal)
{
    const Step *step = index_step(prover->index, signal->core, signal->position);
    uint32_t site = step->site;
    bool copies = signal->copy_end != NONE;
    uint32_t described = copies ? index_copy(prover->index, signal->copy_end / 2)->described : site;
    described = described == site ? NONE : described;
    for (guint i = 0; i < lines->len; i++) {
        GiverLine *line = &g_array_index(lines, GiverLine, i);
        bool same = program_same_line(prover->program, line->site, site) && line->described == described;
        if (same && line->copies == copies)
            return line;
    }
    const char *word = step_kind_name((StepKind)step->kind);
    const GiverLine fresh = { site, described, copies, false, word, g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
    g_array_append_val(lines, fresh);
    return &g_array_index(lines, GiverLine, lines->len - 1);
}

static void free_line(gpointer line)
{
    g_array_unref(((GiverLine *)line)->signals);
}

static GArray *by_line(const Prover *prover, const GArray *signals)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(GiverLine));
    g_array_set_clear_func(lines, free_line);
    for (guint i = 0; i < signals->len; i++) {
        const Signal *signal = index_listed(prover->index, signals, i);
        GiverLine *line = line_of(prover, lines, signal);
        line->several_cores |= line->signals->len > 0 && index_listed(prover->index, line->signals, 0)->core != signal->core;
        g_array_append_val(line->signals, g_array_index(signals, uint32_t, i));
    }
    return lines;
}

/* "1, 2 and 5", "1, 2, 3 and 4 more" */
static void append_numbers(GString *text, const GArray *numbers)
{
    guint shown = numbers->len > NAMES_SHOWN + 1 ? NAMES_SHOWN : numbers->len;
    for (guint i = 0; i < shown; i++)
        g_string_append_printf(text, "%s%u", i == 0 ? "" : i + 1 == numbers->len ? " and " : ", ", g_array_index(numbers, uint32_t, i));
    if (numbers->len > shown)
        g_string_append_printf(text, " and %u more", numbers->len - shown);
}

static void append_unlike(GArray *numbers, uint32_t number)
{
    for (guint i = 0; i < numbers->len; i++)
        if (g_array_index(numbers, uint32_t, i) == number)
            return;
    g_array_append_val(numbers, number);
}

static void append_line(const Prover *prover, GString *text, const GiverLine *line)
{
    uint32_t per = prover->index->per_device;
    g_autoptr(GArray) devices = g_array_new(FALSE, FALSE, sizeof(uint32_t)), ordinals = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (guint i = 0; i < line->signals->len; i++) {
        const Signal *signal = index_listed(prover->index, line->signals, i);
        append_unlike(devices, signal->core / per);
        if (line->copies)
            append_unlike(ordinals, index_copy(prover->index, signal->copy_end / 2)->ordinal);
    }
    guint many = line->copies ? ordinals->len : line->signals->len;
    g_autofree char *core = program_describe_core(prover->program, index_listed(prover->index, line->signals, 0)->core);
    g_autofree char *where = label_describe_start(prover->program, line->site, line->described);
    if (line->several_cores) {
        g_string_append_printf(text, line->copies ? "copies" : "the %ss", line->word);
        g_string_append(text, devices->len > 1 ? " of devices " : " of device ");
        append_numbers(text, devices);
    } else if (line->copies) {
        g_string_append(text, many > 1 ? "copies " : "copy ");
        append_numbers(text, ordinals);
        g_string_append_printf(text, " of %s", core);
    } else if (many > 1) {
        g_string_append_printf(text, "the %u %ss of %s", many, line->word, core);
    } else {
        g_string_append_printf(text, "the %s of %s", line->word, core);
    }
    g_string_append_printf(text, " at %s", where);
}

char *givers_words(const Prover *prover, const GArray *signals)
{
    g_autoptr(GArray) lines = by_line(prover, signals);
    GString *text = g_string_new(NULL);
    guint told = 0;
    for (guint i = 0; i < MIN(lines->len, LINES_SHOWN); i++) {
        const GiverLine *line = &g_array_index(lines, GiverLine, i);
        g_string_append(text, i == 0 ? "" : i + 1 == lines->len ? " and " : ", ");
        append_line(prover, text, line);
        told += line->signals->len;
    }
    if (told < signals->len)
        g_string_append_printf(text, " and %u more", signals->len - told);
    return g_string_free(text, FALSE);
}

/* How much the signal's core gives to the semaphore before this signal, and in all; and how much all cores give. */
static void given_by_core(const Index *index, uint32_t semaphore, uint32_t signal, int64_t *before, int64_t *whole, int64_t *all)
{
    *before = *whole = *all = 0;
    for (uint32_t i = index->signal_first[semaphore]; i < index->signal_first[semaphore + 1]; i++) {
        bool same = index->signal[i].core == index->signal[signal].core;
        *all += index->signal[i].inc;
        *whole += same ? index->signal[i].inc : 0;
        *before += same && i < signal ? index->signal[i].inc : 0;
    }
}

bool givers_reach(const Index *index, const Wait *wait, uint32_t signal)
{
    int64_t before, whole, all;
    if (index->contended[wait->semaphore])      /* no threshold: the record chose the order */
        return true;
    given_by_core(index, wait->semaphore, signal, &before, &whole, &all);
    return (double)before * (double)all < (double)wait->total * (double)whole;
}
