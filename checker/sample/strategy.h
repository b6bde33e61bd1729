/* strategy.h - chooses the next move of a sampled run.
 *
 * A strategy does not see values, only the enabled moves and their steps. Run i of a seed is the same whatever ran before.
 */
#pragma once
#include "../../model/rng.h"
#include "../run/execution.h"

typedef enum StrategyKind { STRATEGY_RANDOM, STRATEGY_PCT, STRATEGY_POS, STRATEGY_STARVE, STRATEGY_KINDS } StrategyKind;

typedef struct Strategy Strategy;

enum { STRATEGY_DEPTH_MAX = 64 };

/* depth: PCT's d, the number of ordering constraints of a fault (1 to STRATEGY_DEPTH_MAX); ignored by others. */
Strategy *strategy_new(StrategyKind kind, uint64_t seed, unsigned depth);
void strategy_free(Strategy *strategy);
/* steps_expected: at least the length of a run, for PCT's change points. */
void strategy_begin(Strategy *strategy, uint64_t run, uint64_t steps_expected);
guint strategy_choose(Strategy *strategy, Execution *execution, const GArray *moves);  /* index into moves, which is not empty */
/* The probabilistic bound for that many runs, as one sentence; NULL: none. agents: cores and copies; steps: at most, of a run. g_malloc. */
char *strategy_promise(StrategyKind kind, unsigned depth, uint64_t agents, uint64_t steps, uint64_t runs);
