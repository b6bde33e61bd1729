/* strategy.c - four ways to sample schedules.
 *
 * random: uniform over the moves that are possible now.
 * pct:    Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs"
 *         (ASPLOS 2010): agents get random priorities above d, the highest moves; at d - 1 random steps the running agent drops to a
 *         priority below all. One difference: copies appear during the run, and draw their priority then.
 * pos:    Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling" (CAV 2018): every move has a random score, the highest moves, and
 *         those that touch the same object as it draw a new one.
 * starve: our own: a victim (a device, a core, a copy, or all moments of one kind) waits as long as any other agent can move. This gives
 * late
 *         completion, slow links and last in, first out.
 *
 * pct and starve could run a poll for ever, so after VAIN_MAX reads in a row with no other step, the next move is not a read.
 */
#include "strategy.h"
#include <math.h>
#include "../run/execution_inside.h"

enum { CHANGES_MAX = STRATEGY_DEPTH_MAX, COPIES_TRIED = 4, VAIN_MAX = 8 };

typedef enum Victim { VICTIM_DEVICE, VICTIM_CORE, VICTIM_WRITES, VICTIM_READS, VICTIM_LINK, VICTIM_COPY, VICTIM_KINDS } Victim;

struct Strategy {
    StrategyKind kind;
    uint64_t seed, step, steps_expected;
    unsigned depth;
    Rng rng;
    GHashTable *priority;                       /* agent or move -> score, looked up only */
    uint64_t change[CHANGES_MAX];
    Victim victim;
    uint32_t who;
    unsigned vain;                              /* reads since the last other step */
    GArray *awake;                              /* of Move: those that are not reads */
};

Strategy *strategy_new(StrategyKind kind, uint64_t seed, unsigned depth)
{
    Strategy *strategy = g_new0(Strategy, 1);
    strategy->kind = kind, strategy->seed = seed, strategy->depth = CLAMP(depth, 1, CHANGES_MAX);
    strategy->awake = g_array_new(FALSE, FALSE, sizeof(Move));
    strategy->priority = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return strategy;
}

void strategy_free(Strategy *strategy)
{
    g_hash_table_destroy(strategy->priority);
    g_array_unref(strategy->awake);
    g_free(strategy);
}

void strategy_begin(Strategy *strategy, uint64_t run, uint64_t steps_expected)
{
    rng_init(&strategy->rng, rng_mix(strategy->seed) + run);
    strategy->vain = 0;
    strategy->step = 0, strategy->steps_expected = MAX(steps_expected, 1);
    g_hash_table_remove_all(strategy->priority);
    for (unsigned i = 0; i + 1 < strategy->depth; i++)
        strategy->change[i] = rng_below(&strategy->rng, strategy->steps_expected);
    strategy->victim = (Victim)rng_below(&strategy->rng, VICTIM_KINDS);
    strategy->who = (uint32_t)rng_next(&strategy->rng);
}

static uint64_t *score_of(Strategy *strategy, int64_t key)
{
    uint64_t *score = g_hash_table_lookup(strategy->priority, &key);
    if (score == NULL) {
        score = g_new(uint64_t, 1);
        *score = (rng_next(&strategy->rng) >> 1) + CHANGES_MAX;
        g_hash_table_insert(strategy->priority, g_memdup2(&key, sizeof key), score);
    }
    return score;
}

static int64_t agent_of(const Move *move)
{
    return ((int64_t)move->core << 32) | move->copy;
}

static int64_t move_key(const Execution *e, const Move *move)
{
    int64_t which = move->copy == NONE ? (int64_t)e->cores[move->core].position : (int64_t)move->copy * 32 + move->moment;
    return ((int64_t)move->core << 40) | ((int64_t)(move->copy != NONE) << 39) | which;
}

static guint highest(Strategy *strategy, const Execution *e, const GArray *moves, bool by_agent)
{
    guint best = 0;
    uint64_t top = 0;
    for (guint i = 0; i < moves->len; i++) {
        const Move *move = &g_array_index(moves, Move, i);
        uint64_t score = *score_of(strategy, by_agent ? agent_of(move) : move_key(e, move));
        if (i == 0 || score > top)
            best = i, top = score;
    }
    return best;
}

static guint choose_pct(Strategy *strategy, const Execution *e, const GArray *moves)
{
    guint best = highest(strategy, e, moves, true);
    for (unsigned i = 0; i + 1 < strategy->depth; i++)
        if (strategy->change[i] == strategy->step) {
            *score_of(strategy, agent_of(&g_array_index(moves, Move, best))) = i;
            best = highest(strategy, e, moves, true);
        }
    return best;
}

/* What a move touches: a buffer object or semaphore; two moves on the same one may depend on each other. */
static int64_t touches(const Execution *e, const Move *move)
{
    if (move->copy == NONE) {
        const Request *request = e->pending[move->core];
        bool memory = request->step.kind == STEP_LOAD || request->step.kind == STEP_STORE || request->step.kind == STEP_SWAP;
        return request->step.kind == STEP_COPY_START || step_is_join(request->step.kind) ? -1
            : ((int64_t)memory << 40) | request->step.object;
    }
    for (guint i = 0; i < e->flights->len; i++) {
        const Copy *copy = &STORE(Copy, &e->record->copies, g_array_index(e->flights, Flight, i).copy);
        if (copy->core == move->core && copy->ordinal == move->copy)
            return ((int64_t)1 << 40) | (move->moment == STEP_READ || move->moment == STEP_EARLY_SEND ? copy->source : copy->target);
    }
    return -1;
}

static guint choose_pos(Strategy *strategy, const Execution *e, const GArray *moves)
{
    guint best = highest(strategy, e, moves, false);
    int64_t object = touches(e, &g_array_index(moves, Move, best));
    for (guint i = 0; i < moves->len && object >= 0; i++) {
        const Move *other = &g_array_index(moves, Move, i);
        if (i != best && touches(e, other) == object)
            *score_of(strategy, move_key(e, other)) = (rng_next(&strategy->rng) >> 1) + CHANGES_MAX;
    }
    return best;
}

static bool is_victim(const Strategy *strategy, const Execution *e, const Move *move)
{
    const Program *program = e->program;
    uint32_t device = move->core / program->cores_per_device;
    switch (strategy->victim) {
    case VICTIM_DEVICE:
        return device == strategy->who % program->devices;
    case VICTIM_CORE:
        return move->copy == NONE && move->core == strategy->who % program->cores;
    case VICTIM_WRITES:
        return move->copy != NONE && move->moment == STEP_WRITE;
    case VICTIM_READS:
        return move->copy != NONE && move->moment == STEP_READ;
    case VICTIM_LINK:
        return move->copy != NONE && device == strategy->who % program->devices;
    case VICTIM_COPY:
        return move->copy != NONE && move->core == strategy->who % program->cores && move->copy == (strategy->who >> 16) % COPIES_TRIED;
    case VICTIM_KINDS:
        break;
    }
    return false;
}

static guint choose_starving(Strategy *strategy, const Execution *e, const GArray *moves)
{
    guint others = 0;
    for (guint i = 0; i < moves->len; i++)
        others += !is_victim(strategy, e, &g_array_index(moves, Move, i));
    if (others == 0)                            /* last in first out among the starved */
        return moves->len - 1;
    guint pick = (guint)rng_below(&strategy->rng, others);
    for (guint i = 0; i < moves->len; i++)
        if (!is_victim(strategy, e, &g_array_index(moves, Move, i)) && pick-- == 0)
            return i;
    g_assert_not_reached();
}

static bool is_look(const Execution *e, const Move *move)
{
    if (move->copy != NONE || e->pending[move->core] == NULL)
        return false;
    StepKind kind = (StepKind)e->pending[move->core]->step.kind;
    return kind == STEP_SEMAPHORE_READ || kind == STEP_FLAG_LOAD;
}

static guint position_of(const GArray *moves, const Move *wanted)
{
    for (guint i = 0; i < moves->len; i++) {
        const Move *move = &g_array_index(moves, Move, i);
        if (move->core == wanted->core && move->copy == wanted->copy && move->moment == wanted->moment)
            return i;
    }
    g_assert_not_reached();
}

static guint choose(Strategy *strategy, const Execution *e, const GArray *moves)
{
    return strategy->kind == STRATEGY_PCT ? choose_pct(strategy, e, moves) : choose_starving(strategy, e, moves);
}

static guint choose_awake(Strategy *strategy, const Execution *e, const GArray *moves)
{
    g_array_set_size(strategy->awake, 0);
    for (guint i = 0; strategy->vain >= VAIN_MAX && i < moves->len; i++)
        if (!is_look(e, &g_array_index(moves, Move, i)))
            g_array_append_val(strategy->awake, g_array_index(moves, Move, i));
    guint choice = strategy->awake->len == 0 ? choose(strategy, e, moves)
        : position_of(moves, &g_array_index(strategy->awake, Move, choose(strategy, e, strategy->awake)));
    strategy->vain = is_look(e, &g_array_index(moves, Move, choice)) ? strategy->vain + 1 : 0;
    return choice;
}

guint strategy_choose(Strategy *strategy, Execution *e, const GArray *moves)
{
    guint choice = 0;
    switch (strategy->kind) {
    case STRATEGY_RANDOM: case STRATEGY_KINDS:
        choice = (guint)rng_below(&strategy->rng, moves->len);
        break;
    case STRATEGY_POS:
        choice = choose_pos(strategy, e, moves);
        break;
    case STRATEGY_PCT: case STRATEGY_STARVE:
        choice = choose_awake(strategy, e, moves);
        break;
    }
    strategy->step++;
    return choice;
}

/* Rounds down to two digits: an "at least" must not be rounded up. */
static double cut(double probability)
{
    if (probability <= 0)
        return 0;
    double unit = pow(10, floor(log10(probability)) - 1);
    return MIN(floor(probability / unit * (1 + 1e-12)) * unit, 0.99);
}

char *strategy_promise(StrategyKind kind, unsigned depth, uint64_t agents, uint64_t steps, uint64_t runs)
{
    if (kind != STRATEGY_PCT || agents == 0 || steps == 0)
        return NULL;
    double odds = 1.0 / (double)agents;
    for (unsigned i = 1; i < depth; i++)
        odds /= (double)steps;
    double missed_by_all = exp((double)runs * log1p(-MIN(odds, 1)));
    g_autofree char *bound = depth == 1 ? g_strdup("1/n") : depth == 2 ? g_strdup("1/(n k)") : g_strdup_printf("1/(n k^%u)", depth - 1);
    return g_strdup_printf("a fault that %u ordering constraint%s bring%s about shows in a run with probability at least %s = %.2g, "
                           "in %" G_GUINT64_FORMAT " runs with at least %.2g (PCT: n = %" G_GUINT64_FORMAT " agents, k = %" G_GUINT64_FORMAT
                           " steps)", depth, depth == 1 ? "" : "s", depth == 1 ? "s" : "", bound, cut(odds), runs, cut(1 - missed_by_all),
                           agents, steps);
}
