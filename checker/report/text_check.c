/* text_check.c - the verdict, then the entries, then what is not covered and advice. Measurements are printed only with -v, so that the
 * same check prints the same bytes.
 */
#include "text_check.h"
#include <string.h>
#include "../run/progress.h"
#include "describe.h"
#include "input_words.h"
#include "message.h"
#include "telling.h"
#include "text_entry.h"

static void append_count(GString *out, uint64_t count, const char *one, const char *many)
{
    if (count != UINT64_MAX)
        g_string_append_printf(out, "%s%" G_GUINT64_FORMAT " %s", out->len ? ", " : "", count, count == 1 ? one : many);
}

/* What was visited: of the one input, or of the one that is shown. */
static void append_run(GString *out, const Outcome *outcome)
{
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
}

static char *covered(const CheckResult *result)
{
    GString *out = g_string_new(NULL);
    if (result->inputs)
        append_count(out, result->inputs->shapes, "shape", "shapes");
    else
        append_run(out, result->outcome);
    if (result->verdict != VERDICT_FAULTY || result->results_checked)
        g_string_append_printf(out, "%s%s", out->len ? "; " : "", result->results_checked ? "results checked" : "no result was checked");
    return g_string_free(out, FALSE);
}

/* ", 4 faults of 2 causes, as with 3 devices" */
static void append_faults(Text *text, const CheckResult *result, const GPtrArray *entries)
{
    guint faults = 0;
    const char *earlier = NULL;
    bool all_told = true;
    for (guint e = 0; e < entries->len; e++) {
        const Entry *entry = entries->pdata[e];
        faults += entry->findings->len;
        const char *told = text_told(text, result, entry);
        all_told &= told != NULL;
        earlier = told ? told : earlier;
    }
    g_string_append_printf(text->out, ", %u fault%s", faults, faults == 1 ? "" : "s");
    if (faults > entries->len)
        g_string_append_printf(text->out, " of %u cause%s", entries->len, entries->len == 1 ? "" : "s");
    if (all_told && earlier && !text->quiet)
        g_string_append_printf(text->out, ", as with %s", earlier);
}

static void append_inputs(Text *text, const CheckResult *result, const char *before)
{
    g_autofree char *count = result->inputs ? input_count(result->inputs) : NULL;
    if (count)
        g_string_append_printf(text->out, "%s%s", before, count);
}

/* Which input it is that the faults below are of. */
static void text_input(Text *text, const CheckResult *result)
{
    g_autofree char *words = result->verdict == VERDICT_FAULTY ? input_sentence(result) : NULL;
    if (words)
        text_wrapped(text, 2, "input: ", words);
}

static void text_verdict(Text *text, const CheckResult *result, const GPtrArray *entries)
{
    static const TextColor color[] = {TEXT_GOOD, TEXT_BAD, TEXT_BAD, TEXT_WARN, TEXT_FAINT};
    char *title = text_title(result), *cover = result->outcome ? covered(result) : NULL;
    text_colored(text, TEXT_STRONG, "%s", title);
    g_string_append(text->out, ": ");
    text_colored(text, color[result->verdict], "%s", verdict_name(result->verdict));
    switch (result->verdict) {
    case VERDICT_VERIFIED:
        append_inputs(text, result, " for all ");
        g_string_append_printf(text->out, " (%s)", cover);
        break;
    case VERDICT_FAULTY:
        append_faults(text, result, entries);
        if (text->verbose)
            g_string_append_printf(text->out, "%s%s%s", *cover ? " (" : "", cover, *cover ? ")" : "");
        break;
    case VERDICT_BOUNDED:
        g_string_append(text->out, ", no proof: stopped by");
        for (guint i = 0; i < result->outcome->limits->len; i++)
            g_string_append_printf(text->out, "%s %s", i ? "," : "", (char *)result->outcome->limits->pdata[i]);
        if (result->inputs)
            append_inputs(text, result, "; no fault seen in ");
        else
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

static bool any_race(const Outcome *outcome)
{
    bool any = false;
    for (guint i = 0; i < outcome->findings->len; i++)
        any |= ((const Finding *)outcome->findings->pdata[i])->id == FAULT_RACE;
    return any;
}

static void text_faults(Text *text, const CheckResult *result, const GPtrArray *entries, const GPtrArray *schedules)
{
    for (guint e = 0; e < entries->len; e++)
        text_entry(text, result, entries, e, schedules);
    bool race = any_race(result->outcome), steered = result->outcome->incomplete_after_race;
    if (result->outcome->unjudged_after_race && !(race && steered))
        text_wrapped(text, 2, "", race ? "What a racing value may have reached is not judged: fix the race first."
                                       : "What a load got from outside its buffer is not known, and what that may have reached is not "
                                         "judged: keep the load inside first.");
    if (steered)
        text_wrapped(text, 2, "", entries->len ? "A racing value steered a core, so more faults may follow: fix the race first."
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

/* What nobody asked for, and a fault may be the reason of, waits until the fault is gone. */
static void text_advice(Text *text, const CheckResult *result)
{
    bool later = result->verdict == VERDICT_FAULTY && !text->verbose;
    if (!later)
        text_unreached(text, result);
    for (guint i = 0; result->advice && i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if (advice->id == ADVICE_UNREACHED || (later && advice->id == ADVICE_NO_EXPECTATION))
            continue;
        GString *words = g_string_new(advice->message ? advice->message : advice_meaning(advice->id));
        for (unsigned j = 0; j < advice->places; j++) {
            char *where = program_describe_site(result->program, advice->place[j].site);
            g_string_append_printf(words, " (%s)", where);
            g_free(where);
        }
        char *lead = g_strdup_printf("advice, %s: ", advice_name(advice->id));
        char *key = g_strdup_printf("%s %s%s", result->program->name, lead, words->str);
        if (!g_hash_table_contains(text->reported, key)) {
            g_string_append_printf(text->out, "  %s", lead);
            text_flow(text, 2 + (unsigned)strlen(lead), 4, words->str);
        }
        text_report(text, result, key);
        g_free(key);
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

static void text_tried(Text *text, const CheckResult *result, const GPtrArray *entries)
{
    for (guint i = 0; result->tried && i < result->tried->len; i++) {
        const Repair *repair = result->tried->pdata[i];
        const char *lead = repair->kind == REPAIR_NEEDED ? "" : "tried: ";
        g_autofree char *words = repair_text(repair), *key = g_strdup_printf("%s %s%s", result->program->name, lead, words);
        if (!telling_is_repair(repair, entries->len == 1) && !g_hash_table_contains(text->reported, key))
            text_wrapped(text, 2, lead, words);
        text_report(text, result, key);
    }
}

void text_check(Text *text, const CheckResult *result, const GPtrArray *schedules)
{
    g_autoptr(GPtrArray) entries = entries_new(result);
    text_verdict(text, result, entries);
    if (!result->outcome || !result->program)
        return;
    if (text->quiet) {
        for (guint e = 0; e < entries->len; e++)
            text_entry_name(text, result, entries->pdata[e]);
        return;
    }
    text_input(text, result);
    text_not_covered(text, result);
    if (result->outcome->stopped)
        text_wrapped(text, 2, "stopped: ", result->outcome->stopped);
    if (result->outcome->promise)
        text_wrapped(text, 2, result->outcome->complete ? "" : "promised: ", result->outcome->promise);
    text_faults(text, result, entries, schedules);
    text_tried(text, result, entries);
    text_exempted(text, result);
    text_advice(text, result);
    text_details(text, result);
}
