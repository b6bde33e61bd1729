/* bounds.c - of a step that is done too often, or outside: which condition says how often, as the source has it.
 *
 * Only the nearest conditions around its line that compare by order: a loop, and an `if` within it.
 */
#include <string.h>
#include "../report/places.h"
#include "../report/source.h"
#include "advise.h"
#include "whatif.h"

enum { LINES_UP = 60 };

static const char *const LOOP[] = {
    "^\\s*for \\([^;]*;\\s*([^;]*[<>][^;]*);", "^\\s*while \\((.*[<>].*)\\)", "^\\s*for \\w+ in (range\\(.*\\)):", "^\\s*while (.*[<>].*):",
};
static const char *const CHOICE[] = { "^\\s*(?:} )?(?:else )?if \\((.*[^-<>][<>][^<>].*)\\)", "^\\s*(?:el)?if (.*[^-<>][<>][^<>].*):" };

/* What one of the patterns captures of the line. NULL: none matches. g_free. */
static char *condition_of(const char *text, const char *const *pattern, guint patterns)
{
    for (guint i = 0; i < patterns; i++) {
        g_autoptr(GRegex) regex = g_regex_new(pattern[i], 0, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;
        if (g_regex_match(regex, text, 0, &match))
            return g_match_info_fetch(match, 1);
    }
    return NULL;
}

static size_t indent_of(const char *text)
{
    return strspn(text, " \t");
}

/* The conditions around a line, the nearest first, up to the nearest loop. NULL: there are none. */
static char *conditions_around(Source *source, const char *file, unsigned line)
{
    g_autoptr(GString) out = g_string_new(NULL);
    const char *text = source_line(source, file, line);
    size_t indent = text ? indent_of(text) : 0;
    bool looped = false;
    for (unsigned up = line - 1; indent > 0 && up > 0 && up + LINES_UP > line && !looped; up--) {
        text = source_line(source, file, up);
        if (text == NULL || indent_of(text) >= indent || text[indent_of(text)] == '\0')
            continue;
        indent = indent_of(text);
        g_autofree char *loop = condition_of(text, LOOP, G_N_ELEMENTS(LOOP)), *choice = condition_of(text, CHOICE, G_N_ELEMENTS(CHOICE));
        looped = loop != NULL;
        if (looped || choice != NULL)
            g_string_append_printf(out, "%s%s `%s` at %s:%u", out->len > 0 ? ", " : "", looped ? "while" : "where", looped ? loop : choice,
                                   file, up);
    }
    return out->len > 0 ? g_strdup(out->str) : NULL;
}

static void append_around(GString *out, Source *source, const char *file, unsigned line)
{
    g_autofree char *around = conditions_around(source, file, line);
    if (around != NULL && strstr(out->str, around) == NULL)
        g_string_append_printf(out, "%sThe step at %s:%u is done %s.", out->len > 0 ? " " : "", file, line, around);
}

static void append_around_site(GString *out, Source *source, const Program *program, uint32_t site_id)
{
    const Site *site = site_id == NONE ? NULL : program_get_site(program, site_id);
    if (site != NULL)
        append_around(out, source, program_text(program, site->file), site->line);
}

/* The lines that an explanation cites: where a view was made, say. */
static void append_around_cited(GString *out, Source *source, const char *why)
{
    for (const char *word = why; *word; word = places_next_word(word)) {
        unsigned line;
        size_t length = places_cited(word, &line);
        g_autofree char *file = length > 0 ? g_strndup(word, length) : NULL;
        if (file != NULL)
            append_around(out, source, file, line);
    }
}

/* The first step of the record that gives to that semaphore, on whatever core. */
static uint32_t first_giver(const CheckResult *result, uint32_t semaphore)
{
    const Program *program = result->program;
    const uint32_t decl = semaphore == NONE ? NONE : program_semaphore_decl(program, semaphore);
    for (size_t i = 0; decl != NONE && result->record != NULL && i < result->record->steps.count; i++) {
        const Step *step = &STORE(Step, &result->record->steps, i);
        if (step->kind == STEP_SIGNAL && program_semaphore_decl(program, step->object) == decl)
            return step->site;
    }
    return NONE;
}

/* Of a count that nobody takes: a wait on it that no core ever does. */
static void append_never_done(GString *out, Source *source, const CheckResult *result, uint32_t semaphore)
{
    const char *name = whatif_semaphore_name(result->program, semaphore);
    for (size_t i = 0; i < result->record->advised.count; i++) {
        const Advised *advised = &STORE(Advised, &result->record->advised, i);
        const Site *site = advised->advice == ADVICE_UNREACHED ? program_get_site(result->program, advised->site) : NULL;
        const char *file = site ? program_text(result->program, site->file) : NULL;
        const char *text = site ? source_line(source, file, site->line) : NULL;
        if (text == NULL || strstr(text, "wait") == NULL || strstr(text, name) == NULL)
            continue;
        g_autofree char *around = conditions_around(source, file, site->line);
        g_string_append_printf(out, "%sThe wait at %s:%u is never done%s%s.", out->len > 0 ? " " : "", file, site->line,
                               around ? ", only " : "", around ? around : "");
        return;
    }
}

static char *bounds_of(const CheckResult *result, const Finding *finding, Source *source)
{
    GString *out = g_string_new(NULL);
    const unsigned about = 1u << FAULT_OUT_OF_BOUNDS | 1u << FAULT_SHAPE | 1u << FAULT_CRASH | 1u << FAULT_UNINITIALISED;
    bool outside = (about >> finding->id & 1) && finding->places > 0;
    bool miscounts = finding->cause.kind == CAUSE_UNSERVED || finding->id == FAULT_LEFTOVER || finding->id == FAULT_OVERFLOW;
    if (outside) {
        append_around_site(out, source, result->program, finding->place[0].site);
        append_around_cited(out, source, finding->why ? finding->why : "");
    } else if (miscounts) {
        append_around_site(out, source, result->program, finding->cause.site);
        append_around_site(out, source, result->program, first_giver(result, finding->cause.semaphore));
    }
    bool untaken = finding->cause.kind == CAUSE_UNAWAITED || finding->cause.kind == CAUSE_COUNT;
    if (untaken && finding->cause.semaphore != NONE && result->record != NULL)
        append_never_done(out, source, result, finding->cause.semaphore);
    return g_string_free(out, out->len == 0);
}

void check_cite_bounds(CheckResult *result)
{
    if (result->verdict != VERDICT_FAULTY || result->program == NULL)
        return;
    Source *source = source_new();
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        Finding *finding = result->outcome->findings->pdata[i];
        g_autofree char *bounds = bounds_of(result, finding, source), *why = finding->why;
        finding->why = bounds == NULL ? g_steal_pointer(&why) : g_strdup_printf("%s%s%s", why ? why : "", why ? "\n" : "", bounds);
    }
    source_free(source);
}
