/* session.c - text is gathered first and printed in one piece, with signals held off, so that an interruption never cuts a report. */
#include "session.h"
#include <string.h>
#include <unistd.h>
#include "../interrupt.h"

static bool wants_color(const Options *options, FILE *stream)
{
    const char *no_color = g_getenv("NO_COLOR");
    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return isatty(fileno(stream)) && !(no_color && *no_color);
}

static void commit_json(void *session)
{
    (void)outfile_commit(((Session *)session)->json);
}

/* Arrays of an interrupted run are nobody's result: nothing of them is committed by a signal. */
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

bool session_begin(Session *session, const Options *options, ProgramModuleOpen open)
{
    char *error = NULL;
    *session = (Session){.options = options, .open = open, .stream = stdout};
    if (options->json && !strcmp(options->json, "-"))
        session->stream = stderr;
    text_init(&session->text, wants_color(options, session->stream), options->quiet, options->verbose);
    session->progress = isatty(STDERR_FILENO) && !options->quiet;
    json_document_begin(&session->document, HEDDLE_VERSION);
    if (options->json) {
        session->json = outfile_open(options->json, &error);
        if (!session->json) {
            session_fail(session, error);
            session_end(session);
            return false;
        }
        outfile_set(session->json, session->document.text->str, session->document.text->len);
        interrupt_set_commit(commit_json, session);
    }
    return begin_results(session);
}

int session_end(Session *session)
{
    char *error = NULL;
    session_print(session);
    end_results(session);
    interrupt_hold();
    interrupt_set_commit(NULL, NULL);
    if (session->json && !outfile_close(session->json, true, &error)) {
        session->json = NULL;
        session_fail(session, error);
    }
    json_document_clear(&session->document);
    text_clear(&session->text);
    interrupt_release();
    return session->exit_code;
}

void session_print(Session *session)
{
    interrupt_hold();
    session_progress(session, NULL);
    bool good = fwrite(session->text.out->str, 1, session->text.out->len, session->stream) == session->text.out->len
        && !fflush(session->stream);
    if (!good)
        session_note_exit(session, 2);          /* a full disk or a closed pipe must not look like a verdict that was delivered */
    g_string_truncate(session->text.out, 0);
    interrupt_release();
}

void session_fail(Session *session, char *message)
{
    session_print(session);
    g_printerr("heddle: %s\n", message);
    interrupt_hold();
    if (session->json) {
        json_document_add_error(&session->document, message);
        outfile_set(session->json, session->document.text->str, session->document.text->len);
    }
    interrupt_release();
    session_note_exit(session, 2);
    g_free(message);
}

void session_fail_check(Session *session, const CheckResult *result)
{
    char *title = text_title(result), *named = g_strdup_printf("%s: ", result->spec->program);
    const char *error = result->error ? result->error : "no reason given";
    if (g_str_has_prefix(error, named))         /* the title says it */
        error += strlen(named);
    session_fail(session, g_strdup_printf("%s: %s", title, error));
    g_free(named);
    g_free(title);
}

void session_note_exit(Session *session, int code)
{
    static const int rank[] = {[0] = 0, [3] = 1, [1] = 2, [2] = 3};
    if (rank[code] > rank[session->exit_code])
        session->exit_code = code;
}

void session_add_json(Session *session, const CheckResult *result, const GPtrArray *schedules)
{
    if (!session->json)
        return;
    interrupt_hold();
    json_document_add(&session->document, result, schedules);
    outfile_set(session->json, session->document.text->str, session->document.text->len);
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
    if (!session->progress)
        return;
    fprintf(stderr, "\r\033[K%s", what ? what : "");
    fflush(stderr);
}
