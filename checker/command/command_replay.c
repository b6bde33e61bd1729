/* command_replay.c - `heddle replay`: compiles the source that the schedule file names, and follows the schedule.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "../check/installed.h"
#include "../report/schedule_file.h"
#include "../report/text_entry.h"
#include "replay_source.h"
#include "selection.h"
#include "stepper.h"

/* Is it a built-in program, rather than one of a user's file? *module: the module that has it. */
static bool is_built_in(const Session *session, const ScheduleHeader *header, char **module, char **error)
{
    g_autoptr(GPtrArray) catalogue = catalogue_built_in(session->open, header->program, error);
    for (guint i = 0; catalogue && i < catalogue->len; i++) {
        const CatalogueEntry *entry = catalogue->pdata[i];
        if (header->source && strcmp(entry->source, header->source))
            continue;
        *module = g_strdup(entry->module);
        return true;
    }
    return false;
}

/* Where is the source of a user's program? Returns why it cannot be told. */
static char *find_source(const Session *session, const char *schedule, ScheduleHeader *header)
{
    if (!header->source || !*header->source)
        return g_strdup_printf("the schedule belongs to %s, which is not built into this heddle", header->program);
    return replay_source_find(session, schedule, header);
}

static char *make_module(const Session *session, const ScheduleHeader *header, char **error)
{
    if (g_str_has_suffix(header->source, ".so"))
        return g_canonicalize_filename(header->source, NULL);
    CompileOptions compile = selection_compile_options(session->options);
    return compile_module(header->source, NULL, &compile, error);
}

static void show(Session *session, const char *path, const ScheduleHeader *header, const ReplayResult *replay)
{
    GString *out = session->text.out;
    const CheckResult *check = replay->check;
    g_autofree char *title = text_title(check);
    const Finding *seen = check->outcome->findings->len ? check->outcome->findings->pdata[0] : NULL;
    if (seen && seen->departure) {
        char *words = g_strdup_printf("The kernel has changed since: %s. From there on, the schedule was followed as far as possible.",
                                      seen->departure);
        text_wrapped(&session->text, 0, "", words);
        g_free(words);
    }
    if (session->options->verbose && !replay->shown)            /* a finding that is shown prints its moves */
        for (guint i = 0; replay->lines && i < replay->lines->len; i++)
            g_string_append_printf(out, "  %s\n", (char *)replay->lines->pdata[i]);
    if (replay->shown) {
        g_string_append_printf(out, "%s: the schedule shows the fault.\n", title);
        g_autoptr(GPtrArray) entries = entries_new(check);
        session->text.story = true, session->text.helped = UINT32_MAX;
        for (guint i = 0; !session->options->quiet && i < entries->len; i++)
            text_entry(&session->text, check, entries, i, NULL);
        session_note_exit(session, EXIT_FAULTY);
    } else if (check->outcome->limits->len) {
        g_string_append_printf(out, "%s: the replay was cut short (%s) and says nothing.\n", title,
                               check->outcome->stopped ? check->outcome->stopped : (char *)check->outcome->limits->pdata[0]);
        session_note_exit(session, EXIT_BOUNDED);
    } else {
        g_string_append_printf(out, "%s: this schedule no longer shows the %s. That is no proof: heddle check decides.\n",
                               title, header->fault);
        session_note_exit(session, EXIT_BOUNDED);
    }
    if (session->options->step)
        stepper_run(session, check);
    if (!replay->shown)                         /* reports list only what was seen */
        g_ptr_array_set_size(check->outcome->findings, 0);
    GPtrArray *schedules = g_ptr_array_new();
    for (guint i = 0; i < check->outcome->findings->len; i++)
        g_ptr_array_add(schedules, (char *)path);
    session_add_reports(session, check, schedules);
    g_ptr_array_unref(schedules);
}

/* Runs this command in gdb; returns only on failure. */
static char *run_in_gdb(const Options *options, const char *schedule)
{
    char *error = NULL;
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL), *folder = installed_find("share/heddle", "heddle.gdb", &error);
    if (!self || !folder)
        return error ? error : g_strdup("this system does not say where heddle is");
    g_autofree char *script = g_build_filename(folder, "heddle.gdb", NULL);
    const char *words[] = {"gdb", "-q", "-x", script, "--args", self, "replay", "--in-process", "-q"};
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        g_ptr_array_add(argv, (char *)words[i]);
    for (guint i = 0; options->include && i < options->include->len; i++) {
        g_ptr_array_add(argv, (char *)"-I");
        g_ptr_array_add(argv, options->include->pdata[i]);
    }
    if (options->source)
        g_ptr_array_add(argv, g_strconcat("--source=", options->source, NULL));
    if (options->cflags)
        g_ptr_array_add(argv, g_strconcat("--cflags=", options->cflags, NULL));
    g_ptr_array_add(argv, (char *)"--");
    g_ptr_array_add(argv, (char *)schedule);
    g_ptr_array_add(argv, NULL);
    execvp("gdb", (char **)argv->pdata);
    return g_strdup_printf("cannot run gdb: %s", g_strerror(errno));
}

int command_replay(Session *session)
{
    const char *path = session->options->operands->pdata[0];
    char *error = NULL;
    ScheduleHeader *header = schedule_read_header(path, &error);
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    char *module = NULL;
    bool built_in = header && is_built_in(session, header, &module, &error);
    if (header && !built_in && !error)
        error = find_source(session, path, header);
    if (session->options->gdb && !error)
        error = run_in_gdb(session->options, path);
    if (!built_in && !error)
        module = make_module(session, header, &error);
    if (!error) {
        const ReplayOptions options = {built_in ? NULL : header->source, session->options->in_process, session->options->limits};
        ReplayResult *replay = schedule_replay(session->open, absolute, module, &options);
        if (replay->error)
            error = g_strdup(replay->error);
        else
            show(session, path, header, replay);
        replay_result_free(replay);
    }
    if (error)
        session_fail(session, error);
    if (header)
        schedule_header_free(header);
    g_free(module);
    return session_end(session);
}
