/* junit.c - JUnit XML as CI services read it: a suite for each program, a case for each size and set of parameters.
 *
 * Faulty is a failure; bounded is an error unless accepted; a size that is not applicable is skipped; an error without a check is a case of
 * the suite "heddle".
 */
#include <libxml/chvalid.h>
#include <libxml/xmlwriter.h>
#include <string.h>
#include "describe.h"
#include "entry.h"
#include "input_words.h"
#include "output.h"
#include "places.h"
#include "text_check.h"

typedef enum CaseEnd { CASE_PASSED, CASE_FAILED, CASE_ERROR, CASE_SKIPPED } CaseEnd;

typedef struct Case {
    char *suite, *name, *type, *message, *body, *captured;
    CaseEnd outcome;
    double seconds;
} Case;

typedef struct Junit {
    const OutputSettings *settings;
    GPtrArray *cases;                           /* of Case*, those of a suite together */
    GString *text;
} Junit;

static void free_case(gpointer data)
{
    Case *c = data;
    g_free(c->suite);
    g_free(c->name);
    g_free(c->type);
    g_free(c->message);
    g_free(c->body);
    g_free(c->captured);
    g_free(c);
}

static void *junit_begin(const OutputSettings *settings)
{
    Junit *junit = g_new0(Junit, 1);
    *junit = (Junit){ settings, g_ptr_array_new_with_free_func(free_case), g_string_new(NULL) };
    return junit;
}

/* XML cannot hold control characters other than tab and newline, even escaped. */
static char *clean(const char *text)
{
    char *valid = g_utf8_make_valid(text ? text : "", -1);
    GString *out = g_string_sized_new(strlen(valid));
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar letter = g_utf8_get_char(at);
        g_string_append_unichar(out, xmlIsCharQ(letter) ? letter : 0xfffd);
    }
    g_free(valid);
    return g_string_free(out, FALSE);
}

static char *render(const CheckResult *result, const GPtrArray *schedules)
{
    Text text;
    text_init(&text, false, false, false);
    text_check(&text, result, schedules);
    char *body = g_strdup(text.out->str);
    text_clear(&text);
    return body;
}

/* Faults that are known only if all of an entry's are. */
static bool is_known(const CheckResult *result, const Entry *entry)
{
    bool known = true;
    for (guint i = 0; i < entry->findings->len; i++)
        known &= entry_finding(result, entry, i)->known;
    return known;
}

/* "race at ring.c:12 and ring.c:15, with 2 more of its cause; deadlock at ring.c:20" */
static void append_entry(GString *message, GString *type, const CheckResult *result, const Entry *entry)
{
    const Finding *finding = entry_finding(result, entry, 0);
    g_autofree char *name = places_name(result, finding);
    g_string_append_printf(message, "%s%s", message->len ? "; " : "", name);
    if (entry->findings->len > 1)
        g_string_append_printf(message, ", with %u more of its cause", entry->findings->len - 1);
    if (!strstr(type->str, fault_name(finding->id)))
        g_string_append_printf(type, "%s%s", type->len ? ", " : "", fault_name(finding->id));
}

/* Readers agree on one failure a case: its message names each entry. */
static void judge_faulty(Case *c, const CheckResult *result)
{
    g_autoptr(GPtrArray) entries = entries_new(result);
    g_autoptr(GString) message = g_string_new(NULL), type = g_string_new(NULL);
    c->outcome = CASE_PASSED;
    for (guint i = 0; i < entries->len; i++)
        if (!is_known(result, entries->pdata[i]))
            c->outcome = CASE_FAILED;
    for (guint i = 0; i < entries->len; i++)
        if (c->outcome == CASE_PASSED || !is_known(result, entries->pdata[i]))
            append_entry(message, type, result, entries->pdata[i]);
    g_autofree char *words = g_strconcat(c->outcome == CASE_PASSED ? "known from the baseline: " : "faulty: ", message->str, NULL);
    c->type = clean(type->str), c->message = clean(words);
}

static void add_inputs(Case *c, const CheckResult *result)
{
    g_autofree char *remark = input_remark(result);
    if (remark == NULL)
        return;
    g_autofree char *before = c->message, *words = g_strconcat(before ? before : "", before ? "; " : "", remark, NULL);
    c->message = clean(words);
}

static void junit_add(void *document, const CheckResult *result, const GPtrArray *schedules)
{
    Junit *junit = document;
    Case *c = g_new0(Case, 1);
    g_autofree char *title = text_title(result), *body = result->outcome && result->program ? render(result, schedules) : NULL;
    c->suite = clean(result->spec->program), c->name = clean(title), c->seconds = result->seconds, c->body = clean(body);
    c->captured = clean(result->captured);
    g_autofree char *reason = clean(result->error);
    if (result->verdict == VERDICT_FAULTY) {
        judge_faulty(c, result);
    } else if (result->verdict == VERDICT_BOUNDED) {
        c->outcome = junit->settings->accept_bounded ? CASE_PASSED : CASE_ERROR, c->type = g_strdup("bounded");
        c->message = describe_bounded(result->outcome);
    } else if (result->verdict == VERDICT_NOT_APPLICABLE) {
        c->outcome = CASE_SKIPPED, c->message = g_strdup_printf("not applicable: %s", reason);
    }
    add_inputs(c, result);
    g_ptr_array_add(junit->cases, c);
}

static void junit_add_error(void *document, const char *message)
{
    Junit *junit = document;
    Case *c = g_new0(Case, 1);
    c->suite = g_strdup("heddle"), c->outcome = CASE_ERROR, c->type = g_strdup("error");
    c->name = clean(message), c->message = clean(message), c->body = g_strdup(""), c->captured = g_strdup("");
    g_ptr_array_add(junit->cases, c);
}

static void attribute(xmlTextWriterPtr writer, const char *name, const char *value)
{
    xmlTextWriterWriteAttribute(writer, BAD_CAST name, BAD_CAST value);
}

static void counts(xmlTextWriterPtr writer, const GPtrArray *cases, const char *suite)
{
    unsigned count[CASE_SKIPPED + 1] = { 0 }, all = 0;
    double seconds = 0;
    for (guint i = 0; i < cases->len; i++) {
        const Case *c = g_ptr_array_index(cases, i);
        if (suite && strcmp(c->suite, suite))
            continue;
        count[c->outcome]++, all++;
        seconds += c->seconds;
    }
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "tests", "%u", all);
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "failures", "%u", count[CASE_FAILED]);
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "errors", "%u", count[CASE_ERROR]);
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "skipped", "%u", count[CASE_SKIPPED]);
    attribute(writer, "time", g_ascii_formatd(number, sizeof number, "%.3f", seconds));
}

static void write_case(xmlTextWriterPtr writer, const Case *c)
{
    static const char *const element[] = {"", "failure", "error", "skipped"};
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    xmlTextWriterStartElement(writer, BAD_CAST "testcase");
    attribute(writer, "name", c->name);
    attribute(writer, "classname", c->suite);
    attribute(writer, "time", g_ascii_formatd(number, sizeof number, "%.3f", c->seconds));
    if (c->outcome != CASE_PASSED) {
        xmlTextWriterStartElement(writer, BAD_CAST element[c->outcome]);
        attribute(writer, "message", c->message);
        if (c->type)
            attribute(writer, "type", c->type);
        if (c->outcome != CASE_SKIPPED)
            xmlTextWriterWriteString(writer, BAD_CAST c->body);
        xmlTextWriterEndElement(writer);
    } else if (c->message) {
        xmlTextWriterWriteFormatElement(writer, BAD_CAST "system-out", "%s\n%s", c->message, c->body);
    }
    if (*c->captured)
        xmlTextWriterWriteElement(writer, BAD_CAST "system-err", BAD_CAST c->captured);
    xmlTextWriterEndElement(writer);
}

static bool is_first_of_suite(const GPtrArray *cases, guint index)
{
    const Case *c = g_ptr_array_index(cases, index);
    for (guint i = 0; i < index; i++)
        if (!strcmp(((Case *)g_ptr_array_index(cases, i))->suite, c->suite))
            return false;
    return true;
}

static void write_suite(xmlTextWriterPtr writer, const GPtrArray *cases, const char *suite)
{
    xmlTextWriterStartElement(writer, BAD_CAST "testsuite");
    attribute(writer, "name", suite);
    counts(writer, cases, suite);
    for (guint i = 0; i < cases->len; i++) {
        const Case *c = g_ptr_array_index(cases, i);
        if (!strcmp(c->suite, suite))
            write_case(writer, c);
    }
    xmlTextWriterEndElement(writer);
}

static const GString *junit_text(void *document)
{
    Junit *junit = document;
    xmlBufferPtr buffer = xmlBufferCreate();
    xmlTextWriterPtr writer = xmlNewTextWriterMemory(buffer, 0);
    g_assert(writer != NULL);
    xmlTextWriterSetIndent(writer, 1);
    xmlTextWriterStartDocument(writer, NULL, "UTF-8", NULL);
    xmlTextWriterStartElement(writer, BAD_CAST "testsuites");
    attribute(writer, "name", "heddle");
    counts(writer, junit->cases, NULL);
    for (guint i = 0; i < junit->cases->len; i++)
        if (is_first_of_suite(junit->cases, i))
            write_suite(writer, junit->cases, ((Case *)g_ptr_array_index(junit->cases, i))->suite);
    xmlTextWriterEndDocument(writer);
    xmlFreeTextWriter(writer);
    g_string_assign(junit->text, (const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return junit->text;
}

static void junit_clear(void *document)
{
    Junit *junit = document;
    g_ptr_array_unref(junit->cases);
    g_string_free(junit->text, TRUE);
    g_free(junit);
}

const OutputFormat junit_format = { junit_begin, junit_add, junit_add_error, junit_text, junit_clear, false };
