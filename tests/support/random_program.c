/* random_program.c - the generator: how many devices, which declarations and launches; random_ops.c fills the launches. */
#include "random_program.h"
#include <string.h>
#include "random_inside.h"

static int add_thing(RandomMaker *m, Space space, SemaphoreKind kind, unsigned elements, unsigned launches)
{
    RandomProgram *random = m->random;
    if (random->things == RANDOM_THINGS_MAX)
        return -1;
    random->thing[random->things] = (RandomThing){ .space = (uint8_t)space, .kind = (uint8_t)kind, .elements = (uint8_t)elements,
        .launches = (uint8_t)launches, .limit = -1 };
    if (space == SPACE_SEMAPHORE && kind != SEMAPHORE_FLAG && random_has(m, RANDOM_LIMITS) && random_chance(m, 60))
        random->thing[random->things].limit = (int8_t)random_pick(m, 1, 3);
    if (space != SPACE_SEMAPHORE) {
        random->thing[random->things].input = random_chance(m, m->careful ? 85 : 25);
        random->thing[random->things].real = random_has(m, RANDOM_DATA);
    }
    return random->things++;
}

static void declare_launch(RandomMaker *m, bool last)
{
    RandomProgram *random = m->random;
    unsigned bit = 1u << m->launch;
    bool handed_on = m->launch > 0 && random_chance(m, 30);
    if (handed_on) {
        random->thing[m->dma].launches |= (uint8_t)bit;
        random->thing[m->regular].launches |= (uint8_t)bit;
    } else {
        m->dma = add_thing(m, SPACE_SEMAPHORE, SEMAPHORE_DMA, random_has(m, RANDOM_LAUNCHES) ? 1 : 2, bit);
        m->regular = add_thing(m, SPACE_SEMAPHORE, SEMAPHORE_REGULAR, 1, bit);
    }
    if (m->vmem >= 0 && random_chance(m, 50))
        random->thing[m->vmem].launches |= (uint8_t)bit;
    else
        m->vmem = add_thing(m, SPACE_VMEM, 0, RANDOM_SLOT_BYTES, bit);
    random->thing[m->hbm].launches |= (uint8_t)bit;
    if (m->words >= 0)
        random->thing[m->words].launches |= (uint8_t)bit;
    if (m->flag_bytes >= 0)
        random->thing[m->flag_bytes].launches |= (uint8_t)bit;
    bool unused = m->barrier >= 0 && random->thing[m->barrier].launches == 0;
    random->collective[m->launch] = !random->host[m->launch] && m->barrier >= 0 && (random_chance(m, 50) || (last && unused));
    if (random->collective[m->launch])
        random->thing[m->barrier].launches |= (uint8_t)bit;
    m->scopes = 0;
    for (unsigned i = random_has(m, RANDOM_SCOPES) ? random_pick(m, 1, 2) : 0; i-- > 0;) {
        unsigned dice = random_pick(m, 0, 5);
        int thing = dice < 4 ? add_thing(m, SPACE_SEMAPHORE, dice < 2 ? SEMAPHORE_REGULAR : SEMAPHORE_DMA, 1, bit)
            : add_thing(m, dice == 4 ? SPACE_VMEM : random_chance(m, 50) ? SPACE_VMEM : SPACE_HBM, 0, RANDOM_SLOT_BYTES, bit);
        if (thing < 0)
            continue;
        random->thing[thing].scoped = true, random->thing[thing].input = false;
        m->scope[m->scopes++] = thing;
    }
}

static void fill_launch(RandomMaker *m, unsigned operations)
{
    RandomProgram *random = m->random;
    int barrier = m->barrier;
    if (!random->collective[m->launch])
        m->barrier = -1;
    for (unsigned i = 0; i < operations; i++)
        random_add_operation(m);
    random_end_launch(m);
    m->barrier = barrier;
}

static void choose_shape(RandomMaker *m)
{
    RandomProgram *random = m->random;
    random->cores_per_device = random_has(m, RANDOM_CORES | RANDOM_BARRIERS) ? (random_chance(m, 33) ? 1 : 2) : 1;
    random->devices = (uint8_t)(random->cores_per_device == 2 ? random_pick(m, 1, 2) : random_pick(m, 2, 3));
    random->cores = random->devices * random->cores_per_device;
    random->launches = random_has(m, RANDOM_LAUNCHES) ? (random_chance(m, 33) ? 1 : 2) : 1;
    random->knobs.dma_progress = random_has(m, RANDOM_FLUID) ? DMA_PROGRESS_FLUID : DMA_PROGRESS_WHOLE;
    random->knobs.dma_order = random_has(m, RANDOM_LINK_FIFO) ? DMA_ORDER_LINK_FIFO
        : random_has(m, RANDOM_ISSUE_ORDER) ? DMA_ORDER_ISSUE_ORDER : DMA_ORDER_UNORDERED;
    random->knobs.scopes = random_has(m, RANDOM_STRICT) ? SCOPES_STRICT : SCOPES_STATIC;
    random->bare = !random_has(m, RANDOM_LAUNCHES | RANDOM_SCOPES | RANDOM_HOST | RANDOM_DATA | RANDOM_STOPS)
        && random_chance(m, 60);
    if (random_has(m, RANDOM_HOST) && random->launches == 1)
        random->launches = 2;
}

bool random_polls(const RandomProgram *random)
{
    for (unsigned core = 0; core < random->cores; core++)
        for (unsigned i = 0; i < random->ops[core]; i++) {
            const uint8_t kind = random->op[core][i].kind;
            if (kind == OP_POLL || kind == OP_FLAG_POLL || kind == OP_FLAG_LOCK)
                return true;
        }
    return false;
}

void random_settle_jumps(RandomProgram *random)
{
    for (unsigned core = 0; core < random->cores; core++)
        for (unsigned i = 0; i < random->ops[core]; i++) {
            RandomOp *op = &random->op[core][i];
            for (unsigned s = 0; s < op->skip; s++) {
                unsigned at = i + 1 + s;
                const RandomOp *next = &random->op[core][at];
                if (at >= random->ops[core] || next->launch != op->launch || next->kind == OP_OPEN || next->kind == OP_CLOSE)
                    op->skip = (uint8_t)s;
            }
        }
}

/* With dice of its own: the program is otherwise what it would be without. */
static void choose_exemptions(RandomProgram *random)
{
    static const struct { FaultId fault; bool semaphore; unsigned percent; } MAY[] = {
        { FAULT_RACE, false, 60 }, { FAULT_IN_FLIGHT, false, 30 }, { FAULT_LIFETIME, false, 10 }, { FAULT_UNINITIALISED, false, 10 },
        { FAULT_LEFTOVER, true, 50 }, { FAULT_LIFETIME, true, 10 }, { FAULT_OVERFLOW, true, 20 }, { FAULT_MISMATCH, true, 20 },
    };
    Rng rng;
    rng_init(&rng, random->seed ^ 0xe8e3);
    for (unsigned t = 0; t < random->things; t++) {
        RandomThing *thing = &random->thing[t];
        bool semaphore = thing->space == SPACE_SEMAPHORE, counts = semaphore && thing->kind != SEMAPHORE_FLAG;
        for (size_t i = 0; i < G_N_ELEMENTS(MAY); i++)
            if (!thing->scoped && MAY[i].semaphore == semaphore && (counts || !semaphore) && rng_below(&rng, 100) < MAY[i].percent)
                thing->exempt |= (uint16_t)(1u << MAY[i].fault);
    }
}

bool random_is_inside(const RandomProgram *random, const RandomPlace *place, unsigned i)
{
    return place->start + i * place->stride < random->thing[place->thing].elements;
}

/* With dice of its own, too: some loads reach beyond the end of their buffers, in part or altogether. */
static void choose_bounds(RandomProgram *random)
{
    Rng rng;
    rng_init(&rng, random->seed ^ 0xb07d);
    random->knobs.at_bounds = rng_below(&rng, 4) == 0 ? AT_BOUNDS_STOP : AT_BOUNDS_GO_ON;
    for (unsigned core = 0; core < random->cores; core++)
        for (unsigned i = 0; i < random->ops[core]; i++) {
            RandomOp *op = &random->op[core][i];
            if ((op->kind == OP_LOAD || op->kind == OP_STEER) && rng_below(&rng, 100) < 12)
                op->at.start = (uint8_t)(random->thing[op->at.thing].elements - rng_below(&rng, op->at.count));
        }
}

void random_generate(RandomProgram *random, uint64_t seed, uint32_t features, unsigned operations)
{
    memset(random, 0, sizeof *random);
    random->seed = seed, random->features = features;
    RandomMaker m = { .random = random, .hbm = -1, .barrier = -1, .vmem = -1, .dma = -1, .regular = -1, .flag_bytes = -1,
                      .words = -1 };
    rng_init(&m.rng, seed);
    m.careful = random_chance(&m, 50);
    choose_shape(&m);
    m.hbm = add_thing(&m, SPACE_HBM, 0, 2 * RANDOM_SLOT_BYTES, 0);
    if (random_has(&m, RANDOM_LAUNCHES))
        m.barrier = add_thing(&m, SPACE_SEMAPHORE, SEMAPHORE_BARRIER, 1, 0);
    if (random_has(&m, RANDOM_FLAGS))
        m.words = add_thing(&m, SPACE_SEMAPHORE, SEMAPHORE_FLAG, 2, 0);
    if (random_has(&m, RANDOM_DATA)) {
        m.flag_bytes = add_thing(&m, SPACE_SMEM, 0, RANDOM_SLOT_BYTES, 0);
        random->expects = random_chance(&m, 50);
    }
    for (m.launch = 0; m.launch < random->launches; m.launch++) {
        bool middle = random_has(&m, RANDOM_HOST) && m.launch == (random_chance(&m, 50) ? 0u : 1u);
        random->host[m.launch] = middle;
        random->skip_barrier[m.launch] = random_chance(&m, m.careful ? 15 : 40);
        random->devices_of[m.launch] = (uint8_t)((1 << random->devices) - 1);
        if (random_has(&m, RANDOM_LAUNCHES) && !middle && random->launches > 1 && random->devices > 1 && random_chance(&m, 12))
            random->devices_of[m.launch] &= (uint8_t) ~(1 << random_pick(&m, 0, random->devices - 1u));
        declare_launch(&m, m.launch + 1u == random->launches);
        fill_launch(&m, MAX(2, operations / random->launches));
    }
    random_settle_jumps(random);
    if (features & RANDOM_EXEMPT)
        choose_exemptions(random);
    if (features & RANDOM_STOPS)
        choose_bounds(random);
}
