/* test_view_bytes.c - random chains of views against memory that knows bytes only: which bytes they cover, and what is stored, copied and
 * loaded through them.
 *
 * SOAK_SECONDS=n in the environment: for as long as that, on seeds of its own (SOAK_SEED, else from the time of day); `make soak` does.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "../../model/machine.h"
#include "../support/chains.h"
#include "../support/sanitized.h"

typedef struct Figures { uint64_t chains, pairs, overlapping, folded, values, outside; } Figures;

typedef struct Addresses { bool has[BYTES]; } Addresses;

static Addresses plain_set(const Plain *plain)
{
    Addresses set = { { false } };
    for (int e = 0; e < plain->elements; e++)
        for (int b = 0; b < plain->item && !plain->outside[e]; b++)
            set.has[plain->address[e][b]] = true;
    return set;
}

typedef struct SeenRuns { Addresses set; int64_t end; bool fine; } SeenRuns;

static bool see_run(void *data, int64_t lo, int64_t length)
{
    SeenRuns *seen = data;
    seen->fine &= lo > seen->end && length > 0 && lo >= 0 && lo + length <= BYTES;      /* ascending, with a gap between any two */
    for (int64_t at = lo; seen->fine && at < lo + length; at++)
        seen->set.has[at] = true;
    seen->end = lo + length;
    return seen->fine;
}

static int set_size(const Addresses *set, int *first, int *last)
{
    int bytes = 0;
    *first = BYTES, *last = -1;
    for (int at = 0; at < BYTES; at++)
        if (set->has[at])
            bytes++, *first = MIN(*first, at), *last = at;
    return bytes;
}

/* What differs between a view and its reference; NULL: nothing. */
static const char *difference(const View *view, const Plain *plain, Figures *figures)
{
    int first, last;
    if (view->ndim != (unsigned)plain->ndim || view_elements(view) != plain->elements || view->dtype != plain->dtype)
        return "shape";
    for (int e = 0; e < plain->elements; e++) {
        if (view_element_inside(view, e) == plain->outside[e])
            return "what is inside";
        for (int b = 0; b < plain->item && !plain->outside[e]; b++)
            if (view_byte_offset(view, e, b) != plain->address[e][b])
                return "address of an element";
    }
    if (any_outside(plain))
        return NULL;
    Addresses set = plain_set(plain);
    int bytes = set_size(&set, &first, &last);
    size_t key;
    g_autofree Region *region = view_region(view, &key);
    SeenRuns seen = { .end = -1, .fine = true };
    region_each_run(region, see_run, &seen);
    figures->folded += view->folds > 0;
    if (!seen.fine || memcmp(&seen.set, &set, sizeof set) != 0)
        return "bytes of the region";
    if (region->bytes != bytes || (bytes > 0 && (region->lo != first || region->hi != last + 1)))
        return "size or bounds of the region";
    if (region_is_contiguous(region) && bytes > 0 && bytes != last + 1 - first)
        return "region called contiguous";
    return key == region_key_bytes(region) ? NULL : "key of the region";
}

static void tell(const Chain *chain, const char *what, uint64_t seed)
{
    fail_msg("seed %llu: %s differs: item %d,%s", (unsigned long long)seed, what, chain->plain.item, chain->text);
}

static bool sets_meet(const Addresses *a, const Addresses *b)
{
    for (int at = 0; at < BYTES; at++)
        if (a->has[at] && b->has[at])
            return true;
    return false;
}

static void compare_pair(const Chain *a, const Chain *b, uint64_t seed, Figures *figures)
{
    size_t bytes;
    Addresses set_a = plain_set(&a->plain), set_b = plain_set(&b->plain);
    g_autofree Region *region_a = view_region(&a->view, &bytes);
    g_autofree Region *region_b = view_region(&b->view, &bytes);
    bool meet = sets_meet(&set_a, &set_b);
    if (region_overlaps(region_a, region_b) != meet || region_overlaps(region_b, region_a) != meet)
        tell(a, "overlap with another", seed);
    figures->pairs++, figures->overlapping += meet;
}

/* One buffer, several chains: each against its reference, each pair for overlap. */
static void compare_regions(uint64_t seed, Figures *figures)
{
    enum { CHAINS = 5 };
    static Chain chain[CHAINS];
    Rng rng;
    rng_init(&rng, seed);
    PlainShape shape = random_shape(&rng);
    for (int i = 0; i < CHAINS; i++) {
        bool may_leave = i == CHAINS - 1;
        random_chain(&rng, &chain[i], &shape, may_leave);
        const char *what = difference(&chain[i].view, &chain[i].plain, figures);
        if (what != NULL)
            tell(&chain[i], what, seed);
        figures->chains++, figures->outside += any_outside(&chain[i].plain);
        for (int k = 0; k < i && !may_leave; k++)
            compare_pair(&chain[i], &chain[k], seed, figures);
    }
}

/* Byte `byte` of an element of so many, which has that origin. */
typedef struct Origin { uint64_t origin; int byte, item; } Origin;

/* A buffer as bytes, each with a value or none, and where it came from. */
typedef struct Bytes { unsigned char byte[BYTES]; uint8_t written[BYTES]; Origin source[BYTES]; } Bytes;

typedef struct Buffers { Program *program; Machine *machine; uint32_t object[2]; Bytes memory[2]; } Buffers;

static void set_up(Buffers *world, const PlainShape *shape)
{
    Mesh mesh;
    mesh_line(&mesh, 1);
    const Knobs knobs = { .dma_progress = DMA_PROGRESS_WHOLE };
    *world = (Buffers){ .program = program_new(&mesh, 1, &knobs) };
    for (int i = 0; i < 2; i++) {
        DeclSpec spec = { .space = SPACE_VMEM, .dtype = shape[i].dtype, .life = LIFE_ALWAYS, .ndim = (unsigned)shape[i].ndim,
                          .collective_id = -1 };
        for (int d = 0; d < shape[i].ndim; d++)
            spec.size[d] = shape[i].size[d];
        world->object[i] = program_object(world->program, program_add_decl(world->program, &spec), 0);
    }
    world->machine = machine_new(world->program);
}

static void tear_down(Buffers *world)
{
    machine_free(world->machine);
    program_free(world->program);
}

static Tile *tile_for(const Plain *plain)
{
    int64_t size[VIEW_DIMS_MAX];
    for (int d = 0; d < plain->ndim; d++)
        size[d] = plain->size[d];
    return tile_new(plain->dtype, (unsigned)plain->ndim, size, false);
}

static void store_random(Rng *rng, Buffers *world, int buffer, const Chain *chain)
{
    const Plain *plain = &chain->plain;
    Tile *tile = tile_for(plain);
    g_autofree uint8_t *mask = below(rng, 2) ? g_malloc0((size_t)MAX(plain->elements, 1)) : NULL;
    for (int e = 0; e < plain->elements; e++) {
        tile->written[e] = below(rng, 12) ? ELEMENT_WRITTEN : below(rng, 2) ? ELEMENT_UNWRITTEN : ELEMENT_UNKNOWN;
        if (mask != NULL)
            mask[e] = (uint8_t)below(rng, 2);
        tile->origin[e] = rng_mix(rng_below(rng, UINT64_C(1) << 60) + 1);
        for (int b = 0; b < plain->item; b++) {
            unsigned char value = tile->bytes[e * plain->item + b] = (unsigned char)below(rng, 256);
            if (plain->outside[e] || (mask != NULL && !mask[e]))
                continue;
            world->memory[buffer].byte[plain->address[e][b]] = value;
            world->memory[buffer].written[plain->address[e][b]] = tile->written[e];
            world->memory[buffer].source[plain->address[e][b]] = (Origin){ tile->origin[e], b, plain->item };
        }
    }
    machine_write(world->machine, world->object[buffer], program_view(world->program, &chain->view), mask, tile);
    tile_free(tile);
}

static uint8_t plain_state(const Bytes *memory, const Plain *plain, int e)
{
    bool unknown = false;
    for (int b = 0; b < plain->item; b++) {
        if (memory->written[plain->address[e][b]] == ELEMENT_UNWRITTEN)
            return ELEMENT_UNWRITTEN;
        unknown |= memory->written[plain->address[e][b]] == ELEMENT_UNKNOWN;
    }
    return unknown ? ELEMENT_UNKNOWN : ELEMENT_WRITTEN;
}

/* Is the element one that was stored, all of it and nothing else? Or of nothing. */
static bool is_of_one_source(const Bytes *memory, const Plain *plain, int e)
{
    const Origin *first = &memory->source[plain->address[e][0]];
    bool one = true;
    for (int b = 0; b < plain->item; b++) {
        const Origin *source = &memory->source[plain->address[e][b]];
        one &= source->origin == first->origin && (first->origin == 0 || (source->byte == b && source->item == plain->item));
    }
    return one;
}

static void load_and_compare(Buffers *world, int buffer, const Chain *chain, uint64_t seed, Figures *figures)
{
    const Plain *plain = &chain->plain;
    const Bytes *memory = &world->memory[buffer];
    Tile *tile = tile_for(plain);
    machine_read(world->machine, world->object[buffer], program_view(world->program, &chain->view), NULL, tile);
    for (int e = 0; e < plain->elements; e++) {
        if (plain->outside[e])
            continue;
        uint8_t state = plain_state(memory, plain, e);
        if (tile->written[e] != state)
            tell(chain, "whether it was written", seed);
        if ((tile->origin[e] == memory->source[plain->address[e][0]].origin) != is_of_one_source(memory, plain, e))
            tell(chain, "the origin", seed);
        for (int b = 0; b < plain->item; b++)
            if (state == ELEMENT_WRITTEN && tile->bytes[e * plain->item + b] != memory->byte[plain->address[e][b]])
                tell(chain, "the value", seed);
        figures->values++;
    }
    tile_free(tile);
}

/* A copy moves each byte, whatever the elements. */
static void copy(Buffers *world, const int *buffer, const Chain *from, const Chain *to)
{
    Bytes old = world->memory[buffer[0]];
    const Copy copied = {
        .source = world->object[buffer[0]], .source_view = program_view(world->program, &from->view),
        .target = world->object[buffer[1]], .target_view = program_view(world->program, &to->view),
    };
    machine_copy_now(world->machine, &copied);
    for (int e = 0; e < to->plain.elements; e++)
        for (int b = 0; b < to->plain.item; b++) {
            int16_t at = from->plain.address[e][b];
            world->memory[buffer[1]].byte[to->plain.address[e][b]] = old.byte[at];
            world->memory[buffer[1]].written[to->plain.address[e][b]] = old.written[at];
            world->memory[buffer[1]].source[to->plain.address[e][b]] = old.source[at];
        }
}

static bool same_shape(const Plain *a, const Plain *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim && memcmp(a->size, b->size, sizeof(int) * (size_t)a->ndim) == 0;
}

/* Brings a chain to the shape and type of another, if only slices and a reshape are needed. */
static bool make_alike(Chain *chain, const Chain *like)
{
    int64_t size[DIMS];
    const char *why = NULL;
    if (chain->plain.dtype != like->plain.dtype || chain->plain.elements < like->plain.elements || like->plain.elements == 0)
        return same_shape(&chain->plain, &like->plain);
    Plain flat = chain->plain;
    flat.ndim = 1, flat.size[0] = flat.elements;
    const ViewIndex some = { 0, like->plain.elements, 1, false };
    plain_at(&chain->plain, &flat, &some);
    memcpy(chain->plain.size, like->plain.size, sizeof like->plain.size);
    chain->plain.ndim = like->plain.ndim;
    for (int d = 0; d < like->plain.ndim; d++)
        size[d] = like->plain.size[d];
    return view_reshape(&chain->view, &chain->view, 1, (int64_t[]){ flat.elements }, &why)
        && view_at(&chain->view, &chain->view, 1, &some, &why)
        && view_reshape(&chain->view, &chain->view, (unsigned)like->plain.ndim, size, &why);
}

/* Two buffers of any types and shapes: stores, copies and loads through chains of views. */
static void compare_values(uint64_t seed, Figures *figures)
{
    static Chain from, to;
    Buffers world;
    Rng rng;
    rng_init(&rng, seed);
    PlainShape shape[2] = { random_shape(&rng), random_shape(&rng) };
    set_up(&world, shape);
    for (int round = 0; round < 8; round++) {
        int buffer[2] = { below(&rng, 2), below(&rng, 2) };
        random_chain(&rng, &from, &shape[buffer[0]], below(&rng, 8) == 0);
        store_random(&rng, &world, buffer[0], &from);
        random_chain(&rng, &from, &shape[buffer[0]], false);
        random_chain(&rng, &to, &shape[buffer[1]], false);
        load_and_compare(&world, buffer[1], &to, seed, figures);
        if (buffer[0] != buffer[1] && make_alike(&from, &to))
            copy(&world, buffer, &from, &to);
        load_and_compare(&world, buffer[1], &to, seed, figures);
        figures->chains += 3;
    }
    tear_down(&world);
}

static void compare(uint64_t seed, unsigned buffers, unsigned worlds, Figures *figures)
{
    for (unsigned i = 0; i < buffers; i++)
        compare_regions(seed + i, figures);
    for (unsigned i = 0; i < worlds; i++)
        compare_values(seed + i, figures);
}

static void say(const Figures *figures)
{
    const uint64_t *f = (const uint64_t[]){ figures->chains, figures->folded, figures->outside, figures->pairs, figures->overlapping,
                                            figures->values };
    printf("%" PRIu64 " chains of views (%" PRIu64 " through folds, %" PRIu64 " reach outside), %" PRIu64 " pairs of regions (%" PRIu64
           " overlap), %" PRIu64 " values: 0 differences\n", f[0], f[1], f[2], f[3], f[4], f[5]);
}

static void views_and_regions_are_the_bytes_that_the_plain_rules_give(void **state)
{
    (void)state;
    Figures figures = { 0 };
    compare(1, sanitized_share(20000), sanitized_share(3000), &figures);
    say(&figures);
    assert_true(SANITIZED || (figures.folded > 5000 && figures.overlapping > 50000 && figures.pairs - figures.overlapping > 20000));
    assert_true(SANITIZED || (figures.values > 200000 && figures.outside > 1000));
}

/* Views that are wrong on purpose. */
typedef enum Mistake {
    ROWS_BEHIND_EACH_OTHER, BYTES_REVERSED, ONE_BYTE_ON, FOLD_IGNORED, FOLD_MOVED, STRIDE_OF_AN_ITEM, EXCESS_FORGOTTEN, MISTAKES
} Mistake;

static bool spoil(Chain *chain, Mistake mistake)
{
    View *view = &chain->view;
    ViewFold *fold = view->folds ? &view->fold[view->folds - 1] : NULL;
    switch (mistake) {
    case ROWS_BEHIND_EACH_OTHER:                /* as if a row of narrow items were so many bytes of the buffer, one after the other */
        if (fold != NULL)
            fold->ndim = 1, fold->dim[0] = (RegionDim){ BYTES, 1 };
        return fold != NULL;
    case BYTES_REVERSED:
        if (fold != NULL && fold->ndim > 1)
            fold->offset += fold->dim[fold->ndim - 1].stride;
        return fold != NULL && fold->ndim > 1;
    case ONE_BYTE_ON:
        return view->offset++, true;
    case FOLD_IGNORED:
        return fold != NULL && view->folds-- > 0;
    case FOLD_MOVED:
        return fold != NULL && fold->offset++ >= 0;
    case STRIDE_OF_AN_ITEM:
        return view->ndim > 0 && view->size[view->ndim - 1] > 1 && view->stride[view->ndim - 1]++ > 0;
    case EXCESS_FORGOTTEN:
        return view->over && (view->over = false, true);
    case MISTAKES:
        break;
    }
    return false;
}

static void every_mistake_in_a_view_is_noticed(void **state)
{
    (void)state;
    static Chain chain;
    for (int mistake = 0; mistake < MISTAKES; mistake++) {
        Figures figures = { 0 };
        unsigned made = 0, noticed = 0;
        for (uint64_t seed = 1; seed <= 3000; seed++) {
            Rng rng;
            rng_init(&rng, seed);
            PlainShape shape = random_shape(&rng);
            random_chain(&rng, &chain, &shape, mistake == EXCESS_FORGOTTEN);
            if (chain.plain.elements == 0 || !spoil(&chain, (Mistake)mistake))
                continue;
            made++, noticed += difference(&chain.view, &chain.plain, &figures) != NULL;
        }
        printf("mistake %d: made %u times, noticed %u times\n", mistake, made, noticed);
        assert_true(made > 50 && noticed > made / 2);
    }
}

static int soak(double seconds)
{
    const char *given = getenv("SOAK_SEED");
    uint64_t seed = given ? g_ascii_strtoull(given, NULL, 0) : (uint64_t)g_get_real_time() * 1000;
    gint64 end = g_get_monotonic_time() + (gint64)(seconds * 1e6);
    Figures figures = { 0 };
    for (; g_get_monotonic_time() < end; seed += 5000)
        compare(seed, 5000, 1000, &figures);
    say(&figures);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_and_regions_are_the_bytes_that_the_plain_rules_give),
        cmocka_unit_test(every_mistake_in_a_view_is_noticed),
    };
    const char *seconds = getenv("SOAK_SECONDS");
    return seconds ? soak(g_ascii_strtod(seconds, NULL)) : cmocka_run_group_tests_name("view_bytes", tests, NULL, NULL);
}
