/* unset_locals.c - replaces numbers made of bytes 0xfe in lines of assembly that the version with initial value 0 does not have. */
#include "unset_locals.h"
#include <stdbool.h>
#include <string.h>

#define NAMELESS "one that the compiler does not name"

enum { NAMED_MAX = 3 };

char *unset_locals_find(const char *dump)
{
    if (dump == NULL)
        return g_strdup(NAMELESS);
    if (strstr(dump, ".DEFERRED_INIT") == NULL)
        return NULL;
    static const char beginning[] = "^ *\\[([^\\]\\n]*:[0-9]+):[0-9]+\\] [^\\n]* =(?:\\{v\\})? \\.DEFERRED_INIT \\([^\\n]*&\"(\\w+)\"";
    g_autoptr(GRegex) regex = g_regex_new(beginning, G_REGEX_MULTILINE, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GString *text = g_string_new(NULL);
    for (g_regex_match(regex, dump, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
        g_autofree char *place = g_match_info_fetch(match, 1), *name = g_match_info_fetch(match, 2);
        g_autofree char *one = g_strdup_printf("%s (%s)", name, place);
        bool fresh = g_hash_table_add(known, g_strdup(one));
        unsigned count = g_hash_table_size(known);
        if (fresh && count <= NAMED_MAX)
            g_string_append_printf(text, "%s%s", count > 1 ? ", or " : "", one);
    }
    if (g_hash_table_size(known) > NAMED_MAX)
        g_string_append_printf(text, ", or %u more", g_hash_table_size(known) - NAMED_MAX);
    if (text->len == 0)
        g_string_append(text, NAMELESS);
    return g_string_free(text, FALSE);
}

/* The function, or "constants" of all functions, that a line of assembly begins; NULL: none. g_malloc. */
static char *label_of(const char *line)
{
    size_t length = strcspn(line, ": \t#");
    if (length == 0 || line[length] != ':')
        return NULL;
    if (g_str_has_prefix(line, ".LC"))
        return g_strdup("constants");
    return line[0] == '.' ? NULL : g_strndup(line, length);
}

/* An instruction, or a constant that an instruction loads; other data is the author's. */
static bool may_hold_pattern(const char *line, const char *label)
{
    static const char *const data[] = { ".byte", ".value", ".hword", ".short", ".2byte", ".long", ".word", ".4byte", ".quad", ".xword",
                                        ".8byte" };
    const char *word = line + strspn(line, " \t");
    if (word == line || word[0] != '.')
        return word != line;
    for (size_t i = 0; i < G_N_ELEMENTS(data); i++)
        if (g_str_has_prefix(word, data[i]) && g_ascii_isspace(word[strlen(data[i])]))
            return strcmp(label, "constants") == 0;
    return false;
}

static gboolean replace(const GMatchInfo *match, GString *out, gpointer value)
{
    static const char *const number[][1 + UNSET_VALUES] = {
        /* the pattern, bytes of 1, ints of 1 */
        { "-2", "1", "1" }, { "254", "1", "1" }, { "-258", "257", "1" }, { "65278", "257", "1" },
        { "-16843010", "16843009", "1" }, { "4278124286", "16843009", "1" },
        { "-72340172838076674", "72340172838076673", "4294967297" }, { "18374403900871474942", "72340172838076673", "4294967297" },
    };
    g_autofree char *found = g_match_info_fetch(match, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(number); i++)
        if (strcmp(found, number[i][0]) == 0)
            g_string_append(out, number[i][1 + GPOINTER_TO_UINT(value)]);
    return FALSE;
}

/* A line and the label before it. */
static char *line_there(const char *label, const char *line)
{
    return g_strdup_printf("%s\n%s", label, line);
}

static GHashTable *read_lines(const char *assembly)
{
    GHashTable *lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_auto(GStrv) line = g_strsplit(assembly, "\n", -1);
    g_autofree char *label = g_strdup("");
    for (char **at = line; *at != NULL; at++) {
        char *begins = label_of(*at);
        if (begins != NULL)
            g_free(label), label = begins;
        g_hash_table_add(lines, line_there(label, *at));
    }
    return lines;
}

/* One byte of a constant; `before` counts the bytes of the same constant before it. */
static char *replace_byte(const char *line, unsigned before, UnsetValue value)
{
    const char *end = strstr(line, "-2");
    return g_strdup_printf("%.*s%d", (int)(end - line), line, value == UNSET_BYTES_OF_ONE || before % 4 == 0);
}

char *unset_locals_replace(const char *assembly, const char *zero, UnsetValue value)
{
    g_autoptr(GHashTable) authors = read_lines(zero);
    g_autoptr(GRegex) pattern = g_regex_new("(?<=[$#\\s,])(-16843010|4278124286|-72340172838076674|18374403900871474942|-258|65278|-2|254)"
                                            "(?![\\w(.])", 0, 0, NULL);
    g_auto(GStrv) line = g_strsplit(assembly, "\n", -1);
    g_autofree char *label = g_strdup("");
    unsigned bytes = 0;
    for (char **at = line; *at != NULL; at++) {
        char *begins = label_of(*at);
        if (begins != NULL)
            g_free(label), label = begins;
        bool byte = strcmp(*at, "\t.byte\t-2") == 0;
        g_autofree char *there = line_there(label, *at);
        char *changed = !may_hold_pattern(*at, label) || g_hash_table_contains(authors, there) ? g_strdup(*at)
            : byte ? replace_byte(*at, bytes, value)
            : g_regex_replace_eval(pattern, *at, -1, 0, 0, replace, GUINT_TO_POINTER(value), NULL);
        bytes = byte ? bytes + 1 : 0;
        g_free(*at);
        *at = changed;
    }
    return g_strjoinv("\n", line);
}
