/* do_memory.c - loads, stores and swaps: guards, then the step; and the regions of masked or padded accesses.
 *
 * Source: Pallas TPU refs: only VMEM and SMEM are loaded and stored directly. Bounds are logical; under BOUNDS_PADDED a VMEM buffer
 * extends to whole (8 * 4 / item size, 128) tiles: the padding is neither read nor written.
 */
#include "guard.h"
#include "machine.h"
#include "racing.h"
#include <glib.h>
#include <string.h>

static uint32_t describe_reach(Program *program, const ViewExcess *excess)
{
    int64_t last = excess->start + (MAX(excess->size, 1) - 1) * excess->stride;
    g_autofree char *reach = excess->size == 1 ? g_strdup_printf("index %" G_GINT64_FORMAT, excess->start)
        : g_strdup_printf("indices %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, excess->start, last);
    return program_string(program, reach);
}

static bool padding_counts(const Core *core, const Decl *decl, const ViewExcess *excess)
{
    return core->program->knobs.bounds == BOUNDS_PADDED && decl->space == SPACE_VMEM && !excess->beyond;
}

/* The dimension that the access leaves even with padding; NONE: there is none. */
static uint32_t beyond_padding(const Decl *decl, const ViewExcess *excess)
{
    for (uint32_t d = 0; d < decl->ndim; d++)
        if (excess->reach[d] >= MAX(program_padded_size(decl, d), 1))
            return d;
    return NONE;
}

static bool within_padding(const Core *core, const Decl *decl, const View *view)
{
    return padding_counts(core, decl, &view->excess) && beyond_padding(decl, &view->excess) == NONE;
}

/* What the call that made the view was given, and what would have been right. */
static void append_given(GString *text, const ViewExcess *excess)
{
    int64_t last = excess->limit - 1 - (MAX(excess->size, 1) - 1) * excess->stride;
    if (excess->size == 1)
        g_string_append_printf(text, "takes index %" G_GINT64_FORMAT " of dimension %u", excess->start, excess->dim);
    else
        g_string_append_printf(text, "takes %" G_GINT64_FORMAT " indices of dimension %u from %" G_GINT64_FORMAT " on", excess->size,
                               excess->dim, excess->start);
    if (last < 0)
        g_string_append_printf(text, ", which has %" G_GINT64_FORMAT ".", excess->limit);
    else if (last == 0)
        g_string_append(text, ", where only 0 is right.");
    else
        g_string_append_printf(text, ", where 0 to %" G_GINT64_FORMAT " are right.", last);
}

/* FAULT_WHY, and the line that left the buffer; "" if that is unknown. In the program's memory. */
static const char *describe_maker(Program *program, const ViewExcess *excess, bool given)
{
    if (excess->site == NONE)
        return "";
    g_autofree char *place = program_describe_site(program, excess->site);
    GString *text = g_string_new(FAULT_WHY "The view ");
    g_string_append_printf(text, given ? "made at %s " : "was made at %s.", place);
    if (given)
        append_given(text, excess);
    uint32_t string = program_string(program, text->str);
    g_string_free(text, TRUE);
    return program_text(program, string);
}

/* In the program's memory. */
static const char *describe_out_of_bounds(const Core *core, Ref ref, const char *what)
{
    Program *program = core->program;
    const ViewExcess *excess = &program_get_view(program, ref.view)->excess;
    const Decl *decl = program_decl(program, ref.decl);
    uint32_t dim = padding_counts(core, decl, excess) ? beyond_padding(decl, excess) : NONE;
    const char *name = program_text(program, decl->name);
    g_autofree char *text = dim != NONE
        ? g_strdup_printf("%s reaches index %" G_GINT64_FORMAT " of dimension %u of %s, whose size with padding is %" G_GINT64_FORMAT "%s",
                          what, excess->reach[dim], dim, name, program_padded_size(decl, dim), describe_maker(program, excess, false))
        : g_strdup_printf("%s reaches %s of dimension %u of %s, whose size there is %" G_GINT64_FORMAT "%s", what,
                          program_text(program, describe_reach(program, excess)), excess->dim, name, excess->limit,
                          describe_maker(program, excess, true));
    return program_text(program, program_string(program, text));
}

void guard_out_of_bounds(Core *core, uint32_t site, Ref ref, const char *what)
{
    core_stop(core, site, FAULT_OUT_OF_BOUNDS, "%s", describe_out_of_bounds(core, ref, what));
}

/* The exact bytes of the elements that are unmasked and inside. */
static uint32_t ragged_region(Program *program, const View *view, const uint8_t *mask)
{
    int64_t elements = view_elements(view), item = (int64_t)dtype_size_bytes(view->dtype), together = view->folds ? 1 : item;
    g_autoptr(GArray) pieces = g_array_new(FALSE, FALSE, sizeof(RegionDim));
    for (int64_t i = 0; i < elements; i++)
        if ((mask == NULL || mask[i]) && view_element_inside(view, i))
            for (int64_t byte = 0; byte < item; byte += together) {
                RegionDim piece = { view_byte_offset(view, i, byte), together };
                g_array_append_val(pieces, piece);
            }
    if (pieces->len == 0)
        return 0;
    size_t bytes;
    g_autofree Region *region = region_from_pieces(pieces, &bytes);
    return intern_add(&program->regions, region, bytes);
}

/* Is an unmasked element where none may be? */
static bool is_out_of_bounds(const Core *core, Ref ref, const uint8_t *mask)
{
    const View *view = program_get_view(core->program, ref.view);
    if (!view->over || within_padding(core, program_decl(core->program, ref.decl), view))
        return false;
    for (int64_t i = 0, n = view_elements(view); i < n; i++)
        if ((mask == NULL || mask[i]) && !view_element_inside(view, i))
            return true;
    return false;
}

uint32_t guard_region(Core *core, uint32_t site, Ref ref, const uint8_t *mask, const char *what)
{
    Program *program = core->program;
    const View *view = program_get_view(program, ref.view);
    if (!view->over && mask == NULL) {
        uint32_t region = program_view_region(program, ref.view);
        if (region == NONE)
            core_usage(core, site, "%s of %s through a view of more than 4194304 separate pieces", what,
                       program_text(program, program_decl(program, ref.decl)->name));
        return region;
    }
    if (is_out_of_bounds(core, ref, mask))
        guard_out_of_bounds(core, site, ref, what);
    return ragged_region(program, view, mask);
}

/* A load goes on after it. What it gets from outside is as little known as what a race leaves: see racing.h. */
static void raise_out_of_bounds(Core *core, uint32_t site, Ref ref, const uint8_t *mask, Tile *tile)
{
    const View *view = program_get_view(core->program, ref.view);
    for (int64_t i = 0; !tile->opaque && i < tile->elements; i++)
        if ((mask == NULL || mask[i]) && !view_element_inside(view, i))
            tile->written[i] |= ELEMENT_RACING;
    core->program->racing.outside = true;
    core->raise(core, site, FAULT_OUT_OF_BOUNDS, describe_out_of_bounds(core, ref, "load"));
}

static void access_memory(Core *core, StepKind kind, uint32_t site, Ref ref, const uint8_t *mask, Tile *tile, Tile *old, const char *what)
{
    const Decl *decl = program_decl(core->program, ref.decl);
    const Launch *launch = program_launch(core->program, core->launch);
    const char *name = program_text(core->program, decl->name);
    if (decl->space == SPACE_SEMAPHORE)
        core_usage(core, site, "%s needs a buffer, %s is a semaphore", what, name);
    if ((decl->space == SPACE_HBM || decl->space == SPACE_ANY) && !launch->host)
        core_stop(core, site, FAULT_SPACE, "%s of %s, which is in %s: only VMEM and SMEM can be accessed directly, copy it there "
                  "first", what, name,
                  decl->space == SPACE_HBM ? "HBM" : "ANY");
    bool outside = kind == STEP_LOAD && core->program->knobs.at_bounds == AT_BOUNDS_GO_ON && is_out_of_bounds(core, ref, mask);
    uint32_t region = outside ? ragged_region(core->program, program_get_view(core->program, ref.view), mask)
                              : guard_region(core, site, ref, mask, what);
    Request request = { .step = guard_step(core, kind, site, program_object(core->program, ref.decl, guard_own_core(core, ref)), region),
                        .view = ref.view, .mask = mask, .tile = tile, .old = old };
    core_submit(core, &request);
    if (outside)
        raise_out_of_bounds(core, site, ref, mask, tile);
}

static void init_tile(Core *core, Ref ref, Tile *tile)
{
    const View *view = program_get_view(core->program, ref.view);
    bool opaque = program_decl(core->program, ref.decl)->opaque || core->opaque_data;
    tile_init(tile, view->dtype, view->ndim, view->size, opaque, core_tile_alloc, core);
    if (cells_want_parts(view, dtype_size_bytes(program_decl(core->program, ref.decl)->dtype)))
        tile_want_parts(tile, core_tile_alloc, core);
}

/* If a loaded tile has a value from an opaque buffer, the whole tile becomes opaque. */
static void admit_unknown(Tile *tile)
{
    bool unknown = false;
    for (int64_t i = 0; i < tile->elements && !tile->opaque && !unknown; i++)
        unknown = element_state(tile->written[i]) == ELEMENT_UNKNOWN;
    if (unknown) {
        tile_drop_parts(tile);
        tile->opaque = true;
        tile->bytes = tile->written = NULL;
        tile->origin = NULL;
    }
}

void core_load(Core *core, uint32_t site, Ref ref, const uint8_t *mask, Tile *out)
{
    guard_amend(core, STEP_LOAD, site, &ref, NULL, NULL);
    init_tile(core, ref, out);
    access_memory(core, STEP_LOAD, site, ref, mask, out, NULL, mask != NULL ? "masked load" : "load");
    admit_unknown(out);
}

static void want_shape(Core *core, uint32_t site, Ref ref, const Tile *tile, const char *what)
{
    const View *view = program_get_view(core->program, ref.view);
    if (view->dtype != tile->dtype || view_elements(view) != tile->elements)
        core_stop(core, site, FAULT_SHAPE, "%s of %lld elements of %s into %lld elements of %s in %s", what, (long long)tile->elements,
                  dtype_name(tile->dtype), (long long)view_elements(view), dtype_name(view->dtype),
                  program_text(core->program, program_decl(core->program, ref.decl)->name));
}

/* A steered core may store other values, or store elsewhere, in another order. */
static void mark_as_steered(const Core *core, const Tile *tile)
{
    for (int64_t i = 0; core->steered != 0 && !tile->opaque && i < tile->elements; i++)
        tile->written[i] |= core->steered;
}

void core_store(Core *core, uint32_t site, Ref ref, const uint8_t *mask, const Tile *tile)
{
    if (!guard_amend(core, STEP_STORE, site, &ref, NULL, NULL))
        return;
    want_shape(core, site, ref, tile, "store");
    mark_as_steered(core, tile);
    access_memory(core, STEP_STORE, site, ref, mask, (Tile *)tile, NULL, mask != NULL ? "masked store" : "store");
}

void core_swap(Core *core, uint32_t site, Ref ref, const uint8_t *mask, const Tile *tile, Tile *old)
{
    guard_amend(core, STEP_SWAP, site, &ref, NULL, NULL);
    want_shape(core, site, ref, tile, "swap");
    mark_as_steered(core, tile);
    init_tile(core, ref, old);
    access_memory(core, STEP_SWAP, site, ref, mask, (Tile *)tile, old, mask != NULL ? "masked swap" : "swap");
    admit_unknown(old);
}

/* `steered` has, for each site, the origin of the first value that a core looked at there. */
static void note_steering(Program *program, uint32_t site, uint64_t origin)
{
    if (program->steered.count <= site)
        store_push(&program->steered, site + 1 - program->steered.count);
    uint64_t *first = &STORE(uint64_t, &program->steered, site);
    *first = *first == 0 ? origin : *first;
}

static bool look_at(Core *core, uint32_t site, const Tile *tile, int64_t element, const char *what)
{
    if (element < 0 || element >= tile->elements)
        core_usage(core, site, "element %lld of a tile of %lld", (long long)element, (long long)tile->elements);
    core->observed_data = true;
    if (tile->opaque) {
        core->needs_contents = core->opaque_data;
        core_usage(core, site, "%s comes from an opaque buffer, so its value is not known: make the buffer real (or check with "
                   "--data real)", what);
    }
    if (G_UNLIKELY(core->program->note_steering))
        note_steering(core->program, site, tile->origin[element]);
    uint8_t marks = element_marks(tile->written[element]);
    if (G_UNLIKELY(marks != 0)) {
        core->steered |= marks;
        racing_reach(core->program, REACH_CONTROL, core->id, site, marks);
    }
    if (element_state(tile->written[element]) != ELEMENT_UNWRITTEN)
        return true;
    g_autofree char *message = g_strdup_printf("%s is taken from an element that nobody wrote", what);
    core->raise(core, site, FAULT_UNINITIALISED, program_text(core->program, program_string(core->program, message)));
    return false;
}

int64_t core_tile_int(Core *core, uint32_t site, const Tile *tile, int64_t element, const char *what)
{
    look_at(core, site, tile, element, what);
    return dtype_read_int(tile->dtype, tile->bytes + (size_t)element * dtype_size_bytes(tile->dtype));
}

double core_tile_double(Core *core, uint32_t site, const Tile *tile, int64_t element, const char *what)
{
    look_at(core, site, tile, element, what);
    return dtype_read_double(tile->dtype, tile->bytes + (size_t)element * dtype_size_bytes(tile->dtype));
}
