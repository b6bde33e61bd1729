/* printable.c - escapes by character, so that C1 controls and text direction marks of Unicode are covered, and bytes that are no UTF-8. */
#include "printable.h"
#include <glib.h>
#include <stdbool.h>
#include <string.h>

static size_t kept_bytes(const char *at, const char *const *keep)
{
    for (; keep != NULL && *keep != NULL; keep++)
        if (**keep != '\0' && g_str_has_prefix(at, *keep))
            return strlen(*keep);
    return 0;
}

/* Appends one character, escaped if need be; returns its bytes. */
static size_t append_character(GString *out, const char *at)
{
    gunichar character = g_utf8_get_char_validated(at, -1);
    if (character == (gunichar)-1 || character == (gunichar)-2) {
        g_string_append_printf(out, "\\x%02x", (unsigned char)*at);
        return 1;
    }
    size_t bytes = (size_t)(g_utf8_next_char(at) - at);
    if (g_unichar_iscntrl(character) || g_unichar_type(character) == G_UNICODE_FORMAT)
        g_string_append_printf(out, bytes == 1 ? "\\x%02x" : "\\u%04x", character);
    else
        g_string_append_len(out, at, (gssize)bytes);
    return bytes;
}

char *printable_text(const char *text, const char *const *keep)
{
    GString *out = g_string_sized_new(strlen(text));
    for (const char *at = text; *at != '\0';) {
        size_t bytes = *at == '\n' || *at == '\t' ? 1 : kept_bytes(at, keep);
        g_string_append_len(out, at, (gssize)bytes);
        at += bytes > 0 ? bytes : append_character(out, at);
    }
    return g_string_free(out, FALSE);
}

char *printable_line(const char *text)
{
    g_autofree char *lines = printable_text(text, NULL);
    g_auto(GStrv) line = g_strsplit(lines, "\n", -1);
    return g_strjoinv("\\n", line);
}
