/* text.c - words broken at spaces; sizes as words. */
#include "text.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void text_init(Text *text, bool color, bool quiet, bool verbose)
{
    *text = (Text){.out = g_string_new(NULL), .width = TEXT_WIDTH, .color = color, .quiet = quiet, .verbose = verbose,
                    .source = source_new(), .reported = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
}

void text_clear(Text *text)
{
    g_string_free(text->out, TRUE);
    source_free(text->source);
    g_hash_table_unref(text->reported);
}

const char *const text_colors[] = {"", "\033[32m", "\033[1;31m", "\033[33m", "\033[2m", "\033[1m", "\033[0m", NULL};

void text_colored(Text *text, TextColor color, const char *format, ...)
{
    va_list arguments;
    bool on = text->color && color != TEXT_PLAIN;
    g_string_append(text->out, on ? text_colors[color] : "");
    va_start(arguments, format);
    g_string_append_vprintf(text->out, format, arguments);
    va_end(arguments);
    g_string_append(text->out, on ? text_colors[TEXT_STRONG + 1] : "");
}

/* The length of the next word: spaces inside brackets do not end it, so that "slots[0, 0:8]" stays in one piece. */
static size_t word_length(const char *words)
{
    size_t length = 0;
    for (unsigned depth = 0; words[length] && (depth > 0 || !g_ascii_isspace(words[length])); length++)
        depth += words[length] == '[' ? 1 : words[length] == ']' && depth > 0 ? -1 : 0;
    return length;
}

void text_flow(Text *text, unsigned column, unsigned indent, const char *words)
{
    bool fresh = true;
    for (const char *at = words + strspn(words, " \n"); *at; at += strspn(at, " \n")) {
        size_t bytes = word_length(at);
        unsigned length = (unsigned)g_utf8_strlen(at, (gssize)bytes);
        if (!fresh && column + 1 + length > text->width) {
            g_string_append_printf(text->out, "\n%*s", indent, "");
            column = indent, fresh = true;
        }
        g_string_append_printf(text->out, "%s%.*s", fresh ? "" : " ", (int)bytes, at);
        column += length + !fresh;
        fresh = false;
        at += bytes;
    }
    g_string_append_c(text->out, '\n');
}

void text_wrapped(Text *text, unsigned indent, const char *lead, const char *words)
{
    unsigned column = indent + (unsigned)g_utf8_strlen(lead, -1);
    g_string_append_printf(text->out, "%*s%s", indent, "", lead);
    text_flow(text, column, column, words);
}

char *text_size(const CheckSpec *spec)
{
    uint32_t devices = mesh_devices(&spec->mesh);
    GString *title = g_string_new(NULL);
    g_string_append_printf(title, "%u device%s", devices, devices == 1 ? "" : "s");
    for (unsigned axis = 0; spec->mesh.axes > 1 && axis < spec->mesh.axes; axis++)
        g_string_append_printf(title, "%s%s=%u%s", axis ? "," : " (", spec->mesh.name[axis], spec->mesh.size[axis],
                               axis + 1 == spec->mesh.axes ? ")" : "");
    if (spec->cores > 1)
        g_string_append_printf(title, ", %u cores each", spec->cores);
    for (size_t i = 0; i < spec->overrides; i++)
        g_string_append_printf(title, ", %s=%" G_GINT64_FORMAT, spec->override[i].name, spec->override[i].value);
    return g_string_free(title, FALSE);
}

char *text_title(const CheckResult *result)
{
    g_autofree char *size = text_size(result->spec);
    return g_strdup_printf("%s, %s", result->spec->program, size);
}

void text_report(Text *text, const CheckResult *result, const char *key)
{
    if (!g_hash_table_contains(text->reported, key))
        g_hash_table_insert(text->reported, g_strdup(key), text_size(result->spec));
}
