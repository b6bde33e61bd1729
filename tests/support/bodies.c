/* bodies.c - the program around a body: buffers and semaphores that always live, one launch. */
#include "bodies.h"

BodyWorld *body_world;

static uint32_t add(Program *program, Space space, SemaphoreKind kind, const char *name, bool input)
{
    const DeclSpec spec = { .space = space, .semaphore_kind = kind, .dtype = DTYPE_I32, .life = LIFE_ALWAYS, .collective_id = -1,
                            .ndim = space == SPACE_SEMAPHORE ? 0 : 1, .size = { 4 }, .name = name, .input = input };
    return program_add_decl(program, &spec);
}

Ref body_ref(uint32_t decl)
{
    return (Ref){ decl, program_decl(body_world->program, decl)->view, NONE };
}

uint32_t body_line(Core *core, unsigned number)
{
    return program_site(core->program, "test", "body", number, number);
}

void body_run(BodyWorld *world, uint32_t devices, void (*body)(Core *core, const Launch *launch))
{
    Mesh mesh;
    mesh_line(&mesh, devices);
    body_world = world;
    world->program = program_new(&mesh, 1, &(Knobs){ 0 });
    world->program->bare = true;
    world->semaphore = add(world->program, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, "sem", false);
    world->dma = add(world->program, SPACE_SEMAPHORE, SEMAPHORE_DMA, "dma", false);
    world->flag = add(world->program, SPACE_SEMAPHORE, SEMAPHORE_FLAG, "flag", false);
    world->buffer = add(world->program, SPACE_VMEM, SEMAPHORE_REGULAR, "buffer", true);
    world->scratch = add(world->program, SPACE_VMEM, SEMAPHORE_REGULAR, "scratch", false);
    program_add_launch(world->program)->body = body;
    world->record = record_new(world->program);
    world->execution = execution_new(world->program, world->record);
    execution_run_eager(world->execution, NULL);
    world->outcome = prove_record(world->record, &(ProveOptions){ 0 });
}

void body_clear(BodyWorld *world)
{
    outcome_free(world->outcome);
    execution_free(world->execution);
    record_free(world->record);
    program_free(world->program);
}
