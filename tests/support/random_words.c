/* random_words.c - small random programs over shared words of one device's cores, for tests of classes: some jump over operations that
 * follow. Word 0 is only ever added to and awaited with "at least"; the others see everything.
 */
#include "random_words.h"
#include <string.h>

enum { WORDS, SEMAPHORE, DMA, SLOT, THINGS, WORDS_EACH = 3, SLOT_BYTES = 2, CORES_MAX = 4, LIST_MAX = 8 };

typedef struct Kind { uint8_t kind, thing; } Kind;

static Kind pick_kind(Rng *rng, RandomMix mix)
{
    static const Kind PURE[] = { { OP_FLAG_LOOK, WORDS }, { OP_FLAG_LOOK, WORDS }, { OP_FLAG_STORE, WORDS }, { OP_FLAG_STORE, WORDS },
                                 { OP_FLAG_ADD, WORDS }, { OP_FLAG_ADD, WORDS }, { OP_FLAG_FETCH, WORDS }, { OP_FLAG_SWAP, WORDS },
                                 { OP_FLAG_SWAP, WORDS }, { OP_FLAG_WAIT, WORDS }, { OP_FLAG_WAIT, WORDS } };
    static const Kind POLLING[] = { { OP_FLAG_POLL, WORDS }, { OP_FLAG_LOCK, WORDS }, { OP_FLAG_STORE, WORDS }, { OP_FLAG_ADD, WORDS } };
    static const Kind ALL[] = { { OP_SIGNAL, SEMAPHORE }, { OP_SIGNAL, SEMAPHORE }, { OP_WAIT, SEMAPHORE }, { OP_WAIT, SEMAPHORE },
                                { OP_WAIT_KEEP, SEMAPHORE }, { OP_LOOK, SEMAPHORE }, { OP_EXPECT_COUNT, SEMAPHORE }, { OP_COPY, SLOT },
                                { OP_COPY, SLOT }, { OP_WAIT, DMA }, { OP_LOAD, SLOT }, { OP_STORE, SLOT }, { OP_STORE, SLOT } };
    unsigned dice = (unsigned)rng_below(rng, 100);
    if (mix == RANDOM_ALL && dice < 65)
        return ALL[rng_below(rng, G_N_ELEMENTS(ALL))];
    if (mix == RANDOM_POLLING && dice < 45)
        return POLLING[rng_below(rng, G_N_ELEMENTS(POLLING))];
    return PURE[rng_below(rng, G_N_ELEMENTS(PURE))];
}

static RandomOp make_word_op(Rng *rng, RandomKind kind)
{
    RandomPlace word = { .thing = WORDS, .start = (uint8_t)rng_below(rng, WORDS_EACH) };
    RandomOp op = { .kind = (uint8_t)kind, .value = (uint8_t)rng_below(rng, 3), .compare = (uint8_t)rng_below(rng, 6) };
    if (kind == OP_FLAG_SWAP)
        op.less = (int8_t)(op.value - (int)rng_below(rng, 3));
    if (kind == OP_FLAG_ADD && op.value == 0)
        op.value = 1, op.less = rng_below(rng, 3) ? 0 : 2;
    if (word.start == 0) {
        op = (RandomOp){ .kind = rng_below(rng, 2) ? OP_FLAG_ADD : OP_FLAG_WAIT, .compare = COMPARE_GE };
        op.value = (uint8_t)(1 + rng_below(rng, 2));
    }
    if (op.kind == OP_FLAG_POLL || op.kind == OP_FLAG_FETCH)
        op.value = (uint8_t)(1 + rng_below(rng, 2));
    op.at = word;
    return op;
}

static RandomOp make_op(Rng *rng, RandomMix mix, unsigned core, unsigned cores)
{
    const Kind picked = pick_kind(rng, mix);
    RandomOp op = { .kind = picked.kind, .value = (uint8_t)(picked.thing == DMA ? SLOT_BYTES : 1 + rng_below(rng, 2)) };
    op.at = (RandomPlace){ .thing = (int8_t)picked.thing, .core = (uint8_t)rng_below(rng, cores), .count = SLOT_BYTES, .stride = 1 };
    if (picked.thing == WORDS)
        op = make_word_op(rng, picked.kind);
    op.source = op.at, op.source.core = (uint8_t)core;
    op.receive = (RandomPlace){ .thing = DMA, .core = (uint8_t)rng_below(rng, cores) };
    op.send.thing = -1;
    op.skip = (uint8_t)(random_jumps(op.kind) ? 1 + rng_below(rng, 2) : 0);
    return op;
}

void random_generate_words(RandomProgram *random, uint64_t seed, RandomMix mix, unsigned operations)
{
    static const RandomThing THING[THINGS] = {
        [WORDS] = { SPACE_SEMAPHORE, SEMAPHORE_FLAG, WORDS_EACH, .launches = 1, .limit = -1 },
        [SEMAPHORE] = { SPACE_SEMAPHORE, SEMAPHORE_REGULAR, 1, .launches = 1, .limit = -1 },
        [DMA] = { SPACE_SEMAPHORE, SEMAPHORE_DMA, 1, .launches = 1, .limit = -1 },
        [SLOT] = { SPACE_VMEM, 0, SLOT_BYTES, .launches = 1, .limit = -1 },
    };
    *random = (RandomProgram){ .seed = seed, .devices = 1, .launches = 1, .devices_of = { 1 }, .bare = true, .things = THINGS };
    memcpy(random->thing, THING, sizeof THING);
    Rng rng;
    rng_init(&rng, seed);
    random->cores = random->cores_per_device = (uint8_t)(2 + rng_below(&rng, CORES_MAX - 1));
    for (unsigned i = 0; i < operations; i++) {
        unsigned core = (unsigned)rng_below(&rng, random->cores);
        if (random->ops[core] == LIST_MAX)
            continue;
        RandomOp op = make_op(&rng, mix, core, random->cores);
        if (op.kind != OP_COPY || op.at.core != core)
            random->op[core][random->ops[core]++] = op;
    }
}
