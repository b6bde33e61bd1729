/* marked.c - escapes by character. Only ASCII punctuation has a meaning, some of it at the beginning of a line. Where services look for
 * mentions and addresses after the Markdown is done, a space of no width is put in.
 */
#include "marked.h"
#include <stdbool.h>
#include <string.h>
#include "printable.h"

#define NO_WIDTH "&#8203;"

/* Would a service make a link if this character were followed by the next: @name, #12, ://, www.? */
static bool calls_service(const char *at)
{
    return *at == '@' || (*at == '#' && g_ascii_isalnum(at[1])) || g_str_has_prefix(at, "://")
        || (g_ascii_tolower(*at) == 'w' && at[1] == '.');
}

static bool is_between_letters(const char *line, const char *at)
{
    return at > line && g_ascii_isalnum(at[-1]) && g_ascii_isalnum(at[1]);
}

/* "1." and "1)" begin lists. */
static bool ends_number(const char *line, const char *at)
{
    return at > line && (*at == '.' || *at == ')') && strspn(line, "0123456789") == (size_t)(at - line);
}

static bool has_meaning(const char *line, const char *at, bool first)
{
    if (*at == '_')
        return !is_between_letters(line, at);
    return strchr("\\`*[]|~$#", *at) != NULL || (first && ((at == line && strchr("-+=:", *at) != NULL) || ends_number(line, at)));
}

static void append_character(GString *out, const char *line, const char *at, bool first)
{
    static const char *const entity[] = { ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;" };
    if ((unsigned char)*at < G_N_ELEMENTS(entity) && entity[(unsigned char)*at] != NULL) {
        g_string_append(out, entity[(unsigned char)*at]);
        return;
    }
    if (has_meaning(line, at, first))
        g_string_append_c(out, '\\');
    g_string_append_len(out, at, g_utf8_next_char(at) - at);
    if (calls_service(at))
        g_string_append(out, NO_WIDTH);
}

void marked_text(GString *out, const char *text, gsize most)
{
    gsize begin = out->len;
    bool first = begin == 0 || strchr("\n ", out->str[begin - 1]) != NULL;
    g_autofree char *line = printable_line(text);
    if (first)
        g_strchug(line);
    for (const char *at = line; *at; at = g_utf8_next_char(at)) {
        if (most > 0 && out->len - begin + 16 > most) {
            g_string_append(out, "...");
            return;
        }
        append_character(out, line, at, first);
    }
}

/* The longest run of backticks. */
static guint backticks(const char *text)
{
    guint longest = 0;
    for (const char *at = strchr(text, '`'); at; at = strchr(at, '`')) {
        guint run = (guint)strspn(at, "`");
        longest = MAX(longest, run);
        at += run;
    }
    return longest;
}

void marked_code(GString *out, const char *text)
{
    g_autofree char *line = printable_line(text), *fence = g_strnfill(backticks(line) + 1, '`');
    const char *pad = *line == '`' || g_str_has_suffix(line, "`") ? " " : "";
    g_string_append_printf(out, "%s%s%s%s%s", fence, pad, line, pad, fence);
}

void marked_block(GString *out, const char *language, const char *text)
{
    g_autofree char *valid = printable_text(text, NULL), *fence = g_strnfill(MAX(backticks(valid) + 1, 3), '`');
    bool ends = g_str_has_suffix(valid, "\n");
    g_string_append_printf(out, "%s%s\n%s%s%s\n", fence, language, valid, ends ? "" : "\n", fence);
}
