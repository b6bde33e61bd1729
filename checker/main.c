/* main.c - the command line: the one file that sees the checker and the kernels, and hands the second to the first. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>
#include "../kernels/pallas/module.h"
#include "check/interrupt.h"
#include "check/supervisor.h"
#include "command/manual.h"
#include "command/session.h"
#include "facts/limits.h"
#include "report/printable.h"
#include "report/schema.h"

static int tell(const Options *options, OptionsResult what)
{
    GString *text = g_string_new(NULL);
    if (what == OPTIONS_HELP)
        manual_help(text, options->command);
    else if (what == OPTIONS_MAN)
        manual_man(text);
    else if (what == OPTIONS_COMPLETION)
        manual_completion(text);
    else if (what == OPTIONS_SCHEMA)
        schema_append_to(text);
    else
        g_string_append(text, "heddle " HEDDLE_VERSION "\n");
    bool good = fputs(text->str, stdout) >= 0 && !fflush(stdout);
    if (!good && errno != EPIPE)
        g_printerr("heddle: cannot write to standard output: %s\n", g_strerror(errno));
    g_string_free(text, TRUE);
    return good ? EXIT_VERIFIED : EXIT_ERROR;
}

static int run(const Options *options)
{
    Session session;
    if (!session_begin(&session, options, pl_module_open))
        return EXIT_ERROR;
    switch (options->command) {
    case COMMAND_CHECK:
        return command_check(&session);
    case COMMAND_TEST:
        return command_test(&session);
    case COMMAND_REPLAY:
        return command_replay(&session);
    case COMMAND_LIST:
        return command_list(&session);
    case COMMAND_EXPLAIN:
        return command_explain(&session);
    case COMMAND_COMPILE:
        return command_compile(&session);
    case COMMAND_INIT:
        return command_init(&session);
    case COMMAND_ALL:
        break;
    }
    g_assert_not_reached();
}

static void end_without_memory(const char *what)
{
    g_printerr("heddle: memory: %s\n", what);
    interrupt_remove_registered();
    _exit(EXIT_ERROR);
}

/* A debugger wants this very process. */
static void begin_limits(Options *options)
{
    store_set_limit(0, end_without_memory);
    if (options->gdb || options->in_process)
        return;
    supervisor_begin();
    if (options->limits.memory == 0)
        options->limits.memory = limits_free_memory();
    limits_set_memory(options->limits.memory);
    limits_begin_preparation(options->limits.seconds);
    g_autofree char *line = limits_tell_memory("by what reports and proofs hold"), *all = g_strdup_printf("heddle: %s", line);
    interrupt_set_memory_line(all);
}

int main(int argc, char **argv)
{
    Options options;
    char *error = NULL;
    int code = EXIT_ERROR;
    setlocale(LC_CTYPE, "");
    interrupt_install();
    OptionsResult result = options_parse(&options, argc, argv, &error);
    if (result == OPTIONS_RUN) {
        begin_limits(&options);
        code = run(&options);
    } else if (result == OPTIONS_BAD) {
        g_autofree char *line = printable_line(error);
        g_printerr("heddle: %s\n", line);
    } else {
        code = tell(&options, result);
    }
    interrupt_remove_registered();
    options_clear(&options);
    g_free(error);
    return code;
}
