/* progress.c - formats the progress of a search. */
#include "progress.h"
#include <glib.h>
#include <math.h>
#include "../facts/limits.h"

static const char *const NOUN[PROGRESS_KINDS] = { "", "", "", "runs", "classes", "states", "inputs" };

void progress_begin(Progress *progress, ProgressKind kind, double total)
{
    if (progress == NULL)
        return;
    progress->done = progress->faults = progress->level = 0;
    progress->total = total, progress->total_least = progress->total_most = 0;
    progress->kind = kind;
}

void progress_phase(Progress *progress, const char *phase)
{
    if (progress == NULL)
        return;
    progress_begin(progress, PROGRESS_PHASE, 0);
    progress->phase = phase;
}

void progress_set(Progress *progress, uint64_t done, uint64_t faults)
{
    if (progress == NULL)
        return;
    progress->done = done;
    progress->faults = faults;
}

const char *progress_stop(const Progress *progress)
{
    static const char *const LIMIT[] = { NULL, "time", "interrupt" };
    return progress == NULL ? NULL : limits_told() ? "memory" : LIMIT[progress->stop];
}

static void append_number(GString *text, double number)
{
    if (number >= 1e6)
        g_string_append_printf(text, "%.4g million", number / 1e6);
    else
        g_string_append_printf(text, "%.0f", number);
}

/* To two digits: an estimate has no more. */
static void append_estimate(GString *text, double number)
{
    double unit = number >= 10 ? pow(10, floor(log10(number)) - 1) : 1;
    append_number(text, round(number / unit) * unit);
}

char *progress_estimate(double total, double least, double most)
{
    GString *text = g_string_new("about ");
    append_estimate(text, total);
    g_string_append(text, " (");
    append_estimate(text, least);
    g_string_append(text, " to ");
    append_estimate(text, most);
    g_string_append_c(text, ')');
    return g_string_free(text, FALSE);
}

static void append_total(GString *text, const Progress *progress)
{
    g_string_append(text, " of ");
    if (progress->total_most > 0) {
        g_autofree char *estimate = progress_estimate(progress->total, progress->total_least, progress->total_most);
        g_string_append(text, estimate);
    } else {
        append_number(text, progress->total);
    }
}

static void append_seconds(GString *text, double seconds)
{
    if (seconds < 100)
        g_string_append_printf(text, ", %.0f s left", seconds);
    else if (seconds < 6000)
        g_string_append_printf(text, ", %.0f min left", seconds / 60);
    else
        g_string_append_printf(text, ", %.1f h left", seconds / 3600);
}

static char *steps_line(double steps)
{
    GString *text = g_string_new("running the kernel, ");
    append_number(text, steps);
    return g_string_free(g_string_append(text, " steps"), FALSE);
}

char *progress_line(const Progress *progress, double rate, double seconds, double seconds_max)
{
    if (progress->kind <= PROGRESS_NONE || progress->kind >= PROGRESS_KINDS)
        return NULL;
    if (progress->kind == PROGRESS_PHASE)
        return g_strdup(progress->phase);
    if (progress->kind == PROGRESS_STEPS)
        return steps_line((double)progress->done);
    double done = (double)progress->done, left = seconds_max > 0 ? MAX(seconds_max - seconds, 0) : -1;
    GString *text = g_string_new(NOUN[progress->kind]);
    g_string_append_c(text, ' ');
    append_number(text, done);
    if (progress->total > 0)
        append_total(text, progress);
    if (progress->level > 0)
        g_string_append_printf(text, " up to level %" G_GUINT64_FORMAT, progress->level);
    if (rate > 0) {
        g_string_append(text, ", ");
        append_number(text, rate);
        g_string_append(text, " a second");
    }
    if (progress->faults > 0)
        g_string_append_printf(text, ", %" G_GUINT64_FORMAT " fault%s", progress->faults, progress->faults == 1 ? "" : "s");
    double to_go = progress->total > done && rate > 0 ? (progress->total - done) / rate : -1;
    if (to_go >= 0 && (left < 0 || to_go < left))
        left = to_go;
    if (left >= 0)
        append_seconds(text, left);
    return g_string_free(text, FALSE);
}
