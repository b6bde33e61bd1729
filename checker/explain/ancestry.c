/* ancestry.c - backwards over the record of a scheduled run: who wrote this byte last, and from where. */
#include "ancestry.h"
#include "../../model/moment.h"
#include <string.h>
#include "../../model/label.h"

enum { DEPTH_MAX = 12, LOADS_TRIED = 8 };

typedef struct Spot { uint32_t object; int64_t byte; } Spot;

typedef struct Way {
    const Record *record;
    const Program *program;
    GPtrArray *lines;                           /* of char*, from the end back */
} Way;

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

/* How many bytes of the region come before this one; -1: it is not in there. */
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

static const Step *step_at(const Way *way, size_t i)
{
    return &STORE(Step, &way->record->steps, i);
}

static bool is_store(const Step *step)
{
    return step->kind == STEP_STORE || step->kind == STEP_SWAP;
}

/* The last step before `until` that writes the byte, and the rank of it there; false: none does. */
static bool last_writer(const Way *way, Spot spot, size_t until, size_t *found, int64_t *rank)
{
    for (size_t i = until; i-- > 0;) {
        const Step *step = step_at(way, i);
        const Copy *copy = step->kind == STEP_WRITE ? &STORE(Copy, &way->record->copies, step->object) : NULL;
        if (!is_store(step) && copy == NULL)
            continue;
        if ((copy ? copy->target : step->object) != spot.object)
            continue;
        *rank = rank_of(program_get_region(way->program, copy ? copy->target_region : step->value), spot.byte);
        *found = i;
        if (*rank >= 0)
            return true;
    }
    return false;
}

static bool trace(Way *way, Spot spot, size_t until, unsigned depth);

static bool trace_copy(Way *way, size_t at, int64_t rank, unsigned depth)
{
    const Step *write = step_at(way, at);
    const Copy *copy = &STORE(Copy, &way->record->copies, write->object);
    size_t read = at;
    while (read > 0 && (step_at(way, read)->kind != STEP_READ || step_at(way, read)->object != write->object))
        read--;
    g_autofree char *core = program_describe_core(way->program, copy->core), *where = program_describe_site(way->program, copy->site);
    g_autofree char *to = program_describe_region(way->program, copy->target, copy->target_region);
    g_autofree char *from = program_describe_region(way->program, copy->source, copy->source_region);
    g_autofree char *name = label_describe_copy(way->program, core, copy->ordinal, copy->label);
    g_ptr_array_add(way->lines, g_strdup_printf("%s at %s wrote %s from %s", name, where, to, from));
    int64_t byte = byte_at(program_get_region(way->program, copy->source_region), rank);
    if (trace(way, (Spot){ copy->source, byte }, read, depth))
        return true;
    g_ptr_array_set_size(way->lines, (gint)way->lines->len - 1);
    return false;
}

/* One of the loads of the core that come just before it; from: what was made of them. */
static bool trace_loads(Way *way, uint32_t core, size_t until, int64_t rank, int64_t bytes, const char *made, unsigned depth)
{
    unsigned tried = 0;
    for (size_t i = until; i-- > 0 && tried < LOADS_TRIED;) {
        const Step *load = step_at(way, i);
        if (load->core != core || moment_is(load->kind))
            continue;
        if (load->kind == STEP_STORE)
            return false;
        if (load->kind != STEP_LOAD && load->kind != STEP_SWAP)
            continue;
        tried++;
        const Region *region = program_get_region(way->program, load->value);
        int64_t byte = region->bytes == bytes ? byte_at(region, rank) : region->lo;
        g_autofree char *where = program_describe_site(way->program, load->site);
        g_autofree char *from = program_describe_region(way->program, load->object, load->value);
        g_ptr_array_add(way->lines, g_strdup_printf("%s from %s, loaded at %s", made, from, where));
        if (trace(way, (Spot){ load->object, byte }, i, depth))
            return true;
        g_ptr_array_set_size(way->lines, (gint)way->lines->len - 1);
    }
    return false;
}

static bool trace(Way *way, Spot spot, size_t until, unsigned depth)
{
    size_t at;
    int64_t rank;
    if (depth == 0)
        return false;
    if (!last_writer(way, spot, until, &at, &rank))
        return !program_decl(way->program, program_object_decl(way->program, spot.object))->input;
    const Step *writer = step_at(way, at);
    if (writer->kind == STEP_WRITE)
        return trace_copy(way, at, rank, depth - 1);
    g_autofree char *core = program_describe_core(way->program, writer->core), *where = program_describe_site(way->program, writer->site);
    g_autofree char *to = program_describe_region(way->program, writer->object, writer->value);
    g_autofree char *made = g_strdup_printf("%s at %s wrote %s", core, where, to);
    return trace_loads(way, writer->core, at, rank, program_get_region(way->program, writer->value)->bytes, made, depth - 1);
}

/* The first element that nobody wrote of what the expectation looks at. */
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

static size_t index_of(const Way *way, const Place *place)
{
    uint32_t position = 0;
    for (size_t i = 0; i < way->record->steps.count; i++) {
        const Step *step = step_at(way, i);
        if (step->core == place->core && !moment_is(step->kind) && position++ == place->position)
            return i;
    }
    return way->record->steps.count;
}

static bool find_way(Execution *e, Way *way, const Finding *finding)
{
    const Place *place = &finding->place[0];
    const Program *program = way->program;
    for (size_t i = 0; i < program->expectations.count; i++) {
        const Expectation *expectation = &STORE(Expectation, &program->expectations, i);
        Spot spot;
        if (expectation->site == place->site)
            return first_unwritten(e, expectation, place->core / program->cores_per_device, &spot)
                && trace(way, spot, way->record->steps.count, DEPTH_MAX);
    }
    g_autofree char *core = program_describe_core(way->program, place->core), *taken = g_strdup_printf("%s took it", core);
    return trace_loads(way, place->core, MIN(index_of(way, place) + 1, way->record->steps.count), 0, 0, taken, DEPTH_MAX);
}

char *ancestry_of_unwritten(Execution *e, const Finding *finding)
{
    Way way = { execution_record(e), machine_program(execution_machine(e)), g_ptr_array_new_with_free_func(g_free) };
    GString *text = NULL;
    if (find_way(e, &way, finding)) {
        text = g_string_new(way.lines->len > 0 ? "Where it comes from: " : "");
        for (guint i = 0; i < way.lines->len; i++)
            if (i == 0 || strcmp(way.lines->pdata[i - 1], way.lines->pdata[i]) != 0)    /* rounds of a loop are told once */
                g_string_append_printf(text, "%s%s", i > 0 ? "; " : "", (char *)way.lines->pdata[i]);
        g_string_append(text, way.lines->len > 0 ? "; nobody had written there." : "Nothing in this run writes that element.");
    }
    g_ptr_array_unref(way.lines);
    return text != NULL ? g_string_free(text, FALSE) : NULL;
}
