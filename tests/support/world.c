/* world.c - declarations and one launch; refs as bodies name them. */
#include "world.h"

enum { SEMAPHORES = 4, ROWS = 4, COLUMNS = 8 };

World *world_now;

static uint32_t add(Program *program, Space space, SemaphoreKind kind, const char *name, bool input)
{
    const DeclSpec spec = { .space = space, .semaphore_kind = kind, .dtype = DTYPE_I32, .life = LIFE_ALWAYS, .collective_id = -1,
                            .ndim = space == SPACE_SEMAPHORE ? 1 : 2, .size = { space == SPACE_SEMAPHORE ? SEMAPHORES : ROWS, COLUMNS },
                            .name = name, .input = input };
    return program_add_decl(program, &spec);
}

void world_set_up(World *world, uint32_t devices, uint32_t cores_per_device, void (*body)(Core *core, const Launch *launch))
{
    Mesh mesh;
    mesh_line(&mesh, devices);
    *world = (World){ .program = program_new(&mesh, cores_per_device, &(Knobs){ .dma_progress = DMA_PROGRESS_WHOLE }) };
    world->program->bare = true;
    program_site(world->program, "test", "body", 1, 0);
    world->semaphore = add(world->program, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, "sem", false);
    world->dma = add(world->program, SPACE_SEMAPHORE, SEMAPHORE_DMA, "dma", false);
    world->flag = add(world->program, SPACE_SEMAPHORE, SEMAPHORE_FLAG, "flag", false);
    world->buffer = add(world->program, SPACE_VMEM, SEMAPHORE_REGULAR, "buffer", true);
    world->scratch = add(world->program, SPACE_VMEM, SEMAPHORE_REGULAR, "scratch", false);
    program_add_launch(world->program)->body = body;
    world->record = record_new(world->program);
    world->execution = execution_new(world->program, world->record);
    world_now = world;
}

void world_prove(World *world)
{
    execution_run_eager(world->execution, NULL);
    world->outcome = prove_record(world->record, &(ProveOptions){ 0 });
}

void world_clear(World *world)
{
    outcome_free(world->outcome);
    execution_free(world->execution);
    record_free(world->record);
    program_free(world->program);
}

Ref world_at(uint32_t decl, int64_t number)
{
    Program *program = world_now->program;
    const Decl *d = program_decl(program, decl);
    bool semaphore = d->space == SPACE_SEMAPHORE;
    const ViewIndex index = { .start = number, .size = 1, .stride = 1, .is_index = semaphore };
    const char *why = NULL;
    View view;
    bool fine = view_at(&view, program_get_view(program, d->view), 1, &index, &why);
    g_assert(fine);
    return (Ref){ decl, program_view(program, &view), NONE };
}

Ref world_ref(uint32_t decl)
{
    const Decl *d = program_decl(world_now->program, decl);
    return d->space == SPACE_SEMAPHORE ? world_at(decl, 0) : (Ref){ decl, d->view, NONE };
}

Target world_on(uint32_t device)
{
    return (Target){ device, NONE };
}

uint32_t world_line(Core *core, unsigned number)
{
    return program_site(core->program, "test", "body", number, number);
}

static void *alloc_tile(void *core, size_t bytes)
{
    return core_alloc(core, bytes);
}

void world_store(Core *core, unsigned line, uint32_t decl, int64_t value)
{
    const Decl *d = program_decl(core->program, decl);
    Tile tile;
    tile_init(&tile, d->dtype, d->ndim, d->size, core->opaque_data, alloc_tile, core);
    if (!core->opaque_data)
        tile_fill_int(&tile, value);
    core_store(core, world_line(core, line), world_ref(decl), NULL, &tile);
}

int64_t world_load(Core *core, unsigned line, uint32_t decl)
{
    Tile tile;
    core_load(core, world_line(core, line), world_ref(decl), NULL, &tile);
    return core_tile_int(core, world_line(core, line), &tile, 0, "value");
}

CopyDesc world_describe_copy(uint32_t from, uint32_t to, uint32_t device)
{
    return (CopyDesc){ .source = world_ref(from), .target = world_ref(to), .send = world_at(world_now->dma, 1),
                       .receive = world_ref(world_now->dma), .to = world_on(device), .remote = true, .core = NONE };
}

void world_copy(Core *core, unsigned line, uint32_t from, uint32_t to, uint32_t device)
{
    CopyDesc copy = world_describe_copy(from, to, device);
    core_copy_start(core, world_line(core, line), &copy);
}
