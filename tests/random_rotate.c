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

/* Something for each device; brute force knows semaphores of two elements at most. */
static bool has_slots(const RandomProgram *random, const RandomThing *thing)
{
    return thing->space == SPACE_SEMAPHORE ? thing->elements == 2 && random->devices == 2 : thing->elements == 2 * RANDOM_SLOT_BYTES;
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
    if (r->slots && has_slots(r->from, &r->from->thing[place.thing]))
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
            unsigned other = made_for * cores + core % cores, by = (device + from->devices - made_for) % from->devices;
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
    memset(random->ops, 0, sizeof random->ops);
    for (unsigned thing = 0; thing < random->things && r.slots; thing++)
        if (has_slots(&from, &from.thing[thing]))
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

void random_disturb(RandomProgram *random)
{
    Rng rng;
    rng_init(&rng, random->seed ^ 0xd157);
    random->rotated = false;
    unsigned core = (unsigned)rng_below(&rng, random->cores);
    if (random->ops[core] == 0)
        return;
    RandomOp *op = &random->op[core][rng_below(&rng, random->ops[core])];
    bool meant = random->features & RANDOM_MISMATCH;    /* waits name the semaphore of their copy */
    RandomPlace *place = op->kind == OP_COPY && !meant && rng_below(&rng, 2) ? &op->receive : &op->at;
    bool scope = op->kind == OP_OPEN || op->kind == OP_CLOSE || op->kind == OP_WAIT_MEANT || place->thing < 0;
    const RandomThing *thing = scope ? NULL : &random->thing[place->thing];
    if (!scope && rng_below(&rng, 2) && thing->space == SPACE_SEMAPHORE)
        place->start = (uint8_t)((place->start + 1u) % thing->elements);
    else if (!scope && thing->space != SPACE_SEMAPHORE && thing->elements > RANDOM_SLOT_BYTES && op->source.thing != op->at.thing)
        place->start = (uint8_t)((place->start + RANDOM_SLOT_BYTES) % thing->elements);
    else if (op->kind == OP_SIGNAL && rng_below(&rng, 2))
        place->core = (uint8_t)((place->core + random->cores_per_device) % random->cores);
    else if (op->kind == OP_SIGNAL || op->kind == OP_WAIT)
        op->value++;
}
