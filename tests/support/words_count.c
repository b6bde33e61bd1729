/* words_count.c - classes of a program over words, counted by running every interleaving and keeping each order once. */
#include "words.h"

#include "../../model/rng.h"

typedef struct Done { uint8_t core, at, manner; uint64_t event; } Done;        /* manner: 0 add, 1 look, 2 rest */

typedef struct Count {
    const Words *words;
    bool needs_order[WORDS_MAX];
    unsigned pc[WORDS_CORES_MAX];
    uint64_t past[WORDS_CORES_MAX];             /* hash of what the core did and saw */
    int64_t value[WORDS_MAX];
    Done done[WORDS_CORES_MAX * WORDS_OPS_MAX];
    unsigned dones;
    uint64_t runs, runs_max;
    GHashTable *classes;
} Count;

static bool word_needs_order(const WordsOp *op)
{
    if (op->kind == WORDS_ADD)
        return op->value < 0;
    return op->kind != WORDS_WAIT || (op->compare != COMPARE_GE && op->compare != COMPARE_GT);
}

/* The state of a core in a search: its steps up to the next one whose outcome matters. */
static void look_ahead(Count *count, unsigned core)
{
    for (unsigned i = count->pc[core]; i < count->words->ops[core]; i++) {
        const WordsOp *op = &count->words->op[core][i];
        count->needs_order[op->at] |= word_needs_order(op);
        if (words_jumps(op))
            break;
    }
}

static bool possible(const Count *count, unsigned core)
{
    if (count->pc[core] >= count->words->ops[core])
        return false;
    const WordsOp *op = &count->words->op[core][count->pc[core]];
    return op->kind != WORDS_WAIT || compare_holds((Compare)op->compare, count->value[op->at], op->value);
}

static void step(Count *count, unsigned core)
{
    const WordsOp *op = &count->words->op[core][count->pc[core]];
    int64_t *word = &count->value[op->at], old = *word;
    bool jumps = false;
    uint8_t manner = op->kind == WORDS_ADD ? 0 : op->kind == WORDS_LOAD || op->kind == WORDS_WAIT ? 1 : 2;
    if (op->kind == WORDS_STORE)
        *word = op->value;
    if (op->kind == WORDS_ADD)
        *word += op->value;
    if (op->kind == WORDS_FETCH_ADD)
        *word += 1;
    if (op->kind == WORDS_SWAP && old == op->value)
        *word = op->other;
    else if (op->kind == WORDS_SWAP)
        manner = 1, jumps = true;
    if (op->kind == WORDS_LOAD || op->kind == WORDS_FETCH_ADD)
        jumps = old >= op->value;
    bool sees = words_jumps(op);
    count->past[core] = rng_mix(count->past[core] + rng_mix(((uint64_t)core << 40) + ((uint64_t)count->pc[core] << 32) + 7)
                                + (sees ? rng_mix((uint64_t)old + 99) : 0));
    count->done[count->dones++] = (Done){ (uint8_t)core, op->at, manner, count->past[core] };
    count->pc[core] += 1 + (jumps ? op->skip : 0);
}

static uint64_t hash_order(const Count *count)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count->dones; i++) {
        const Done *one = &count->done[i];
        sum += rng_mix(one->event);
        for (unsigned j = 0; count->needs_order[one->at] && j < i; j++) {
            const Done *other = &count->done[j];
            if (other->at == one->at && (other->manner != one->manner || one->manner == 2))
                sum += rng_mix(rng_mix(other->event) * 3 + one->event);
        }
    }
    return sum;
}

static void run(Count *count, bool learning)
{
    bool any = false;
    for (unsigned core = 0; core < count->words->cores && count->runs < count->runs_max; core++) {
        look_ahead(count, core);
        if (!possible(count, core))
            continue;
        any = true;
        Count saved = *count;
        step(count, core);
        run(count, learning);
        saved.runs = count->runs;
        for (unsigned w = 0; w < WORDS_MAX; w++)
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

uint64_t words_count_classes(const Words *words, uint64_t runs_max)
{
    Count count = { .words = words, .runs_max = runs_max,
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
