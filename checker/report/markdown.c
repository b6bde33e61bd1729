/* markdown.c - for comments on pull requests and summaries of CI, which end at 65,536 characters: a table of the checks, then each thing to
 * mend. Where it is too long the stories go first, then what else was tried and seen, then the last entries; the text says what is missing.
 */
#include <string.h>
#include "describe.h"
#include "diff.h"
#include "input_words.h"
#include "marked.h"
#include "message.h"
#include "output.h"
#include "paths.h"
#include "places.h"
#include "source.h"
#include "telling.h"
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

/* An entry on its way to its piece. */
typedef struct Writing {
    Markdown *md;
    const Told *told;
    Piece *piece;
    GString *code;                              /* source lines of its places */
    guint items, item;                          /* of this part; how many were told */
} Writing;

static GString *part_of(const Writing *w, TellingPart part)
{
    return w->piece->part[part == TELLING_STORY ? PART_STORY : part >= TELLING_SYMPTOMS ? PART_REST : PART_HEAD];
}

static void write_place(void *to, const Place *place)
{
    Writing *w = to;
    GString *out = w->piece->part[PART_HEAD];
    const CheckResult *result = w->told->result;
    const Site *site = program_get_site(result->program, place->site);
    const char *text = source_line(w->md->source, program_text(result->program, site->file), site->line);
    g_autofree char *line = text ? g_strdup_printf("%u: %s\n", site->line, text + strspn(text, " ")) : NULL;
    if (w->item++ >= PLACES_MAX)
        return;
    g_string_append(out, "- ");
    append_place_line(out, w->md, result, place);
    g_string_append_c(out, '\n');
    if (line && !strstr(w->code->str, line) && w->code->len + strlen(line) < BLOCK_MAX)
        g_string_append(w->code, line);
}

static void end_places(Writing *w)
{
    GString *out = w->piece->part[PART_HEAD];
    if (w->items > PLACES_MAX)
        g_string_append_printf(out, "- and %u more\n", w->items - PLACES_MAX);
    g_string_append_c(out, '\n');
    if (w->code->len)
        marked_block(out, "", w->code->str);
    g_string_append(out, w->code->len ? "\n" : "");
}

static void write_cause(Writing *w, const char *why)
{
    GString *out = w->piece->part[PART_HEAD];
    g_auto(GStrv) line = g_strsplit(why, "\n", -1);
    for (char **at = line; *at; at++) {
        if (**at == '\0')
            continue;
        g_string_append(out, at == line ? "**Why:** " : "");
        append_words(out, w->md, *at);
        g_string_append(out, "\n\n");
    }
}

static void write_words(void *to, TellingPart part, const char *words)
{
    Writing *w = to;
    GString *out = part_of(w, part);
    switch ((unsigned)part) {
    case TELLING_HEADLINE:
        append_words(out, w->md, words);
        g_string_append(out, ".\n\n");
        break;
    case TELLING_CAUSE:
        write_cause(w, words);
        break;
    case TELLING_HOLDS:
        g_string_append_printf(out, "**Holds:** %s.\n\n", words);
        break;
    case TELLING_COMMAND:
        g_string_append(out, "**See it:** ");
        marked_code(out, words);
        g_string_append(out, "\n\n");
        break;
    case TELLING_DELAYS:
        g_string_append(out, w->item > 0 ? "; " : "**On a real machine:** ");
        append_words(out, w->md, words);
        g_string_append(out, ++w->item == w->items ? "\n\n" : "");
        break;
    case TELLING_HELPS:
        append_words(out, w->md, words);
        g_string_append_c(out, '\n');
        break;
    }
}

/* Those that make the program right with their diffs. */
static void write_repair(void *to, TellingPart part, const Repair *repair, const char *words)
{
    Writing *w = to;
    GString *out = part_of(w, part);
    g_autofree char *diff = part == TELLING_REPAIRS ? diff_text(repair, w->md->source) : NULL;
    g_autofree char *told = diff ? paths_in_text(w->md->root, diff) : NULL;
    g_string_append(out, part == TELLING_TRIED ? "- " : w->item++ ? "**Or:** " : "**Repair:** ");
    append_words(out, w->md, words);
    g_string_append(out, part == TELLING_TRIED ? "\n" : "\n\n");
    if (told && strlen(told) < BLOCK_MAX)
        marked_block(out, "diff", told);
    g_string_append(out, told ? "\n" : "");
}

static void write_symptom(void *to, const Finding *finding)
{
    Writing *w = to;
    GString *out = part_of(w, TELLING_SYMPTOMS);
    g_autofree char *name = places_name(w->told->result, finding);
    g_string_append(out, "- ");
    append_words(out, w->md, name);
    g_string_append_c(out, '\n');
}

static void write_step(void *to, const NarrativeStep *step)
{
    Writing *w = to;
    GString *out = part_of(w, TELLING_STORY);
    g_autofree char *words = narrative_words(w->told->result, step);
    g_string_append_printf(out, "%u. ", ++w->item);
    append_words(out, w->md, words);
    g_string_append_c(out, '\n');
}

static void begin_part(void *to, TellingPart part, guint items)
{
    static const char *const SUMMARY[TELLING_PARTS] = {
        [TELLING_SYMPTOMS] = "Also of this cause", [TELLING_TRIED] = "What else was tried", [TELLING_HELPS] = "What usually helps",
        [TELLING_STORY] = "How it happens",
    };
    Writing *w = to;
    w->items = items, w->item = 0;
    if (SUMMARY[part])
        g_string_append_printf(part_of(w, part), "<details><summary>%s</summary>\n\n", SUMMARY[part]);
}

static void end_part(void *to, TellingPart part)
{
    Writing *w = to;
    if (part == TELLING_PLACES)
        end_places(w);
    if (part >= TELLING_SYMPTOMS)
        g_string_append(part_of(w, part), "\n</details>\n\n");
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

static void add_piece(Markdown *md, const Told *told)
{
    static const Teller teller = { TELLING_ALL, begin_part, write_words, write_place, write_repair, write_symptom, write_step, end_part };
    g_autoptr(GString) code = g_string_new(NULL);
    Writing writing = { .md = md, .told = told, .piece = piece_new(), .code = code };
    append_heading(writing.piece->part[PART_NAME], md, told->result, told->finding);
    add_check(writing.piece, told->result);
    telling(&teller, &writing, told);
    g_ptr_array_add(md->pieces, writing.piece);
    g_hash_table_insert(md->seen, message_key(told->result->program, told->finding), writing.piece);
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
            add_piece(md, &(Told){ result, entry_finding(result, entry, 0), entry, entries->len == 1, i == 0,
                                   schedules ? schedules->pdata[g_array_index(entry->findings, guint, 0)] : NULL });
    }
}

/* What a verdict is about, but for inputs. */
static char *detail_without_inputs(const CheckResult *result)
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

/* What a verdict is about. */
static char *detail_of(const CheckResult *result)
{
    char *detail = detail_without_inputs(result);
    g_autofree char *remark = input_remark(result);
    if (remark == NULL)
        return detail;
    g_autofree char *before = detail;
    return g_strdup_printf("%s; %s", before, remark);
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
        if (advice_narrows(advice->id))
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
