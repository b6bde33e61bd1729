/* value.c - loads, stores and arithmetic. A PlTile points at a Tile in the core's arena.
 *
 * Values of opaque buffers are shapes only; what is computed from one is opaque, too. A mask must not be opaque, as the kernel observes it.
 */
#include "value.h"
#include <glib.h>
#include "builder.h"

static const int64_t ELEMENTS_MAX = INT64_C(1) << 31;

static Tile *new_tile(Core *core, DType dtype, unsigned ndim, const int64_t *size, bool opaque)
{
    Tile *tile = builder_new_tile(core);
    tile_init(tile, dtype, ndim, size, opaque, core_tile_alloc, core);
    return tile;
}

static const uint8_t *get_mask(Core *core, const PlSite *here, PlTile given, int64_t elements)
{
    if (given.tile == NULL)
        return NULL;
    const Tile *mask = builder_tile(here, given, "the mask");
    if (mask->dtype != DTYPE_BOOL || mask->elements != elements)
        builder_misuse(here, "the mask of %lld elements must be a PL_BOOL tile of %lld", (long long)mask->elements, (long long)elements);
    uint8_t *bytes = core_alloc(core, (size_t)elements + 1);
    for (int64_t i = 0; i < elements; i++)
        bytes[i] = core_tile_int(core, builder_site(here), mask, i, "the mask") != 0;
    return bytes;
}

static PlTile load(const PlSite *here, PlRef ref, PlTile mask)
{
    Core *core = builder_core(here, "pl_load");
    int64_t elements = view_elements(builder_view(here, ref, "pl_load"));
    Tile *out = builder_new_tile(core);
    core_load(core, builder_site(here), builder_ref(here, ref, "pl_load"), get_mask(core, here, mask, elements), out);
    return builder_hold(out);
}

static void store(const PlSite *here, PlRef ref, PlTile tile, PlTile mask)
{
    Core *core = builder_core(here, "pl_store");
    int64_t elements = view_elements(builder_view(here, ref, "pl_store"));
    const Tile *value = builder_tile(here, tile, "pl_store");
    core_store(core, builder_site(here), builder_ref(here, ref, "pl_store"), get_mask(core, here, mask, elements), value);
}

static PlTile swap(const PlSite *here, PlRef ref, PlTile tile, PlTile mask)
{
    Core *core = builder_core(here, "pl_swap");
    int64_t elements = view_elements(builder_view(here, ref, "pl_swap"));
    const Tile *value = builder_tile(here, tile, "pl_swap");
    Tile *old = builder_new_tile(core);
    core_swap(core, builder_site(here), builder_ref(here, ref, "pl_swap"), get_mask(core, here, mask, elements), value, old);
    return builder_hold(old);
}

static const Tile *load_one(const PlSite *here, PlRef ref, const char *what)
{
    int64_t elements = view_elements(builder_view(here, ref, what));
    if (elements != 1)
        builder_misuse(here, "%s of %s needs one element, not %lld: index it with pl_at", what, builder_name(builder_program(), ref.buffer),
                    (long long)elements);
    return load(here, ref, PL_NO_MASK).tile;
}

static int64_t load_int(const PlSite *here, PlRef ref)
{
    Core *core = builder_core(here, "pl_load_int");
    return core_tile_int(core, builder_site(here), load_one(here, ref, "pl_load_int"), 0, "the value");
}

static double load_float(const PlSite *here, PlRef ref)
{
    Core *core = builder_core(here, "pl_load_float");
    return core_tile_double(core, builder_site(here), load_one(here, ref, "pl_load_float"), 0, "the value");
}

static Tile *like_ref(Core *core, const PlSite *here, PlRef ref, const char *what)
{
    const View *view = builder_view(here, ref, what);
    if (view_elements(view) != 1)
        builder_misuse(here, "%s to %s needs one element, not %lld: index it with pl_at", what, builder_name(builder_program(), ref.buffer),
                    (long long)view_elements(view));
    return new_tile(core, view->dtype, view->ndim, view->size, false);
}

static void store_int(const PlSite *here, PlRef ref, int64_t value)
{
    Core *core = builder_core(here, "pl_store_int");
    Tile *tile = like_ref(core, here, ref, "pl_store_int");
    tile_fill_int(tile, value);
    core_store(core, builder_site(here), builder_ref(here, ref, "pl_store_int"), NULL, tile);
}

static void store_float(const PlSite *here, PlRef ref, double value)
{
    Core *core = builder_core(here, "pl_store_float");
    Tile *tile = like_ref(core, here, ref, "pl_store_float");
    tile_fill_double(tile, value);
    core_store(core, builder_site(here), builder_ref(here, ref, "pl_store_float"), NULL, tile);
}

static void fill(Tile *tile, double value)
{
    if (dtype_is_float(tile->dtype))
        tile_fill_double(tile, value);
    else
        tile_fill_int(tile, (int64_t)value);
}

static PlTile tile_full(const PlSite *here, PlType type, double value, int dims, const int64_t *size)
{
    Core *core = builder_core(here, "pl_tile_full");
    int64_t elements = 1;
    if (dims > VIEW_DIMS_MAX || (unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "a tile needs a type such as PL_F32 and at most %d dimensions", VIEW_DIMS_MAX);
    for (int d = 0; d < dims; d++)
        if (size[d] < 0 || __builtin_mul_overflow(elements, size[d], &elements) || elements > ELEMENTS_MAX)
            builder_misuse(here, "a tile with a dimension of %lld: sizes are 0 or more, and 2^31 elements at most", (long long)size[d]);
    Tile *tile = new_tile(core, (DType)type, (unsigned)dims, size, core->opaque_data);
    if (!tile->opaque)
        fill(tile, value);
    return builder_hold(tile);
}

static PlTile tile_cast(const PlSite *here, PlTile tile, PlType type)
{
    Core *core = builder_core(here, "pl_tile_cast");
    const Tile *in = builder_tile(here, tile, "pl_tile_cast");
    if ((unsigned)type >= DTYPE_COUNT)
        builder_misuse(here, "pl_tile_cast needs a type such as PL_F32");
    Tile *out = new_tile(core, (DType)type, in->ndim, in->size, in->opaque);
    tile_convert(out, in);
    return builder_hold(out);
}

static int64_t find_element(const PlSite *here, const Tile *tile, int dims, const int64_t *index)
{
    int64_t element = 0;
    if (dims != (int)tile->ndim)
        builder_misuse(here, "an element of a tile of %u dimensions needs %u indices, not %d", tile->ndim, tile->ndim, dims);
    for (int d = 0; d < dims; d++) {
        if (index[d] < 0 || index[d] >= tile->size[d])
            core_stop(core_running, builder_site(here), FAULT_OUT_OF_BOUNDS,
                      "index %lld of dimension %d of a tile, whose size there is %lld", (long long)index[d], d, (long long)tile->size[d]);
        element = element * tile->size[d] + index[d];
    }
    return element;
}

static int64_t tile_int(const PlSite *here, PlTile tile, int dims, const int64_t *index)
{
    Core *core = builder_core(here, "pl_tile_int");
    const Tile *in = builder_tile(here, tile, "pl_tile_int");
    return core_tile_int(core, builder_site(here), in, find_element(here, in, dims, index), "the value");
}

static double tile_float(const PlSite *here, PlTile tile, int dims, const int64_t *index)
{
    Core *core = builder_core(here, "pl_tile_float");
    const Tile *in = builder_tile(here, tile, "pl_tile_float");
    return core_tile_double(core, builder_site(here), in, find_element(here, in, dims, index), "the value");
}

static void tile_put(const PlSite *here, PlTile tile, double value, int dims, const int64_t *index)
{
    builder_core(here, "pl_tile_put");
    Tile *out = builder_tile(here, tile, "pl_tile_put");
    int64_t element = find_element(here, out, dims, index);
    if (out->opaque)
        return;
    tile_drop_parts(out);
    Tile one = { .dtype = out->dtype, .elements = 1, .bytes = out->bytes + (size_t)element * dtype_size_bytes(out->dtype),
                 .written = out->written + element, .origin = out->origin + element };
    fill(&one, value);
}

void pl_value_install(PlApi *api)
{
    api->load = load;
    api->store = store;
    api->swap = swap;
    api->load_int = load_int;
    api->load_float = load_float;
    api->store_int = store_int;
    api->store_float = store_float;
    api->tile_full = tile_full;
    api->tile_cast = tile_cast;
    api->tile_int = tile_int;
    api->tile_float = tile_float;
    api->tile_put = tile_put;
}
