/* random_run.c - a random program as a real one: declarations, launches, and a body that interprets the lists.
 *
 * The body is an ordinary kernel to everything below it: guards, coroutines, unrolling and replay are tested on the way.
 */
#include <glib.h>
#include <string.h>
#include "../../model/expectation.h"
#include "random_program.h"

typedef struct Built {                          /* in the program's memory */
    const RandomProgram *random;
    uint32_t decl[RANDOM_THINGS_MAX];           /* scoped: NONE */
    uint32_t probe;                             /* what descriptors of plain waits name */
} Built;

typedef struct BuiltLaunch { const Built *built; unsigned launch; } BuiltLaunch;

typedef struct Body {                           /* one core in one launch */
    Core *core;
    const Built *built;
    const RandomProgram *random;
    uint32_t decl[RANDOM_THINGS_MAX];
    CopyDesc copy[RANDOM_OPS_MAX];
} Body;

uint32_t random_line(uint32_t core, uint32_t index)
{
    return core * 1000 + index + 1;
}

void random_thing_name(const RandomProgram *random, int thing, char name[8])
{
    const RandomThing *t = &random->thing[thing];
    static const char kind[] = { [SEMAPHORE_REGULAR] = 'g', [SEMAPHORE_DMA] = 'd', [SEMAPHORE_BARRIER] = 'b',
                                 [SEMAPHORE_FLAG] = 'f' };
    static const char space[] = { [SPACE_HBM] = 'h', [SPACE_ANY] = 'a', [SPACE_VMEM] = 'v', [SPACE_SMEM] = 's' };
    name[0] = t->space == SPACE_SEMAPHORE ? kind[t->kind] : space[t->space];
    g_snprintf(name + 1, 7, "%s%d", t->scoped ? "s" : "", thing);
}

uint32_t random_decl(const RandomProgram *random, const Program *program, int thing)
{
    char name[8];
    random_thing_name(random, thing, name);
    bool barrier = random->thing[thing].space == SPACE_SEMAPHORE && random->thing[thing].kind == SEMAPHORE_BARRIER;
    for (uint32_t d = 0; d < program->decls.count; d++) {
        const Decl *decl = program_decl(program, d);
        bool is_barrier = decl->space == SPACE_SEMAPHORE && decl->semaphore_kind == SEMAPHORE_BARRIER;
        if (barrier ? is_barrier : strcmp(program_text(program, decl->name), name) == 0)
            return d;
    }
    return NONE;
}

static uint32_t site_at(Program *program, uint32_t line)
{
    return program_site(program, "random", "random", line, line);
}

static DeclSpec spec_of(Program *program, const RandomProgram *random, int thing, const char *name)
{
    const RandomThing *t = &random->thing[thing];
    bool semaphore = t->space == SPACE_SEMAPHORE;
    bool always = random->bare || (semaphore && t->kind == SEMAPHORE_FLAG);
    Life life = t->scoped ? LIFE_SCOPE : always ? LIFE_ALWAYS : LIFE_LAUNCHES;
    return (DeclSpec){ .space = t->space, .semaphore_kind = t->kind, .dtype = semaphore ? DTYPE_I32 : DTYPE_U8, .ndim = 1,
        .size = { t->elements }, .life = life, .opaque = !semaphore && !t->real, .input = t->input, .collective_id = -1,
        .site = site_at(program, RANDOM_LINE_SCOPE + (uint32_t)thing), .name = name };
}

static uint32_t view_at_place(Program *program, uint32_t decl, const RandomPlace *place)
{
    View view;
    const char *why;
    bool semaphore = program_decl(program, decl)->space == SPACE_SEMAPHORE;
    if (program_decl(program, decl)->ndim == 0) /* the barrier semaphore */
        return program_decl(program, decl)->view;
    ViewIndex index = { place->start, semaphore ? 1 : place->count, semaphore ? 1 : place->stride, semaphore };
    bool fine = view_at(&view, program_get_view(program, program_decl(program, decl)->view), 1, &index, &why);
    g_assert(fine);
    return program_view(program, &view);
}

/* A ref as this core names the place: objects of its own device; what is elsewhere is said by a target. */
static Ref ref_of(const Body *body, const RandomPlace *place)
{
    const RandomProgram *random = body->random;
    Program *program = body->core->program;
    uint32_t decl = body->decl[place->thing];
    g_assert(decl != NONE);
    uint8_t space = random->thing[place->thing].space;
    bool shared = space == SPACE_HBM || space == SPACE_ANY;
    bool sibling = !shared && place->core != body->core->id && place->core / random->cores_per_device == body->core->device;
    return (Ref){ decl, view_at_place(program, decl, place), sibling ? place->core % random->cores_per_device : NONE };
}

static Target target_of(const Body *body, const RandomPlace *place)
{
    uint32_t per = body->random->cores_per_device;
    if (place->core == body->core->id)
        return (Target){ NONE, NONE };
    if (place->core / per == body->core->device)
        return (Target){ NONE, place->core % per };
    return (Target){ place->core / per, place->core % per };
}

static CopyDesc describe_copy(const Body *body, const RandomOp *op)
{
    uint32_t per = body->random->cores_per_device;
    CopyDesc desc = { .source = ref_of(body, &op->source), .target = ref_of(body, &op->at), .receive = ref_of(body, &op->receive),
        .send = { NONE, NONE, NONE }, .to = { NONE, NONE }, .remote = op->remote, .core = NONE, .ordinal = NONE };
    if (op->remote) {
        desc.send = ref_of(body, &op->send);
        desc.to = (Target){ op->receive.core / per, op->receive.core % per };
        desc.target.core = desc.receive.core = NONE;
    }
    return desc;
}

/* A wait for any number of bytes, through a descriptor that was never started. */
static void wait_for_bytes(Body *body, uint32_t site, Ref semaphore, unsigned bytes)
{
    const RandomPlace some = { .count = (uint8_t)bytes, .stride = 1 };
    Ref probe = { body->built->probe, view_at_place(body->core->program, body->built->probe, &some), NONE };
    const CopyDesc desc = { .source = probe, .target = probe, .receive = semaphore, .send = { NONE, NONE, NONE }, .to = { NONE, NONE },
                            .core = NONE, .ordinal = NONE };
    core_copy_wait(body->core, site, &desc, COPY_WAIT_RECEIVE, false);
}

static void fill_tile(Body *body, const RandomOp *op, Tile *tile)
{
    Core *core = body->core;
    const int64_t size[] = { op->at.count };
    bool opaque = !body->random->thing[op->at.thing].real || core->opaque_data;
    tile_init(tile, DTYPE_U8, 1, size, opaque, core_tile_alloc, core);
    if (!opaque)
        tile_fill_int(tile, op->value);
}

static void do_memory(Body *body, uint32_t site, const RandomOp *op)
{
    Tile tile, old;
    Ref ref = ref_of(body, &op->at);
    if (op->kind == OP_LOAD) {
        core_load(body->core, site, ref, NULL, &old);
        return;
    }
    fill_tile(body, op, &tile);
    if (op->kind == OP_STORE)
        core_store(body->core, site, ref, NULL, &tile);
    else
        core_swap(body->core, site, ref, NULL, &tile, &old);
}

static void do_wait(Body *body, uint32_t site, const RandomOp *op)
{
    Ref semaphore = ref_of(body, &op->at);
    CopyDesc *copy = &body->copy[op->value];
    if (op->kind == OP_WAIT_MEANT && copy->ordinal == NONE)     /* a copy that was jumped over, or of 0 bytes */
        *copy = describe_copy(body, &body->random->op[body->core->id][op->value]);
    if (op->kind == OP_WAIT_MEANT)
        core_copy_wait(body->core, site, copy, op->by_send ? COPY_WAIT_SEND : COPY_WAIT_RECEIVE, copy->ordinal != NONE);
    else if (body->random->thing[op->at.thing].kind == SEMAPHORE_DMA)
        wait_for_bytes(body, site, semaphore, op->value);
    else
        core_wait(body->core, site, semaphore, op->value, op->kind == OP_WAIT);
}

static void do_scope(Body *body, uint32_t site, const RandomOp *op)
{
    int thing = op->at.thing;
    if (op->kind == OP_CLOSE) {
        core_scope_close(body->core, body->decl[thing], site);
        return;
    }
    char name[8];
    random_thing_name(body->random, thing, name);
    DeclSpec spec = spec_of(body->core->program, body->random, thing, name);
    body->decl[thing] = core_scope_open(body->core, &spec);
    program_decl(body->core->program, body->decl[thing])->limit = body->random->thing[thing].limit;
}

/* How many operations to jump over. */
static unsigned do_look(Body *body, uint32_t site, const RandomOp *op)
{
    int64_t seen;
    if (op->kind == OP_STEER) {
        Tile tile;
        core_load(body->core, site, ref_of(body, &op->at), NULL, &tile);
        seen = core_tile_int(body->core, site, &tile, 0, "a value");
    } else {
        seen = core_semaphore_read(body->core, site, ref_of(body, &op->at));
    }
    return seen >= op->value ? op->skip : 0;
}

/* How many operations to jump over. A word is on core 0 of its device. */
static unsigned do_flag(Body *body, uint32_t site, const RandomOp *op)
{
    Core *core = body->core;
    Ref word = ref_of(body, &op->at);
    word.core = NONE;
    const Target on = { op->at.core / body->random->cores_per_device, NONE };
    switch (op->kind) {
    case OP_FLAG_STORE:
        core_flag_store(core, site, word, on, op->value);
        return 0;
    case OP_FLAG_ADD:
        core_flag_add(core, site, word, on, op->value - op->less, false);
        return 0;
    case OP_FLAG_FETCH:
        return core_flag_add(core, site, word, on, op->value, true) >= op->value ? op->skip : 0;
    case OP_FLAG_WAIT:
        core_flag_wait(core, site, word, on, (Compare)op->compare, op->value);
        return 0;
    case OP_FLAG_POLL:
        while (core_flag_load(core, site, word, on) < op->value)
            continue;
        return 0;
    case OP_FLAG_LOOK:
        return core_flag_load(core, site, word, on) >= op->value ? op->skip : 0;
    case OP_FLAG_SWAP:
        return core_flag_compare_and_swap(core, site, word, on, op->value - op->less, op->value) == op->value - op->less ? 0 : op->skip;
    case OP_FLAG_LOCK:
        while (core_flag_compare_and_swap(core, site, word, on, 0, 1) != 0)
            continue;
        return 0;
    default:
        g_assert_not_reached();
    }
}

static void poll(Body *body, uint32_t site, const RandomOp *op)
{
    while (core_semaphore_read(body->core, site, ref_of(body, &op->at)) < op->value)
        continue;
}

static void stop_here(Body *body, uint32_t site, const RandomOp *op)
{
    RandomPlace beyond = op->at;
    beyond.start = body->random->thing[op->at.thing].elements;
    Tile tile;
    fill_tile(body, op, &tile);
    core_store(body->core, site, ref_of(body, &beyond), NULL, &tile);
}

static unsigned do_operation(Body *body, unsigned index)
{
    const RandomOp *op = &body->random->op[body->core->id][index];
    uint32_t site = site_at(body->core->program, random_line(body->core->id, index));
    switch ((RandomKind)op->kind) {
    case OP_SIGNAL:
        core_signal(body->core, site, ref_of(body, &op->at), op->value, target_of(body, &op->at));
        break;
    case OP_WAIT: case OP_WAIT_KEEP: case OP_WAIT_MEANT:
        do_wait(body, site, op);
        break;
    case OP_LOAD: case OP_STORE: case OP_SWAP:
        do_memory(body, site, op);
        break;
    case OP_COPY:
        body->copy[index] = describe_copy(body, op);
        core_copy_start(body->core, site, &body->copy[index]);
        break;
    case OP_CORE_BARRIER:
        core_barrier(body->core, site);
        break;
    case OP_OPEN: case OP_CLOSE:
        do_scope(body, site, op);
        break;
    case OP_STEER: case OP_LOOK:
        return do_look(body, site, op);
    case OP_POLL:
        poll(body, site, op);
        break;
    case OP_FLAG_STORE: case OP_FLAG_ADD: case OP_FLAG_FETCH: case OP_FLAG_WAIT: case OP_FLAG_POLL: case OP_FLAG_LOOK: case OP_FLAG_SWAP:
    case OP_FLAG_LOCK:
        return do_flag(body, site, op);
    case OP_EXPECT_COUNT:
        core_expect_count(body->core, site, ref_of(body, &op->at), op->value);
        break;
    case OP_STOP:
        stop_here(body, site, op);
        break;
    }
    return 0;
}

static void run_body(Core *core, const Launch *launch)
{
    const BuiltLaunch *closure = launch->closure;
    const RandomProgram *random = closure->built->random;
    Body *body = core_alloc(core, sizeof *body);        /* stacks stay small, as those of kernels are */
    body->core = core, body->built = closure->built, body->random = random;
    memcpy(body->decl, closure->built->decl, sizeof body->decl);
    for (unsigned i = 0; i < RANDOM_OPS_MAX; i++)
        body->copy[i].ordinal = NONE;
    if (random->collective[closure->launch])
        core_barrier_semaphore(core, launch->site);
    for (unsigned i = 0; i < random->ops[core->id]; i++)
        if (random->op[core->id][i].launch == closure->launch)
            i += do_operation(body, i);
}

static void declare(Program *program, const RandomProgram *random, Built *built)
{
    char name[8];
    for (int t = 0; t < random->things; t++) {
        const RandomThing *thing = &random->thing[t];
        random_thing_name(random, t, name);
        DeclSpec spec = spec_of(program, random, t, name);
        bool barrier = thing->space == SPACE_SEMAPHORE && thing->kind == SEMAPHORE_BARRIER;
        if (barrier && thing->launches != 0)
            built->decl[t] = program_barrier_decl(program, 0);
        else
            built->decl[t] = thing->scoped || thing->launches == 0 ? NONE : program_add_decl(program, &spec);
        if (built->decl[t] == NONE)
            continue;
        Decl *decl = program_decl(program, built->decl[t]);
        decl->limit = thing->limit;
        for (unsigned id = 0; id < FAULT_COUNT; id++)
            decl->exempt[id] = thing->exempt >> id & 1 ? program_string(program, "meant") : 0;
    }
    const DeclSpec probe = { .space = SPACE_HBM, .dtype = DTYPE_U8, .ndim = 1, .size = { 64 }, .life = LIFE_ALWAYS, .opaque = true,
                             .collective_id = -1, .name = "probe" };
    built->probe = program_add_decl(program, &probe);
}

static void add_launch(Program *program, const RandomProgram *random, const Built *built, unsigned index)
{
    BuiltLaunch *closure = program_alloc(program, sizeof *closure);
    *closure = (BuiltLaunch){ built, index };
    uint32_t *given = program_alloc(program, sizeof *given * RANDOM_THINGS_MAX);
    uint8_t *on = program_alloc(program, random->devices);
    Launch *launch = program_add_launch(program);
    launch->site = site_at(program, RANDOM_LINE_LAUNCH + index), launch->name = program_string(program, "random");
    launch->body = run_body, launch->closure = closure, launch->decl = given;
    launch->host = random->host[index], launch->skip_device_barrier = random->skip_barrier[index];
    launch->collective_id = random->collective[index] ? 0 : -1;
    launch->entry_barrier = !launch->host && !launch->skip_device_barrier && launch->collective_id < 0;
    for (unsigned d = 0; d < random->devices; d++)
        on[d] = random->devices_of[index] >> d & 1;
    if (random->devices_of[index] != (1 << random->devices) - 1)
        launch->on_device = on;
    for (unsigned t = 0; t < random->things; t++)
        if (!random->thing[t].scoped && random->thing[t].kind != SEMAPHORE_BARRIER && (random->thing[t].launches >> index & 1))
            given[launch->decls++] = built->decl[t];
}

Program *random_build(const RandomProgram *random)
{
    Mesh mesh;
    mesh_line(&mesh, random->devices);
    Program *program = program_new(&mesh, random->cores_per_device, &random->knobs);
    random_build_into(program, random);
    return program;
}

void random_build_into(Program *program, const RandomProgram *random)
{
    program->bare = random->bare;
    program->name = program->source = "random";
    program->seed = random->seed;
    Built *built = program_alloc(program, sizeof *built);
    built->random = random;
    declare(program, random, built);
    for (unsigned l = 0; l < random->launches; l++)
        add_launch(program, random, built, l);
}

typedef struct Promised { uint32_t decl; uint64_t *hash; } Promised;      /* of each device's object */

/* Of the values; where nothing was written there is none. */
static uint64_t hash_contents(Machine *machine, const Promised *promised, uint32_t device)
{
    const Decl *decl = program_decl(machine_program(machine), promised->decl);
    const Contents *contents = machine_contents(machine, decl->first_object + device);
    uint64_t hash = 1;
    for (int64_t i = 0; i < contents->elements; i++)
        hash = rng_mix(hash + (contents->written[i] ? contents->bytes[i] + 1u : 0));
    return hash;
}

static bool holds(Machine *machine, const Expectation *expectation, uint32_t device, Unexpected *unexpected)
{
    const Promised *promised = expectation->closure;
    if (hash_contents(machine, promised, device) == promised->hash[device])
        return true;
    unexpected->message = g_strdup_printf("device %u ends with other values", device);
    return false;
}

void random_promise(Program *program, Machine *machine)
{
    Promised *promised = program_alloc(program, sizeof *promised);
    promised->decl = 0;                         /* the HBM buffer is the first thing */
    promised->hash = program_alloc(program, sizeof *promised->hash * program->devices);
    for (uint32_t d = 0; d < program->devices; d++)
        promised->hash[d] = hash_contents(machine, promised, d);
    *(Expectation *)store_push(&program->expectations, 1) = (Expectation){ .name = program_string(program, "values"), .holds = holds,
        .site = site_at(program, RANDOM_LINE_EXPECTATION), .closure = promised, .decls = 1, .decl = { promised->decl } };
}
