/* text.c - prints the verdict, then the faults, then what to do. Measurements are printed only with -v, so that the same check prints the
 * same bytes.
 */
#include "text.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "../run/progress.h"
#include "describe.h"
#include "message.h"
#include "narrative.h"

#define COLUMNS 110

void text_init(Text *text, bool color, bool quiet, bool verbose)
{
    *text = (Text){.out = g_string_new(NULL), .color = color, .quiet = quiet, .verbose = verbose, .source = source_new(),
                    .reported = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
}

void text_clear(Text *text)
{
    g_string_free(text->out, TRUE);
    source_free(text->source);
    g_hash_table_unref(text->reported);
}

const char *const text_colors[] = {"", "\033[32m", "\033[1;31m", "\033[33m", "\033[2m", "\033[1m", "\033[0m", NULL};

void text_colored(Text *text, TextColor color, const char *format, ...)
{
    va_list arguments;
    bool on = text->color && color != TEXT_PLAIN;
    g_string_append(text->out, on ? text_colors[color] : "");
    va_start(arguments, format);
    g_string_append_vprintf(text->out, format, arguments);
    va_end(arguments);
    g_string_append(text->out, on ? text_colors[TEXT_STRONG + 1] : "");
}

void text_wrapped(Text *text, unsigned indent, const char *lead, const char *words)
{
    unsigned column = indent + strlen(lead);
    g_string_append_printf(text->out, "%*s%s", indent, "", lead);
    char **word = g_strsplit_set(words, " \n", -1);
    bool fresh = true;
    for (char **at = word; *at; at++) {
        unsigned length = g_utf8_strlen(*at, -1);
        if (!length)
            continue;
        if (!fresh && column + 1 + length > COLUMNS) {
            g_string_append_printf(text->out, "\n%*s", indent + (unsigned)strlen(lead), "");
            column = indent + strlen(lead);
            fresh = true;
        }
        g_string_append_printf(text->out, "%s%s", fresh ? "" : " ", *at);
        column += length + !fresh;
        fresh = false;
    }
    g_strfreev(word);
    g_string_append_c(text->out, '\n');
}

static void text_place(Text *text, const CheckResult *result, const Place *place)
{
    const Program *program = result->program;
    const Site *site = program_get_site(program, place->site);
    char *action = describe_action(program, place), *where = program_describe_site(program, place->site);
    const char *function = program_text(program, site->function);
    g_string_append_printf(text->out, "    %s\n      %s", action, where);
    if (*function)
        g_string_append_printf(text->out, ", in %s", function);
    if (place->launch < program->launches.count && program_launch(program, place->launch)->grid_dims) {
        const int64_t *grid = result->record ? record_grid(result->record, place->core, place->position) : NULL;
        for (uint32_t d = 0; grid && d < program_launch(program, place->launch)->grid_dims; d++)
            g_string_append_printf(text->out, "%s%" G_GINT64_FORMAT, d ? ", " : ", grid step ", grid[d]);
    }
    g_string_append_c(text->out, '\n');
    for (uint32_t call = program_caller(program, place->site); call != NONE; call = program_caller(program, call)) {
        g_autofree char *words = describe_call(program, call);
        g_string_append_printf(text->out, "      called from %s\n", words);
    }
    const char *line = source_line(text->source, program_text(program, site->file), site->line);
    if (line) {
        text_colored(text, TEXT_FAINT, "      %5u |", site->line);
        g_string_append_printf(text->out, " %s\n", line);
    }
    g_free(where);
    g_free(action);
}

static void text_moves(Text *text, const Finding *finding)
{
    g_string_append_printf(text->out, "    The schedule, %u moves:\n", finding->lines->len);
    for (guint i = 0; i < finding->lines->len; i++)
        g_string_append_printf(text->out, "      %s\n", (char *)finding->lines->pdata[i]);
}

/* For "kernel.c:12" at the start of a word, the length of the file's name, and *line; 0: the word names no place. */
static size_t cited_place(const char *word, unsigned *line)
{
    const char *colon = strchr(word, ':');
    if (!colon || colon == word || !g_ascii_isdigit(colon[1]))
        return 0;
    *line = strtoul(colon + 1, NULL, 10);
    return colon - word;
}

static bool is_place(const CheckResult *result, const Finding *finding, const char *file, unsigned line)
{
    for (unsigned i = 0; i < finding->places; i++) {
        const Site *site = program_get_site(result->program, finding->place[i].site);
        if (site->line == line && !strcmp(program_text(result->program, site->file), file))
            return true;
    }
    return false;
}

#define CITED_MAX 4

/* Quotes the source lines that an explanation names, except those of the places, which are quoted already. */
static void text_cited(Text *text, const CheckResult *result, const Finding *finding, const char *why)
{
    char **word = g_strsplit_set(why, " \n", -1);
    GPtrArray *told = g_ptr_array_new_with_free_func(g_free);
    for (char **at = word; *at && told->len < CITED_MAX; at++) {
        unsigned line = 0;
        size_t length = cited_place(*at, &line);
        char *file = g_strndup(*at, length), *place = g_strdup_printf("%s:%u", file, line);
        const char *code = length && !is_place(result, finding, file, line) ? source_line(text->source, file, line) : NULL;
        if (code && !g_ptr_array_find_with_equal_func(told, place, g_str_equal, NULL)) {
            text_colored(text, TEXT_FAINT, "      %s |", place);
            g_string_append_printf(text->out, " %s\n", code);
            g_ptr_array_add(told, g_strdup(place));
        }
        g_free(place);
        g_free(file);
    }
    g_ptr_array_unref(told);
    g_strfreev(word);
}

/* How it happens; only for the first fault of each kind. */
static void text_narrative(Text *text, const CheckResult *result, const Finding *finding)
{
    GPtrArray *lines = text->narrated & (1u << finding->id) ? NULL : narrative_lines(result, finding);
    if (!lines)
        return;
    text->narrated |= 1u << finding->id;
    g_string_append(text->out, "    How it happens:\n");
    for (guint i = 0; i < lines->len; i++)
        text_wrapped(text, 6, "- ", lines->pdata[i]);
    g_ptr_array_unref(lines);
}

/* Each line is a paragraph. */
static void text_why(Text *text, const char *why)
{
    g_auto(GStrv) line = g_strsplit(why, "\n", -1);
    for (char **at = line; *at; at++)
        text_wrapped(text, 4, at == line ? "Why:  " : "      ", *at);
}

static void text_delays(Text *text, const CheckResult *result, const Finding *finding)
{
    GPtrArray *lines = message_delays(result->program, finding);
    for (guint i = 0; lines && i < lines->len; i++)
        text_wrapped(text, 4, i ? "         " : "Delays:  ", lines->pdata[i]);
    if (lines)
        g_ptr_array_unref(lines);
}

void text_finding(Text *text, const CheckResult *result, const Finding *finding, const char *schedule)
{
    char *message = message_text(result, finding), *why = message_why(result, finding);
    g_string_append(text->out, "  ");
    text_colored(text, TEXT_BAD, "%s", fault_name(finding->id));
    text_wrapped(text, 0, ": ", message);
    for (unsigned i = 0; i < finding->places; i++)
        text_place(text, result, &finding->place[i]);
    if (why) {
        text_why(text, why);
        text_cited(text, result, finding, why);
    }
    text_narrative(text, result, finding);
    text_delays(text, result, finding);
    if (finding->count > 1)
        g_string_append_printf(text->out, "    %s%" G_GUINT64_FORMAT " occurrences at these lines; one shown.\n",
                               finding->at_most ? "At most " : "", finding->count);
    if (text->verbose && finding->lines)
        text_moves(text, finding);
    if (schedule)
        g_string_append_printf(text->out, "    See it happen:  heddle replay %s\n", schedule);
    g_free(why);
    g_free(message);
}

char *text_title(const CheckResult *result)
{
    const CheckSpec *spec = result->spec;
    uint32_t devices = mesh_devices(&spec->mesh);
    GString *title = g_string_new(spec->program);
    g_string_append_printf(title, ", %u device%s", devices, devices == 1 ? "" : "s");
    for (unsigned axis = 0; spec->mesh.axes > 1 && axis < spec->mesh.axes; axis++)
        g_string_append_printf(title, "%s%s=%u%s", axis ? "," : " (", spec->mesh.name[axis], spec->mesh.size[axis],
                               axis + 1 == spec->mesh.axes ? ")" : "");
    if (spec->cores > 1)
        g_string_append_printf(title, ", %u cores each", spec->cores);
    for (size_t i = 0; i < spec->overrides; i++)
        g_string_append_printf(title, ", %s=%" G_GINT64_FORMAT, spec->override[i].name, spec->override[i].value);
    return g_string_free(title, FALSE);
}

static void append_count(GString *out, uint64_t count, const char *one, const char *many)
{
    if (count != UINT64_MAX)
        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT " %s", out->len ? ", " : "", count, count == 1 ? one : many);
}

static char *covered(const CheckResult *result)
{
    const Outcome *outcome = result->outcome;
    GString *out = g_string_new(NULL);
    append_count(out, outcome->executions, "execution", "executions");
    append_count(out, outcome->classes, "class", "classes");
    if (outcome->estimate.all > 0) {
        g_autofree char *all = progress_estimate(outcome->estimate.all, outcome->estimate.least, outcome->estimate.most);
        g_string_append_printf(out, " of %s", all);
    }
    append_count(out, outcome->states, "state", "states");
    append_count(out, outcome->rotated, "with its rotations", "with their rotations");
    append_count(out, outcome->transitions, "transition", "transitions");
    append_count(out, outcome->steps, "step", "steps");
    append_count(out, outcome->conflicts, "conflict", "conflicts");
    for (unsigned bit = 0; describe_mode(bit); bit++)
        if (outcome->modes & 1u << bit)
            g_string_append_printf(out, "%s --%s", out->str[out->len - 1] == 's' ? " by" : " and", describe_mode(bit));
    if (result->verdict != VERDICT_FAULTY || result->results_checked)
        g_string_append_printf(out, "%s%s", out->len ? "; " : "", result->results_checked ? "results checked" : "no result was checked");
    return g_string_free(out, FALSE);
}

static unsigned count_faults(const CheckResult *result)
{
    unsigned faults = 0;
    for (guint i = 0; result->outcome && i < result->outcome->findings->len; i++)
        faults += !finding_exemption(result->program, result->outcome->findings->pdata[i]);
    return faults;
}

static void text_verdict(Text *text, const CheckResult *result)
{
    static const TextColor color[] = {TEXT_GOOD, TEXT_BAD, TEXT_BAD, TEXT_WARN, TEXT_FAINT};
    char *title = text_title(result), *cover = result->outcome ? covered(result) : NULL;
    text_colored(text, TEXT_STRONG, "%s", title);
    g_string_append(text->out, ": ");
    text_colored(text, color[result->verdict], "%s", verdict_name(result->verdict));
    switch (result->verdict) {
    case VERDICT_VERIFIED:
        g_string_append_printf(text->out, " (%s)", cover);
        break;
    case VERDICT_FAULTY: {
        unsigned faults = count_faults(result);
        g_string_append_printf(text->out, ", %u fault%s%s%s%s", faults, faults == 1 ? "" : "s", *cover ? " (" : "", cover,
                               *cover ? ")" : "");
        break;
    }
    case VERDICT_BOUNDED:
        g_string_append(text->out, ", no proof: stopped by");
        for (guint i = 0; i < result->outcome->limits->len; i++)
            g_string_append_printf(text->out, "%s %s", i ? "," : "", (char *)result->outcome->limits->pdata[i]);
        g_string_append_printf(text->out, "; no fault seen%s %s", g_ascii_isdigit(cover[0]) ? " in" : ";", cover);
        break;
    case VERDICT_ERROR:
    case VERDICT_NOT_APPLICABLE:
        g_string_append_printf(text->out, ": %s", result->error ? result->error : "no reason given");
        break;
    }
    g_string_append_c(text->out, '\n');
    g_free(cover);
    g_free(title);
}

static void text_not_covered(Text *text, const CheckResult *result)
{
    const GPtrArray *limits = result->outcome->limits;
    GString *words = g_string_new(NULL);
    for (guint i = 0; i < limits->len; i++) {
        g_autofree char *limit = describe_limit(result->program, limits->pdata[i]);
        g_string_append_printf(words, "%s%s", i ? "; " : "", limit);
    }
    if (words->len)
        text_wrapped(text, 2, "not covered: ", words->str);
    g_string_free(words, TRUE);
}

/* In full the first time; one line if another size showed it before. */
static void text_finding_once(Text *text, const CheckResult *result, const Finding *finding, const char *schedule)
{
    char *key = message_key(result->program, finding);
    const char *earlier = g_hash_table_lookup(text->reported, key);
    if (!earlier) {
        text_finding(text, result, finding, schedule);
        g_string_append_c(text->out, '\n');
        g_hash_table_insert(text->reported, key, text_title(result));
        return;
    }
    g_string_append(text->out, "  ");
    text_colored(text, TEXT_BAD, "%s", fault_name(finding->id));
    g_string_append_printf(text->out, ": at the same lines as with %s", earlier);
    if (finding->count > 1)
        g_string_append_printf(text->out, ", %s%" G_GUINT64_FORMAT " times", finding->at_most ? "at most " : "", finding->count);
    g_string_append_c(text->out, '\n');
    if (schedule)
        g_string_append_printf(text->out, "    See it happen:  heddle replay %s\n", schedule);
    g_free(key);
}

static void text_help(Text *text, FaultId id)
{
    if (text->helped & (1u << id))
        return;
    text->helped |= 1u << id;
    g_string_append_printf(text->out, "  What usually helps (heddle explain %s tells more):\n", fault_name(id));
    char **line = g_strsplit(fault_repairs(id), "\n", -1);
    for (char **at = line; *at; at++)
        if (**at)
            g_string_append_printf(text->out, "  %s\n", *at);
    g_strfreev(line);
}

static void text_faults(Text *text, const CheckResult *result, const GPtrArray *schedules)
{
    const GPtrArray *findings = result->outcome->findings;
    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = findings->pdata[i];
        if (!finding_exemption(result->program, finding))
            text_finding_once(text, result, finding, schedules ? schedules->pdata[i] : NULL);
    }
    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = findings->pdata[i];
        if (!finding_exemption(result->program, finding))
            text_help(text, finding->id);
    }
    if (result->outcome->unjudged_after_race)
        text_wrapped(text, 2, "", "What a racing value may have reached is not judged: fix the race first.");
    if (result->outcome->incomplete_after_race)
        text_wrapped(text, 2, "", findings->len ? "A racing value decided what a core did next, so there may be more faults than these: "
                                                  "fix the race first."
                                                : "Two runs did different steps, so a racing value decides what some core does next: the "
                                                  "search did not come to that race.");
}

static void text_exempted(Text *text, const CheckResult *result)
{
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        const char *reason = finding_exemption(result->program, finding);
        if (!reason)
            continue;
        char *message = message_text(result, finding);
        char *words = g_strdup_printf("%s (%s); the program says: %s", message, fault_name(finding->id), reason);
        text_wrapped(text, 2, "exempted: ", words);
        g_free(words);
        g_free(message);
    }
}

/* Operations that no run executed, in one line. */
static void text_unreached(Text *text, const CheckResult *result)
{
    GString *words = g_string_new("nothing executed");
    unsigned operations = 0;
    for (guint i = 0; result->advice && i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if (advice->id != ADVICE_UNREACHED)
            continue;
        char *where = program_describe_site(result->program, advice->place[0].site);
        g_string_append_printf(words, "%s %s", operations++ ? "," : "", where);
        g_free(where);
    }
    if (operations)
        text_wrapped(text, 2, "advice, unreached: ", words->str);
    g_string_free(words, TRUE);
}

static void text_advice(Text *text, const CheckResult *result)
{
    text_unreached(text, result);
    for (guint i = 0; result->advice && i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if (advice->id == ADVICE_UNREACHED)
            continue;
        GString *words = g_string_new(advice->message ? advice->message : advice_meaning(advice->id));
        for (unsigned j = 0; j < advice->places; j++) {
            char *where = program_describe_site(result->program, advice->place[j].site);
            g_string_append_printf(words, " (%s)", where);
            g_free(where);
        }
        char *lead = g_strdup_printf("advice, %s: ", advice_name(advice->id));
        char *key = g_strdup_printf("%s %s%s", result->program->name, lead, words->str);
        if (!g_hash_table_contains(text->reported, key))
            text_wrapped(text, 2, lead, words->str);
        g_hash_table_insert(text->reported, key, text_title(result));
        g_free(lead);
        g_string_free(words, TRUE);
    }
}

static void text_details(Text *text, const CheckResult *result)
{
    if (text->verbose)
        g_string_append_printf(text->out, "  measured: %.3f s, at most %.1f MiB\n", result->seconds, result->peak_bytes / 1048576.0);
    if (result->captured && *result->captured && text->verbose) {
        g_string_append(text->out, "  the kernel printed:\n");
        char **line = g_strsplit(result->captured, "\n", -1);
        for (char **at = line; *at && (**at || at[1]); at++)
            g_string_append_printf(text->out, "    %s\n", *at);
        g_strfreev(line);
    }
}

static void text_tried(Text *text, const CheckResult *result)
{
    for (guint i = 0; result->tried && i < result->tried->len; i++) {
        const Repair *repair = result->tried->pdata[i];
        const char *lead = repair->kind == REPAIR_NEEDED ? "needed: " : "tried: ";
        char *key = g_strdup_printf("%s %s%s", result->program->name, lead, repair->words);
        if (!g_hash_table_contains(text->reported, key))
            text_wrapped(text, 2, lead, repair->words);
        g_hash_table_insert(text->reported, key, text_title(result));
    }
}

void text_check(Text *text, const CheckResult *result, const GPtrArray *schedules)
{
    text_verdict(text, result);
    if (text->quiet || !result->outcome || !result->program)
        return;
    text_not_covered(text, result);
    if (result->outcome->stopped)
        text_wrapped(text, 2, "stopped: ", result->outcome->stopped);
    if (result->outcome->promise)
        text_wrapped(text, 2, result->outcome->complete ? "" : "promised: ", result->outcome->promise);
    text_faults(text, result, schedules);
    text_tried(text, result);
    text_exempted(text, result);
    text_advice(text, result);
    text_details(text, result);
}
