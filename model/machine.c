/* machine.c - counts and contents of one run.
 *
 * Arrays by id grow as declarations appear. Contents are made on first touch: inputs are filled (by the plan's own function or a seeded
 * generator of small integers, so that sums are exact), everything else is unwritten. Opaque objects keep the intervals written so far.
 */
#include "machine.h"
#include "counter.h"
#include "guard.h"
#include "racing.h"
#include "rng.h"
#include "sane.h"
#include <glib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct Machine {
    Program *program;
    int64_t *count;
    uint32_t counts;
    bool ignores;                               /* machine_ignore_contents */
    Contents **contents;                        /* by object */
    GArray **written;                           /* by object, opaque ones: sorted disjoint Interval */
    uint32_t objects;
    uint64_t elements_moved;
};

typedef struct Interval { int64_t lo, hi; } Interval;

Machine *machine_new(Program *program)
{
    Machine *machine = g_new0(Machine, 1);
    machine->program = program;
    return machine;
}

void machine_reset(Machine *machine)
{
    for (uint32_t i = 0; i < machine->objects; i++) {
        cells_free(machine->contents[i]);
        if (machine->written[i] != NULL)
            g_array_free(machine->written[i], TRUE);
    }
    g_free(machine->contents);
    g_free(machine->written);
    g_free(machine->count);
    *machine = (Machine){ .program = machine->program, .ignores = machine->ignores };
}

void machine_free(Machine *machine)
{
    machine_reset(machine);
    g_free(machine);
}

static uint64_t hash_contents(const Contents *contents, size_t bytes, bool origins, uint64_t hash)
{
    hash = XXH3_64bits_withSeed(contents->bytes, bytes, hash);
    hash = XXH3_64bits_withSeed(contents->written, (size_t)contents->elements * sizeof *contents->written, hash);
    return origins ? XXH3_64bits_withSeed(contents->origin, (size_t)contents->elements * sizeof(uint64_t), hash) : hash;
}

uint64_t machine_hash_marks(Machine *machine)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < machine->objects && racing_any(machine->program); i++) {
        const Contents *contents = machine->contents[i];
        const Decl *decl = program_decl(machine->program, program_object_decl(machine->program, i));
        for (int64_t k = 0; contents != NULL && program_decl_is_result(decl) && k < contents->elements; k++)
            if (contents_marked(contents, k) != 0)
                hash = rng_mix(rng_mix(hash ^ i) ^ (uint64_t)k);
    }
    return hash;
}

/* Hashes marked bytes as marked, whatever their values. */
static uint64_t hash_object(const Machine *machine, uint32_t object, const Contents *contents, bool origins, uint64_t hash)
{
    size_t bytes = (size_t)program_decl(machine->program, program_object_decl(machine->program, object))->bytes;
    if (G_LIKELY(!racing_any(machine->program)) || !cells_any_marked(contents, ELEMENT_MARKS))
        return hash_contents(contents, bytes, origins, hash);
    size_t count = (size_t)contents->elements, item = bytes / count;
    Contents clean = { .elements = contents->elements, .bytes = g_memdup2(contents->bytes, bytes),
                       .written = g_memdup2(contents->written, count * sizeof *contents->written),
                       .origin = g_memdup2(contents->origin, count * sizeof(uint64_t)) };
    for (size_t i = 0; i < count; i++) {
        uint32_t marked = contents_marked(contents, (int64_t)i);
        for (size_t b = 0; b < item; b++)
            clean.bytes[i * item + b] = (marked >> b & 1) ? 0 : clean.bytes[i * item + b];
        clean.origin[i] = marked ? 0 : clean.origin[i];
        clean.written[i] &= ~(marked | marked << CONTENTS_UNKNOWN);
    }
    hash = hash_contents(&clean, bytes, origins, hash);
    g_free(clean.bytes);
    g_free(clean.written);
    g_free(clean.origin);
    return hash;
}

void machine_tell_reached_results(Machine *machine)
{
    for (uint32_t i = 0; i < machine->objects && racing_any(machine->program); i++) {
        const Decl *decl = program_decl(machine->program, program_object_decl(machine->program, i));
        const Contents *contents = machine->contents[i];
        if (contents != NULL && program_decl_is_result(decl) && decl->exempt[FAULT_RACE] == 0 && cells_any_marked(contents, ELEMENT_EXEMPT))
            racing_reach(machine->program, REACH_RESULT, program_object_device(machine->program, i), decl->site, ELEMENT_EXEMPT);
    }
}

uint64_t machine_hash(Machine *machine)
{
    SANE(machine_assert_sane(machine));
    uint64_t hash = 0;
    for (uint32_t s = 0; s < machine->counts; s++)
        if (machine->count[s] != 0)
            hash = rng_mix(hash ^ rng_mix(((uint64_t)s << 32) ^ (uint64_t)machine->count[s]));
    for (uint32_t i = 0; i < machine->objects; i++) {
        const Contents *contents = machine->contents[i];
        if (contents != NULL)
            hash = hash_object(machine, i, contents, true, hash + i);
    }
    return hash;
}

uint64_t machine_hash_results(Machine *machine)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < machine->program->objects; i++) {
        const Decl *decl = program_decl(machine->program, program_object_decl(machine->program, i));
        if (program_decl_is_result(decl))
            hash = hash_object(machine, i, machine_contents(machine, i), false, hash + i);
    }
    return hash;
}

void machine_ignore_contents(Machine *machine, bool ignore)
{
    machine->ignores = ignore;
}

Program *machine_program(Machine *machine)
{
    return machine->program;
}

static void grow_counts(Machine *machine)
{
    const Program *program = machine->program;
    uint32_t before = machine->counts;
    machine->counts = program->semaphores;
    machine->count = g_renew(int64_t, machine->count, MAX(machine->counts, 1));
    memset(machine->count + before, 0, (machine->counts - before) * sizeof *machine->count);
    for (uint32_t i = 0; i < program->semaphore_decls.count; i++) {
        const Decl *decl = program_decl(program, STORE(uint32_t, &program->semaphore_decls, i));
        if (decl->semaphore_kind == SEMAPHORE_FLAG && decl->first_semaphore >= before)
            for (uint32_t s = 0; s < decl->elements * program->cores; s++)
                machine->count[decl->first_semaphore + s] = decl->initial;
    }
}

static int64_t *cell(Machine *machine, uint32_t semaphore)
{
    if (G_UNLIKELY(semaphore >= machine->counts))
        grow_counts(machine);
    g_assert(semaphore < machine->counts);
    return &machine->count[semaphore];
}

int64_t machine_count(Machine *machine, uint32_t semaphore)
{
    return *cell(machine, semaphore);
}

static void assert_count_sane(const Machine *machine, uint32_t semaphore)
{
    int64_t count = machine->count[semaphore];
    bool flag = program_decl(machine->program, program_semaphore_decl(machine->program, semaphore))->semaphore_kind == SEMAPHORE_FLAG;
    g_assert(flag ? count == (int32_t)count : count >= 0);
}

static void assert_object_sane(const Machine *machine, uint32_t object)
{
    const GArray *written = machine->written[object];
    g_assert(machine->contents[object] == NULL || !program_decl(machine->program, program_object_decl(machine->program, object))->opaque);
    for (guint i = 0; written != NULL && i < written->len; i++) {
        const Interval *at = &g_array_index(written, Interval, i);
        g_assert(at->lo < at->hi && (i == 0 || at[-1].hi < at->lo));
    }
}

void machine_assert_sane(const Machine *machine)
{
    for (uint32_t s = 0; s < machine->counts; s++)
        assert_count_sane(machine, s);
    for (uint32_t i = 0; i < machine->objects; i++)
        assert_object_sane(machine, i);
}

void machine_add(Machine *machine, uint32_t semaphore, int64_t inc)
{
    *cell(machine, semaphore) += inc;
    SANE(assert_count_sane(machine, semaphore));
}

static void grow_objects(Machine *machine)
{
    uint32_t before = machine->objects, now = machine->program->objects;
    machine->contents = g_renew(Contents *, machine->contents, MAX(now, 1));
    machine->written = g_renew(GArray *, machine->written, MAX(now, 1));
    memset(machine->contents + before, 0, (now - before) * sizeof *machine->contents);
    memset(machine->written + before, 0, (now - before) * sizeof *machine->written);
    machine->objects = now;
}

static void generate_input(const Program *program, uint32_t decl_id, uint32_t device, Contents *contents)
{
    const Decl *decl = program_decl(program, decl_id);
    size_t item = dtype_size_bytes(decl->dtype);
    Rng rng;
    rng_init(&rng, rng_mix(program->seed) ^ rng_mix(((uint64_t)decl_id << 32) | device));
    for (int64_t i = 0; i < contents->elements; i++) {
        int64_t value = (int64_t)rng_below(&rng, 9) - (dtype_is_float(decl->dtype) || dtype_is_signed(decl->dtype) ? 4 : 0);
        if (dtype_is_float(decl->dtype))
            dtype_write_double(decl->dtype, contents->bytes + (size_t)i * item, (double)value);
        else
            dtype_write_int(decl->dtype, contents->bytes + (size_t)i * item, value);
    }
}

static void fill_input(Machine *machine, uint32_t decl_id, uint32_t device, Contents *contents)
{
    Program *program = machine->program;
    const Decl *decl = program_decl(program, decl_id);
    if (decl->fill != NULL)
        decl->fill(program, decl_id, device, contents);
    else
        generate_input(program, decl_id, device, contents);
    int64_t logical = view_elements(program_get_view(program, decl->view));
    for (int64_t i = 0; i < logical; i++) {
        int64_t at = view_element_offset(program_get_view(program, decl->view), i) / (int64_t)dtype_size_bytes(decl->dtype);
        contents->written[at] = contents_mask(dtype_size_bytes(decl->dtype));
        contents->origin[at] = tile_input_origin(device, decl_id, (uint64_t)i);
    }
}

uint64_t machine_elements_moved(const Machine *machine)
{
    return machine->elements_moved;
}

Contents *machine_contents(Machine *machine, uint32_t object)
{
    if (G_UNLIKELY(object >= machine->objects))
        grow_objects(machine);
    g_assert(object < machine->objects);
    if (machine->contents[object] != NULL)
        return machine->contents[object];
    uint32_t decl_id = program_object_decl(machine->program, object);
    const Decl *decl = program_decl(machine->program, decl_id);
    if (decl->opaque || machine->ignores)
        return NULL;
    machine->elements_moved += (uint64_t)(decl->bytes / (int64_t)dtype_size_bytes(decl->dtype));
    Contents *contents = cells_new(decl->bytes / (int64_t)dtype_size_bytes(decl->dtype), dtype_size_bytes(decl->dtype));
    machine->contents[object] = contents;
    if (decl->input)
        fill_input(machine, decl_id, program_object_device(machine->program, object), contents);
    SANE(assert_object_sane(machine, object));
    return contents;
}

static size_t cell_bytes_of(const Machine *machine, uint32_t object)
{
    return dtype_size_bytes(program_decl(machine->program, program_object_decl(machine->program, object))->dtype);
}

void machine_read(Machine *machine, uint32_t object, uint32_t view_id, const uint8_t *mask, Tile *out)
{
    Contents *contents = machine_contents(machine, object);
    if (contents == NULL || out->opaque)
        return;
    machine->elements_moved += (uint64_t)out->elements;
    const View *view = program_get_view(machine->program, view_id);
    cells_read(contents, cell_bytes_of(machine, object), view, mask, out);
}

/* How many bytes of an element are contiguous. */
static int64_t bytes_together(const View *view)
{
    return view->folds ? 1 : (int64_t)dtype_size_bytes(view->dtype);
}

static uint8_t marks_of(const Program *program, uint64_t racing, const View *view, int64_t element)
{
    uint8_t marks = 0;
    for (int64_t b = 0, together = bytes_together(view); b < (int64_t)dtype_size_bytes(view->dtype); b += together)
        marks |= racing_marks(program, racing, view_byte_offset(view, element, b), (size_t)together);
    return marks;
}

void machine_mark_read(Machine *machine, uint32_t site, uint32_t object, uint32_t view_id, const uint8_t *mask, Tile *out)
{
    uint64_t racing = racing_of(machine->program, site, object, false);
    if (G_LIKELY(racing == 0) || out->opaque)
        return;
    const View *view = program_get_view(machine->program, view_id);
    int64_t each = tile_is_raw(out, view) ? (int64_t)dtype_size_bytes(view->dtype) : 1;
    for (int64_t i = 0, elements = view_elements(view); i < elements; i++) {
        uint8_t marks = cells_skipped(view, mask, i) ? 0 : marks_of(machine->program, racing, view, i);
        for (int64_t k = 0; k < each; k++)
            out->written[i * each + k] |= marks;
    }
}

static int before_interval(const GArray *intervals, int64_t lo)        /* first interval with hi >= lo */
{
    guint low = 0, high = intervals->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(intervals, Interval, middle).hi >= lo)
            high = middle;
        else
            low = middle + 1;
    }
    return (int)low;
}

static bool add_interval(void *data, int64_t lo, int64_t length)
{
    GArray *intervals = data;
    Interval now = { lo, lo + length };
    guint first = (guint)before_interval(intervals, lo), last = first;
    while (last < intervals->len && g_array_index(intervals, Interval, last).lo <= now.hi) {
        now.lo = MIN(now.lo, g_array_index(intervals, Interval, last).lo);
        now.hi = MAX(now.hi, g_array_index(intervals, Interval, last).hi);
        last++;
    }
    if (last > first) {
        g_array_index(intervals, Interval, first) = now;
        if (last > first + 1)
            g_array_remove_range(intervals, first + 1, last - first - 1);
    } else {
        g_array_insert_val(intervals, first, now);
    }
    return true;
}

static void note_written(Machine *machine, uint32_t object, uint32_t region)
{
    if (G_UNLIKELY(object >= machine->objects))
        grow_objects(machine);
    if (machine->written[object] == NULL)
        machine->written[object] = g_array_new(FALSE, FALSE, sizeof(Interval));
    region_each_run(program_get_region(machine->program, region), add_interval, machine->written[object]);
    SANE_NOW_AND_THEN(machine->written[object]->len, assert_object_sane(machine, object));
}

static bool outside_intervals(void *data, int64_t lo, int64_t length)
{
    const GArray *intervals = data;
    guint at = (guint)before_interval(intervals, lo + 1);
    return at >= intervals->len || g_array_index(intervals, Interval, at).lo >= lo + length;
}

bool machine_any_written(Machine *machine, uint32_t object, uint32_t region)
{
    if (program_decl(machine->program, program_object_decl(machine->program, object))->input)
        return true;
    if (object >= machine->objects || machine->written[object] == NULL)
        return false;
    return !region_each_run(program_get_region(machine->program, region), outside_intervals, machine->written[object]);
}

void machine_write(Machine *machine, uint32_t object, uint32_t view_id, const uint8_t *mask, const Tile *tile)
{
    Contents *contents = machine_contents(machine, object);
    if (contents == NULL)
        return;
    machine->elements_moved += (uint64_t)tile->elements;
    const View *view = program_get_view(machine->program, view_id);
    cells_write(contents, cell_bytes_of(machine, object), view, mask, tile);
}

void machine_mark_write(Machine *machine, uint32_t site, uint32_t object, uint32_t view_id, const uint8_t *mask)
{
    uint64_t racing = racing_of(machine->program, site, object, true);
    Contents *contents = G_LIKELY(racing == 0) ? NULL : machine_contents(machine, object);
    if (contents == NULL)
        return;
    const View *view = program_get_view(machine->program, view_id);
    const Decl *decl = program_decl(machine->program, program_object_decl(machine->program, object));
    int64_t item = (int64_t)dtype_size_bytes(view->dtype), cell_bytes = (int64_t)dtype_size_bytes(decl->dtype);
    int64_t together = bytes_together(view);
    uint8_t marks = 0;
    for (int64_t i = 0, elements = view_elements(view); i < elements; i++) {
        for (int64_t b = 0; b < item && !cells_skipped(view, mask, i); b++) {
            int64_t offset = view_byte_offset(view, i, b);
            if (b % together == 0)
                marks = racing_marks(machine->program, racing, offset, (size_t)together);
            cells_mark(contents, offset / cell_bytes, 1u << offset % cell_bytes, marks);
        }
    }
}

static bool is_opaque(const Machine *machine, uint32_t object)
{
    return machine->ignores || program_decl(machine->program, program_object_decl(machine->program, object))->opaque;
}

Tile *machine_tile(Machine *machine, uint32_t object, uint32_t view_id)
{
    const View *view = program_get_view(machine->program, view_id);
    Tile *tile = tile_new(view->dtype, view->ndim, view->size, false);
    if (cells_want_parts(view, cell_bytes_of(machine, object)))
        tile_want_parts(tile, NULL, NULL);
    return tile;
}

Tile *machine_copy_payload(Machine *machine, uint32_t object, uint32_t view_id)
{
    const View *view = program_get_view(machine->program, view_id);
    const Contents *contents = machine_contents(machine, object);
    int64_t item = (int64_t)dtype_size_bytes(view->dtype), bytes = view_elements(view) * item;
    bool whole = item == 1 || cells_are_moved_whole(contents, cell_bytes_of(machine, object), view);
    return whole ? tile_new(view->dtype, view->ndim, view->size, false) : tile_new(DTYPE_U8, 1, &bytes, false);
}

Tile *machine_copy_read(Machine *machine, const Copy *copy)
{
    if (copy->source_view == NONE || is_opaque(machine, copy->source))
        return NULL;
    Tile *payload = machine_copy_payload(machine, copy->source, copy->source_view);
    machine_read(machine, copy->source, copy->source_view, NULL, payload);
    machine_mark_read(machine, copy->site, copy->source, copy->source_view, NULL, payload);
    return payload;
}

void machine_copy_write(Machine *machine, const Copy *copy, Tile *payload)
{
    if (is_opaque(machine, copy->target)) {
        note_written(machine, copy->target, copy->target_region);
    } else if (payload != NULL) {
        machine_write(machine, copy->target, copy->target_view, NULL, payload);
    } else {
        const View *view = program_get_view(machine->program, copy->target_view);
        Tile unknown = { .dtype = view->dtype, .elements = view_elements(view), .opaque = true };
        machine_write(machine, copy->target, copy->target_view, NULL, &unknown);
    }
    if (copy->target_view != NONE)
        machine_mark_write(machine, copy->site, copy->target, copy->target_view, NULL);
    tile_free(payload);
}

void machine_copy_now(Machine *machine, const Copy *copy)
{
    machine_copy_write(machine, copy, machine_copy_read(machine, copy));
}

bool machine_possible(Machine *machine, const Step *step)
{
    return step_is_wait(step->kind) ? counter_permits(step, machine_count(machine, step->object)) : step->kind != STEP_STOP;
}

static void do_memory(Machine *machine, Request *request)
{
    const Step *step = &request->step;
    bool opaque = is_opaque(machine, step->object);
    Tile *into = step->kind == STEP_LOAD ? request->tile : request->old;
    if (step->kind != STEP_STORE) {
        machine_read(machine, step->object, request->view, request->mask, into);
        machine_mark_read(machine, step->site, step->object, request->view, request->mask, into);
    }
    if (step->kind == STEP_LOAD)
        return;
    if (opaque) {
        note_written(machine, step->object, step->value);
    } else if (request->tile != NULL) {
        machine_write(machine, step->object, request->view, request->mask, request->tile);
        machine_mark_write(machine, step->site, step->object, request->view, request->mask);
    }
}

bool machine_do(Machine *machine, Request *request)
{
    const Step *step = &request->step;
    if (step_on_memory(step->kind))
        do_memory(machine, request);
    if (!step_on_counter(step->kind))
        return true;
    int64_t *value = cell(machine, step->object);
    if (step_learns(step))
        request->observed = *value;
    *value = counter_after(step, *value);
    SANE(assert_count_sane(machine, step->object));
    return step->kind != STEP_EXPECT_COUNT || *value == (int32_t)step->value;
}
