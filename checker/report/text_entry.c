/* text_entry.c - the first file that an entry names is named in full; from then on its places are lines, and those of other files have no
 * folder.
 */
#include "text_entry.h"
#include <string.h>
#include "describe.h"
#include "message.h"
#include "narrative.h"
#include "places.h"

enum { CITED_MAX = 2, SYMPTOMS_MAX = 4 };

typedef struct EntryText {
    Text *text;
    const CheckResult *result;
    const Finding *finding;                     /* the first of the entry */
    char *file;                                 /* the first that was named; NULL: none yet */
    uint32_t function;                          /* of the place before, 0: none */
    GPtrArray *quoted;                          /* of char*, "kernel.c:12" */
    GHashTable *placed;                         /* devices that were named with their coordinates; looked up only */
} EntryText;

static const char *without_folder(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* "kernels/ring.c:12" at a later time: "line 12", or "ring.c:12" in another file. The first time it stays. */
static void append_place(EntryText *t, GString *out, const char *file, unsigned line)
{
    if (!t->file)
        t->file = g_strdup(file), g_string_append_printf(out, "%s:%u", file, line);
    else if (!strcmp(t->file, file))
        g_string_append_printf(out, "line %u", line);
    else
        g_string_append_printf(out, "%s:%u", without_folder(file), line);
}

static gboolean keep_first(const GMatchInfo *match, GString *out, gpointer placed)
{
    g_autofree char *device = g_match_info_fetch(match, 1), *coordinates = g_match_info_fetch(match, 2);
    g_string_append_printf(out, "%s%s", device, g_hash_table_add(placed, g_strdup(device + 1)) ? coordinates : "");
    return FALSE;
}

/* "device 5 (1,2)" at a later time: "device 5". */
static char *brief_devices(EntryText *t, const char *words)
{
    g_autoptr(GRegex) regex = g_regex_new("([Dd]evice [0-9]+)( \\([0-9]+(?:,[0-9]+)+\\))", 0, 0, NULL);
    return g_regex_replace_eval(regex, words, -1, 0, 0, keep_first, t->placed, NULL);
}

/* A sentence whose places and devices are named shortly. */
static char *shortened(EntryText *t, const char *sentence)
{
    g_autofree char *words = brief_devices(t, sentence);
    GString *out = g_string_new(NULL);
    for (const char *at = words; *at;) {
        unsigned line = 0;
        size_t length = places_cited(at, &line);
        if (length > 0) {
            g_autofree char *file = g_strndup(at, length);
            append_place(t, out, file, line);
            at += length + 1;
            at += strspn(at, "0123456789");
        }
        const char *next = places_next_word(at);
        g_string_append_len(out, at, next - at);
        at = next;
    }
    return g_string_free(out, FALSE);
}

static void tell(EntryText *t, const char *lead, const char *words)
{
    g_auto(GStrv) line = g_strsplit(words, "\n", -1);
    for (char **at = line; *at; at++) {
        g_autofree char *brief = shortened(t, *at), *blank = g_strnfill(strlen(lead), ' ');
        text_wrapped(t->text, 4, at == line ? lead : blank, brief);
    }
}

/* What fits behind that column. */
static void append_code(Text *text, unsigned column, const char *code)
{
    unsigned room = text->width > column + 10 ? text->width - column : 10;
    bool fits = (unsigned)g_utf8_strlen(code, -1) <= room;
    g_autofree char *part = fits ? g_strdup(code) : g_utf8_substring(code, 0, (glong)room - 4);
    g_string_append_printf(text->out, " %s%s\n", part, fits ? "" : " ...");
}

/* Quotes the line unless the entry has done so. */
static void quote(EntryText *t, const char *file, unsigned line)
{
    g_autofree char *place = g_strdup_printf("%s:%u", file, line);
    const char *code = source_line(t->text->source, file, line);
    if (!code || g_ptr_array_find_with_equal_func(t->quoted, place, g_str_equal, NULL))
        return;
    bool own = t->file && !strcmp(t->file, file);
    g_autofree char *lead = g_strdup_printf("      %s%s%u |", own ? "" : without_folder(file), own ? "" : ":", line);
    text_colored(t->text, TEXT_FAINT, "%s", lead);
    append_code(t->text, (unsigned)g_utf8_strlen(lead, -1) + 1, code + strspn(code, " "));
    g_ptr_array_add(t->quoted, g_steal_pointer(&place));
}

/* Quotes the source lines that an explanation names. */
static void quote_cited(EntryText *t, const char *why)
{
    guint most = t->quoted->len + CITED_MAX;
    for (const char *at = why; *at && t->quoted->len < most; at = places_next_word(at)) {
        unsigned line = 0;
        size_t length = places_cited(at, &line);
        g_autofree char *file = g_strndup(at, length);
        if (length > 0)
            quote(t, file, line);
    }
}

/* "kernels/ring.c:47, in ring, grid step 0", and the line itself. */
static void tell_place(EntryText *t, const Place *place)
{
    const Program *program = t->result->program;
    const Site *site = program_get_site(program, place->site);
    g_autoptr(GString) words = g_string_new(NULL);
    append_place(t, words, program_text(program, site->file), site->line);
    if (site->function != t->function && *program_text(program, site->function))
        g_string_append_printf(words, ", in %s", program_text(program, site->function));
    t->function = site->function;
    places_append_grid(words, t->result, place);
    text_wrapped(t->text, 4, "", words->str);
    for (uint32_t call = program_caller(program, place->site); call != NONE; call = program_caller(program, call)) {
        g_autofree char *caller = describe_call(program, call), *brief = shortened(t, caller);
        text_wrapped(t->text, 6, "called from ", brief);
    }
    quote(t, program_text(program, site->file), site->line);
}

static void tell_places(EntryText *t)
{
    for (unsigned i = 0; i < t->finding->places; i++)
        tell_place(t, &t->finding->place[i]);
}

static void tell_headline(EntryText *t)
{
    g_autofree char *message = message_text(t->result, t->finding), *count = message_count(t->finding);
    g_autofree char *told = brief_devices(t, message), *words = g_strconcat(": ", told, count, NULL);
    g_string_append(t->text->out, "  ");
    text_colored(t->text, TEXT_BAD, "%s", fault_name(t->finding->id));
    text_flow(t->text, 2 + (unsigned)strlen(fault_name(t->finding->id)), 2, words);
}

static void tell_cause(EntryText *t)
{
    g_autofree char *why = message_why(t->result, t->finding);
    if (!why)
        return;
    tell(t, "Why:  ", why);
    quote_cited(t, why);
}

/* It was tried on the whole program, and kept as it removed all faults: then there is one entry. */
bool text_is_repair(const GPtrArray *entries, const Repair *repair)
{
    return entries->len == 1 && repair->kind == REPAIR_MENDS;
}

static bool tell_repairs(EntryText *t, const GPtrArray *entries)
{
    bool any = false;
    for (guint i = 0; t->result->tried && i < t->result->tried->len; i++) {
        const Repair *repair = t->result->tried->pdata[i];
        if (!text_is_repair(entries, repair))
            continue;
        tell(t, any ? "    or:  " : "Repair:  ", repair->words);
        any = true;
    }
    return any;
}

static void tell_how_to_see(EntryText *t, const char *schedule)
{
    g_autoptr(GPtrArray) delays = message_delays(t->result->program, t->finding);
    if (schedule)
        g_string_append_printf(t->text->out, "    See it:  heddle replay %s\n", schedule);
    for (guint i = 0; delays && i < delays->len; i++)
        tell(t, i > 0 || schedule ? "         " : "See it:  ", delays->pdata[i]);
}

static void tell_story(EntryText *t)
{
    g_autoptr(GPtrArray) lines = t->text->story ? narrative_lines(t->result, t->finding) : NULL;
    if (lines)
        g_string_append(t->text->out, "    How it happens:\n");
    for (guint i = 0; lines && i < lines->len; i++) {
        g_autofree char *brief = shortened(t, lines->pdata[i]);
        text_wrapped(t->text, 6, "- ", brief);
    }
}

static void tell_moves(EntryText *t)
{
    if (!t->text->verbose || !t->finding->lines)
        return;
    g_string_append_printf(t->text->out, "    The schedule, %u moves:\n", t->finding->lines->len);
    for (guint i = 0; i < t->finding->lines->len; i++)
        g_string_append_printf(t->text->out, "      %s\n", (char *)t->finding->lines->pdata[i]);
}

static bool same_line(const Program *program, const Place *a, const Place *b)
{
    return program_same_line(program, a->site, b->site) && program_caller(program, a->site) == program_caller(program, b->site);
}

/* " at kernel.c:18 and line 20", for at most two lines, with the first caller of each. */
static void append_lines(EntryText *t, GString *out, const Finding *finding)
{
    const Program *program = t->result->program;
    g_autoptr(GArray) places = places_shown(t->result, finding, PLACES_LOOKED_AT);
    unsigned told = 0;
    for (guint i = 0; i < places->len && told < 2; i++) {
        const Place *place = &g_array_index(places, Place, i);
        const Site *site = program_get_site(program, place->site);
        uint32_t caller = program_caller(program, place->site);
        if (told && same_line(program, place, &g_array_index(places, Place, 0)))
            continue;
        g_string_append(out, told++ ? " and " : " at ");
        append_place(t, out, program_text(program, site->file), site->line);
        g_autofree char *call = caller == NONE ? NULL : describe_call(program, caller), *brief = call ? shortened(t, call) : NULL;
        if (brief)
            g_string_append_printf(out, " (called from %s)", brief);
    }
}

/* "race of slots at line 41 and line 35 (12 pairs)" */
static char *symptom_words(EntryText *t, const Finding *finding)
{
    GString *out = g_string_new(fault_name(finding->id));
    const Decl *decl = finding_decl(t->result->program, finding);
    if (decl)
        g_string_append_printf(out, " of %s", program_text(t->result->program, decl->name));
    if (finding->id == FAULT_IN_FLIGHT)
        g_string_append_printf(out, " (%s)", step_kind_name(finding->place[0].kind));
    append_lines(t, out, finding);
    if (finding->count > 1)
        g_string_append_printf(out, " (%s%" G_GUINT64_FORMAT " %s)", finding->at_most ? "at most " : "", finding->count,
                               finding->places == 2 ? "pairs" : "times");
    return g_string_free(out, FALSE);
}

static void tell_symptoms(EntryText *t, const Entry *entry)
{
    guint symptoms = entry->findings->len - 1;
    guint shown = t->text->verbose || symptoms <= SYMPTOMS_MAX + 1 ? symptoms : SYMPTOMS_MAX;
    for (guint i = 1; i <= shown; i++) {
        g_autofree char *words = symptom_words(t, entry_finding(t->result, entry, i));
        text_wrapped(t->text, 4, i > 1 ? "       " : "Also:  ", words);
    }
    if (symptoms > shown)
        g_string_append_printf(t->text->out, "           and %u more (-v lists them)\n", symptoms - shown);
}

/* The line of fault_repairs that fits best; NULL: none. */
static char *usual_repair(const Finding *finding)
{
    g_auto(GStrv) item = g_strsplit(fault_repairs(finding->id), "  - ", -1);
    return item[0] && item[1] ? g_strstrip(g_strdup(item[1])) : NULL;
}

static void tell_help(EntryText *t)
{
    g_autofree char *help = t->text->helped & 1u << t->finding->id ? NULL : usual_repair(t->finding);
    t->text->helped |= 1u << t->finding->id;
    if (help)
        text_wrapped(t->text, 4, "What usually helps: ", help);
}

static const char *told_of(const Text *text, const CheckResult *result, const Finding *finding)
{
    g_autofree char *key = message_key(result->program, finding);
    return g_hash_table_lookup(text->reported, key);
}

const char *text_told(const Text *text, const CheckResult *result, const Entry *entry)
{
    const char *told = NULL;
    for (guint i = 0; i < entry->findings->len; i++) {
        told = told_of(text, result, entry_finding(result, entry, i));
        if (!told)
            return NULL;
    }
    return told;
}

static void note_told(Text *text, const CheckResult *result, const Entry *entry)
{
    for (guint i = 0; i < entry->findings->len; i++) {
        g_autofree char *key = message_key(result->program, entry_finding(result, entry, i));
        text_report(text, result, key);
    }
}

/* An entry whose first finding was told with another size: what is new. */
static void tell_news(Text *text, const CheckResult *result, const Entry *entry)
{
    const char *earlier = told_of(text, result, entry_finding(result, entry, 0));
    for (guint i = 1; i < entry->findings->len; i++) {
        const Finding *finding = entry_finding(result, entry, i);
        if (told_of(text, result, finding))
            continue;
        g_autofree char *name = places_name(result, finding);
        g_autofree char *words = g_strdup_printf("%s, of the same cause as with %s", name, earlier);
        text_wrapped(text, 2, "", words);
    }
}

static void tell_entry(EntryText *t, const GPtrArray *entries, const Entry *entry, const char *schedule)
{
    tell_headline(t);
    tell_places(t);
    tell_cause(t);
    bool repaired = tell_repairs(t, entries);
    tell_how_to_see(t, schedule);
    tell_symptoms(t, entry);
    if (!repaired)
        tell_help(t);
    tell_story(t);
    tell_moves(t);
}

void text_entry(Text *text, const CheckResult *result, const GPtrArray *entries, guint number, const GPtrArray *schedules)
{
    const Entry *entry = entries->pdata[number];
    guint first = g_array_index(entry->findings, guint, 0);
    EntryText t = {.text = text, .result = result, .finding = entry_finding(result, entry, 0),
                   .quoted = g_ptr_array_new_with_free_func(g_free),
                   .placed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    if (told_of(text, result, t.finding)) {
        tell_news(text, result, entry);
    } else {
        if (number > 0)
            g_string_append_c(text->out, '\n');
        tell_entry(&t, entries, entry, schedules ? schedules->pdata[first] : NULL);
    }
    note_told(text, result, entry);
    g_ptr_array_unref(t.quoted);
    g_hash_table_unref(t.placed);
    g_free(t.file);
}

void text_entry_name(Text *text, const CheckResult *result, const Entry *entry)
{
    g_autofree char *name = places_name(result, entry_finding(result, entry, 0));
    text_wrapped(text, 2, "", name);
}
