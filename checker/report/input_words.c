/* input_words.c - elements of a table follow each other in the program's input; those of another device follow those of the one before. */
#include "input_words.h"
#include "../../model/input.h"
#include "../facts/members.h"

/* The elements of one device, as nested lists; `at` is moved behind them. */
static void append_table(GString *text, const Program *program, const View *view, unsigned dim, size_t *at)
{
    if (dim == view->ndim) {
        g_string_append_printf(text, "%" G_GINT64_FORMAT, input_drawn(program, (*at)++)->value);
        return;
    }
    g_string_append_c(text, '[');
    for (int64_t i = 0; i < view->size[dim]; i++) {
        g_string_append(text, i ? ", " : "");
        append_table(text, program, view, dim + 1, at);
    }
    g_string_append_c(text, ']');
}

static void append_input(GString *text, const Program *program, size_t *at)
{
    const Decl *decl = program_decl(program, input_drawn(program, *at)->table);
    const View *view = program_get_view(program, decl->view);
    const char *name = program_text(program, decl->name);
    const bool same = (int64_t)(input_end_of(program, *at) - *at) == view_elements(view);
    g_string_append_printf(text, "%s = ", *name ? name : "an unnamed input");
    for (uint32_t device = 0; device < (same ? 1 : program->devices); device++) {
        g_string_append(text, device ? ", " : "");
        append_table(text, program, view, 0, at);
        if (!same)
            g_string_append_printf(text, " on device %u", device);
    }
}

/* The name of the choice that is the n-th one. */
static const char *choice_name(const Program *program, unsigned n)
{
    for (size_t i = 0; i < program->parameters.count; i++)
        if (STORE(Parameter, &program->parameters, i).choice && n-- == 0)
            return program_text(program, STORE(Parameter, &program->parameters, i).name);
    return "a choice";
}

char *input_words(const Program *program)
{
    g_autoptr(GString) text = g_string_new(NULL);
    unsigned choices = 0;
    for (size_t at = 0; at < program->drawn.count;) {
        g_string_append(text, at ? "; " : "");
        if (input_drawn(program, at)->table != NONE)
            append_input(text, program, &at);
        else
            g_string_append_printf(text, "%s = %" G_GINT64_FORMAT, choice_name(program, choices++), input_drawn(program, at)->value), at++;
    }
    return text->len ? g_strdup(text->str) : NULL;
}

char *input_count(const InputTally *tally)
{
    return g_strdup_printf("%" G_GUINT64_FORMAT " input%s", tally->tried, tally->tried == 1 ? "" : "s");
}

static char *property(const char *name, const Rule *rule, bool many)
{
    switch ((RuleKind)rule->kind) {
    case RULE_SOME_IS:
        return g_strdup_printf(many ? "some element of %s is %" G_GINT64_FORMAT : "%s is %" G_GINT64_FORMAT, name, rule->value);
    case RULE_NONE_IS:
        return g_strdup_printf(many ? "no element of %s is %" G_GINT64_FORMAT : "%s is not %" G_GINT64_FORMAT, name, rule->value);
    case RULE_ALL_EQUAL:
        return g_strdup_printf("all elements of %s are equal", name);
    case RULE_NOT_ALL_EQUAL:
        return g_strdup_printf("the elements of %s differ", name);
    case RULE_ODD:
        return g_strdup_printf("%s is odd", name);
    case RULE_EVEN:
        return g_strdup_printf("%s is even", name);
    case RULE_AT_MOST:
        return g_strdup_printf("%s is at most %" G_GINT64_FORMAT, name, rule->value);
    case RULE_AT_LEAST:
        return g_strdup_printf("%s is at least %" G_GINT64_FORMAT, name, rule->value);
    }
    g_assert_not_reached();
}

/* ". Wrong whenever some element of sizes is 0; right for the 212 tried without" */
static char *rule_words(const CheckResult *result)
{
    const InputTally *tally = result->inputs;
    const Program *program = result->program;
    if (tally->rule.first >= program->drawn.count)
        return g_strdup("");
    const uint32_t table = input_drawn(program, tally->rule.first)->table;
    unsigned choices = 0;
    for (size_t i = 0; i < tally->rule.first; i++)
        choices += input_drawn(program, i)->table == NONE;
    const char *name = table != NONE ? program_text(program, program_decl(program, table)->name) : choice_name(program, choices);
    const bool many = input_end_of(program, tally->rule.first) > tally->rule.first + 1;
    g_autofree char *words = property(*name ? name : "the input", &tally->rule, many);
    return g_strdup_printf(". Wrong whenever %s; right for the %" G_GUINT64_FORMAT " tried without", words, tally->right);
}

char *input_sentence(const CheckResult *result)
{
    const InputTally *tally = result->inputs;
    g_autofree char *words = result->program ? input_words(result->program) : NULL;
    if (words == NULL || (tally == NULL && !input_has_tables(result->program)))
        return NULL;
    if (tally == NULL || tally->faulty <= 1)
        return g_strdup(words);
    g_autofree char *rule = tally->ruled ? rule_words(result) : g_strdup("");
    return g_strdup_printf("%s, the %s of %" G_GUINT64_FORMAT " that look wrong, of %" G_GUINT64_FORMAT " tried%s", words,
                           tally->given ? "last" : "smallest", tally->faulty, tally->tried, rule);
}

char *input_remark(const CheckResult *result)
{
    const InputTally *tally = result->inputs;
    g_autofree char *sentence = result->verdict == VERDICT_FAULTY ? input_sentence(result) : NULL;
    g_autofree char *count = tally ? input_count(tally) : NULL;
    if (sentence != NULL)
        return g_strdup_printf("input: %s", sentence);
    if (count == NULL || (result->verdict != VERDICT_VERIFIED && result->verdict != VERDICT_BOUNDED))
        return NULL;
    return g_strdup_printf("%s %s (%" G_GUINT64_FORMAT " shape%s)",
                           result->verdict == VERDICT_VERIFIED ? "verified for all" : "no fault seen in", count, tally->shapes,
                           tally->shapes == 1 ? "" : "s");
}

void input_json(JsonBuilder *builder, const CheckResult *result)
{
    const InputTally *tally = result->inputs;
    g_autofree char *words = result->program ? input_words(result->program) : NULL;
    if (tally == NULL && (words == NULL || !input_has_tables(result->program)))
        return;
    member_object(builder, "inputs");
    member_int(builder, "tried", tally ? tally->tried : 1);
    if (tally != NULL) {
        member_int(builder, "refused", tally->refused);
        member_int(builder, "shapes", tally->shapes);
        member_int(builder, "faulty", tally->faulty);
        member_int(builder, "undecided", tally->undecided);
        member_int(builder, "last_news", tally->last_news);
        member_bool(builder, "all", tally->whole);
    }
    if (words != NULL)
        member_text(builder, "shown", words);
    json_builder_end_object(builder);
}
