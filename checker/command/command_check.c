/* command_check.c - `heddle check`: each program at each size with each combination of parameters, one after the other. */
#include <string.h>
#include "../advise/advise.h"
#include "../check/check.h"
#include "../check/check_parts.h"
#include "../check/interrupt.h"
#include "../report/columns.h"
#include "../report/describe.h"
#include "../report/schedules.h"
#include "selection.h"
#include "sizes.h"

typedef struct CheckTally {
    Columns table;
    unsigned count[VERDICT_NOT_APPLICABLE + 1], checks;
    GArray *sizes;                              /* of the current program */
} CheckTally;

/* "race (2), leftover": the faults and, above one, their numbers. */
static char *fault_list(const CheckResult *result)
{
    unsigned count[FAULT_COUNT] = {0};
    GString *text = g_string_new(NULL);
    for (guint i = 0; result->verdict == VERDICT_FAULTY && i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        count[finding->id] += !finding_exemption(result->program, finding);
    }
    for (unsigned id = 0; id < FAULT_COUNT; id++) {
        if (count[id])
            g_string_append_printf(text, "%s%s", text->len ? ", " : "", fault_name(id));
        if (count[id] > 1)
            g_string_append_printf(text, " (%u)", count[id]);
    }
    return g_string_free(text, FALSE);
}

static void tally_result(CheckTally *tally, const CheckSpec *spec, const CheckResult *result)
{
    tally->count[result->verdict]++;
    tally->checks++;
    sizes_add(tally->sizes, spec, result->verdict, fault_list(result));
}

static void tell_baseline(Session *session, const CheckResult *result, BaselineCount count)
{
    if (!session->baseline || result->verdict != VERDICT_FAULTY)
        return;
    g_string_append_printf(session->text.out, "  Baseline: %u of %u fault%s %s known, %u new.\n", count.known, count.known + count.fresh,
                           count.known + count.fresh == 1 ? "" : "s", count.known == 1 ? "is" : "are", count.fresh);
}

/* All faults are known, but if the search was cut short there may be others: then the exit code is that of a bounded check. */
static bool is_accepted(Session *session, const CheckResult *result, BaselineCount count)
{
    if (result->verdict == VERDICT_NOT_APPLICABLE || (result->verdict == VERDICT_BOUNDED && session->options->accept_bounded))
        return true;
    if (result->verdict != VERDICT_FAULTY || !session->baseline || count.fresh > 0)
        return false;
    if (!result->outcome->complete && !session->options->accept_bounded)
        session_note_exit(session, EXIT_BOUNDED);
    return true;
}

static void list_vanished(Session *session)
{
    GPtrArray *vanished = baseline_vanished(session->baseline);
    if (vanished->len)
        g_string_append(session->text.out, "Gone since the baseline:\n");
    for (guint i = 0; i < vanished->len; i++)
        text_wrapped(&session->text, 2, "", vanished->pdata[i]);
    g_ptr_array_unref(vanished);
    g_autofree char *unchecked = baseline_unchecked(session->baseline);
    if (unchecked)
        text_wrapped(&session->text, 0, "", unchecked);
}

/* Called for each result in its own process: see check_queue.h. */
static void finish(CheckResult *result, const void *data)
{
    const Options *options = data;
    if (options_want_details(options) && !interrupt_requested()) {
        child_tell_phase(result->spec->watch, "trying other orders of copies");
        check_settle_orders(result);
        child_tell_phase(result->spec->watch, "trying repairs");
        check_try_repairs(result);
        check_cite_bounds(result);
    }
    if (result->spec->alone && options_want_details(options) && !interrupt_requested())
        check_try_smaller(result);
    if (options->advice && !interrupt_requested()) {
        check_look_for_advice(result);
        check_try_without(result);
    }
    if (result->outcome && result->outcome->contradiction)
        check_fail(result, "with a change that was tried: %s", result->outcome->contradiction);
}

static void run_one(Session *session, const CheckSpec *spec, CheckQueue *queue, CheckTally *tally)
{
    char *what = g_strdup_printf("%s, %u devices", spec->program, mesh_devices(&spec->mesh)), *error = NULL;
    session_progress(session, what);
    CheckResult *result = check_queue_next(queue);
    GPtrArray *schedules = result->verdict == VERDICT_FAULTY ? schedules_write(result, session->options->schedules, &error) : NULL;
    BaselineCount count = {0, 0};
    if (session->baseline)
        count = baseline_mark(session->baseline, result);
    tally_result(tally, spec, result);
    if (result->verdict == VERDICT_ERROR) {
        session_fail_check(session, result);
    } else {
        text_check(&session->text, result, schedules);
        tell_baseline(session, result, count);
        session_print(session);
        session_add_reports(session, result, schedules);
        session_add_results(session, result);
    }
    session_warn(session, result);
    if (!is_accepted(session, result, count))
        session_note_exit(session, (ExitCode)result->verdict);
    if (error)
        session_fail(session, error);
    if (schedules)
        g_ptr_array_unref(schedules);
    check_result_free(result);
    g_free(what);
}

static void run_program(Session *session, const Planned *planned, CheckQueue *queue, CheckTally *tally)
{
    const Selected *selected = planned->selected;
    g_autoptr(GArray) sizes = tally->sizes = sizes_begin();
    unsigned before = tally->checks, before_inapplicable = tally->count[VERDICT_NOT_APPLICABLE];
    if (planned->error)
        session_fail(session, g_strdup(planned->error));
    for (guint i = 0; !planned->error && !interrupt_requested() && i < planned->plan.specs->len; i++) {
        run_one(session, &g_array_index(planned->plan.specs, CheckSpec, i), queue, tally);
        char *closing = g_strdup_printf("heddle: interrupted after %u check%s", tally->checks, tally->checks == 1 ? "" : "s");
        interrupt_set_closing(closing);
        g_free(closing);
    }
    unsigned checks = tally->checks - before;
    if (checks && tally->count[VERDICT_NOT_APPLICABLE] - before_inapplicable == checks)
        session_fail(session, g_strdup_printf("%s is not applicable at any of these sizes", selected->entry->name));
    g_autofree char *words = sizes_words(sizes), *decides = session->options->quiet ? NULL : sizes_what_decides(sizes);
    if (decides)
        text_wrapped(&session->text, 0, "", decides);
    if (!*words)
        return;
    columns_add(&tally->table, selected->entry->name);
    columns_add(&tally->table, words);
}

static void summarise(Session *session, const CheckTally *tally)
{
    GString *out = session->text.out;
    if (session->options->quiet || !tally->checks)
        return;
    char *knobs = describe_knobs(&session->options->knobs);
    if (tally->checks > 1) {
        g_string_append_c(out, '\n');
        columns_append_to(&tally->table, out, "  ");
        g_string_append_printf(out, "%u checks:", tally->checks);
        for (unsigned verdict = 0; verdict <= VERDICT_NOT_APPLICABLE; verdict++)
            if (tally->count[verdict])
                g_string_append_printf(out, " %u %s", tally->count[verdict], verdict_name(verdict));
        g_string_append_c(out, '\n');
    }
    if (tally->count[VERDICT_VERIFIED]) {
        char *words = g_strdup_printf("every schedule and every order of copies at that size and %s was covered, under %s.",
                                      session->options->inputs ? "for every input" : "input", knobs);
        text_wrapped(&session->text, 0, "Verified: ", words);
        g_free(words);
    } else if (tally->count[VERDICT_FAULTY] + tally->count[VERDICT_BOUNDED]) {
        g_autofree char *chosen = describe_chosen_knobs(&session->options->knobs), *words = g_strconcat(chosen, ".", NULL);
        if (*chosen)
            text_wrapped(&session->text, 0, "Knobs: ", words);
    }
    g_free(knobs);
}

int command_check(Session *session)
{
    Selection selection;
    CheckTally tally = {.checks = 0};
    char *error = NULL;
    columns_init(&tally.table, 2);
    if (!selection_read(&selection, session, &error))
        session_fail(session, error);
    CheckQueue *queue = check_queue_new(session->options->workers, finish, session->options);
    GPtrArray *all = selection_plan(&selection, session, queue);
    for (guint i = 0; !error && !interrupt_requested() && i < all->len; i++)
        run_program(session, all->pdata[i], queue, &tally);
    summarise(session, &tally);
    if (session->baseline && !session->options->quiet)
        list_vanished(session);
    check_queue_free(queue);
    g_ptr_array_unref(all);
    selection_clear(&selection);
    columns_clear(&tally.table);
    return session_end(session);
}
