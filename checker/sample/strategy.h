/* strategy.h - who moves next: an oracle that is told when a run begins and asked to choose.
 *
 * A strategy never looks at a kernel's values, only at which moves are possible, and at the step each of them is (for dependence).
 * Seeded: run i of a seed is the same whatever ran before.
 */
#pragma once
#include "../../model/rng.h"
#include "../run/execution.h"

typedef enum StrategyKind { STRATEGY_RANDOM, STRATEGY_PCT, STRATEGY_POS, STRATEGY_STARVE, STRATEGY_KINDS } StrategyKind;

typedef struct Strategy Strategy;

enum { STRATEGY_DEPTH_MAX = 64 };

/* depth: PCT's d, the number of ordering constraints that a fault needs (1 to STRATEGY_DEPTH_MAX); others ignore it. */
Strategy *strategy_new(StrategyKind kind, uint64_t seed, unsigned depth);
void strategy_free(Strategy *strategy);
/* steps_expected: at least the length of a run, for PCT's change points. */
void strategy_begin(Strategy *strategy, uint64_t run, uint64_t steps_expected);
guint strategy_choose(Strategy *strategy, Execution *execution, const GArray *moves);  /* index into moves, which is not empty */
/* What so many runs of this kind promise, as one sentence; NULL: nothing. agents: cores and copies; steps: at most, of a run. g_malloc. */
char *strategy_promise(StrategyKind kind, unsigned depth, uint64_t agents, uint64_t steps, uint64_t runs);
