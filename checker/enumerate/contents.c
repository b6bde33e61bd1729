/* contents.c - contents of buffers as versions: each distinct one is interned; a Machine computes each read and write once, and the result
 * is cached.
 */
#include "contents.h"
#include "../../model/racing.h"
#include "memory.h"
#include <string.h>

struct ContentsPool {
    Program *program;
    Machine *machine;                           /* computes an operation: contents in, contents out */
    Intern versions, tiles;                     /* id 0 of each: none */
    Intern operations;                          /* keys of the cache */
    Store results;                              /* results by key */
    GPtrArray *tile;                            /* Tile by id, made on demand */
};

enum { VERSIONS_MAX = 1 << 22 };

/* racing: the mark of its line for what it reads or writes. */
typedef struct Operation { uint32_t object, version, view, mask_low, mask_high, tile, kind, racing_low, racing_high; } Operation;

ContentsPool *contents_new(Program *program, Reservation *reservation)
{
    ContentsPool *pool = g_new0(ContentsPool, 1);
    pool->program = program;
    pool->machine = machine_new(program);
    reservation_intern(reservation, &pool->versions, VERSIONS_MAX, (size_t)1 << 36);
    reservation_intern(reservation, &pool->tiles, VERSIONS_MAX, (size_t)1 << 36);
    reservation_intern(reservation, &pool->operations, VERSIONS_MAX, VERSIONS_MAX * sizeof(Operation));
    reservation_store(reservation, &pool->results, sizeof(uint32_t), VERSIONS_MAX);
    intern_add(&pool->versions, "", 0);
    intern_add(&pool->tiles, "", 0);
    pool->tile = g_ptr_array_new();
    return pool;
}

void contents_free(ContentsPool *pool)
{
    if (pool == NULL)
        return;
    machine_free(pool->machine);
    for (guint i = 0; i < pool->tile->len; i++)
        tile_free(g_ptr_array_index(pool->tile, i));
    g_ptr_array_free(pool->tile, TRUE);
    g_free(pool);
}

static uint32_t intern_tile(const StateSpace *space, const Tile *tile)
{
    size_t bytes;
    g_autofree void *key = tile_pack(tile, &bytes);
    return memory_intern(space, &space->pool->tiles, key, bytes);
}

const Tile *contents_tile(void *owner, int64_t id)
{
    ContentsPool *pool = owner;
    if (id == 0)
        return NULL;
    if ((size_t)id >= pool->tile->len)
        g_ptr_array_set_size(pool->tile, (gint)id + 1);
    if (pool->tile->pdata[id] == NULL)
        pool->tile->pdata[id] = tile_unpack(intern_get(&pool->tiles, (uint32_t)id, NULL));
    return pool->tile->pdata[id];
}

static size_t item_bytes(const ContentsPool *pool, uint32_t object)
{
    return dtype_size_bytes(program_decl(pool->program, program_object_decl(pool->program, object))->dtype);
}

/* Loads a version into the machine; 0 is what the machine itself makes at first touch. */
static void put(ContentsPool *pool, uint32_t object, uint32_t version)
{
    Contents *contents = machine_contents(pool->machine, object);
    size_t item = item_bytes(pool, object), length;
    if (version == 0) {
        Machine *fresh = machine_new(pool->program);
        const TileElements first = contents_elements(machine_contents(fresh, object), item, 0, contents->elements);
        g_autofree void *block = g_malloc(tile_block_bytes(&first) + 1);
        tile_block_put(block, &first);
        cells_take(contents, item, 0, contents->elements, block, false);
        machine_free(fresh);
        return;
    }
    const void *block = intern_get(&pool->versions, version, &length);
    TileElements elements = contents_elements(contents, item, 0, contents->elements);
    elements.parts = false;
    cells_take(contents, item, 0, contents->elements, block, length > tile_block_bytes(&elements));
}

/* Parts without information are not part of a version. */
static uint32_t take(ContentsPool *pool, uint32_t object)
{
    const Contents *contents = machine_contents(pool->machine, object);
    TileElements elements = contents_elements(contents, item_bytes(pool, object), 0, contents->elements);
    elements.parts &= !cells_are_whole(contents, elements.item);
    size_t bytes = tile_block_bytes(&elements);
    g_autofree void *key = g_malloc(bytes + 1);
    tile_block_put(key, &elements);
    return intern_add(&pool->versions, key, bytes);
}

static uint32_t version_of(StateSpace *space, const uint32_t *id, uint32_t object)
{
    uint32_t device = program_object_device(space->program, object);
    uint32_t slot = memory_object_slot(space, object);
    return slot == NONE ? 0 : (uint32_t)memory_get(space, device, id[space->cores + device], slot);
}

static void set_version(StateSpace *space, uint32_t *id, uint32_t object, uint32_t version)
{
    uint32_t device = program_object_device(space->program, object), field = space->cores + device;
    uint32_t slot = memory_object_slot(space, object);
    id[field] = slot == NONE || version == NONE ? 0 : memory_with(space, device, id[field], slot, version);
}

static bool is_opaque(const StateSpace *space, uint32_t object)
{
    return program_decl(space->program, program_object_decl(space->program, object))->opaque;
}

static uint32_t result_known(const ContentsPool *pool, const Operation *operation)
{
    uint32_t index = intern_find(&pool->operations, operation, sizeof *operation);
    return index == NONE ? NONE : STORE(uint32_t, &pool->results, index);
}

/* True: the result is cached, in *result. False: the caller computes it. */
static bool recall(ContentsPool *pool, const Operation *operation, uint32_t **result)
{
    uint32_t index = intern_add(&pool->operations, operation, sizeof *operation);
    bool known = index < pool->results.count;
    if (!known)
        store_push(&pool->results, 1);
    *result = &STORE(uint32_t, &pool->results, index);
    return known;
}

typedef struct Touched { uint32_t site, object, view; const uint8_t *mask; } Touched;

static Operation operation_of(const StateSpace *space, const uint32_t *id, const Touched *touch, uint32_t tile, StepKind kind)
{
    uint64_t bits = (uintptr_t)touch->mask;     /* a mask belongs to its step, so its address identifies it */
    uint64_t racing = racing_of(space->program, touch->site, touch->object, kind == STEP_STORE);
    return (Operation){.object = touch->object, .version = version_of((StateSpace *)space, id, touch->object), .view = touch->view,
                       .mask_low = (uint32_t)bits, .mask_high = (uint32_t)(bits >> 32), .tile = tile, .kind = kind,
                       .racing_low = (uint32_t)racing, .racing_high = (uint32_t)(racing >> 32)};
}

/* By a load, or by a copy, which moves bytes. */
static uint32_t read_tile(StateSpace *space, const uint32_t *id, const Touched *touch, StepKind kind)
{
    ContentsPool *pool = space->pool;
    Operation operation = operation_of(space, id, touch, 0, kind);
    uint32_t *result;
    if (space->frozen)
        return result_known(pool, &operation);
    if (recall(pool, &operation, &result))
        return *result;
    put(pool, touch->object, operation.version);
    Tile *tile = (kind == STEP_READ ? machine_copy_payload : machine_tile)(pool->machine, touch->object, touch->view);
    machine_read(pool->machine, touch->object, touch->view, touch->mask, tile);
    machine_mark_read(pool->machine, touch->site, touch->object, touch->view, touch->mask, tile);
    *result = intern_tile(space, tile);
    tile_free(tile);
    return *result;
}

static void write_tile(StateSpace *space, uint32_t *id, const Touched *touch, uint32_t tile_id, bool unknown)
{
    ContentsPool *pool = space->pool;
    Operation operation = operation_of(space, id, touch, tile_id, STEP_STORE);
    uint32_t *result;
    if (space->frozen) {
        set_version(space, id, touch->object, result_known(pool, &operation));
        return;
    }
    if (!recall(pool, &operation, &result)) {
        const View *view = program_get_view(space->program, touch->view);
        Tile opaque = {.dtype = view->dtype, .elements = view_elements(view), .opaque = true};
        put(pool, touch->object, operation.version);
        machine_write(pool->machine, touch->object, touch->view, touch->mask, unknown ? &opaque : contents_tile(pool, tile_id));
        machine_mark_write(pool->machine, touch->site, touch->object, touch->view, touch->mask);
        *result = take(pool, touch->object);
    }
    set_version(space, id, touch->object, *result);
}

uint32_t contents_load(StateSpace *space, const uint32_t *id, const UnrollStep *step)
{
    if (is_opaque(space, step->step.object)) {
        const View *view = program_get_view(space->program, step->view);
        Tile tile = {.dtype = view->dtype, .ndim = view->ndim, .elements = view_elements(view), .opaque = true};
        memcpy(tile.size, view->size, sizeof tile.size);
        return intern_tile(space, &tile);
    }
    return read_tile(space, id, &(Touched){step->step.site, step->step.object, step->view, step->mask}, STEP_LOAD);
}

void contents_store(StateSpace *space, uint32_t *id, const UnrollStep *step)
{
    if (is_opaque(space, step->step.object) || step->tile == NULL)
        return;
    const Touched touch = {step->step.site, step->step.object, step->view, step->mask};
    write_tile(space, id, &touch, intern_tile(space, step->tile), false);
}

uint32_t contents_copy_read(StateSpace *space, const uint32_t *id, const Copy *copy)
{
    const Touched touch = {copy->site, copy->source, copy->source_view, NULL};
    return copy->source_view == NONE ? 0 : read_tile(space, id, &touch, STEP_READ);
}

void contents_copy_write(StateSpace *space, uint32_t *id, const Copy *copy, uint32_t payload)
{
    if (copy->target_view != NONE)
        write_tile(space, id, &(Touched){copy->site, copy->target, copy->target_view, NULL}, payload, payload == 0);
}

Machine *contents_machine(StateSpace *space, const uint32_t *id)
{
    ContentsPool *pool = space->pool;
    for (uint32_t object = 0; object < space->program->objects; object++) {
        const Decl *decl = program_decl(space->program, program_object_decl(space->program, object));
        if (decl->space != SPACE_SEMAPHORE && !decl->opaque)
            put(pool, object, version_of(space, id, object));
    }
    return pool->machine;
}
