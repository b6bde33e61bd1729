/* ancestry.c - backwards through the record of a scheduled run: which step last wrote this byte, and from where. */
#include "ancestry.h"
#include "../../model/expectation.h"
#include "../../model/moment.h"
#include <string.h>
#include "../../model/label.h"

enum { DEPTH_MAX = 12, DEPTH_MIXED = 2, LOADS_TRIED = 8, LOADS_NAMED = 3 };

typedef struct Spot { uint32_t object; int64_t byte; } Spot;

typedef struct Ancestry {
    const Record *record;
    const Program *program;
    Spot spot;                                  /* of an expectation */
    bool known;                                 /* the bytes are written: back to an input, or to what a core computes */
    Spot end;                                   /* the unwritten byte that was found */
    size_t until;                               /* it is not written before that step */
    GPtrArray *lines;                           /* of char*, latest step first */
} Ancestry;

typedef struct Seek { int64_t byte, rank, passed; bool by_rank, found; } Seek;

static bool seek_in_run(void *data, int64_t lo, int64_t length)
{
    Seek *seek = data;
    int64_t at = seek->by_rank ? seek->rank - seek->passed : seek->byte - lo;
    if (at >= 0 && at < length) {
        seek->byte = lo + at, seek->rank = seek->passed + at;
        seek->found = true;
    }
    seek->passed += length;
    return !seek->found;
}

/* How many bytes of the region come before this one; -1: it is not in the region. */
static int64_t rank_of(const Region *region, int64_t byte)
{
    Seek seek = { .byte = byte };
    region_each_run(region, seek_in_run, &seek);
    return seek.found ? seek.rank : -1;
}

static int64_t byte_at(const Region *region, int64_t rank)
{
    Seek seek = { .rank = rank, .by_rank = true };
    region_each_run(region, seek_in_run, &seek);
    return seek.found ? seek.byte : region->lo;
}

static const Step *step_at(const Ancestry *a, size_t i)
{
    return &STORE(Step, &a->record->steps, i);
}

static bool is_store(const Step *step)
{
    return step->kind == STEP_STORE || step->kind == STEP_SWAP;
}

/* The last step before `until` that writes the byte, and the byte's rank in what it writes; false: none does. */
static bool last_writer(const Ancestry *a, Spot spot, size_t until, size_t *found, int64_t *rank)
{
    for (size_t i = until; i-- > 0;) {
        const Step *step = step_at(a, i);
        const Copy *copy = step->kind == STEP_WRITE ? &STORE(Copy, &a->record->copies, step->object) : NULL;
        if (!is_store(step) && copy == NULL)
            continue;
        if ((copy ? copy->target : step->object) != spot.object)
            continue;
        *rank = rank_of(program_get_region(a->program, copy ? copy->target_region : step->value), spot.byte);
        *found = i;
        if (*rank >= 0)
            return true;
    }
    return false;
}

static bool trace(Ancestry *a, Spot spot, size_t until, unsigned depth);

static bool trace_copy(Ancestry *a, size_t at, int64_t rank, unsigned depth)
{
    const Step *write = step_at(a, at);
    const Copy *copy = &STORE(Copy, &a->record->copies, write->object);
    size_t read = at;
    while (read > 0 && (step_at(a, read)->kind != STEP_READ || step_at(a, read)->object != write->object))
        read--;
    g_autofree char *core = program_describe_core(a->program, copy->core);
    g_autofree char *where = label_describe_start(a->program, copy->site, copy->described);
    g_autofree char *to = program_describe_region(a->program, copy->target, copy->target_region);
    g_autofree char *from = program_describe_region(a->program, copy->source, copy->source_region);
    g_autofree char *name = label_describe_copy(a->program, core, copy->ordinal, copy->label);
    g_ptr_array_add(a->lines, g_strdup_printf("%s at %s wrote %s from %s", name, where, to, from));
    int64_t byte = byte_at(program_get_region(a->program, copy->source_region), rank);
    if (trace(a, (Spot){ copy->source, byte }, read, depth))
        return true;
    g_ptr_array_set_size(a->lines, (gint)a->lines->len - 1);
    return false;
}

/* Tries the core's latest loads before `until`. made: who wrote what from them, in words. */
static bool trace_loads(Ancestry *a, uint32_t core, size_t until, int64_t rank, int64_t bytes, const char *made, unsigned depth)
{
    unsigned tried = 0;
    for (size_t i = until; i-- > 0 && tried < LOADS_TRIED;) {
        const Step *load = step_at(a, i);
        if (load->core != core || moment_is(load->kind))
            continue;
        if (load->kind == STEP_STORE)
            return false;
        if (load->kind != STEP_LOAD && load->kind != STEP_SWAP)
            continue;
        tried++;
        const Region *region = program_get_region(a->program, load->value);
        int64_t byte = region->bytes == bytes ? byte_at(region, rank) : region->lo;
        g_autofree char *where = program_describe_site(a->program, load->site);
        g_autofree char *from = program_describe_region(a->program, load->object, load->value);
        g_ptr_array_add(a->lines, g_strdup_printf("%s from %s, loaded at %s", made, from, where));
        if (trace(a, (Spot){ load->object, byte }, i, depth))
            return true;
        g_ptr_array_set_size(a->lines, (gint)a->lines->len - 1);
    }
    return false;
}

/* What the core loaded between its store before that one and that one: indices in the record, the first first. */
static GArray *loads_for(const Ancestry *a, const Step *store, size_t at)
{
    GArray *loads = g_array_new(FALSE, FALSE, sizeof(size_t));
    for (size_t i = at; i-- > 0 && !(step_at(a, i)->core == store->core && step_at(a, i)->kind == STEP_STORE);)
        if (step_at(a, i)->core == store->core && step_at(a, i)->kind == STEP_LOAD)
            g_array_prepend_val(loads, i);
    return loads;
}

/* A value made of several loads, or of none: names them, and follows those that copies brought. */
static void trace_mixed(Ancestry *a, size_t store, const GArray *loads, int64_t rank, const char *made, unsigned depth)
{
    g_autoptr(GString) line = g_string_new(made);
    const int64_t bytes = program_get_region(a->program, step_at(a, store)->value)->bytes;
    const guint named = loads->len <= LOADS_NAMED ? loads->len : 0;
    for (guint k = 0; k < named; k++) {
        const Step *load = step_at(a, g_array_index(loads, size_t, k));
        g_autofree char *from = program_describe_region(a->program, load->object, load->value);
        g_string_append_printf(line, "%s%s", k == 0 ? " from " : k + 1 == named ? " and " : ", ", from);
    }
    g_ptr_array_add(a->lines, g_strdup(line->str));
    for (guint k = 0; k < named; k++) {
        const size_t i = g_array_index(loads, size_t, k);
        const Region *region = program_get_region(a->program, step_at(a, i)->value);
        const Spot spot = { step_at(a, i)->object, region->bytes == bytes ? byte_at(region, rank) : region->lo };
        size_t writer;
        int64_t at;
        if (last_writer(a, spot, i, &writer, &at) && step_at(a, writer)->kind == STEP_WRITE)
            trace(a, spot, i, MIN(depth, DEPTH_MIXED));
    }
}

static bool trace(Ancestry *a, Spot spot, size_t until, unsigned depth)
{
    size_t at;
    int64_t rank;
    if (depth == 0)
        return a->known;
    if (!last_writer(a, spot, until, &at, &rank)) {
        a->end = spot, a->until = until;
        return a->known || !program_decl(a->program, program_object_decl(a->program, spot.object))->input;
    }
    const Step *writer = step_at(a, at);
    if (writer->kind == STEP_WRITE)
        return trace_copy(a, at, rank, depth - 1);
    g_autofree char *core = program_describe_core(a->program, writer->core), *where = program_describe_site(a->program, writer->site);
    g_autofree char *to = program_describe_region(a->program, writer->object, writer->value);
    g_autofree char *made = g_strdup_printf("%s at %s wrote %s", core, where, to);
    g_autoptr(GArray) loads = loads_for(a, writer, at);
    if (a->known && loads->len != 1) {
        trace_mixed(a, at, loads, rank, made, depth - 1);
        return true;
    }
    return trace_loads(a, writer->core, at, rank, program_get_region(a->program, writer->value)->bytes, made, depth - 1);
}

/* The element that the expectation complains of. */
static bool first_difference(Execution *e, const Expectation *expectation, uint32_t device, Spot *spot)
{
    Unexpected unexpected = { .object = NONE };
    bool differs = !expectation->holds(execution_machine(e), expectation, device, &unexpected) && unexpected.object != NONE;
    if (differs) {
        const View *view = program_get_view(machine_program(execution_machine(e)), unexpected.view);
        *spot = (Spot){ unexpected.object, view_element_offset(view, unexpected.element) };
    }
    g_free(unexpected.message);
    return differs;
}

/* The first unwritten element of the buffers that the expectation reads. */
static bool first_unwritten(Execution *e, const Expectation *expectation, uint32_t device, Spot *spot)
{
    Machine *machine = execution_machine(e);
    const Program *program = machine_program(machine);
    for (uint32_t i = 0; i < expectation->decls; i++) {
        const Decl *decl = program_decl(program, expectation->decl[i]);
        uint32_t object = program_object(program, expectation->decl[i], device * program->cores_per_device);
        const Contents *contents = machine_contents(machine, object);
        const View *view = program_get_view(program, decl->view);
        int64_t item = (int64_t)dtype_size_bytes(decl->dtype);
        for (int64_t k = 0; contents != NULL && k < view_elements(view); k++) {
            int64_t byte = view_element_offset(view, k);
            *spot = (Spot){ object, byte };
            if (element_state(contents_state(contents, byte / item, contents_mask((size_t)item))) == ELEMENT_UNWRITTEN)
                return true;
        }
    }
    return false;
}

/* Another core that writes the same element of its own memory; NULL: there is none. */
static char *name_other_writer(const Ancestry *a, Spot spot)
{
    const Decl *decl = program_decl(a->program, program_object_decl(a->program, spot.object));
    uint32_t per = a->program->cores_per_device, first = spot.object - (spot.object - decl->first_object) % per;
    for (uint32_t k = 0; program_decl_of_cores(decl) && k < per; k++) {
        const Spot other = { first + k, spot.byte };
        size_t at;
        int64_t rank;
        if (other.object == spot.object || !last_writer(a, other, a->record->steps.count, &at, &rank))
            continue;
        const Step *writer = step_at(a, at);
        g_autofree char *core = program_describe_core(a->program, writer->core), *where = program_describe_site(a->program, writer->site);
        return g_strdup_printf(" But %s writes that element of its own %s, at %s.", core, program_text(a->program, decl->name), where);
    }
    return NULL;
}

/* What a step of the record writes of a buffer: its region; NULL: nothing. */
static const Region *written_by(const Ancestry *a, const Step *step, uint32_t object, uint32_t *region)
{
    const Copy *copy = step->kind == STEP_WRITE ? &STORE(Copy, &a->record->copies, step->object) : NULL;
    if ((!is_store(step) && copy == NULL) || (copy ? copy->target : step->object) != object)
        return NULL;
    *region = copy ? copy->target_region : step->value;
    return program_get_region(a->program, *region);
}

static int64_t distance(const Region *region, int64_t byte)
{
    return byte < region->lo ? region->lo - byte : byte >= region->hi ? byte - region->hi + 1 : 0;
}

/* "by device 0 at kernel.c:12", "by copy 1 of device 2 at kernel.c:12" */
static char *writer_words(const Ancestry *a, const Step *step)
{
    const Copy *copy = step->kind == STEP_WRITE ? &STORE(Copy, &a->record->copies, step->object) : NULL;
    g_autofree char *core = program_describe_core(a->program, step->core);
    g_autofree char *name = copy ? label_describe_copy(a->program, core, copy->ordinal, copy->label) : g_strdup(core);
    g_autofree char *where = copy ? label_describe_start(a->program, copy->site, copy->described)
                                  : program_describe_site(a->program, step->site);
    return g_strdup_printf("by %s at %s", name, where);
}

/* What is written nearest to the element by then, where the wrong index may stand, and who writes it later. */
static void append_nearest(const Ancestry *a, GString *text)
{
    const Step *nearest = NULL, *later = NULL;
    uint32_t region, of = 0;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < a->record->steps.count; i++) {
        const Region *written = written_by(a, step_at(a, i), a->end.object, &region);
        if (written == NULL)
            continue;
        if (i >= a->until && later == NULL && rank_of(written, a->end.byte) >= 0)
            later = step_at(a, i);
        if (i < a->until && distance(written, a->end.byte) < least)
            least = distance(written, a->end.byte), nearest = step_at(a, i), of = region;
    }
    if (nearest != NULL) {
        g_autofree char *words = writer_words(a, nearest), *there = program_describe_region(a->program, a->end.object, of);
        g_string_append_printf(text, " The nearest elements that are written are %s, %s.", there, words);
    }
    if (later != NULL) {
        g_autofree char *words = writer_words(a, later);
        g_string_append_printf(text, " It is written only later, %s.", words);
    }
}

static size_t index_of(const Ancestry *a, const Place *place)
{
    uint32_t position = 0;
    for (size_t i = 0; i < a->record->steps.count; i++) {
        const Step *step = step_at(a, i);
        if (step->core == place->core && !moment_is(step->kind) && position++ == place->position)
            return i;
    }
    return a->record->steps.count;
}

static bool find_source(Execution *e, Ancestry *a, const Finding *finding)
{
    const Place *place = &finding->place[0];
    const Expectation *expectation = expectation_at(a->program, place->site);
    if (expectation != NULL)
        return first_unwritten(e, expectation, place->core / a->program->cores_per_device, &a->spot)
            && trace(a, a->spot, a->record->steps.count, DEPTH_MAX);
    g_autofree char *core = program_describe_core(a->program, place->core), *taken = g_strdup_printf("%s read it", core);
    return trace_loads(a, place->core, MIN(index_of(a, place) + 1, a->record->steps.count), 0, 0, taken, DEPTH_MAX);
}

static void append_lines(GString *text, const Ancestry *a)
{
    for (guint i = 0; i < a->lines->len; i++)
        if (i == 0 || strcmp(a->lines->pdata[i - 1], a->lines->pdata[i]) != 0)      /* iterations of a loop are told once */
            g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", (char *)a->lines->pdata[i]);
}

static Ancestry ancestry(Execution *e, bool known)
{
    return (Ancestry){ .record = execution_record(e), .program = machine_program(execution_machine(e)), .known = known,
                       .spot = { NONE, 0 }, .end = { NONE, 0 }, .lines = g_ptr_array_new_with_free_func(g_free) };
}

char *ancestry_of_result(Execution *e, const Finding *finding)
{
    Ancestry a = ancestry(e, true);
    const Expectation *expectation = expectation_at(a.program, finding->place[0].site);
    GString *text = g_string_new(NULL);
    if (expectation != NULL && first_difference(e, expectation, finding->place[0].core / a.program->cores_per_device, &a.spot)
        && trace(&a, a.spot, a.record->steps.count, DEPTH_MAX) && a.lines->len > 0) {
        g_string_append(text, "Where it comes from: ");
        append_lines(text, &a);
        g_string_append_c(text, '.');
    }
    g_ptr_array_unref(a.lines);
    return g_string_free(text, text->len == 0);
}

char *ancestry_of_unwritten(Execution *e, const Finding *finding)
{
    Ancestry a = ancestry(e, false);
    GString *text = NULL;
    if (find_source(e, &a, finding)) {
        text = g_string_new(a.lines->len > 0 ? "Where it comes from: " : "");
        append_lines(text, &a);
        g_string_append(text, a.lines->len > 0 ? "; nothing had written there." : "Nothing in this run writes that element.");
        g_autofree char *other = a.lines->len == 0 && a.spot.object != NONE ? name_other_writer(&a, a.spot) : NULL;
        g_string_append(text, other ? other : "");
        if (other == NULL && a.end.object != NONE)
            append_nearest(&a, text);
    }
    g_ptr_array_unref(a.lines);
    return text != NULL ? g_string_free(text, FALSE) : NULL;
}
