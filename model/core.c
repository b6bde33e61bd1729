/* core.c - the life of one core: its launches, its grid, its scopes and its arena of tiles.
 *
 * The arena is a list of blocks with a bump pointer. It is emptied at the end of each grid step, and rewound at the end of a scope to where
 * the scope began. Freed memory is zeroed, so that a tile kept too long reads as unwritten and not as stale values.
 */
#include "core.h"
#include "entry.h"
#include "heap.h"
#include "outside.h"
#include "rng.h"
#include <glib.h>
#include <stdarg.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

_Thread_local Core *core_running;

void core_run_as(Core *core)
{
    core_running = core;
    heap_own = core != NULL ? &core->heap : NULL;
}

typedef struct CoreChunk { struct CoreChunk *older; size_t used, size; } CoreChunk;
typedef struct CoreScopes { GHashTable *count; GArray *open; } CoreScopes;
typedef struct OpenScope { uint32_t decl; CoreChunk *chunk; size_t used; } OpenScope;

enum { CHUNK_BYTES = 1 << 18 };

void core_init(Core *core, Program *program, uint32_t id)
{
    memset(core, 0, sizeof *core);
    core->id = id, core->device = id / program->cores_per_device, core->index = id % program->cores_per_device;
    core->program = program;
}

static void drop_newest(Core *core)
{
    CoreChunk *chunk = core->chunk;
    core->chunk = chunk->older;
    if (core->chunk != NULL || core->spare != NULL) {
        g_free(chunk);
        return;
    }
    memset(chunk + 1, 0, chunk->used);
    chunk->used = 0;
    core->spare = chunk;
}

static void rewind_arena(Core *core, CoreChunk *chunk, size_t used)
{
    while (core->chunk != chunk)
        drop_newest(core);
    if (chunk != NULL) {
        memset((char *)(chunk + 1) + used, 0, chunk->used - used);
        chunk->used = used;
    }
}

struct CoreChunk *core_take_block(Core *core)
{
    rewind_arena(core, NULL, 0);
    CoreChunk *block = core->spare;
    core->spare = NULL;
    return block;
}

void core_clear(Core *core)
{
    g_free(core_take_block(core));
    if (core->scopes != NULL) {
        g_hash_table_destroy(core->scopes->count);
        g_array_free(core->scopes->open, TRUE);
        g_free(core->scopes);
    }
    core->scopes = NULL;
    if (core->drop_windows != NULL)
        core->drop_windows(core);
    heap_clear(&core->heap);
}

void *core_alloc(Core *core, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (core->chunk == NULL || core->chunk->size - core->chunk->used < bytes) {
        size_t size = MAX(bytes, core->chunk ? CHUNK_BYTES : 4096 - sizeof(CoreChunk));
        bool spare = core->chunk == NULL && core->spare != NULL && core->spare->size >= bytes;
        CoreChunk *chunk = spare ? core->spare : g_malloc0(sizeof *chunk + size);
        if (spare)
            core->spare = NULL;
        else
            chunk->size = size;
        chunk->older = core->chunk;
        core->chunk = chunk;
    }
    void *at = (char *)(core->chunk + 1) + core->chunk->used;
    core->chunk->used += bytes;
    return at;
}

void *core_tile_alloc(void *core, size_t bytes)
{
    return core_alloc(core, bytes);
}

uint64_t core_state_hash(const Core *core, uint64_t seed)
{
    uint64_t hash = XXH3_64bits_withSeed(core->grid, sizeof core->grid, seed);
    const int64_t numbers[] = { core->launch, core->copies, core->grid_index, core->barriers, core->caller };
    hash = XXH3_64bits_withSeed(numbers, sizeof numbers, hash);
    hash = XXH3_64bits_withSeed(core->edited, sizeof core->edited, hash);
    for (uint32_t i = 0; i < core->held; i++)
        hash = XXH3_64bits_withSeed(&core->later[i].request.step, sizeof(Step), hash);
    for (const CoreChunk *chunk = core->chunk; chunk != NULL; chunk = chunk->older)
        hash = XXH3_64bits_withSeed(chunk + 1, chunk->used, hash);
    if (core->scopes == NULL)
        return hash;
    GHashTableIter each;
    gpointer key, value;
    uint64_t scopes = 0;                        /* a sum: the table's order must not matter */
    g_hash_table_iter_init(&each, core->scopes->count);
    while (g_hash_table_iter_next(&each, &key, &value))
        scopes += rng_mix(rng_mix((uint64_t) * (const int64_t *)key) + GPOINTER_TO_UINT(value));
    return rng_mix(hash ^ rng_mix(scopes + core->scopes->open->len));
}

static void refuse_change(Core *core, uint32_t site, char *changed)
{
    uint32_t what = program_string(core->program, changed);
    g_free(changed);
    core_usage(core, site, "before this operation the kernel has written to %s; devices share nothing but refs, so keep it in a local "
               "variable or in a ref", program_text(core->program, what));
}

void core_submit(Core *core, Request *request)
{
    char *changed = outside_changed();
    if (changed != NULL)
        refuse_change(core, request->step.site, changed);
    core->blocks = 0;
    core->submit(core, request);
}

static void hand_over(Core *core, Request *request, StepKind kind, uint32_t site, uint32_t object)
{
    request->step = (Step){ .kind = kind, .launch = (uint16_t)core->launch, .site = site, .core = core->id, .object = object };
    core_submit(core, request);
}

/* Only the parallel dimension is split among cores. */
static int64_t grid_part(const Core *core, const Launch *launch, uint32_t dimension, int64_t *first)
{
    int64_t size = launch->grid[dimension], cores = core->program->cores_per_device;
    bool split = (int32_t)dimension == launch->parallel_dim;
    *first = split ? size * core->index / cores : 0;
    return split ? size * (core->index + 1) / cores - *first : size;
}

int64_t core_grid_steps(const Core *core)
{
    const Launch *launch = program_launch(core->program, core->launch);
    int64_t steps = 1, first;
    for (uint32_t d = 0; d < launch->grid_dims; d++)
        steps *= grid_part(core, launch, d, &first);
    return launch->one_core && core->index != 0 ? 0 : steps;
}

void core_grid_at(const Core *core, int64_t step, int64_t *grid)
{
    const Launch *launch = program_launch(core->program, core->launch);
    for (uint32_t d = launch->grid_dims; d-- > 0;) {
        int64_t first, size = grid_part(core, launch, d, &first);
        grid[d] = first + step % size;
        step /= size;
    }
}

static void run_grid(Core *core, const Launch *launch)
{
    int64_t steps = core_grid_steps(core);
    for (core->grid_index = 0; core->grid_index < steps; core->grid_index++) {
        core_grid_at(core, core->grid_index, core->grid);
        launch->body(core, launch);
        rewind_arena(core, NULL, 0);
    }
}

void core_main(Core *core)
{
    Program *program = core->program;
    for (uint32_t l = 0; l < program->launches.count; l++) {
        const Launch *launch = program_launch(program, l);
        if (!program_launch_on_device(program, l, core->device))
            continue;
        core->launch = l;
        entry_pass(program, core->id, l);
        Request request = { 0 };
        if (!program->bare)
            hand_over(core, &request, STEP_ENTER, launch->site, l);
        if (!launch->host || core->index == 0)
            run_grid(core, launch);
        memset(core->grid, 0, sizeof core->grid);
        core->grid_index = 0;
        if (!program->bare)
            hand_over(core, &request, STEP_EXIT, launch->site, l);
    }
    entry_pass(program, core->id, (uint32_t)program->launches.count);
}

static CoreScopes *scopes_of(Core *core)
{
    if (core->scopes == NULL) {
        core->scopes = g_new0(CoreScopes, 1);
        core->scopes->count = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        core->scopes->open = g_array_new(FALSE, FALSE, sizeof(OpenScope));
    }
    return core->scopes;
}

uint32_t core_scope_open(Core *core, const DeclSpec *spec)
{
    const int64_t key = ((int64_t)core->launch << 32) | spec->site;
    CoreScopes *scopes = scopes_of(core);
    uint32_t ordinal = GPOINTER_TO_UINT(g_hash_table_lookup(scopes->count, &key));
    g_hash_table_replace(scopes->count, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(ordinal + 1));
    uint32_t decl = program_scope_decl(core->program, core->launch, ordinal, spec);
    OpenScope scope = { decl, core->chunk, core->chunk ? core->chunk->used : 0 };
    g_array_append_val(scopes->open, scope);
    Request request = { 0 };
    hand_over(core, &request, STEP_ALLOC, spec->site, decl);
    return decl;
}

void core_scope_close(Core *core, uint32_t decl, uint32_t site)
{
    GArray *open = scopes_of(core)->open;
    g_assert(open->len > 0);
    OpenScope scope = g_array_index(open, OpenScope, open->len - 1);
    g_assert(scope.decl == decl);
    g_array_set_size(open, open->len - 1);
    Request request = { 0 };
    hand_over(core, &request, STEP_FREE, site, decl);
    rewind_arena(core, scope.chunk, scope.used);
}

uint32_t core_barrier_semaphore(Core *core, uint32_t site)
{
    Launch *launch = program_launch(core->program, core->launch);
    if (launch->collective_id < 0)
        core_usage(core, site, "get_barrier_semaphore needs a collective_id: give the launch of %s one (.collective_id = 0)",
                   program_text(core->program, launch->name));
    launch->uses_barrier_semaphore = true;
    return program_barrier_decl(core->program, launch->collective_id);
}

void core_barrier(Core *core, uint32_t site)
{
    Request request = { 0 };
    hand_over(core, &request, STEP_CORE_BARRIER, site, core->barriers++);
}

/* Moved to the program's memory at once: a core that is abandoned frees nothing. */
static uint32_t keep_text(Core *core, const char *format, va_list arguments)
{
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    return program_string(core->program, text);
}

static void stop(Core *core, uint32_t site, FaultId fault, uint32_t text)
{
    Request request = { .fault = fault, .message = program_text(core->program, text) };
    hand_over(core, &request, STEP_STOP, site, NONE);
}

void core_stop(Core *core, uint32_t site, FaultId fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    uint32_t text = keep_text(core, format, arguments);
    va_end(arguments);
    stop(core, site, fault, text);
    g_assert_not_reached();
}

void core_usage(Core *core, uint32_t site, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    uint32_t text = keep_text(core, format, arguments);
    va_end(arguments);
    if (!core->needs_contents)
        program_set_usage_error(core->program, site, "%s", program_text(core->program, text));
    stop(core, site, FAULT_COUNT, text);
    g_assert_not_reached();
}
