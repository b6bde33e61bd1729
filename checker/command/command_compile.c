/* command_compile.c - `heddle compile`: prints the command that compiles a kernel, and runs it. */
#include <string.h>
#include "selection.h"

int command_compile(Session *session)
{
    const Options *options = session->options;
    const char *source = options->operands->pdata[0];
    CompileOptions compile = selection_compile_options(options);
    char *error = NULL, *base = g_path_get_basename(source), *output = NULL, *command = NULL, *module = NULL;
    if (!g_str_has_suffix(source, ".c")) {
        error = g_strdup_printf("%s: heddle compile needs a .c file", source);
    } else {
        base[strlen(base) - 2] = 0;
        output = options->output ? g_strdup(options->output) : g_strdup_printf("%s.so", base);
        command = compile_command(source, output, &compile, &error);
    }
    if (command) {
        g_string_append_printf(session->text.out, "%s\n", command);
        session_print(session);
        module = compile_module(source, output, &compile, &error);
    }
    if (error)
        session_fail(session, error);
    g_free(module);
    g_free(command);
    g_free(output);
    g_free(base);
    return session_end(session);
}
