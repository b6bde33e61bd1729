/* random_rotate.c - a random program in which all devices do the same, each in its place: every core of a device does what its like on all
 * devices did, in turn, with their cores (and slots) shifted to its own place.
 */
#include "random_rotate.h"
#include <string.h>
#include "random_inside.h"

typedef struct Rotation {
    const RandomProgram *from;
    RandomProgram *to;
    bool slots;                                 /* elements of buffers and semaphores are shifted too */
    uint8_t place[RANDOM_CORES_MAX][RANDOM_OPS_MAX];    /* of one core of `to`: where an operation of a core of `from` came to stand */
} Rotation;

enum { RING = 4 };

/* Something for each device; brute force knows semaphores of two elements at most. */
static bool has_slots(const Rotation *r, unsigned thing)
{
    const RandomThing *of_two = &r->from->thing[thing];
    return of_two->space == SPACE_SEMAPHORE ? of_two->elements == 2 && r->to->devices == 2 : of_two->elements == 2 * RANDOM_SLOT_BYTES;
}

static RandomPlace shift(const Rotation *r, RandomPlace place, unsigned by)
{
    const RandomProgram *to = r->to;
    if (place.thing < 0)
        return place;
    unsigned cores = to->cores_per_device, device = (place.core / cores + by) % to->devices;
    place.core = (uint8_t)(device * cores + place.core % cores);
    const RandomThing *thing = &to->thing[place.thing];
    unsigned step = thing->space == SPACE_SEMAPHORE ? 1 : RANDOM_SLOT_BYTES;
    if (r->slots && has_slots(r, (unsigned)place.thing))
        place.start = (uint8_t)((place.start + by * step) % thing->elements);
    return place;
}

static bool append(Rotation *r, unsigned core, RandomOp op, unsigned by)
{
    RandomProgram *to = r->to;
    if (to->ops[core] == RANDOM_OPS_MAX)
        return false;
    op.at = shift(r, op.at, by), op.source = shift(r, op.source, by);
    op.send = shift(r, op.send, by), op.receive = shift(r, op.receive, by);
    to->op[core][to->ops[core]++] = op;
    return true;
}

/* Scopes of a launch are opened by all cores at its start and closed at its end. */
static bool scopes(Rotation *r, unsigned core, unsigned launch, bool open)
{
    static const RandomPlace NOWHERE = {.thing = -1};
    const unsigned things = r->to->things;
    bool fits = true;
    for (unsigned i = 0; i < things && fits; i++) {
        unsigned thing = open ? i : things - 1 - i;
        if (r->to->thing[thing].scoped && (r->to->thing[thing].launches >> launch & 1))
            fits = append(r, core, (RandomOp){.kind = open ? OP_OPEN : OP_CLOSE, .launch = (uint8_t)launch, .at = {.thing = (int8_t)thing},
                                              .source = NOWHERE, .send = NOWHERE, .receive = NOWHERE}, 0);
    }
    return fits;
}

static bool merge(Rotation *r, unsigned core, unsigned launch)
{
    const RandomProgram *from = r->from;
    unsigned cores = from->cores_per_device, device = core / cores;
    for (unsigned i = 0; i < RANDOM_OPS_MAX; i++)
        for (unsigned made_for = 0; made_for < from->devices; made_for++) {
            unsigned other = made_for * cores + core % cores, by = (device + r->to->devices - made_for) % r->to->devices;
            const RandomOp *op = &from->op[other][i];
            if (i >= from->ops[other] || op->launch != launch || op->kind == OP_OPEN || op->kind == OP_CLOSE)
                continue;
            r->place[other][i] = r->to->ops[core];
            RandomOp moved = *op;
            if (op->kind == OP_WAIT_MEANT)
                moved.value = r->place[other][op->value];
            if (!append(r, core, moved, by))
                return false;
        }
    return true;
}

bool random_rotate(RandomProgram *random)
{
    RandomProgram from = *random;
    Rotation r = {.from = &from, .to = random, .slots = from.seed % 2};
    if (from.cores == 2 && from.devices == 2 && from.seed / 6 % 2)
        random->devices = random->cores = RING;
    memset(random->ops, 0, sizeof random->ops);
    for (unsigned thing = 0; thing < random->things && r.slots; thing++)
        if (has_slots(&r, thing))
            random->thing[thing].elements = (uint8_t)(from.thing[thing].elements / 2 * random->devices);
    for (unsigned launch = 0; launch < random->launches; launch++)
        random->devices_of[launch] = (uint8_t)((1 << random->devices) - 1);
    bool fits = random->devices > 1;
    for (unsigned core = 0; core < random->cores && fits; core++)
        for (unsigned launch = 0; launch < random->launches && fits; launch++)
            fits = scopes(&r, core, launch, true) && merge(&r, core, launch) && scopes(&r, core, launch, false);
    random_settle_jumps(random);
    random->rotated = true;
    return fits;
}

/* Other bytes of the same buffer, as many. */
static bool move_bytes(const RandomProgram *random, RandomPlace *place)
{
    const RandomThing *thing = &random->thing[place->thing];
    unsigned end = place->start + (place->count - 1u) * place->stride + 1;
    if (thing->elements > RANDOM_SLOT_BYTES)
        place->start = (uint8_t)((place->start + RANDOM_SLOT_BYTES) % thing->elements);
    else if (end < thing->elements)
        place->start++;
    else if (place->start > 0)
        place->start--;
    else
        return false;
    return true;
}

static bool disturb_bytes(const RandomProgram *random, RandomOp *op, Rng *rng)
{
    bool copy = op->kind == OP_COPY, memory = op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_SWAP;
    unsigned cores = random->cores_per_device;
    bool within = copy && op->source.thing == op->at.thing && op->source.core / cores == op->at.core / cores;
    if ((!copy && !memory) || op->at.count == 0 || within)      /* a copy must not overlap itself */
        return false;
    return move_bytes(random, copy && rng_below(rng, 2) ? &op->source : &op->at);
}

/* Waits that are meant for a copy name its semaphore. */
static bool disturb_semaphore(const RandomProgram *random, RandomOp *op, Rng *rng)
{
    RandomPlace *place = op->kind == OP_COPY && !(random->features & RANDOM_MISMATCH) ? &op->receive : &op->at;
    bool fits = op->kind == OP_COPY ? place == &op->receive : op->kind == OP_SIGNAL || op->kind == OP_WAIT || op->kind == OP_WAIT_KEEP;
    if (!fits || place->thing < 0)
        return false;
    unsigned elements = random->thing[place->thing].elements;
    if (elements > 1)
        place->start = (uint8_t)((place->start + 1u) % elements);
    else if (op->kind == OP_SIGNAL && rng_below(rng, 2))
        place->core = (uint8_t)((place->core + random->cores_per_device) % random->cores);
    else if (op->kind != OP_COPY)
        op->value++;
    else
        return false;
    return true;
}

/* The device across the ring does the same in its place: what is left is a rotation by two. */
static void disturb_opposite(RandomProgram *random, unsigned core, unsigned index)
{
    unsigned opposite = (core + RING / 2) % RING;
    RandomOp *op = &random->op[opposite][index];
    *op = random->op[core][index];
    RandomPlace *place[] = {&op->at, &op->source, &op->send, &op->receive};
    for (size_t i = 0; i < G_N_ELEMENTS(place); i++)
        place[i]->core = (uint8_t)((place[i]->core + RING / 2) % RING);
}

void random_disturb(RandomProgram *random)
{
    Rng rng;
    rng_init(&rng, random->seed ^ 0xd157);
    random->rotated = false;
    bool bytes = rng_below(&rng, 2);
    unsigned core = (unsigned)rng_below(&rng, random->cores), ops = random->ops[core], first = (unsigned)rng_below(&rng, MAX(ops, 1));
    for (unsigned i = 0; i < ops; i++) {
        RandomOp *op = &random->op[core][(first + i) % ops];
        if (!(bytes ? disturb_bytes(random, op, &rng) : disturb_semaphore(random, op, &rng)))
            continue;
        if (random->devices == RING && rng_below(&rng, 2))
            disturb_opposite(random, core, (first + i) % ops);
        return;
    }
}
