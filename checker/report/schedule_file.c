/* schedule_file.c - the format of saved schedules: self-contained text.
 *
 *     heddle-schedule 1
 *     program all_gather
 *     source kernels/all_gather.c
 *     source-hash 16 hex digits, or -
 *     folder ../..                     where the source's path is valid, relative to the folder of this file; omitted for an absolute path
 *     mesh x=4
 *     cores 1
 *     seed 0
 *     knobs 0 0 0 0 0 0 0              dma-order, dma-progress, bounds, scopes, data, windows, at-bounds: indices into the lists of knobs.h
 *     parameter rows=8                 any number of these
 *     input 0,2,1                      if the program has inputs with a domain
 *     launches 57                      facts about each launch (entry_barriers_facts); ignored if the source has changed
 *     fault race 1 0 -1 0 0            id, places, object, (semaphore?), have, need
 *     message ..., why ...             the texts of the report, escaped as in C; why is dropped if the source has changed
 *     delays 1                         delays exist, and are found again; the place that was meant to come first, a Meant
 *     count 3 0                        occurrences at these sites; 1: at most so many
 *     place 0 3 NONE 12 0              core, position, copy, kind, launch; a line for each place
 *     code kernels/all_gather.c:14 pl_copy_start(pass);     the text of each source line that a move names
 *     moves 17
 *     core 0.0 @3 copy start kernels/all_gather.c:14
 *     ...
 *     end
 *
 * File names and texts are escaped as in C, so that each field is one line. The reader trusts nothing: each field must occur once, in the
 * order above, with exactly the contents shown. What depends on the program (does the object exist?) is checked after it has run:
 * finding_fits.
 */
#include "schedule_file.h"
#include "../check/check.h"
#include "../check/identity.h"
#include "../check/worker.h"
#include "../facts/fits.h"
#include "../run/entry_barriers.h"
#include "../run/infile.h"
#include "line_map.h"
#include "outfile.h"
#include "paths.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Escapes the text to one line; UTF-8 stays readable. */
static char *escape(const char *text)
{
    char high[129] = "";
    for (unsigned i = 0; i < 128; i++)
        high[i] = (char)(128 + i);
    return g_strescape(text, high);
}

static void append_text(GString *out, const char *key, const char *text)
{
    g_autofree char *escaped = text ? escape(text) : NULL;
    if (escaped != NULL)
        g_string_append_printf(out, "%s %s\n", key, escaped);
}

static void append_head(GString *out, const CheckResult *result, const char *folder)
{
    const CheckSpec *spec = result->spec;
    const Program *program = result->program;
    const char *source = spec->source ? spec->source : program->source;        /* as given, not as the program keeps it */
    g_autofree char *hash = identity_hash_file(source);
    g_string_append(out, "heddle-schedule 1\n");
    append_text(out, "program", spec->program);
    append_text(out, "source", source ? source : "");
    g_string_append_printf(out, "source-hash %s\n", hash);
    if (source && !g_path_is_absolute(source))
        append_text(out, "folder", folder);
    g_string_append(out, "mesh ");
    for (unsigned a = 0; a < program->mesh.axes; a++)
        g_string_append_printf(out, "%s%s=%u", a ? "," : "", program->mesh.name[a], program->mesh.size[a]);
    const Knobs *k = &spec->knobs;
    g_string_append_printf(out, "\ncores %u\nseed %" G_GUINT64_FORMAT "\nknobs %d %d %d %d %d %d %d\n", spec->cores, spec->seed,
                           (int)k->dma_order, (int)k->dma_progress, (int)k->bounds, (int)k->scopes, (int)k->data, (int)k->windows,
                           (int)k->at_bounds);
    for (size_t i = 0; i < spec->overrides; i++)
        g_string_append_printf(out, "parameter %s=%" G_GINT64_FORMAT "\n", spec->override[i].name, spec->override[i].value);
    g_autofree char *input = identity_input(program);
    append_text(out, "input", input);
    g_autofree char *facts = entry_barriers_facts(program);
    if (*facts && result->record->complete)         /* else the entry barriers are the initial ones */
        g_string_append_printf(out, "launches %s\n", facts);
}

static void append_number(GString *out, uint32_t number)
{
    if (number == NONE)
        g_string_append(out, " NONE");
    else
        g_string_append_printf(out, " %u", number);
}

static void append_finding(GString *out, const Finding *finding)
{
    g_string_append_printf(out, "fault %s %u", fault_name(finding->id), finding->places);
    append_number(out, finding->object);
    g_string_append_printf(out, " %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n", finding->object_is_semaphore, finding->have,
                           finding->need);
    append_text(out, "message", finding->message);
    append_text(out, "why", finding->why);
    if (finding->delays != NULL)
        g_string_append_printf(out, "delays %u\n", finding->meant);
    g_string_append_printf(out, "count %" G_GUINT64_FORMAT " %d\n", finding->count, finding->at_most);
    for (unsigned p = 0; p < finding->places; p++) {
        const Place *place = &finding->place[p];
        g_string_append_printf(out, "place %u %u", place->core, place->position);
        append_number(out, place->copy);
        g_string_append_printf(out, " %u %u\n", place->kind, place->launch);
    }
}

bool schedule_write(const CheckResult *result, const Finding *finding, const char *path, char **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree char *folder = paths_from_file(path);
    append_head(out, result, folder);
    append_finding(out, finding);
    g_autoptr(GPtrArray) code = line_map_fields(finding->lines);
    for (guint i = 0; i < code->len; i++)
        append_text(out, "code", g_ptr_array_index(code, i));
    g_string_append_printf(out, "moves %u\n", finding->lines ? finding->lines->len : 0);
    for (guint i = 0; finding->lines && i < finding->lines->len; i++) {
        g_autofree char *line = escape(g_ptr_array_index(finding->lines, i));
        g_string_append_printf(out, "%s\n", line);
    }
    g_string_append(out, "end\n");
    Outfile *file = outfile_open(path, error);
    if (file != NULL)
        outfile_set(file, out->str, out->len);
    return file != NULL && outfile_close(file, true, error);
}

enum { SHOWN_BYTES = 60 };                      /* shown of a bad line */

typedef struct Parsed {
    ScheduleHeader header;
    Mesh mesh;
    unsigned cores, knob[7], places;            /* places: announced by `fault` */
    uint64_t seed;
    char *facts;                                /* about launches; NULL: none */
    GArray *overrides, *input;                  /* of Override; of int64_t */
    Finding *finding;
    GArray *moves;                              /* of Move */
    GPtrArray *lines, *code;                    /* of the moves; contents of code fields (line_map.h) */
    size_t field;                               /* the next line is this field or a later one */
} Parsed;

static void free_parsed(Parsed *parsed)
{
    g_free(parsed->header.program);
    g_free(parsed->header.source);
    g_free(parsed->header.source_hash);
    g_free(parsed->header.folder);
    g_free(parsed->header.fault);
    g_free(parsed->facts);
    for (guint i = 0; i < parsed->overrides->len; i++)
        g_free((char *)g_array_index(parsed->overrides, Override, i).name);
    g_array_free(parsed->overrides, TRUE);
    g_array_free(parsed->input, TRUE);
    finding_free(parsed->finding);
    g_array_unref(parsed->moves);
    g_ptr_array_unref(parsed->lines);
    g_ptr_array_free(parsed->code, TRUE);
    g_free(parsed);
}

/* "NONE" is accepted only if `most` is NONE. */
static bool parse_number(const char *text, uint32_t most, uint32_t *number)
{
    guint64 value;
    if (most == NONE && strcmp(text, "NONE") == 0)
        *number = NONE;
    else if (g_ascii_string_to_unsigned(text, 10, 0, most == NONE ? NONE - 1 : most, &value, NULL))
        *number = (uint32_t)value;
    else
        return false;
    return true;
}

/* Exactly `count` numbers, separated by one space. */
static bool parse_numbers(const char *text, unsigned count, const uint32_t *most, uint32_t *number)
{
    g_auto(GStrv) word = g_strsplit(text, " ", -1);
    bool good = g_strv_length(word) == count;
    for (unsigned i = 0; good && i < count; i++)
        good = parse_number(word[i], most[i], &number[i]);
    return good;
}

/* false: it ends within an escape. */
static bool unescape(const char *text, char **into)
{
    size_t length = strlen(text), slashes = 0;
    while (slashes < length && text[length - 1 - slashes] == '\\')
        slashes++;
    *into = slashes % 2 == 0 ? g_strcompress(text) : NULL;
    return *into != NULL;
}

static bool parse_program(Parsed *parsed, const char *rest)
{
    return unescape(rest, &parsed->header.program) && *rest != '\0';
}

static bool parse_source(Parsed *parsed, const char *rest)
{
    return unescape(rest, &parsed->header.source);
}

static bool parse_source_hash(Parsed *parsed, const char *rest)
{
    parsed->header.source_hash = g_strdup(rest);
    return strcmp(rest, "-") == 0 || (strlen(rest) == 16 && strspn(rest, "0123456789abcdef") == 16);
}

static bool parse_folder(Parsed *parsed, const char *rest)
{
    return unescape(rest, &parsed->header.folder);
}

static bool parse_mesh(Parsed *parsed, const char *rest)
{
    return mesh_parse(&parsed->mesh, rest);
}

static bool parse_cores(Parsed *parsed, const char *rest)
{
    return parse_number(rest, CORES_MAX, &parsed->cores) && parsed->cores > 0;
}

static bool parse_seed(Parsed *parsed, const char *rest)
{
    return g_ascii_string_to_unsigned(rest, 10, 0, G_MAXUINT64, &parsed->seed, NULL);
}

static bool parse_knobs(Parsed *parsed, const char *rest)
{
    static const uint32_t MOST[] = { DMA_ORDER_ISSUE_ORDER, DMA_PROGRESS_WHOLE, BOUNDS_PADDED, SCOPES_STRICT, DATA_OPAQUE,
                                     WINDOWS_SEQUENTIAL, AT_BOUNDS_STOP };
    for (unsigned said = G_N_ELEMENTS(MOST); said >= 5; said--) {       /* older files do not say all */
        memset(parsed->knob, 0, sizeof parsed->knob);
        if (parse_numbers(rest, said, MOST, parsed->knob))
            return true;
    }
    return false;
}

static bool parse_parameter(Parsed *parsed, const char *rest)
{
    const char *equals = strrchr(rest, '=');
    gint64 value;
    if (equals == NULL || !g_ascii_string_to_signed(equals + 1, 10, G_MININT64, G_MAXINT64, &value, NULL))
        return false;
    g_array_append_val(parsed->overrides, ((Override){ g_strndup(rest, (gsize)(equals - rest)), value }));
    return true;
}

static bool parse_input(Parsed *parsed, const char *rest)
{
    g_auto(GStrv) word = g_strsplit(rest, ",", -1);
    bool good = true;
    for (char **w = word; good && *w != NULL; w++) {
        gint64 value = 0;
        good = g_ascii_string_to_signed(*w, 10, G_MININT64, G_MAXINT64, &value, NULL);
        g_array_append_val(parsed->input, value);
    }
    return good;
}

static bool parse_launches(Parsed *parsed, const char *rest)
{
    parsed->facts = g_strdup(rest);
    return strspn(rest, "0123456789abcdef") == strlen(rest);
}

static bool parse_fault(Parsed *parsed, const char *rest)
{
    enum { NAME, PLACES, OBJECT, SEMAPHORE, HAVE, NEED, WORDS };
    g_auto(GStrv) word = g_strsplit(rest, " ", -1);
    FaultId id;
    uint32_t semaphore;
    if (g_strv_length(word) != WORDS || !fault_from_name(word[NAME], &id))
        return false;
    Finding *finding = parsed->finding = finding_new(id);
    parsed->header.fault = g_strdup(word[NAME]);
    bool good = parse_number(word[PLACES], G_N_ELEMENTS(finding->place), &parsed->places)
        && parse_number(word[OBJECT], NONE, &finding->object) && parse_number(word[SEMAPHORE], 1, &semaphore)
        && g_ascii_string_to_signed(word[HAVE], 10, G_MININT64, G_MAXINT64, &finding->have, NULL)
        && g_ascii_string_to_signed(word[NEED], 10, G_MININT64, G_MAXINT64, &finding->need, NULL);
    finding->object_is_semaphore = good && semaphore == 1;
    return good;
}

static bool parse_message(Parsed *parsed, const char *rest)
{
    return unescape(rest, &parsed->finding->message);
}

static bool parse_why(Parsed *parsed, const char *rest)
{
    return unescape(rest, &parsed->finding->why);
}

static bool parse_delays(Parsed *parsed, const char *rest)
{
    uint32_t meant;
    if (!parse_number(rest, MEANT_SECOND, &meant))
        return false;
    parsed->finding->meant = (uint8_t)meant;
    parsed->finding->delays = g_array_new(FALSE, FALSE, sizeof(Delay));
    return true;
}

static bool parse_count(Parsed *parsed, const char *rest)
{
    g_auto(GStrv) word = g_strsplit(rest, " ", -1);
    uint32_t at_most;
    bool good = g_strv_length(word) == 2 && parse_number(word[1], 1, &at_most)
        && g_ascii_string_to_unsigned(word[0], 10, 1, G_MAXUINT64, &parsed->finding->count, NULL);
    parsed->finding->at_most = good && at_most == 1;
    return good;
}

static bool parse_place(Parsed *parsed, const char *rest)
{
    enum { CORE, POSITION, COPY, KIND, LAUNCH, NUMBERS };
    static const uint32_t MOST[] = { NONE - 1, NONE - 1, NONE, STEP_KIND_COUNT - 1, UINT16_MAX };
    uint32_t number[NUMBERS];
    Finding *finding = parsed->finding;
    if (finding->places >= parsed->places || !parse_numbers(rest, NUMBERS, MOST, number)
        || number[CORE] >= (uint64_t)mesh_devices(&parsed->mesh) * parsed->cores)
        return false;
    finding->place[finding->places++] = (Place){ .core = number[CORE], .position = number[POSITION], .copy = number[COPY],
                                                 .kind = (uint8_t)number[KIND], .launch = number[LAUNCH], .site = NONE, .object = NONE,
                                                 .region = NONE, .described = NONE };
    return true;
}

static bool parse_code(Parsed *parsed, const char *rest)
{
    char *code;
    bool good = unescape(rest, &code);
    if (good)
        g_ptr_array_add(parsed->code, code);
    return good;
}

typedef enum Times { ONCE, AT_MOST_ONCE, ANY_NUMBER } Times;

static const struct { const char *key; bool (*parse)(Parsed *parsed, const char *rest); Times times; } FIELD[] = {
    { "program", parse_program, ONCE }, { "source", parse_source, ONCE }, { "source-hash", parse_source_hash, ONCE },
    { "folder", parse_folder, AT_MOST_ONCE },
    { "mesh", parse_mesh, ONCE }, { "cores", parse_cores, ONCE }, { "seed", parse_seed, ONCE }, { "knobs", parse_knobs, ONCE },
    { "parameter", parse_parameter, ANY_NUMBER }, { "input", parse_input, AT_MOST_ONCE },
    { "launches", parse_launches, AT_MOST_ONCE }, { "fault", parse_fault, ONCE },
    { "message", parse_message, AT_MOST_ONCE }, { "why", parse_why, AT_MOST_ONCE }, { "delays", parse_delays, AT_MOST_ONCE },
    { "count", parse_count, ONCE }, { "place", parse_place, ANY_NUMBER }, { "code", parse_code, ANY_NUMBER },
};

/* Parses the next field, or a later one if no required field is skipped. */
static bool parse_field(Parsed *parsed, const char *line)
{
    const size_t length = strcspn(line, " ");
    size_t field = parsed->field;
    for (; field < G_N_ELEMENTS(FIELD); field++)
        if (strncmp(FIELD[field].key, line, length) == 0 && FIELD[field].key[length] == '\0')
            break;
        else if (FIELD[field].times == ONCE)
            return false;
    if (field == G_N_ELEMENTS(FIELD) || line[length] != ' ')
        return false;
    parsed->field = field + (FIELD[field].times != ANY_NUMBER);
    return FIELD[field].parse(parsed, line + length + 1);
}

static bool fields_are_done(const Parsed *parsed)
{
    for (size_t field = parsed->field; field < G_N_ELEMENTS(FIELD); field++)
        if (FIELD[field].times == ONCE)
            return false;
    return parsed->finding->places == parsed->places;
}

/* With `before` moves before it, no core has done more steps or started more copies. */
static bool numbers_fit(const char *move, unsigned before)
{
    const char *number = strpbrk(move, "@#");
    guint64 value = number ? g_ascii_strtoull(number + 1, NULL, 10) : 0;
    return number != NULL && value <= before;
}

/* A poll goes on beyond the moves. */
static bool places_fit(const Parsed *parsed)
{
    enum { POLLS_MAX = 1 << 20 };
    const Finding *finding = parsed->finding;
    const guint beyond = finding->id == FAULT_NO_PROGRESS ? POLLS_MAX : 0;
    bool fit = finding_is_formed(finding);
    for (unsigned p = 0; p < finding->places; p++)
        fit &= finding->place[p].position <= parsed->lines->len + beyond
            && (finding->place[p].copy == NONE || finding->place[p].copy < parsed->lines->len);
    return fit;
}

static bool parse_moves(Parsed *parsed, char **line, unsigned *at, uint32_t moves)
{
    for (uint32_t i = 0; i < moves; i++) {
        const char *text = line[++*at];
        char *unescaped;
        Move move;
        if (text == NULL || !numbers_fit(text, i) || !unescape(text, &unescaped))
            return false;
        g_ptr_array_add(parsed->lines, unescaped);
        if (!schedule_parse_line(mesh_devices(&parsed->mesh), parsed->cores, unescaped, &move))
            return false;
        g_array_append_val(parsed->moves, move);
    }
    const char *end = line[++*at], *behind = end ? line[*at + 1] : NULL;
    return g_strcmp0(end, "end") == 0 && (behind == NULL || (behind[0] == '\0' && line[*at + 2] == NULL));
}

/* false: line *at is wrong, or the file as a whole. */
static bool parse_lines(Parsed *parsed, char **line, unsigned *at)
{
    static const char MOVES[] = "moves ";
    uint32_t moves;
    for (; line[*at] != NULL && !g_str_has_prefix(line[*at], MOVES); ++*at)
        if (!parse_field(parsed, line[*at]))
            return false;
    return line[*at] != NULL && fields_are_done(parsed) && parse_number(line[*at] + strlen(MOVES), NONE - 1, &moves)
        && parse_moves(parsed, line, at, moves);
}

static Parsed *parse(const char *path, char **error)
{
    gsize bytes = 0;
    char *problem = NULL;
    g_autofree char *text = infile_read(path, &bytes, &problem);
    if (text == NULL) {
        *error = g_strdup_printf("cannot read the schedule %s: %s", path, problem);
        g_free(problem);
        return NULL;
    }
    if (!g_str_has_prefix(text, "heddle-schedule 1\n")) {
        *error = g_strdup_printf("%s is not a schedule of this version: it must begin with \"heddle-schedule 1\"", path);
        return NULL;
    }
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    Parsed *parsed = g_new0(Parsed, 1);
    parsed->overrides = g_array_new(FALSE, FALSE, sizeof(Override));
    parsed->input = g_array_new(FALSE, FALSE, sizeof(gint64));
    parsed->moves = g_array_new(FALSE, FALSE, sizeof(Move));
    parsed->lines = g_ptr_array_new_with_free_func(g_free);
    parsed->code = g_ptr_array_new_with_free_func(g_free);
    unsigned at = 1;
    if (!parse_lines(parsed, line, &at) || strlen(text) != bytes) {
        g_autofree char *shown = line[at] ? g_strndup(line[at], SHOWN_BYTES) : NULL, *escaped = shown ? escape(shown) : NULL;
        *error = shown == NULL || *shown == '\0'
            ? g_strdup_printf("%s:%u: the schedule is incomplete: the file was cut off; make a new one with heddle check", path, at + 1)
            : g_strdup_printf("%s:%u: \"%s\" is not what a schedule says there; make a new one with heddle check", path, at + 1, escaped);
    } else if (!places_fit(parsed)) {
        *error = g_strdup_printf("%s: its places and its object are not those of %s; make a new one with heddle check", path,
                                 parsed->header.fault);
    } else {
        parsed->header.devices = mesh_devices(&parsed->mesh);
        return parsed;
    }
    free_parsed(parsed);
    return NULL;
}

ScheduleHeader *schedule_read_header(const char *path, char **error)
{
    Parsed *parsed = parse(path, error);
    if (parsed == NULL)
        return NULL;
    ScheduleHeader *header = g_new0(ScheduleHeader, 1);
    *header = parsed->header;
    parsed->header = (ScheduleHeader){ 0 };
    free_parsed(parsed);
    return header;
}

bool schedule_is_of(const ScheduleHeader *header, const char *path)
{
    g_autofree char *hash = identity_hash_file(path);
    return strcmp(hash, header->source_hash) == 0;
}

void schedule_header_free(ScheduleHeader *header)
{
    g_free(header->program);
    g_free(header->source);
    g_free(header->source_hash);
    g_free(header->folder);
    g_free(header->fault);
    g_free(header);
}

static CheckSpec *spec_of(const Parsed *parsed, ProgramModuleOpen open, const char *module, const char *source)
{
    CheckSpec *spec = g_new0(CheckSpec, 1);
    *spec = (CheckSpec){ .open = open, .module = g_strdup(module), .program = g_strdup(parsed->header.program),
                         .source = g_strdup(source), .mesh = parsed->mesh, .cores = parsed->cores,
                         .seed = parsed->seed, .search = SEARCH_PROVE, .recording = true, .overrides = parsed->overrides->len,
                         .input_values = parsed->input->len,
                         .input = g_memdup2(parsed->input->data, parsed->input->len * sizeof(gint64)) };
    const unsigned *k = parsed->knob;
    spec->knobs = (Knobs){ .dma_order = (DmaOrder)k[0], .dma_progress = (DmaProgress)k[1], .bounds = (Bounds)k[2], .scopes = (Scopes)k[3],
                           .data = (DataMode)k[4], .windows = (Windows)k[5],
                           .at_bounds = (AtBounds)k[6] };
    Override *override = g_new0(Override, parsed->overrides->len);
    for (guint i = 0; i < parsed->overrides->len; i++) {
        const Override *from = &g_array_index(parsed->overrides, Override, i);
        override[i] = (Override){ g_strdup(from->name), from->value };
    }
    spec->override = override;
    return spec;
}

static void free_spec(CheckSpec *spec)
{
    for (size_t i = 0; i < spec->overrides; i++)
        g_free((char *)spec->override[i].name);
    g_free((Override *)spec->override);
    g_free((int64_t *)spec->input);
    g_free((char *)spec->program);
    g_free((char *)spec->module);
    g_free((char *)spec->source);
    g_free(spec);
}

static void rename_in(GPtrArray *texts, const char *before, const char *from, const char *to)
{
    g_autofree char *old = g_strdup_printf("%s%s:", before, from), *now = g_strdup_printf("%s%s:", before, to);
    for (guint i = 0; i < texts->len; i++) {
        const char *text = texts->pdata[i], *at = *before ? g_strrstr(text, old) : g_str_has_prefix(text, old) ? text : NULL;
        if (at == NULL)
            continue;
        char *renamed = g_strdup_printf("%.*s%s%s", (int)(at - text), text, now, at + strlen(old));
        g_free(texts->pdata[i]);
        texts->pdata[i] = renamed;
    }
}

/* Replaces the source's old name. */
static void rename_source(Parsed *parsed, const char *source)
{
    rename_in(parsed->lines, " ", parsed->header.source, source);
    rename_in(parsed->code, "", parsed->header.source, source);
    g_free(parsed->header.source);
    parsed->header.source = g_strdup(source);
}

ReplayResult *schedule_replay(ProgramModuleOpen open, const char *path, const char *module, const ReplayOptions *options)
{
    ReplayResult *replay = g_new0(ReplayResult, 1);
    Parsed *parsed = parse(path, &replay->error);
    if (parsed == NULL)
        return replay;
    if (options->source != NULL && strcmp(options->source, parsed->header.source) != 0)
        rename_source(parsed, options->source);
    CheckSpec *spec = spec_of(parsed, open, module, options->source);
    spec->in_process = options->in_process, spec->limits = options->limits;
    g_autofree char *hash = identity_hash_file(parsed->header.source);
    if (g_strcmp0(hash, parsed->header.source_hash) == 0) {
        spec->facts = parsed->facts;
    } else {
        g_clear_pointer(&parsed->finding->why, g_free);
        line_map_apply(parsed->lines, parsed->code);
    }
    parsed->finding->moves = g_array_ref(parsed->moves), parsed->finding->lines = g_ptr_array_ref(parsed->lines);
    replay->check = check_replay(spec, g_steal_pointer(&parsed->finding));
    spec->facts = NULL;
    free_parsed(parsed);
    if (replay->check->verdict == VERDICT_ERROR)
        replay->error = g_strdup(replay->check->error);
    if (replay->check->outcome->findings->len > 0) {
        const Finding *seen = g_ptr_array_index(replay->check->outcome->findings, 0);
        replay->shown = seen->shown;
        replay->lines = g_ptr_array_ref(seen->lines);
    }
    return replay;
}

void replay_result_free(ReplayResult *replay)
{
    g_free(replay->error);
    if (replay->lines != NULL)
        g_ptr_array_unref(replay->lines);
    if (replay->check != NULL) {
        CheckSpec *spec = (CheckSpec *)replay->check->spec;
        check_result_free(replay->check);
        free_spec(spec);
    }
    g_free(replay);
}
