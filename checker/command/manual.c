/* manual.c - renders the tables three times, so that each lists every option that the parser knows. */
#include "manual.h"
#include "glossary.h"
#include <string.h>
#include "../check/exit_code.h"
#include "../check/search.h"
#include "../report/text.h"

#define EXIT_ROW(name, code, rank, meaning) {code, rank, meaning},
static const struct { int code, rank; const char *meaning; } exit_codes[] = { EXIT_CODES(EXIT_ROW) };

static const char kernel_forms[] =
    "A KERNEL that contains a / or ends in .c or .so is a file. It stands for all its programs, or for one of them, as in file.c:program.\n"
    "A folder stands for the programs of all its .c files.\n"
    "Any other KERNEL names a built-in program.";
static const char trust[] =
    "check, test, replay and list compile a kernel's file and run it with your rights: it can read and remove your files. A module runs "
    "code as soon as it is loaded, and the compiler opens whatever a source includes. Run kernels that you do not trust in a sandbox. "
    "Schedules and checkpoints are read with care: one that does not fit is refused. But a checkpoint is trusted: whoever writes one can "
    "claim that everything was covered. Resume only from one that you, or a machine that you trust, wrote.";

/* "...: 2, then 1, then 3, then 0." */
static void append_worst_rule(GString *out)
{
    g_string_append(out, "With several checks, the worst one decides:");
    for (int rank = EXIT_RANKS - 1; rank >= 0; rank--)
        for (size_t i = 0; i < G_N_ELEMENTS(exit_codes); i++)
            if (exit_codes[i].rank == rank)
                g_string_append_printf(out, "%s %d", rank < EXIT_RANKS - 1 ? ", then" : "", exit_codes[i].code);
    g_string_append(out, ".\n");
}

static char *spell(const OptionSpec *spec)
{
    char letter[] = {'-', spec->letter, 0};
    const char *short_form = spec->letter ? letter : "  ", *comma = spec->letter && spec->name ? ", " : spec->name ? "  " : "";
    if (!spec->name)
        return g_strdup_printf("%s %s", short_form, spec->argument);
    return g_strdup_printf("%s%s--%s%s%s", short_form, comma, spec->name, spec->argument ? " " : "", spec->argument ? spec->argument : "");
}

static void help_option(Text *text, const OptionSpec *spec)
{
    enum { HELP_COLUMN = 27 };
    g_autofree char *form = spell(spec), *lead = g_strdup_printf("  %-24s ", form);
    const char *choices = option_choices(spec);
    if (strlen(form) > 24) {
        g_string_append_printf(text->out, "%s\n", g_strchomp(lead));
        text_wrapped(text, HELP_COLUMN, "", spec->help);
    } else {
        text_wrapped(text, 0, lead, spec->help);
    }
    g_autofree char *known = choices ? g_strdup_printf("(%s; default: %.*s)", choices, (int)strcspn(choices, "|"), choices) : NULL;
    if (known != NULL)
        text_wrapped(text, HELP_COLUMN + 2, "", known);
    for (const SearchSpec *search = search_table; option_is_search(spec) && search->name; search++) {
        g_autofree char *name = g_strdup_printf("%-10s ", search->name);
        text_wrapped(text, HELP_COLUMN + 2, name, search->help);
    }
}

static void help_general(Text *text)
{
    g_string_append(text->out, "heddle - checks communication kernels in every order that the hardware allows\n\n");
    for (const CommandSpec *spec = command_table; spec->name; spec++) {
        g_autofree char *form = g_strdup_printf("heddle %s %s", spec->name, spec->operands), *lead = g_strdup_printf("%-26s ", form);
        text_wrapped(text, 2, lead, spec->summary);
    }
    g_string_append_c(text->out, '\n');
    g_auto(GStrv) line = g_strsplit(kernel_forms, "\n", -1);
    for (char **at = line; *at != NULL; at++)
        text_wrapped(text, 0, "", *at);
    g_string_append_c(text->out, '\n');
    text_wrapped(text, 0, "", "heddle COMMAND --help lists the options of a command; heddle --version tells the version.");
}

static void help_command(Text *text, Command command)
{
    for (const CommandSpec *spec = command_table; spec->name; spec++)
        if (spec->command == command)
            g_string_append_printf(text->out, "heddle %s [options] %s\n%s\n\n", spec->name, spec->operands, spec->summary);
    for (const OptionSpec *spec = option_table; spec->commands; spec++)
        if (spec->commands & command)
            help_option(text, spec);
    g_string_append(text->out, "\nexit codes:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(exit_codes); i++) {
        g_autofree char *code = g_strdup_printf("%-4d ", exit_codes[i].code);
        text_wrapped(text, 2, code, exit_codes[i].meaning);
    }
    g_string_append(text->out, "  ");
    append_worst_rule(text->out);
}

void manual_help(GString *out, Command command)
{
    Text text;
    text_init(&text, false, false, false);
    if (command)
        help_command(&text, command);
    else
        help_general(&text);
    g_string_append(out, text.out->str);
    text_clear(&text);
}

/* Escapes text for roff: hyphens of options, and a leading dot. */
static void roff(GString *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (*at == '-')
            g_string_append(out, "\\-");
        else if (*at == '\\')
            g_string_append(out, "\\e");
        else if (*at == '.' && (at == text || at[-1] == '\n'))
            g_string_append(out, "\\&.");
        else
            g_string_append_c(out, *at);
    }
}

static void roff_item(GString *out, const char *term, const char *text)
{
    g_string_append(out, ".TP\n.B ");
    roff(out, term);
    g_string_append_c(out, '\n');
    roff(out, text);
    g_string_append_c(out, '\n');
}

static void man_options(GString *out)
{
    g_string_append(out, ".SH OPTIONS\n");
    for (const OptionSpec *spec = option_table; spec->commands; spec++) {
        char *form = spell(spec);
        GString *text = g_string_new(spec->help);
        const char *choices = option_choices(spec);
        if (choices)
            g_string_append_printf(text, " (%s; default: %.*s)", choices, (int)strcspn(choices, "|"), choices);
        for (const SearchSpec *search = search_table; option_is_search(spec) && search->name; search++)
            g_string_append_printf(text, "%s %s: %s", search == search_table ? "." : ";", search->name, search->help);
        g_string_append(text, ". For:");
        for (const CommandSpec *command = command_table; command->name; command++)
            if (spec->commands & command->command)
                g_string_append_printf(text, " %s", command->name);
        g_string_append_c(text, '.');
        roff_item(out, g_strstrip(form), text->str);
        g_string_free(text, TRUE);
        g_free(form);
    }
    roff_item(out, "--help", "the options of a command. For: all.");
    roff_item(out, "--version", "the version.");
}

void manual_man(GString *out)
{
    g_string_append(out, ".TH HEDDLE 1 \"\" \"heddle " HEDDLE_VERSION "\" \"User Commands\"\n.SH NAME\nheddle \\- checks device\\-side "
                         "communication kernels in every order that the hardware allows\n.SH SYNOPSIS\n");
    for (const CommandSpec *spec = command_table; spec->name; spec++) {
        g_string_append_printf(out, "%s.B heddle %s\n", spec == command_table ? "" : ".br\n", spec->name);
        roff(out, spec->operands);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, ".SH DESCRIPTION\n");
    roff(out, kernel_forms);
    g_string_append(out, "\n.SH COMMANDS\n");
    for (const CommandSpec *spec = command_table; spec->name; spec++)
        roff_item(out, spec->name, spec->summary);
    man_options(out);
    g_string_append(out, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < G_N_ELEMENTS(exit_codes); i++) {
        char *code = g_strdup_printf("%d", exit_codes[i].code);
        roff_item(out, code, exit_codes[i].meaning);
        g_free(code);
    }
    g_string_append(out, ".PP\n");
    append_worst_rule(out);
    g_string_append(out, ".SH ENVIRONMENT\n");
    roff_item(out, "CC, CFLAGS", "the compiler of kernels in files, and flags for it.");
    roff_item(out, "XDG_CACHE_HOME", "where kernels of files are kept as compiled, in heddle/modules (~/.cache without it); they may be "
              "removed at any time.");
    roff_item(out, "NO_COLOR", "when set and not empty: no colors, unless --color says otherwise.");
    g_string_append(out, ".SH GLOSSARY\n");
    for (const GlossaryWord *word = glossary; word->name; word++)
        roff_item(out, word->name, word->meaning);
    g_string_append(out, ".SH SECURITY\n");
    roff(out, trust);
    g_string_append(out, "\n.SH FILES\n");
    roff_item(out, "heddle-schedules/", "schedules of the faults that heddle check found; made only when something is wrong.");
    roff_item(out, "FILE.part, FILE.lock", "beside a checkpoint, while a process writes it; what a killed one left behind does no harm.");
}

/* One case of the completion: what to offer as the argument of this option. */
static void complete_argument(GString *out, const OptionSpec *spec)
{
    const char *choices = option_choices(spec);
    if (!spec->argument || (!choices && !spec->complete))
        return;
    GString *pattern = g_string_new(NULL);
    if (spec->letter)
        g_string_append_printf(pattern, "-%c", spec->letter);
    if (spec->name)
        g_string_append_printf(pattern, "%s--%s", spec->letter ? "|" : "", spec->name);
    if (choices) {
        char *words = g_strdelimit(g_strdup(choices), "|", ' ');
        g_string_append_printf(out, "        %s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\"); return ;;\n", pattern->str, words);
        g_free(words);
    } else {
        g_string_append_printf(out, "        %s) mapfile -t COMPREPLY < <(compgen -A %s -- \"$word\"); return ;;\n", pattern->str,
                               spec->complete);
    }
    g_string_free(pattern, TRUE);
}

static void complete_command(GString *out, const CommandSpec *command)
{
    g_string_append_printf(out, "        %s) options='--help", command->name);
    for (const OptionSpec *spec = option_table; spec->commands; spec++) {
        if (!(spec->commands & command->command))
            continue;
        if (spec->letter)
            g_string_append_printf(out, " -%c", spec->letter);
        if (spec->name)
            g_string_append_printf(out, " --%s", spec->name);
    }
    g_string_append(out, "' ;;\n");
}

void manual_completion(GString *out)
{
    g_string_append(out, "# bash completion for heddle; made by the program itself\n_heddle()\n{\n"
                         "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" options='' words\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        mapfile -t COMPREPLY < <(compgen -W '--help --version");
    for (const CommandSpec *spec = command_table; spec->name; spec++)
        g_string_append_printf(out, " %s", spec->name);
    g_string_append(out, "' -- \"$word\")\n        return\n    fi\n    case \"$before\" in\n");
    for (const OptionSpec *spec = option_table; spec->commands; spec++)
        complete_argument(out, spec);
    g_string_append(out, "    esac\n    case \"${COMP_WORDS[1]}\" in\n");
    for (const CommandSpec *spec = command_table; spec->name; spec++)
        complete_command(out, spec);
    g_string_append(out, "    esac\n    case \"$word\" in\n        -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
                         "        *) mapfile -t COMPREPLY < <(compgen -A file -- \"$word\")\n"
                         "           case \"${COMP_WORDS[1]}\" in\n"
                         "               check|test) words=$(heddle list --names 2>/dev/null)\n"
                         "                   mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W \"$words\" -- \"$word\") ;;\n"
                         "               explain) words=$(heddle explain --names 2>/dev/null)\n"
                         "                   mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\") ;;\n"
                         "           esac ;;\n    esac\n}\ncomplete -o filenames -F _heddle heddle\n");
}
