/* arena.c - every block is a mapping of its own or part of a larger one; piles grow by remapping.
 *
 * Mappings are zeroed and committed on first touch, so generous sizes cost little; the limit counts the bytes that were mapped.
 */
#include "arena.h"
#include <glib.h>
#include <string.h>
#include <sys/mman.h>

struct ArenaBlock {
    ArenaBlock *older, *newer;                  /* in its arena */
    ArenaBlock *before, *after;                 /* in its budget */
    size_t mapped, used;
};

enum { HEAD_BYTES = 64, CHUNK_BYTES = 1 << 18, SMALL_BYTES = 1 << 15, PILE_BYTES = 512, SPARE_CHUNKS = 8 };
G_STATIC_ASSERT(sizeof(ArenaBlock) <= HEAD_BYTES);

static G_GNUC_NORETURN void bail_out(Budget *budget, const char *limit)
{
    budget->limit = limit;
    longjmp(budget->bail, 1);
}

static void spend(Budget *budget, size_t bytes)
{
    if (budget->bytes_max && budget->bytes + bytes > budget->bytes_max)
        bail_out(budget, "memory");
    budget->bytes += bytes;
    budget->bytes_peak = MAX(budget->bytes_peak, budget->bytes);
}

static void link_block(Arena *arena, ArenaBlock *block)
{
    block->older = arena->last;
    if (arena->last)
        arena->last->newer = block;
    arena->last = block;
    block->before = arena->budget->blocks;
    if (block->before)
        block->before->after = block;
    arena->budget->blocks = block;
}

/* After a block has moved: updates the pointers to it. */
static void relink_block(Arena *arena, ArenaBlock *block)
{
    if (block->older)
        block->older->newer = block;
    *(block->newer ? &block->newer->older : &arena->last) = block;
    if (block->before)
        block->before->after = block;
    *(block->after ? &block->after->before : &arena->budget->blocks) = block;
}

/* A few chunks are kept, zeroed, from one proof to the next: a search that proves many small records would spend its time mapping them. */
static ArenaBlock *spare[SPARE_CHUNKS];
static size_t spares;
static GMutex spare_lock;

static ArenaBlock *take_spare(void)
{
    g_mutex_lock(&spare_lock);
    ArenaBlock *block = spares > 0 ? spare[--spares] : NULL;
    g_mutex_unlock(&spare_lock);
    return block;
}

static bool keep_spare(ArenaBlock *block)
{
    g_mutex_lock(&spare_lock);
    bool room = spares < SPARE_CHUNKS;
    if (room)
        spare[spares++] = block;
    g_mutex_unlock(&spare_lock);
    return room;
}

static void unmap_block(Budget *budget, ArenaBlock *block)
{
    if (block->before)
        block->before->after = block->after;
    *(block->after ? &block->after->before : &budget->blocks) = block->before;
    budget->bytes -= block->mapped;
    bool chunk = block->mapped == CHUNK_BYTES;
    if (chunk)
        memset(block, 0, block->used);
    if (!chunk || !keep_spare(block))
        munmap(block, chunk ? CHUNK_BYTES : block->mapped);
}

static ArenaBlock *map_block(Arena *arena, size_t bytes)
{
    size_t mapped = (bytes + HEAD_BYTES + 4095) & ~(size_t)4095;
    spend(arena->budget, mapped);
    ArenaBlock *block = mapped == CHUNK_BYTES ? take_spare() : NULL;
    if (!block)
        block = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
        arena->budget->bytes -= mapped;
        bail_out(arena->budget, "memory");
    }
    block->mapped = mapped;
    block->used = HEAD_BYTES;
    link_block(arena, block);
    return block;
}

void arena_init(Arena *arena, Budget *budget)
{
    *arena = (Arena){ .budget = budget };
}

void arena_clear(Arena *arena)
{
    for (ArenaBlock *block = arena->last, *older; block; block = older) {
        older = block->older;
        unmap_block(arena->budget, block);
    }
    arena->last = NULL;
}

void budget_clear(Budget *budget)
{
    while (budget->blocks)
        unmap_block(budget, budget->blocks);
}

/* Small blocks are cut from the newest mapping, large ones get their own. */
void *arena_alloc(Arena *arena, size_t items, size_t item_bytes)
{
    if (items > SIZE_MAX / 2 / MAX(item_bytes, 1))
        bail_out(arena->budget, "memory");
    size_t bytes = (items * item_bytes + 63) & ~(size_t)63;
    if (bytes > SMALL_BYTES) {
        ArenaBlock *own = map_block(arena, bytes);
        own->used = own->mapped;                /* nothing more is cut from it */
        return (char *)own + HEAD_BYTES;
    }
    ArenaBlock *block = arena->last;
    if (!block || block->mapped != CHUNK_BYTES || CHUNK_BYTES - block->used < bytes)
        block = map_block(arena, CHUNK_BYTES - HEAD_BYTES);
    void *at = (char *)block + block->used;
    block->used += bytes;
    return at;
}

void budget_check_time(Budget *budget)
{
    if (budget->deadline > 0 && (double)g_get_monotonic_time() / 1e6 > budget->deadline)
        bail_out(budget, "time");
}

void pile_init(Pile *pile, Arena *arena, size_t item_bytes)
{
    *pile = (Pile){ .arena = arena, .item_bytes = item_bytes };
}

/* Small piles lie among other things and move by copying. */
static void grow_small(Pile *pile, size_t bytes)
{
    char *moved = arena_alloc(pile->arena, 1, bytes);
    if (pile->base)
        memcpy(moved, pile->base, pile->capacity_bytes);
    pile->base = moved;
    pile->capacity_bytes = bytes;
}

static ArenaBlock *remap(Pile *pile, size_t bytes)
{
    ArenaBlock *block = pile->block;
    Budget *budget = pile->arena->budget;
    size_t mapped = (bytes + HEAD_BYTES + 4095) & ~(size_t)4095;
    spend(budget, mapped - block->mapped);
    ArenaBlock *moved = mremap(block, block->mapped, mapped, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
        budget->bytes -= mapped - block->mapped;
        bail_out(budget, "memory");
    }
    moved->mapped = moved->used = mapped;
    relink_block(pile->arena, moved);
    return moved;
}

static void grow(Pile *pile, size_t bytes)
{
    bytes = MAX(bytes, MAX(pile->capacity_bytes * 2, PILE_BYTES));
    if (bytes <= SMALL_BYTES) {
        grow_small(pile, bytes);
        return;
    }
    if (pile->block) {
        pile->block = remap(pile, bytes);
    } else {
        pile->block = map_block(pile->arena, bytes);
        pile->block->used = pile->block->mapped;
        if (pile->base)
            memcpy((char *)pile->block + HEAD_BYTES, pile->base, pile->capacity_bytes);
    }
    pile->base = (char *)pile->block + HEAD_BYTES;
    pile->capacity_bytes = pile->block->mapped - HEAD_BYTES;
}

void *pile_push(Pile *pile, size_t items)
{
    size_t end = (pile->count + items) * pile->item_bytes;
    if (end > pile->capacity_bytes)
        grow(pile, end);
    void *at = pile->base + pile->count * pile->item_bytes;
    pile->count += items;
    return at;
}
