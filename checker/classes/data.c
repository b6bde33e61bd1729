/* data.c - a Machine whose buffers the search writes, with a journal of the bytes before each write.
 *
 * The journal keeps the interval from a region's first to its last byte: always enough, and more than a strided write changes.
 */
#include "data.h"
#include <glib.h>
#include <string.h>

enum { TILES_MAX = 1 << 24 };

struct Tiles {
    Intern keys;                                /* id 0 is the empty key */
    GPtrArray *tile;                            /* Tile by id, made on demand */
    GMutex lock;
};

typedef struct Saved { uint32_t object; int64_t first, count; size_t item; bool parts; void *block; } Saved;

struct Data {
    Program *program;
    Tiles *tiles;
    Machine *machine;
    GArray *journal;                            /* Saved */
};

Tiles *tiles_new(void)
{
    Tiles *tiles = g_new0(Tiles, 1);
    intern_init_own(&tiles->keys, TILES_MAX, (size_t)1 << 36);
    intern_add(&tiles->keys, "", 0);
    tiles->tile = g_ptr_array_new();
    g_mutex_init(&tiles->lock);
    return tiles;
}

void tiles_free(Tiles *tiles)
{
    intern_clear(&tiles->keys);
    for (guint i = 0; i < tiles->tile->len; i++)
        tile_free(g_ptr_array_index(tiles->tile, i));
    g_ptr_array_free(tiles->tile, TRUE);
    g_mutex_clear(&tiles->lock);
    g_free(tiles);
}

static uint32_t keep_tile(Tiles *tiles, const Tile *tile)
{
    size_t bytes;
    g_autofree void *key = tile_pack(tile, &bytes);
    g_mutex_lock(&tiles->lock);
    uint32_t id = intern_add(&tiles->keys, key, bytes);
    g_mutex_unlock(&tiles->lock);
    return id;
}

/* Of an id that is not 0; the lock is held. */
static const Tile *get(Tiles *tiles, int64_t id)
{
    if ((guint)id >= tiles->tile->len)
        g_ptr_array_set_size(tiles->tile, (gint)id + 1);
    if (tiles->tile->pdata[id] == NULL)
        tiles->tile->pdata[id] = tile_unpack(intern_get(&tiles->keys, (uint32_t)id, NULL));
    return tiles->tile->pdata[id];
}

const Tile *tiles_get(void *owner, int64_t id)
{
    Tiles *tiles = owner;
    if (id == 0)
        return NULL;
    g_mutex_lock(&tiles->lock);
    const Tile *tile = get(tiles, id);
    g_mutex_unlock(&tiles->lock);
    return tile;
}

const Intern *tiles_keys(const Tiles *tiles)
{
    return &tiles->keys;
}

void tiles_add_key(Tiles *tiles, const void *key, size_t bytes)
{
    intern_add(&tiles->keys, key, bytes);
}

Data *data_new(Program *program, Tiles *tiles)
{
    Data *data = g_new0(Data, 1);
    data->program = program, data->tiles = tiles;
    data->machine = machine_new(program);
    data->journal = g_array_new(FALSE, FALSE, sizeof(Saved));
    return data;
}

void data_free(Data *data)
{
    if (data == NULL)
        return;
    data_undo(data, 0);
    machine_free(data->machine);
    g_array_free(data->journal, TRUE);
    g_free(data);
}

uint32_t data_mark(const Data *data)
{
    return data->journal->len;
}

static const Decl *decl_of(const Data *data, uint32_t object)
{
    return program_decl(data->program, program_object_decl(data->program, object));
}

static void save(Data *data, uint32_t object, uint32_t region_id)
{
    const Region *region = program_get_region(data->program, region_id);
    Contents *contents = machine_contents(data->machine, object);
    int64_t item = (int64_t)dtype_size_bytes(decl_of(data, object)->dtype);
    int64_t first = CLAMP(region->lo / item, 0, contents->elements);
    int64_t last = CLAMP((region->hi + item - 1) / item, first, contents->elements);
    const TileElements elements = contents_elements(contents, (size_t)item, first, last - first);
    Saved saved = { object, first, last - first, (size_t)item, elements.parts, g_malloc(tile_block_bytes(&elements) + 1) };
    tile_block_put(saved.block, &elements);
    g_array_append_val(data->journal, saved);
}

void data_undo(Data *data, uint32_t mark)
{
    while (data->journal->len > mark) {
        const Saved *saved = &g_array_index(data->journal, Saved, data->journal->len - 1);
        Contents *contents = machine_contents(data->machine, saved->object);
        cells_take(contents, saved->item, saved->first, saved->count, saved->block, saved->parts);
        g_free(saved->block);
        g_array_set_size(data->journal, data->journal->len - 1);
    }
}

uint32_t data_load(Data *data, const UnrollStep *step)
{
    const View *view = program_get_view(data->program, step->view);
    bool opaque = decl_of(data, step->step.object)->opaque;
    Tile *tile = tile_new(view->dtype, view->ndim, view->size, opaque);
    if (!opaque) {
        machine_read(data->machine, step->step.object, step->view, step->mask, tile);
        machine_mark_read(data->machine, step->step.site, step->step.object, step->view, step->mask, tile);
    }
    uint32_t id = keep_tile(data->tiles, tile);
    tile_free(tile);
    return id;
}

void data_store(Data *data, const UnrollStep *step)
{
    if (decl_of(data, step->step.object)->opaque || step->tile == NULL)
        return;
    save(data, step->step.object, step->step.value);
    machine_write(data->machine, step->step.object, step->view, step->mask, step->tile);
    machine_mark_write(data->machine, step->step.site, step->step.object, step->view, step->mask);
}

uint32_t data_copy_read(Data *data, const Copy *copy)
{
    Tile *payload = machine_copy_read(data->machine, copy);
    uint32_t id = payload ? keep_tile(data->tiles, payload) : 0;
    tile_free(payload);
    return id;
}

void data_copy_write(Data *data, const Copy *copy, uint32_t payload)
{
    if (decl_of(data, copy->target)->opaque || copy->target_view == NONE)
        return;
    save(data, copy->target, copy->target_region);
    const View *view = program_get_view(data->program, copy->target_view);
    const Tile unknown = { .dtype = view->dtype, .elements = view_elements(view), .opaque = true };
    const Tile *tile = payload ? tiles_get(data->tiles, payload) : &unknown;
    machine_write(data->machine, copy->target, copy->target_view, NULL, tile);
    machine_mark_write(data->machine, copy->site, copy->target, copy->target_view, NULL);
}

Machine *data_machine(Data *data)
{
    return data->machine;
}
