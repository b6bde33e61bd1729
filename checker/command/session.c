/* session.c - collects text and prints it in one piece with signals blocked, so that an interruption does not cut a report. */
#include "session.h"
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "../check/interrupt.h"
#include "../facts/limits.h"
#include "../report/printable.h"

static const double LINE_SECONDS = 0.2, RATE_SECONDS = 2;        /* between two progress lines; for smoothing the rate */

enum { WIDTH_MIN = 40, WIDTH_MAX = 1000 };

static bool wants_color(const Options *options, FILE *stream)
{
    const char *no_color = g_getenv("NO_COLOR");
    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return isatty(fileno(stream)) && !(no_color && *no_color);
}

/* Columns: what COLUMNS says, or the terminal. */
static unsigned width_of(FILE *stream)
{
    struct winsize size;
    const char *said = g_getenv("COLUMNS");
    guint64 columns = 0;
    if (said && g_ascii_string_to_unsigned(said, 10, WIDTH_MIN, WIDTH_MAX, &columns, NULL))
        return (unsigned)columns;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return CLAMP(size.ws_col, WIDTH_MIN, WIDTH_MAX);
    return TEXT_WIDTH;
}

static void commit_reports(void *data)
{
    Session *session = data;
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        if (session->output[kind])
            output_commit(session->output[kind]);
}

/* Not committed by a signal: the arrays of an interrupted run are incomplete. */
static bool begin_results(Session *session)
{
    char *error = NULL;
    session->arrays = g_string_new(NULL);
    if (session->options->results == NULL)
        return true;
    session->results = outfile_open(session->options->results, &error);
    if (session->results)
        return true;
    session_fail(session, error);
    session_end(session);
    return false;
}

static void end_results(Session *session)
{
    char *error = NULL;
    if (session->results) {
        outfile_set(session->results, session->arrays->str, session->arrays->len);
        if (!outfile_close(session->results, true, &error))
            session_fail(session, error);
        session->results = NULL;
    }
    if (session->arrays)
        g_string_free(session->arrays, TRUE);
    session->arrays = NULL;
}

static bool goes_to_output(const Options *options)
{
    bool any = false;
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        any |= !g_strcmp0(options->report[kind], "-");
    return any;
}

/* If one report cannot be written, none is. */
static void drop_reports(Session *session)
{
    char *error = NULL;
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        if (session->output[kind])
            output_close(session->output[kind], false, &error);
    memset(session->output, 0, sizeof session->output);
}

static bool begin_reports(Session *session)
{
    const Options *options = session->options;
    char *error = NULL;
    session->settings = (OutputSettings){.version = HEDDLE_VERSION, .source_root = options->source_root,
                                         .baseline = options->baseline != NULL, .accept_bounded = options->accept_bounded};
    if (options->baseline)
        session->baseline = baseline_read(options->baseline, &error);
    for (OutputKind kind = 0; kind < OUTPUT_KINDS && !error; kind++)
        if (options->report[kind])
            session->output[kind] = output_open(kind, options->report[kind], &session->settings, &error);
    if (error) {
        drop_reports(session);
        session_fail(session, error);
        session_end(session);
        return false;
    }
    interrupt_set_commit(commit_reports, session);
    return true;
}

static void erase_line(void)
{
    fputs("\r\033[K", stderr);
}

/* Cut to the width of the terminal: a line that wraps cannot be erased. */
static void show_line(const char *text)
{
    struct winsize size;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
    erase_line();
    g_autofree char *line = printable_line(text);
    fprintf(stderr, "%.*s", columns, line);
    fflush(stderr);
}

/* Exponential smoothing: after RATE_SECONDS, half of the shown rate is new. */
static void take_rate(Session *session, double done, double seconds)
{
    double passed = seconds - session->rated_seconds;
    if (done < session->rated_done || passed < 0) {         /* a new search */
        session->rate = 0;
    } else if (passed >= LINE_SECONDS) {
        double now = (done - session->rated_done) / passed, share = MIN(passed / RATE_SECONDS, 1);
        session->rate = session->rate > 0 ? session->rate * (1 - share) + now * share : now;
    } else {
        return;
    }
    session->rated_done = done, session->rated_seconds = seconds;
}

static void show_progress(const Progress *progress, double seconds, void *data)
{
    Session *session = data;
    if (session->what == NULL)
        return;
    take_rate(session, (double)progress->done, seconds);
    g_autofree char *line = progress_line(progress, session->rate, seconds, session->options->limits.seconds);
    g_autofree char *all = g_strdup_printf("%s: %s", session->what, line ? line : "");
    if (line != NULL)
        show_line(all);
}

bool session_begin(Session *session, const Options *options, ProgramModuleOpen open)
{
    *session = (Session){.options = options, .open = open, .stream = goes_to_output(options) ? stderr : stdout};
    text_init(&session->text, wants_color(options, session->stream), options->quiet, options->verbose);
    session->text.story = options->story || options->verbose;
    session->text.width = width_of(session->stream);
    session->progress = isatty(STDERR_FILENO) && !options->quiet;
    if (session->progress)
        session->watch = (ChildWatch){.tick = show_progress, .data = session};
    return begin_reports(session) && begin_results(session);
}

int session_end(Session *session)
{
    char *error = NULL;
    session_print(session);
    end_results(session);
    interrupt_hold();
    interrupt_set_commit(NULL, NULL);
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++) {
        Output *output = session->output[kind];
        session->output[kind] = NULL;
        if (output && !output_close(output, true, &error))
            session_fail(session, error);
    }
    baseline_free(session->baseline);
    text_clear(&session->text);
    interrupt_release();
    return interrupt_requested() ? EXIT_INTERRUPTED : session->exit_code;
}

void session_print(Session *session)
{
    interrupt_hold();
    session_progress(session, NULL);
    g_autofree char *text = printable_text(session->text.out->str, session->text.color ? text_colors : NULL);
    bool good = fputs(text, session->stream) >= 0 && !fflush(session->stream);
    if (!good && errno != EPIPE && session->exit_code != EXIT_ERROR)
        g_printerr("heddle: cannot write the report to standard %s: %s\n", session->stream == stdout ? "output" : "error",
                   g_strerror(errno));
    if (!good)
        session_note_exit(session, EXIT_ERROR);          /* on a full disk or a closed pipe the verdict was not delivered */
    g_string_truncate(session->text.out, 0);
    interrupt_release();
}

void session_fail(Session *session, char *message)
{
    session_print(session);
    g_autofree char *line = printable_line(message);
    g_printerr("heddle: %s\n", line);
    interrupt_hold();
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        if (session->output[kind])
            output_add_error(session->output[kind], message);
    interrupt_release();
    session_note_exit(session, limits_given_up() ? EXIT_BOUNDED : EXIT_ERROR);
    g_free(message);
}

void session_fail_check(Session *session, const CheckResult *result)
{
    char *title = text_title(result), *named = g_strdup_printf("%s: ", result->spec->program);
    const char *error = result->error ? result->error : "no reason given";
    if (g_str_has_prefix(error, named))         /* the title already names it */
        error += strlen(named);
    session_fail(session, g_strdup_printf("%s: %s", title, error));
    g_free(named);
    g_free(title);
}

void session_warn(Session *session, const CheckResult *result)
{
    if (result->warning != NULL)
        session_fail(session, g_strdup(result->warning));
}

#define RANK(name, code, rank, meaning) [EXIT_##name] = rank,

void session_note_exit(Session *session, ExitCode code)
{
    static const int rank[] = { EXIT_CODES(RANK) };
    if (rank[code] > rank[session->exit_code])
        session->exit_code = code;
}

void session_add_reports(Session *session, const CheckResult *result, const GPtrArray *schedules)
{
    interrupt_hold();
    for (unsigned kind = 0; kind < OUTPUT_KINDS; kind++)
        if (session->output[kind])
            output_add(session->output[kind], result, schedules);
    interrupt_release();
}

void session_add_results(Session *session, const CheckResult *result)
{
    if (!session->results || !result->results)
        return;
    gsize bytes;
    const char *data = g_bytes_get_data(result->results, &bytes);
    g_string_append_len(session->arrays, data, (gssize)bytes);
}

void session_progress(Session *session, const char *what)
{
    g_free(session->what);
    session->what = NULL;
    if (!session->progress)
        return;
    session->what = g_strdup(what);
    session->rate = session->rated_seconds = session->rated_done = 0;
    if (what != NULL)
        show_line(what);
    else
        erase_line();
    fflush(stderr);
}
