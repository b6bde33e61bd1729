/* text_entry.c - the first file that an entry names is named in full; from then on its places are lines, and those of other files have no
 * folder. An entry that is too long is told again with more of it folded.
 */
#include "text_entry.h"
#include <string.h>
#include "describe.h"
#include "diff.h"
#include "message.h"
#include "places.h"
#include "telling.h"

enum { CITED_MAX = 2, SYMPTOMS_MAX = 4, CHANGES_MAX = 6, ENTRY_LINES = 19 };

typedef enum Fold { FOLD_NOTHING, FOLD_SYMPTOMS, FOLD_REPAIRS, FOLD_CHANGES, FOLDS } Fold;

typedef struct EntryText {
    Text *text;
    const Told *told;
    const CheckResult *result;
    Fold fold;                                  /* this, and those before it, are folded */
    guint items, item;                          /* of this part; how many were told */
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

/* "     12 | pl_load(y);", behind a sign. */
static void append_line(EntryText *t, TextColor color, char sign, const char *file, unsigned line, const char *code)
{
    bool own = t->file && !strcmp(t->file, file);
    g_autofree char *lead = g_strdup_printf("    %c %s%s%u |", sign, own ? "" : without_folder(file), own ? "" : ":", line);
    text_colored(t->text, color, "%s", lead);
    append_code(t->text, (unsigned)g_utf8_strlen(lead, -1) + 1, code + strspn(code, " \t"));
}

/* Quotes the line unless the entry has done so. */
static void quote(EntryText *t, const char *file, unsigned line)
{
    g_autofree char *place = g_strdup_printf("%s:%u", file, line);
    const char *code = source_line(t->text->source, file, line);
    if (!code || g_ptr_array_find_with_equal_func(t->quoted, place, g_str_equal, NULL))
        return;
    append_line(t, TEXT_FAINT, ' ', file, line, code);
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

/* "kernels/ring.c:47, in ring, grid step 0", and the line itself. A deadlock's places are in its cause. */
static void tell_place(void *to, const Place *place)
{
    EntryText *t = to;
    const Program *program = t->result->program;
    const Site *site = program_get_site(program, place->site);
    g_autoptr(GString) words = g_string_new(NULL);
    if (t->told->finding->places == 0)
        return;
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

static void tell_headline(EntryText *t, const char *headline)
{
    const char *fault = fault_name(t->told->finding->id);
    g_autofree char *told = brief_devices(t, headline), *words = g_strconcat(": ", told, NULL);
    g_string_append(t->text->out, "  ");
    text_colored(t->text, TEXT_BAD, "%s", fault);
    text_flow(t->text, 2 + (unsigned)strlen(fault), 2, words);
}

/* What usually helps is said once for each kind of fault. */
static void tell_help(EntryText *t, const char *words)
{
    FaultId id = t->told->finding->id;
    if (!(t->text->helped & 1u << id))
        text_wrapped(t->text, 4, "What usually helps:  ", words);
    t->text->helped |= 1u << id;
}

static void tell_words(void *to, TellingPart part, const char *words)
{
    EntryText *t = to;
    switch ((unsigned)part) {
    case TELLING_HEADLINE:
        tell_headline(t, words);
        break;
    case TELLING_CAUSE:
        tell(t, "Why:  ", words);
        quote_cited(t, words);
        break;
    case TELLING_HOLDS:
        tell(t, "Holds:  ", words);
        break;
    case TELLING_COMMAND:
        g_string_append_printf(t->text->out, "    See it:  %s\n", words);
        break;
    case TELLING_DELAYS:
        tell(t, t->item++ > 0 || t->told->schedule ? "         " : "See it:  ", words);
        break;
    case TELLING_HELPS:
        tell_help(t, words);
        break;
    }
}

/* The lines of the file before and after; a new line has the number that it will have. */
static void tell_changes(EntryText *t, const Repair *repair)
{
    g_autoptr(GPtrArray) lines = diff_lines(repair);
    int shift = 0;
    for (guint i = 0; i < MIN(lines->len, CHANGES_MAX); i++) {
        const RepairLine *line = lines->pdata[i];
        bool same_file = i > 0 && !strcmp(((RepairLine *)lines->pdata[i - 1])->file, line->file);
        shift = same_file ? shift : 0;
        if (line->old)
            append_line(t, TEXT_BAD, '-', line->file, line->line, line->old);
        if (line->new)
            append_line(t, TEXT_GOOD, '+', line->file, (unsigned)((int)line->line + shift), line->new);
        shift += (line->new != NULL) - (line->old != NULL);
    }
    if (lines->len > CHANGES_MAX)
        g_string_append_printf(t->text->out, "      and %u more lines\n", lines->len - CHANGES_MAX);
}

static void tell_repair(void *to, TellingPart part, const Repair *repair, const char *words)
{
    EntryText *t = to;
    (void)part;
    guint number = t->item++;
    if (number > 0 && t->fold >= FOLD_REPAIRS)
        return;
    tell(t, number > 0 ? "    or:  " : "Repair:  ", words);
    if (t->text->story || (number == 0 && t->fold < FOLD_CHANGES))
        tell_changes(t, repair);
}

static void tell_step(void *to, const NarrativeStep *step)
{
    EntryText *t = to;
    g_autofree char *words = narrative_words(t->result, step), *brief = shortened(t, words);
    text_wrapped(t->text, 6, "- ", brief);
}

static void tell_moves(const Text *text, const Finding *finding)
{
    if (!text->verbose || !finding->lines)
        return;
    g_string_append_printf(text->out, "    The schedule, %u moves:\n", finding->lines->len);
    for (guint i = 0; i < finding->lines->len; i++)
        g_string_append_printf(text->out, "      %s\n", (char *)finding->lines->pdata[i]);
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
    if (message_holds_briefly(finding))
        g_string_append_printf(out, ", %s", message_holds_briefly(finding));
    return g_string_free(out, FALSE);
}

static void tell_symptom(void *to, const Finding *finding)
{
    EntryText *t = to;
    guint shown = t->text->story || t->items <= SYMPTOMS_MAX + 1 ? t->items : SYMPTOMS_MAX;
    if (t->fold >= FOLD_SYMPTOMS || t->item++ >= shown)
        return;
    g_autofree char *words = symptom_words(t, finding);
    text_wrapped(t->text, 4, t->item > 1 ? "       " : "Also:  ", words);
    if (t->item == shown && shown < t->items)
        g_string_append_printf(t->text->out, "           and %u more (--story lists them)\n", t->items - shown);
}

static void begin_part(void *to, TellingPart part, guint items)
{
    EntryText *t = to;
    t->items = items, t->item = 0;
    if (part == TELLING_STORY)
        g_string_append(t->text->out, "    How it happens:\n");
    if (part == TELLING_SYMPTOMS && t->fold >= FOLD_SYMPTOMS)
        g_string_append_printf(t->text->out, "    Also:  %u more fault%s of this cause (--story lists them)\n", items,
                               items > 1 ? "s" : "");
}

static void end_part(void *to, TellingPart part)
{
    EntryText *t = to;
    if (part == TELLING_REPAIRS && t->fold >= FOLD_REPAIRS && t->items > 1)
        g_string_append_printf(t->text->out, "        or:  %u more (--story lists them)\n", t->items - 1);
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

static void tell_folded(Text *text, const Told *told, Fold fold)
{
    Teller teller = { .parts = TELLING_ALL & ~(1u << TELLING_TRIED), .begin = begin_part, .words = tell_words, .place = tell_place,
                      .repair = tell_repair, .symptom = tell_symptom, .step = tell_step, .end = end_part };
    teller.parts &= text->story ? ~0u : ~(1u << TELLING_STORY);
    EntryText t = { .text = text, .told = told, .result = told->result, .fold = fold, .quoted = g_ptr_array_new_with_free_func(g_free),
                    .placed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
    telling(&teller, &t, told);
    g_ptr_array_unref(t.quoted);
    g_hash_table_unref(t.placed);
    g_free(t.file);
}

static unsigned lines_of(const char *text)
{
    unsigned lines = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        lines++;
    return lines;
}

static void tell_entry(Text *text, const Told *told)
{
    gsize begin = text->out->len;
    uint32_t helped = text->helped;
    for (Fold fold = FOLD_NOTHING; fold < FOLDS; fold++) {
        g_string_truncate(text->out, begin);
        text->helped = helped;
        tell_folded(text, told, fold);
        if (text->story || lines_of(text->out->str + begin) <= ENTRY_LINES)
            break;
    }
    tell_moves(text, told->finding);
}

void text_entry(Text *text, const CheckResult *result, const GPtrArray *entries, guint number, const GPtrArray *schedules)
{
    const Entry *entry = entries->pdata[number];
    guint first = g_array_index(entry->findings, guint, 0);
    const Told told = { result, entry_finding(result, entry, 0), entry, entries->len == 1, number == 0,
                        schedules ? schedules->pdata[first] : NULL };
    if (told_of(text, result, told.finding)) {
        tell_news(text, result, entry);
    } else {
        if (number > 0)
            g_string_append_c(text->out, '\n');
        tell_entry(text, &told);
    }
    note_told(text, result, entry);
}

void text_entry_name(Text *text, const CheckResult *result, const Entry *entry)
{
    g_autofree char *name = places_name(result, entry_finding(result, entry, 0));
    text_wrapped(text, 2, "", name);
}
