/* command_test.c - `heddle test`: a right program must be verified at each size. A wrong twin must have exactly the faults that it
 * declares, from the size that it declares on, and be verified below it. A missing fault is as bad as a new one: the twin or the checker
 * has changed.
 */
#include "../check/check.h"
#include "../check/interrupt.h"
#include "selection.h"

static char *fault_names(uint32_t faults)
{
    GString *text = g_string_new(NULL);
    for (unsigned id = 0; id < FAULT_COUNT; id++)
        if (faults & (1u << id))
            g_string_append_printf(text, "%s%s", text->len ? " + " : "", fault_name(id));
    if (!text->len)
        g_string_append(text, "verified");
    return g_string_free(text, FALSE);
}

static uint32_t faults_seen(const CheckResult *result)
{
    uint32_t seen = 0;
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        if (!finding_exemption(result->program, finding))
            seen |= 1u << finding->id;
    }
    return seen;
}

/* All that was tried is right, but not every input was tried. */
static bool only_other_inputs(const CheckResult *result)
{
    return result->outcome->limits->len == 1 && g_strcmp0(result->outcome->limits->pdata[0], "inputs") == 0
        && result->inputs->undecided == 0;
}

/* How the result differs from what is declared; NULL: it does not. g_free. */
static char *difference(const CheckResult *result)
{
    const Program *program = result->program;
    uint32_t expected = program && program->devices >= program->expected_from ? program->expected_faults : 0;
    if (result->verdict == VERDICT_ERROR || (result->verdict == VERDICT_BOUNDED && !only_other_inputs(result)))
        return g_strdup_printf("nothing was decided (%s)", verdict_name(result->verdict));
    uint32_t seen = result->verdict == VERDICT_FAULTY ? faults_seen(result) : 0;
    if (seen == expected)
        return NULL;
    char *wanted = fault_names(expected), *got = fault_names(seen);
    bool fewer = !(seen & ~expected), cut_short = !result->outcome->complete;
    char *text = g_strdup_printf("%sexpected %s, got %s", !fewer ? "" : cut_short ? "not found within the limits: "
                                                                                  : "the expected fault is gone: ", wanted, got);
    g_free(got);
    g_free(wanted);
    return text;
}

typedef struct Score { unsigned passed, failed, applicable; } Score;

static void score_one(Session *session, const CheckSpec *spec, CheckQueue *queue, Score *score)
{
    char *what = g_strdup_printf("%s, %u devices", spec->program, mesh_devices(&spec->mesh));
    session_progress(session, what);
    CheckResult *result = check_queue_next(queue);
    if (result->verdict == VERDICT_ERROR)
        session_fail_check(session, result);
    else
        session_add_reports(session, result, NULL);
    if (result->verdict != VERDICT_NOT_APPLICABLE) {
        char *different = difference(result), *title = text_title(result);
        score->applicable++;
        score->passed += !different;
        score->failed += different != NULL;
        if (different) {
            text_colored(&session->text, TEXT_BAD, "FAIL");
            g_string_append_printf(session->text.out, "  %s: %s\n", title, different);
            if (result->verdict != VERDICT_ERROR)
                text_check(&session->text, result, NULL);
        } else if (session->options->verbose) {
            g_string_append_printf(session->text.out, "ok    %s\n", title);
        }
        session_note_exit(session, different ? EXIT_FAULTY : EXIT_VERIFIED);
        g_free(title);
        g_free(different);
    }
    session_print(session);
    check_result_free(result);
    g_free(what);
}

static void score_program(Session *session, const Planned *planned, CheckQueue *queue, Score *total)
{
    const Selected *selected = planned->selected;
    Score score = {0, 0, 0};
    if (planned->error)
        session_fail(session, g_strdup(planned->error));
    for (guint i = 0; !planned->error && !interrupt_requested() && i < planned->plan.specs->len; i++)
        score_one(session, &g_array_index(planned->plan.specs, CheckSpec, i), queue, &score);
    if (!planned->error && !score.applicable && !interrupt_requested())
        session_fail(session, g_strdup_printf("%s is not applicable at any of these sizes", selected->entry->name));
    if (score.applicable && !score.failed && !session->options->quiet) {
        char *names = fault_names(selected->entry->expected_faults);
        text_colored(&session->text, TEXT_GOOD, "ok");
        g_string_append_printf(session->text.out, "    %s: %s", selected->entry->name, names);
        if (selected->entry->expected_faults)
            g_string_append_printf(session->text.out, " from %u devices", selected->entry->expected_from);
        g_string_append_printf(session->text.out, ", as declared, at %u size%s\n", score.applicable, score.applicable == 1 ? "" : "s");
        g_free(names);
    }
    session_print(session);
    total->passed += score.passed;
    total->failed += score.failed;
}

int command_test(Session *session)
{
    Selection selection;
    Score score = {0, 0, 0};
    char *error = NULL;
    if (!selection_read(&selection, session, &error))
        session_fail(session, error);
    CheckQueue *queue = check_queue_new(session->options->workers, NULL, NULL);
    GPtrArray *all = selection_plan(&selection, session, queue);
    for (guint i = 0; !error && !interrupt_requested() && i < all->len; i++)
        score_program(session, all->pdata[i], queue, &score);
    if (!error)
        g_string_append_printf(session->text.out, "%u passed, %u failed\n", score.passed, score.failed);
    check_queue_free(queue);
    g_ptr_array_unref(all);
    selection_clear(&selection);
    return session_end(session);
}
