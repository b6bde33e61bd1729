/* schedule_file.c - saved schedules: a small text format, complete in itself.
 *
 *     heddle-schedule 1
 *     program all_gather
 *     source kernels/all_gather.c
 *     source-hash 16 hex digits, or -
 *     mesh x=4
 *     cores 1
 *     seed 0
 *     knobs 0 0 0 0 0                  dma-order, dma-progress, bounds, scopes, data: indices into the lists of knobs.h
 *     parameter rows=8                 any number of these
 *     fault race 1 0 -1 0 0            id, places, object, (semaphore?), have, need
 *     message ..., why ...             what the report said, escaped as in C; why is dropped when the source has changed
 *     delays 1                         some are known, and are looked for again; which place was meant to come first, a Meant
 *     count 3 0                        pairs of these sites, at most?
 *     place 0 3 NONE 12 0              core, position, copy, kind, launch; one line a place
 *     code kernels/all_gather.c:14 pl_copy_start(pass);     what the lines that moves name said; one line each
 *     moves 17
 *     core 0.0 @3 copy start kernels/all_gather.c:14
 *     ...
 *     end
 */
#include "check.h"
#include "identity.h"
#include "relocate.h"
#include "worker.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void append_head(GString *out, const CheckResult *result)
{
    const CheckSpec *spec = result->spec;
    const Program *program = result->program;
    g_autofree char *hash = identity_hash_file(program->source);
    g_string_append_printf(out, "heddle-schedule 1\nprogram %s\nsource %s\nsource-hash %s\nmesh ", spec->program,
                           program->source ? program->source : "", hash);
    for (unsigned a = 0; a < program->mesh.axes; a++)
        g_string_append_printf(out, "%s%s=%u", a ? "," : "", program->mesh.name[a], program->mesh.size[a]);
    const Knobs *k = &spec->knobs;
    g_string_append_printf(out, "\ncores %u\nseed %" G_GUINT64_FORMAT "\nknobs %d %d %d %d %d\n", spec->cores, spec->seed,
                           (int)k->dma_order,
                           (int)k->dma_progress, (int)k->bounds, (int)k->scopes, (int)k->data);
    for (size_t i = 0; i < spec->overrides; i++)
        g_string_append_printf(out, "parameter %s=%" G_GINT64_FORMAT "\n", spec->override[i].name, spec->override[i].value);
}

static void append_number(GString *out, uint32_t number)
{
    if (number == NONE)
        g_string_append(out, " NONE");
    else
        g_string_append_printf(out, " %u", number);
}

static void append_text(GString *out, const char *key, const char *text)
{
    if (text == NULL)
        return;
    g_autofree char *escaped = g_strescape(text, NULL);
    g_string_append_printf(out, "%s %s\n", key, escaped);
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
    append_head(out, result);
    append_finding(out, finding);
    relocate_append(out, finding->lines);
    g_string_append_printf(out, "moves %u\n", finding->lines ? finding->lines->len : 0);
    for (guint i = 0; finding->lines && i < finding->lines->len; i++)
        g_string_append_printf(out, "%s\n", (const char *)g_ptr_array_index(finding->lines, i));
    g_string_append(out, "end\n");
    g_autoptr(GError) problem = NULL;           /* written beside, then renamed */
    if (g_file_set_contents_full(path, out->str, (gssize)out->len, G_FILE_SET_CONTENTS_CONSISTENT, 0666, &problem))
        return true;
    *error = g_strdup_printf("cannot write the schedule %s: %s", path, problem->message);
    return false;
}

typedef struct Parsed {
    ScheduleHeader header;
    Mesh mesh;
    unsigned cores, knob[5];
    uint64_t seed;
    GArray *overrides;                          /* of Override */
    Finding *finding;
    GPtrArray *lines, *code;                    /* moves; fields of relocate.h */
} Parsed;

static void free_parsed(Parsed *parsed)
{
    g_free(parsed->header.program);
    g_free(parsed->header.source);
    g_free(parsed->header.source_hash);
    g_free(parsed->header.fault);
    for (guint i = 0; i < parsed->overrides->len; i++)
        g_free((char *)g_array_index(parsed->overrides, Override, i).name);
    g_array_free(parsed->overrides, TRUE);
    finding_free(parsed->finding);
    g_ptr_array_free(parsed->lines, TRUE);
    g_ptr_array_free(parsed->code, TRUE);
    g_free(parsed);
}

static bool parse_number(const char *text, uint32_t *number)
{
    guint64 value;
    if (strcmp(text, "NONE") == 0)
        *number = NONE;
    else if (g_ascii_string_to_unsigned(text, 10, 0, NONE, &value, NULL))
        *number = (uint32_t)value;
    else
        return false;
    return true;
}

static bool parse_fault(Parsed *parsed, const char *rest)
{
    char name[32], object[16];
    int places, semaphore;
    FaultId id;
    long long have, need;
    if (sscanf(rest, "%31s %d %15s %d %lld %lld", name, &places, object, &semaphore, &have, &need) != 6 || !fault_from_name(name, &id)
        || places < 0 || places > 2 || parsed->finding != NULL)
        return false;
    parsed->header.fault = g_strdup(name);
    parsed->finding = finding_new(id);
    parsed->finding->have = have, parsed->finding->need = need, parsed->finding->object_is_semaphore = semaphore != 0;
    return parse_number(object, &parsed->finding->object);
}

static bool parse_place(Parsed *parsed, const char *rest)
{
    char copy[16];
    unsigned core, position, kind, launch;
    Finding *finding = parsed->finding;
    if (finding == NULL || finding->places >= 2 || sscanf(rest, "%u %u %15s %u %u", &core, &position, copy, &kind, &launch) != 5
        || kind >= STEP_KIND_COUNT || core >= mesh_devices(&parsed->mesh) * parsed->cores)
        return false;
    Place *place = &finding->place[finding->places++];
    *place = (Place){ .core = core, .position = position, .kind = (uint8_t)kind, .launch = launch, .site = NONE, .object = NONE,
                      .region = NONE };
    return parse_number(copy, &place->copy);
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

static bool parse_count(Finding *finding, const char *rest)
{
    int at_most;
    bool good = sscanf(rest, "%" G_GUINT64_FORMAT " %d", &finding->count, &at_most) == 2;
    finding->at_most = good && at_most != 0;
    return good;
}

static bool parse_delays(Finding *finding, const char *rest)
{
    unsigned meant;
    if (finding->delays != NULL || sscanf(rest, "%u", &meant) != 1 || meant > MEANT_SECOND)
        return false;
    finding->meant = (uint8_t)meant;
    finding->delays = g_array_new(FALSE, FALSE, sizeof(Delay));
    return true;
}

static bool parse_field(Parsed *parsed, const char *line)
{
    const char *space = strchr(line, ' '), *rest = space ? space + 1 : "";
    g_autofree char *key = space ? g_strndup(line, (gsize)(space - line)) : g_strdup(line);
    unsigned *k = parsed->knob;
    if (strcmp(key, "program") == 0)
        return (parsed->header.program = g_strdup(rest))[0] != '\0';
    if (strcmp(key, "source") == 0)
        return (parsed->header.source = g_strdup(rest)) != NULL;
    if (strcmp(key, "source-hash") == 0)
        return (parsed->header.source_hash = g_strdup(rest)) != NULL;
    if (strcmp(key, "mesh") == 0)
        return mesh_parse(&parsed->mesh, rest);
    if (strcmp(key, "cores") == 0)
        return sscanf(rest, "%u", &parsed->cores) == 1 && parsed->cores >= 1 && parsed->cores <= 64;
    if (strcmp(key, "seed") == 0)
        return g_ascii_string_to_unsigned(rest, 10, 0, G_MAXUINT64, &parsed->seed, NULL);
    if (strcmp(key, "knobs") == 0)
        return sscanf(rest, "%u %u %u %u %u", &k[0], &k[1], &k[2], &k[3], &k[4]) == 5 && k[0] <= 2 && k[1] <= 1 && k[2] <= 1 && k[3] <= 1
            && k[4] <= 1;
    if (strcmp(key, "parameter") == 0)
        return parse_parameter(parsed, rest);
    if (strcmp(key, "code") == 0) {
        g_ptr_array_add(parsed->code, g_strdup(rest));
        return true;
    }
    if (strcmp(key, "fault") == 0)
        return parse_fault(parsed, rest);
    if (parsed->finding != NULL && strcmp(key, "message") == 0)
        return (parsed->finding->message = g_strcompress(rest)) != NULL;
    if (parsed->finding != NULL && strcmp(key, "why") == 0)
        return (parsed->finding->why = g_strcompress(rest)) != NULL;
    if (parsed->finding != NULL && strcmp(key, "delays") == 0)
        return parse_delays(parsed->finding, rest);
    if (parsed->finding != NULL && strcmp(key, "count") == 0)
        return parse_count(parsed->finding, rest);
    return strcmp(key, "place") == 0 && parse_place(parsed, rest);
}

static Parsed *parse(const char *path, char **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    if (!g_file_get_contents(path, &text, NULL, &problem)) {
        *error = g_strdup_printf("cannot read the schedule %s: %s", path, problem->message);
        return NULL;
    }
    g_auto(GStrv) line = g_strsplit(text, "\n", -1);
    if (g_strcmp0(line[0], "heddle-schedule 1") != 0) {
        *error = g_strdup_printf("%s is no schedule of this version: it must begin with \"heddle-schedule 1\"", path);
        return NULL;
    }
    Parsed *parsed = g_new0(Parsed, 1);
    parsed->overrides = g_array_new(FALSE, FALSE, sizeof(Override));
    parsed->lines = g_ptr_array_new_with_free_func(g_free);
    parsed->code = g_ptr_array_new_with_free_func(g_free);
    unsigned at = 1, moves = 0;
    for (; line[at] != NULL && sscanf(line[at], "moves %u", &moves) != 1; at++)
        if (!parse_field(parsed, line[at])) {
            *error = g_strdup_printf("%s:%u: not understood in a schedule: \"%.60s\"", path, at + 1, line[at]);
            free_parsed(parsed);
            return NULL;
        }
    for (unsigned i = 0; line[at] != NULL && i < moves && line[at + 1] != NULL; i++)
        g_ptr_array_add(parsed->lines, g_strdup(line[++at]));
    bool whole = line[at] != NULL && parsed->lines->len == moves && g_strcmp0(line[at + 1], "end") == 0;
    if (!whole || parsed->header.program == NULL || parsed->finding == NULL || parsed->cores == 0 || parsed->mesh.axes == 0) {
        *error = g_strdup_printf("%s: the schedule is incomplete: the file was cut off, make it anew with heddle check", path);
        free_parsed(parsed);
        return NULL;
    }
    parsed->header.devices = mesh_devices(&parsed->mesh);
    return parsed;
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

void schedule_header_free(ScheduleHeader *header)
{
    g_free(header->program);
    g_free(header->source);
    g_free(header->source_hash);
    g_free(header->fault);
    g_free(header);
}

static CheckSpec *spec_of(const Parsed *parsed, ProgramModuleOpen open, const char *module)
{
    CheckSpec *spec = g_new0(CheckSpec, 1);
    *spec = (CheckSpec){ .open = open, .module = g_strdup(module), .program = g_strdup(parsed->header.program),
                         .source = module ? g_strdup(parsed->header.source) : NULL, .mesh = parsed->mesh, .cores = parsed->cores,
                         .seed = parsed->seed, .search = SEARCH_PROVE, .film = true, .overrides = parsed->overrides->len };
    spec->knobs = (Knobs){ (DmaOrder)parsed->knob[0], (DmaProgress)parsed->knob[1], (Bounds)parsed->knob[2], (Scopes)parsed->knob[3],
                           (DataMode)parsed->knob[4] };
    Override *override = g_new0(Override, parsed->overrides->len);
    for (guint i = 0; i < parsed->overrides->len; i++) {
        const Override *from = &g_array_index(parsed->overrides, Override, i);
        override[i] = (Override){ g_strdup(from->name), from->value };
    }
    spec->override = override;
    return spec;
}

ReplayResult *schedule_replay(ProgramModuleOpen open, const char *path, const char *module, bool in_process)
{
    ReplayResult *replay = g_new0(ReplayResult, 1);
    Parsed *parsed = parse(path, &replay->error);
    if (parsed == NULL)
        return replay;
    CheckSpec *spec = spec_of(parsed, open, module);
    spec->in_process = in_process;
    g_autofree char *hash = identity_hash_file(parsed->header.source);
    if (g_strcmp0(hash, parsed->header.source_hash) != 0)
        g_clear_pointer(&parsed->finding->why, g_free);
    if (g_strcmp0(hash, parsed->header.source_hash) != 0)
        relocate_lines(parsed->lines, parsed->code);
    replay->check = check_replay(spec, parsed->finding, parsed->lines, &replay->error);
    parsed->finding = NULL;
    free_parsed(parsed);
    if (replay->check != NULL && replay->check->verdict == VERDICT_ERROR)
        replay->error = g_strdup(replay->check->error);
    if (replay->check != NULL && replay->check->outcome->findings->len > 0) {
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
        for (size_t i = 0; i < spec->overrides; i++)
            g_free((char *)spec->override[i].name);
        g_free((Override *)spec->override);
        g_free((char *)spec->program);
        g_free((char *)spec->module);
        g_free((char *)spec->source);
        g_free(spec);
    }
    g_free(replay);
}
