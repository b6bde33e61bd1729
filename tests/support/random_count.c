/* random_count.c - classes of a random program over flag words, counted by running every interleaving and keeping each order once. */
#include "random_words.h"

enum { WORDS = 3, RUN_MAX = 32 };               /* operations of a run */

typedef struct CountedOp { uint8_t core, at, manner; uint64_t event; } CountedOp;        /* manner: 0 add, 1 look, 2 rest */

typedef struct Count {
    const RandomProgram *random;
    bool needs_order[WORDS];
    unsigned pc[RANDOM_CORES_MAX];
    uint64_t past[RANDOM_CORES_MAX];            /* hash of what the core did and saw */
    int64_t value[WORDS];
    CountedOp done[RUN_MAX];
    unsigned dones;
    uint64_t runs, runs_max;
    GHashTable *classes;
} Count;

static bool word_needs_order(const RandomOp *op)
{
    if (op->kind == OP_FLAG_ADD)
        return op->value < op->less;
    return op->kind != OP_FLAG_WAIT || (op->compare != COMPARE_GE && op->compare != COMPARE_GT);
}

/* The state of a core in a search: its steps up to the next one whose outcome matters. */
static void look_ahead(Count *count, unsigned core)
{
    for (unsigned i = count->pc[core]; i < count->random->ops[core]; i++) {
        const RandomOp *op = &count->random->op[core][i];
        count->needs_order[op->at.start] |= word_needs_order(op);
        if (random_jumps(op->kind))
            break;
    }
}

static bool possible(const Count *count, unsigned core)
{
    if (count->pc[core] >= count->random->ops[core])
        return false;
    const RandomOp *op = &count->random->op[core][count->pc[core]];
    return op->kind != OP_FLAG_WAIT || compare_holds((Compare)op->compare, count->value[op->at.start], op->value);
}

static void step(Count *count, unsigned core)
{
    const RandomOp *op = &count->random->op[core][count->pc[core]];
    int64_t *word = &count->value[op->at.start], old = *word;
    bool jumps = false;
    uint8_t manner = op->kind == OP_FLAG_ADD ? 0 : op->kind == OP_FLAG_LOOK || op->kind == OP_FLAG_WAIT ? 1 : 2;
    if (op->kind == OP_FLAG_STORE)
        *word = op->value;
    if (op->kind == OP_FLAG_ADD)
        *word += op->value - op->less;
    if (op->kind == OP_FLAG_FETCH)
        *word += op->value;
    if (op->kind == OP_FLAG_SWAP && old == op->value - op->less)
        *word = op->value;
    else if (op->kind == OP_FLAG_SWAP)
        manner = 1, jumps = true;
    if (op->kind == OP_FLAG_LOOK || op->kind == OP_FLAG_FETCH)
        jumps = old >= op->value;
    bool sees = random_jumps(op->kind);
    count->past[core] = rng_mix(count->past[core] + rng_mix(((uint64_t)core << 40) + ((uint64_t)count->pc[core] << 32) + 7)
                                + (sees ? rng_mix((uint64_t)old + 99) : 0));
    g_assert(count->dones < RUN_MAX);
    count->done[count->dones++] = (CountedOp){ (uint8_t)core, op->at.start, manner, count->past[core] };
    count->pc[core] += 1 + (jumps ? op->skip : 0);
}

static uint64_t hash_order(const Count *count)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count->dones; i++) {
        const CountedOp *one = &count->done[i];
        sum += rng_mix(one->event);
        for (unsigned j = 0; count->needs_order[one->at] && j < i; j++) {
            const CountedOp *other = &count->done[j];
            if (other->at == one->at && (other->manner != one->manner || one->manner == 2))
                sum += rng_mix(rng_mix(other->event) * 3 + one->event);
        }
    }
    return sum;
}

static void run(Count *count, bool learning)
{
    bool any = false;
    for (unsigned core = 0; core < count->random->cores && count->runs < count->runs_max; core++) {
        look_ahead(count, core);
        if (!possible(count, core))
            continue;
        any = true;
        Count saved = *count;
        step(count, core);
        run(count, learning);
        saved.runs = count->runs;
        for (unsigned w = 0; w < WORDS; w++)
            saved.needs_order[w] = count->needs_order[w];
        *count = saved;
    }
    if (any)
        return;
    count->runs++;
    uint64_t hash = hash_order(count);
    if (!learning)
        g_hash_table_add(count->classes, g_memdup2(&hash, sizeof hash));
}

uint64_t random_count_classes(const RandomProgram *random, uint64_t runs_max)
{
    Count count = { .random = random, .runs_max = runs_max,
                    .classes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL) };
    run(&count, true);
    bool whole = count.runs < runs_max;
    count.runs = 0;
    if (whole)
        run(&count, false);
    uint64_t classes = whole ? g_hash_table_size(count.classes) : 0;
    g_hash_table_destroy(count.classes);
    return classes;
}
