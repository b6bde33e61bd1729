/* repairs_text.c - finds calls and arguments by counting brackets. */
#include "repairs_text.h"
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 6 };

static int depth_of(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at; at++)
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    return depth;
}

Statement statement_at(Source *source, const char *file, unsigned line)
{
    Statement statement = { .source = source, .file = g_strdup(file), .line = line, .text = g_string_new(NULL) };
    const char *first = line >= 1 ? source_line(source, file, line) : NULL;
    if (first == NULL)
        return statement;
    g_string_append(statement.text, first);
    for (unsigned more = 1; more < LINES_MAX && depth_of(statement.text->str) > 0; more++) {
        const char *next = source_line(source, file, line + more);
        if (next == NULL)
            break;
        g_string_append_printf(statement.text, "\n%s", next);
    }
    statement.old = g_strdup(statement.text->str);
    return statement;
}

void statement_clear(Statement *statement)
{
    g_free(statement->file);
    g_free(statement->old);
    g_string_free(statement->text, TRUE);
}

static int opens(char c)
{
    return (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
}

/* The end of the bracket that opens at `open`; 0: it does not close. */
static gsize closing(const char *text, gsize open)
{
    int depth = 0;
    for (gsize i = open; text[i]; i++) {
        depth += opens(text[i]);
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

bool statement_find_call(const Statement *statement, const char *names, unsigned nth, TextSpan *call)
{
    g_autofree char *pattern = g_strdup_printf("(?<![\\w.])(?:%s)\\(", names);
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    if (statement->old == NULL)
        return false;
    for (g_regex_match(regex, statement->text->str, 0, &match); g_match_info_matches(match); g_match_info_next(match, NULL)) {
        int begin, end;
        g_match_info_fetch_pos(match, 0, &begin, &end);
        if (nth-- > 0)
            continue;
        *call = (TextSpan){ (gsize)begin, closing(statement->text->str, (gsize)end - 1) };
        return call->end > 0;
    }
    return false;
}

static TextSpan trimmed(const char *text, gsize begin, gsize end)
{
    while (begin < end && g_ascii_isspace(text[begin]))
        begin++;
    while (end > begin && g_ascii_isspace(text[end - 1]))
        end--;
    return (TextSpan){ begin, end };
}

bool statement_argument(const Statement *statement, TextSpan call, unsigned index, TextSpan *argument)
{
    const char *text = statement->text->str;
    gsize begin = (gsize)(strchr(text + call.begin, '(') - text) + 1;
    int depth = 0;
    for (gsize i = begin; i < call.end; i++) {
        bool last = i + 1 == call.end;
        if (depth == 0 && (text[i] == ',' || last)) {
            if (index-- == 0) {
                *argument = trimmed(text, begin, i);
                return argument->end > argument->begin;
            }
            begin = i + 1;
        }
        depth += opens(text[i]);
    }
    return false;
}

char *statement_text(const Statement *statement, TextSpan span)
{
    return g_strndup(statement->text->str + span.begin, span.end - span.begin);
}

void statement_replace(Statement *statement, TextSpan span, const char *text)
{
    g_string_erase(statement->text, (gssize)span.begin, (gssize)(span.end - span.begin));
    g_string_insert(statement->text, (gssize)span.begin, text);
}

bool statement_is_alone(const Statement *statement)
{
    if (statement->old == NULL)
        return false;
    g_autofree char *text = g_strstrip(g_strdup(statement->old));
    g_autofree char *code = g_regex_match_simple("//|/\\*", text, 0, 0) ? g_strndup(text, strcspn(text, "/")) : g_strdup(text);
    g_strchomp(code);
    const char *semicolon = strchr(code, ';');
    bool c = g_str_has_suffix(code, ";") && semicolon == code + strlen(code) - 1;
    bool sets = g_regex_match_simple("^[\\w.\\[\\]]+(\\[[^]]*\\])? [-+]?= ", code, 0, 0);
    bool python = semicolon == NULL && (g_str_has_suffix(code, ")") || sets) && g_str_has_suffix(statement->file, ".py");
    return (c || python) && depth_of(code) == 0 && !g_regex_match_simple("^(for|if|while|else|return|case|def|with)\\b", code, 0, 0);
}

void statement_tell(const Statement *statement, Repair *repair)
{
    if (statement->old == NULL || strcmp(statement->old, statement->text->str) == 0)
        return;
    g_auto(GStrv) old = g_strsplit(statement->old, "\n", -1), now = g_strsplit(statement->text->str, "\n", -1);
    for (unsigned i = 0; old[i] != NULL && now[i] != NULL; i++)
        if (strcmp(old[i], now[i]) != 0)
            repair_add_line(repair, statement->file, statement->line + i, old[i], now[i]);
}

void statement_tell_removed(const Statement *statement, Repair *repair)
{
    g_auto(GStrv) old = g_strsplit(statement->old, "\n", -1);
    for (unsigned i = 0; old[i] != NULL; i++)
        repair_add_line(repair, statement->file, statement->line + i, old[i], NULL);
}

static unsigned indent_of(const char *text)
{
    return (unsigned)strspn(text, " \t");
}

void statement_tell_put(Repair *repair, const char *file, unsigned before, const char *like, const char *text)
{
    g_autofree char *line = g_strdup_printf("%.*s%s", (int)indent_of(like), like, text);
    repair_add_line(repair, file, before, NULL, line);
}

void statement_tell_moved(const Statement *statement, Repair *repair, unsigned before)
{
    if (before <= statement->line)
        repair_add_line(repair, statement->file, before, NULL, statement->old);
    statement_tell_removed(statement, repair);
    if (before > statement->line)
        repair_add_line(repair, statement->file, before, NULL, statement->old);
}

unsigned statement_behind(const Statement *statement)
{
    unsigned lines = 1;
    for (const char *at = statement->old; at != NULL && *at; at++)
        lines += *at == '\n';
    return statement->line + lines;
}

/* The part that a regular expression captures; NULL: no match. */
static char *captured(const char *pattern, const char *text)
{
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    return g_regex_match(regex, text, 0, &match) ? g_match_info_fetch(match, 1) : NULL;
}

static bool is_balanced(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth < 0)
            return false;
    }
    return depth == 0;
}

char *text_plus(const char *text, int64_t by)
{
    char *end;
    long long number = strtoll(text, &end, 0);
    if (*text && *end == '\0')
        return g_strdup_printf("%lld", number + (long long)by);
    g_autofree char *bracket = captured(by < 0 ? "^\\((.*)\\) \\+ 1$" : "^\\((.*)\\) - 1$", text);
    if (bracket != NULL && is_balanced(bracket) && (by == 1 || by == -1))
        return g_steal_pointer(&bracket);
    g_autofree char *plain = captured(by < 0 ? "^(.*) \\+ 1$" : "^(.*) - 1$", text);
    if (plain != NULL && is_balanced(plain) && (by == 1 || by == -1))
        return g_steal_pointer(&plain);
    bool simple = g_regex_match_simple("^[\\w.>\\-+ ]+$", text, 0, 0);
    return g_strdup_printf(simple ? "%s %c %" G_GINT64_FORMAT : "(%s) %c %" G_GINT64_FORMAT, text, by < 0 ? '-' : '+', by < 0 ? -by : by);
}

unsigned text_begin_of_function(Source *source, const char *file, unsigned line)
{
    for (unsigned up = line; up > 1; up--) {
        const char *text = source_line(source, file, up);
        if (text != NULL && text[0] == '{')
            return up;
    }
    return 1;
}

unsigned text_end_of_function(Source *source, const char *file, unsigned line)
{
    unsigned count = source_count(source, file);
    for (unsigned down = line; down <= count; down++) {
        const char *text = source_line(source, file, down);
        if (text != NULL && text[0] == '}')
            return down;
    }
    return 0;
}

unsigned text_find_definition(Source *source, const char *file, unsigned line, const char *variable)
{
    g_autofree char *pattern = g_strdup_printf("\\b%s(?:\\[[^]]*\\])*\\s*=[^=]", variable);
    unsigned begin = text_begin_of_function(source, file, line);
    for (unsigned up = line; up >= begin && up >= 1; up--) {
        const char *text = source_line(source, file, up);
        if (text != NULL && g_regex_match_simple(pattern, text, 0, 0))
            return up;
    }
    return 0;
}
