/* markdown.c - for comments on pull requests and summaries of CI, which end at 65,536 characters: a table of the checks, then each thing to
 * mend. Where it is too long the stories go first, then what else was tried and seen, then the last entries; the text says what is missing.
 */
#include <string.h>
#include "describe.h"
#include "diff.h"
#include "entry.h"
#include "marked.h"
#include "message.h"
#include "narrative.h"
#include "output.h"
#include "paths.h"
#include "places.h"
#include "source.h"
#include "text.h"

enum { BYTES_MAX = 64900, TABLE_MAX = 20000, ERRORS_MAX = 10000, SENTENCE_MAX = 2000, LABEL_MAX = 300, CHECKS_MAX = 800, BLOCK_MAX = 4000,
       PLACES_MAX = 4 };

/* Of an entry, the last first where the text is too long. */
typedef enum Part { PART_NAME, PART_CHECKS, PART_HEAD, PART_REST, PART_STORY, PARTS } Part;

typedef struct Piece { GString *part[PARTS]; } Piece;           /* an entry as text */

typedef struct Markdown {
    const OutputSettings *settings;
    char *root, *blob;                          /* blob: where the files of this commit are seen; NULL: unknown */
    Source *source;
    unsigned count[VERDICT_NOT_APPLICABLE + 1];
    GPtrArray *rows, *errors;                   /* of char* */
    GPtrArray *pieces;                          /* of Piece */
    GHashTable *seen;                           /* message_key -> Piece; looked up only */
    GString *text;
} Markdown;

static void piece_free(void *data)
{
    Piece *piece = data;
    for (Part part = 0; part < PARTS; part++)
        g_string_free(piece->part[part], TRUE);
    g_free(piece);
}

static Piece *piece_new(void)
{
    Piece *piece = g_new0(Piece, 1);
    for (Part part = 0; part < PARTS; part++)
        piece->part[part] = g_string_new(NULL);
    return piece;
}

/* Where GitHub shows the files of the commit that is being checked. */
static char *blob_address(void)
{
    const char *server = g_getenv("GITHUB_SERVER_URL"), *repository = g_getenv("GITHUB_REPOSITORY"), *commit = g_getenv("GITHUB_SHA");
    if (!server || !repository || !commit || !*server || !*repository || !*commit)
        return NULL;
    g_autofree char *address = g_strdup_printf("%s/%s/blob/%s/", server, repository, commit);
    return g_uri_escape_string(address, ":/", FALSE);
}

static void *markdown_begin(const OutputSettings *settings)
{
    Markdown *md = g_new0(Markdown, 1);
    *md = (Markdown){ .settings = settings, .root = paths_root(settings->source_root), .blob = blob_address(), .source = source_new(),
                      .rows = g_ptr_array_new_with_free_func(g_free), .errors = g_ptr_array_new_with_free_func(g_free),
                      .pieces = g_ptr_array_new_with_free_func(piece_free), .text = g_string_new(NULL),
                      .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL) };
    return md;
}

/* "[kernel.c:12](kernel.c#L12)"; without a link if the file is not below the root. */
static void append_place(GString *out, const Markdown *md, const char *file, unsigned line)
{
    bool inside;
    g_autofree char *path = paths_shown(md->root, file, &inside), *where = g_strdup_printf("%s:%u", path, line);
    bool there = inside && g_file_test(file, G_FILE_TEST_EXISTS);
    g_autofree char *address = there ? g_uri_escape_string(path, "/", FALSE) : NULL;
    g_string_append(out, there ? "[" : "");
    marked_text(out, where, LABEL_MAX);
    if (there)
        g_string_append_printf(out, "](%s%s#L%u)", md->blob ? md->blob : "", address, line);
}

/* The text from `at` up to `until`. */
static void append_plain(GString *out, const Markdown *md, const char *at, const char *until)
{
    g_autofree char *part = g_strndup(at, (gsize)(until - at)), *told = paths_in_text(md->root, part);
    marked_text(out, told, SENTENCE_MAX);
}

/* A sentence, with links to the places that it names. */
static void append_words(GString *out, const Markdown *md, const char *words)
{
    gsize begin = out->len;
    const char *told = words;
    for (const char *at = words; *at && out->len - begin < SENTENCE_MAX; at = places_next_word(at)) {
        unsigned line = 0;
        size_t length = places_cited(at, &line);
        g_autofree char *file = g_strndup(at, length);
        if (length == 0 || source_count(md->source, file) == 0)
            continue;
        append_plain(out, md, told, at);
        append_place(out, md, file, line);
        told = at + length + 1 + strspn(at + length + 1, "0123456789");
    }
    append_plain(out, md, told, told + strlen(told));
}

static void append_place_line(GString *out, const Markdown *md, const CheckResult *result, const Place *place)
{
    const Program *program = result->program;
    const Site *site = program_get_site(program, place->site);
    g_autofree char *inside = places_inside(result, place);
    append_place(out, md, program_text(program, site->file), site->line);
    marked_text(out, inside, LABEL_MAX);
    for (uint32_t call = program_caller(program, place->site); call != NONE; call = program_caller(program, call)) {
        g_autofree char *words = describe_call(program, call);
        g_string_append(out, ", called from ");
        append_words(out, md, words);
    }
}

static void append_places(GString *out, const Markdown *md, const CheckResult *result, const Finding *finding)
{
    g_autoptr(GArray) places = places_shown(result, finding, G_MAXUINT);
    g_autoptr(GString) code = g_string_new(NULL);
    for (guint i = 0; i < places->len && i < PLACES_MAX; i++) {
        const Place *place = &g_array_index(places, Place, i);
        const Site *site = program_get_site(result->program, place->site);
        const char *text = source_line(md->source, program_text(result->program, site->file), site->line);
        g_autofree char *line = text ? g_strdup_printf("%u: %s\n", site->line, text + strspn(text, " ")) : NULL;
        g_string_append(out, "- ");
        append_place_line(out, md, result, place);
        g_string_append_c(out, '\n');
        if (line && !strstr(code->str, line) && code->len + strlen(line) < BLOCK_MAX)
            g_string_append(code, line);
    }
    if (places->len > PLACES_MAX)
        g_string_append_printf(out, "- and %u more\n", places->len - PLACES_MAX);
    g_string_append(out, places->len ? "\n" : "");
    if (code->len)
        marked_block(out, "", code->str);
    g_string_append(out, code->len ? "\n" : "");
}

static void append_cause(GString *out, const Markdown *md, const CheckResult *result, const Finding *finding)
{
    g_autofree char *why = message_why(result, finding);
    g_auto(GStrv) line = g_strsplit(why ? why : "", "\n", -1);
    for (char **at = line; *at; at++) {
        if (**at == '\0')
            continue;
        g_string_append(out, at == line ? "**Why:** " : "");
        append_words(out, md, *at);
        g_string_append(out, "\n\n");
    }
}

static void append_repair(GString *out, Markdown *md, const Repair *repair)
{
    g_autofree char *diff = diff_text(repair, md->source), *told = diff ? paths_in_text(md->root, diff) : NULL;
    append_words(out, md, repair->words);
    g_string_append(out, "\n\n");
    if (told && strlen(told) < BLOCK_MAX)
        marked_block(out, "diff", told);
    g_string_append(out, told ? "\n" : "");
}

/* Those that make the program right: they remove every fault, so there is one entry. */
static void append_repairs(GString *out, Markdown *md, const CheckResult *result)
{
    for (guint i = 0; result->tried && i < result->tried->len; i++) {
        const Repair *repair = result->tried->pdata[i];
        if (repair->kind != REPAIR_MENDS)
            continue;
        g_string_append(out, "**Repair:** ");
        append_repair(out, md, repair);
    }
}

static void append_how_to_see(GString *out, const Markdown *md, const CheckResult *result, const Finding *finding, const char *schedule)
{
    g_autoptr(GPtrArray) delays = message_delays(result->program, finding);
    if (!schedule && !delays)
        return;
    g_string_append(out, "**See it:** ");
    if (schedule) {
        g_autofree char *command = g_strdup_printf("heddle replay %s", schedule);
        marked_code(out, command);
    }
    for (guint i = 0; delays && i < delays->len; i++) {
        g_string_append(out, i || schedule ? "; " : "");
        append_words(out, md, delays->pdata[i]);
    }
    g_string_append(out, "\n\n");
}

static void begin_details(GString *out, const char *summary)
{
    g_string_append_printf(out, "<details><summary>%s</summary>\n\n", summary);
}

static void end_details(GString *out)
{
    g_string_append(out, "\n</details>\n\n");
}

static void append_story(GString *out, const Markdown *md, const CheckResult *result, const Finding *finding)
{
    g_autoptr(GPtrArray) lines = narrative_lines(result, finding);
    if (!lines || lines->len == 0)
        return;
    begin_details(out, "How it happens");
    for (guint i = 0; i < lines->len; i++) {
        g_string_append_printf(out, "%u. ", i + 1);
        append_words(out, md, lines->pdata[i]);
        g_string_append_c(out, '\n');
    }
    end_details(out);
}

static void append_symptoms(GString *out, const Markdown *md, const CheckResult *result, const Entry *entry)
{
    if (entry->findings->len < 2)
        return;
    begin_details(out, "Also of this cause");
    for (guint i = 1; i < entry->findings->len; i++) {
        g_autofree char *name = places_name(result, entry_finding(result, entry, i));
        g_string_append(out, "- ");
        append_words(out, md, name);
        g_string_append_c(out, '\n');
    }
    end_details(out);
}

/* What else was tried: it is told with the first entry of a check. */
static void append_tried(GString *out, Markdown *md, const CheckResult *result)
{
    for (guint i = 0; result->tried && i < result->tried->len; i++) {
        const Repair *repair = result->tried->pdata[i];
        if (repair->kind == REPAIR_MENDS)
            continue;
        g_string_append(out, "- ");
        append_words(out, md, repair->words);
        g_string_append_c(out, '\n');
    }
}

/* A check that shows the entry. */
static void add_check(Piece *piece, const CheckResult *result)
{
    GString *checks = piece->part[PART_CHECKS];
    g_autofree char *named = checks->len ? text_size(result->spec) : text_title(result);
    g_string_truncate(checks, checks->len ? checks->len - strlen("\n\n") : 0);
    if (checks->len < CHECKS_MAX) {
        g_string_append(checks, checks->len ? "; " : "In ");
        marked_text(checks, named, LABEL_MAX);
    } else if (!g_str_has_suffix(checks->str, "; and more")) {
        g_string_append(checks, "; and more");
    }
    g_string_append(checks, "\n\n");
}

static void append_heading(GString *out, const Markdown *md, const CheckResult *result, const Finding *finding)
{
    g_autofree char *name = places_name(result, finding), *told = paths_in_text(md->root, name);
    g_string_append(out, "### ");
    marked_text(out, told, LABEL_MAX);
    g_string_append_printf(out, "%s\n\n", finding->known ? " (known)" : "");
}

static void append_message(GString *out, const Markdown *md, const CheckResult *result, const Finding *finding)
{
    g_autofree char *message = message_text(result, finding), *count = message_count(finding);
    append_words(out, md, message);
    g_string_append_printf(out, "%s.\n\n", count);
}

static void add_piece(Markdown *md, const CheckResult *result, const Entry *entry, const char *schedule, bool first)
{
    const Finding *finding = entry_finding(result, entry, 0);
    Piece *piece = piece_new();
    GString *head = piece->part[PART_HEAD], *rest = piece->part[PART_REST];
    append_heading(piece->part[PART_NAME], md, result, finding);
    add_check(piece, result);
    append_message(head, md, result, finding);
    append_places(head, md, result, finding);
    append_cause(head, md, result, finding);
    append_repairs(head, md, result);
    append_how_to_see(head, md, result, finding, schedule);
    append_symptoms(rest, md, result, entry);
    if (first) {
        g_autoptr(GString) tried = g_string_new(NULL);
        append_tried(tried, md, result);
        if (tried->len) {
            begin_details(rest, "What else was tried");
            g_string_append(rest, tried->str);
            end_details(rest);
        }
    }
    append_story(piece->part[PART_STORY], md, result, finding);
    g_ptr_array_add(md->pieces, piece);
    g_hash_table_insert(md->seen, message_key(result->program, finding), piece);
}

static void add_entries(Markdown *md, const CheckResult *result, const GPtrArray *schedules)
{
    g_autoptr(GPtrArray) entries = entries_new(result);
    for (guint i = 0; i < entries->len; i++) {
        const Entry *entry = entries->pdata[i];
        g_autofree char *key = message_key(result->program, entry_finding(result, entry, 0));
        Piece *piece = g_hash_table_lookup(md->seen, key);
        if (piece)
            add_check(piece, result);
        else
            add_piece(md, result, entry, schedules ? schedules->pdata[g_array_index(entry->findings, guint, 0)] : NULL, i == 0);
    }
}

/* What a verdict is about. */
static char *detail_of(const CheckResult *result)
{
    if (result->verdict == VERDICT_BOUNDED) {
        g_autofree char *words = describe_bounded(result->outcome);
        return g_strdup(g_str_has_prefix(words, "bounded: ") ? words + strlen("bounded: ") : words);
    }
    if (result->verdict == VERDICT_NOT_APPLICABLE)
        return g_strdup(result->error);
    if (result->verdict == VERDICT_VERIFIED)
        return g_strdup(result->results_checked ? "results checked" : "no result was checked");
    GString *names = g_string_new(NULL);
    g_autoptr(GPtrArray) entries = entries_new(result);
    for (guint i = 0; i < entries->len; i++) {
        const Finding *finding = entry_finding(result, entries->pdata[i], 0);
        g_autofree char *name = places_name(result, finding);
        g_string_append_printf(names, "%s%s%s", i ? "; " : "", name, finding->known ? " (known)" : "");
    }
    return g_string_free(names, FALSE);
}

static void add_row(Markdown *md, const CheckResult *result)
{
    g_autofree char *title = text_title(result), *detail = detail_of(result), *told = detail ? paths_in_text(md->root, detail) : NULL;
    bool bad = result->verdict == VERDICT_FAULTY;
    GString *row = g_string_new("| ");
    marked_text(row, title, LABEL_MAX);
    g_string_append_printf(row, bad ? " | **%s** | " : " | %s | ", verdict_name(result->verdict));
    marked_text(row, told ? told : "", LABEL_MAX);
    for (guint i = 0; result->advice && i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if (advice->id == ADVICE_NEVER_RAN || advice->id == ADVICE_IDLE_EXPECTATION)
            g_string_append_printf(row, "; %s", advice_name(advice->id));
    }
    g_string_append(row, " |\n");
    g_ptr_array_add(md->rows, g_string_free(row, FALSE));
}

static void markdown_add(void *document, const CheckResult *result, const GPtrArray *schedules)
{
    Markdown *md = document;
    md->count[result->verdict]++;
    add_row(md, result);
    if (result->verdict == VERDICT_FAULTY)
        add_entries(md, result, schedules);
}

static void markdown_add_error(void *document, const char *message)
{
    Markdown *md = document;
    g_autoptr(GString) line = g_string_new("- ");
    g_autofree char *told = paths_in_text(md->root, message);
    marked_text(line, told, SENTENCE_MAX);
    g_string_append_c(line, '\n');
    md->count[VERDICT_ERROR]++;
    g_ptr_array_add(md->errors, g_strdup(line->str));
}

/* "## Heddle: 1 faulty, 2 verified" */
static void append_title(const Markdown *md)
{
    static const Verdict order[] = { VERDICT_FAULTY, VERDICT_ERROR, VERDICT_BOUNDED, VERDICT_VERIFIED, VERDICT_NOT_APPLICABLE };
    unsigned told = 0;
    g_string_append(md->text, "## Heddle");
    for (unsigned i = 0; i < G_N_ELEMENTS(order); i++)
        if (md->count[order[i]])
            g_string_append_printf(md->text, "%s %u %s", told++ ? "," : ":", md->count[order[i]], verdict_name(order[i]));
    g_string_append_printf(md->text, "%s\n\n", told ? "" : ": no check has finished");
}

/* As many as fit; what: of the others. */
static void append_lines(const Markdown *md, const GPtrArray *lines, gsize most, const char *what)
{
    gsize begin = md->text->len;
    guint i = 0;
    for (; i < lines->len && md->text->len - begin + strlen(lines->pdata[i]) < most; i++)
        g_string_append(md->text, lines->pdata[i]);
    g_string_append(md->text, lines->len ? "\n" : "");
    if (i < lines->len)
        g_string_append_printf(md->text, "%u more %s are left out.\n\n", lines->len - i, what);
}

static gsize bytes_of(const Piece *piece, unsigned parts)
{
    gsize bytes = 0;
    for (Part part = 0; part < parts; part++)
        bytes += piece->part[part]->len;
    return bytes;
}

/* How many parts of each entry fit into so many bytes. */
static unsigned parts_that_fit(const Markdown *md, gsize room)
{
    for (unsigned parts = PARTS; parts > PART_HEAD + 1; parts--) {
        gsize bytes = 0;
        for (guint i = 0; i < md->pieces->len; i++)
            bytes += bytes_of(md->pieces->pdata[i], parts);
        if (bytes <= room)
            return parts;
    }
    return PART_HEAD + 1;
}

static void append_pieces(const Markdown *md)
{
    enum { LAST_WORDS = 300 };
    gsize room = BYTES_MAX - LAST_WORDS - md->text->len;
    unsigned parts = parts_that_fit(md, room);
    guint i = 0;
    for (; i < md->pieces->len && bytes_of(md->pieces->pdata[i], parts) <= room; i++) {
        const Piece *piece = md->pieces->pdata[i];
        for (Part part = 0; part < parts; part++)
            g_string_append(md->text, piece->part[part]->str);
        room -= bytes_of(piece, parts);
    }
    if (i < md->pieces->len)
        g_string_append_printf(md->text, "%u more %s left out: the text would be too long.\n", md->pieces->len - i,
                               md->pieces->len - i == 1 ? "entry is" : "entries are");
    else if (parts < PARTS)
        g_string_append(md->text, "How it happens is left out: the text would be too long.\n");
}

static const GString *markdown_text(void *document)
{
    Markdown *md = document;
    g_string_truncate(md->text, 0);
    append_title(md);
    if (md->rows->len)
        g_string_append(md->text, "| check | verdict | |\n|---|---|---|\n");
    append_lines(md, md->rows, TABLE_MAX, "checks");
    append_lines(md, md->errors, ERRORS_MAX, "errors");
    append_pieces(md);
    return md->text;
}

static void markdown_clear(void *document)
{
    Markdown *md = document;
    g_free(md->root);
    g_free(md->blob);
    source_free(md->source);
    g_ptr_array_unref(md->rows);
    g_ptr_array_unref(md->errors);
    g_ptr_array_unref(md->pieces);
    g_hash_table_unref(md->seen);
    g_string_free(md->text, TRUE);
    g_free(md);
}

const OutputFormat markdown_format = { markdown_begin, markdown_add, markdown_add_error, markdown_text, markdown_clear, false };
