/* wakeup.h - wakeup trees: for each choice still to be made, the runs that are known to begin there.
 *
 * A tree hangs at each depth of the search; its branches are tried in order. Each way from the root to a leaf wakes all that sleeps there.
 * Nodes come from one pool and go back to it.
 */
#pragma once
#include <glib.h>
#include "usage.h"

/* A step as sleep sets and wakeup trees know it: enough to tell with what it commutes. */
typedef struct Sleeper { uint32_t agent, object; uint8_t manner; } Sleeper;

typedef struct Steps { Sleeper *at; uint32_t count, size; } Steps;     /* a sequence */

typedef struct WakeTree { uint32_t first, last; } WakeTree;            /* its branches; plus 1 */

typedef struct Wake {
    Sleeper step;
    uint32_t beside;                            /* the next branch of the same tree; plus 1 */
    WakeTree below;                             /* what follows; empty: a leaf */
} Wake;

typedef struct WakePool { Wake *wake; uint32_t used, size, unused; } WakePool;

void wake_pool_clear(WakePool *pool);
/* Can the step come first in the sequence, without changing it otherwise? *at: where it is now, NONE: nowhere. */
bool wake_comes_first(const Sleeper *step, const Steps *sequence, uint32_t *at);
/* Is there a leaf that covers the sequence? Else *above is the node below which it would become a new branch, 0: the tree itself. What the
 * way to there has of the sequence is removed from it. */
bool wake_covers(const WakePool *pool, const WakeTree *tree, Steps *sequence, uint32_t *above);
/* Makes the sequence, which is used up, a new branch unless it is covered. */
void wake_insert(WakePool *pool, WakeTree *tree, Steps *sequence);
/* The first branch that commutes neither with any of the steps nor with a branch before it. False: there is none. *before: the branch right
 * before it, 0: none. */
bool wake_find_apart(const WakePool *pool, const WakeTree *tree, const Sleeper *steps, uint32_t count, uint32_t *before);
/* Takes the branch after `before` off (0: the first): its step, and the tree that follows it. False: there is none. */
bool wake_take_after(WakePool *pool, WakeTree *tree, uint32_t before, Sleeper *step, WakeTree *rest);
bool wake_take(WakePool *pool, WakeTree *tree, Sleeper *step, WakeTree *rest);
/* Takes the tree out of one pool and gives it to another. */
WakeTree wake_move(WakePool *from, WakeTree *tree, WakePool *to);
void wake_append(WakePool *pool, WakeTree *tree, const Sleeper *step, WakeTree below);         /* a branch, as it is */
void wake_free(WakePool *pool, WakeTree *tree);
uint32_t wake_branches(const WakePool *pool, const WakeTree *tree);

static inline Wake *wake_get(const WakePool *pool, uint32_t node) { return &pool->wake[node - 1]; }

static inline bool wake_commute(const Sleeper *a, const Sleeper *b)
{
    return a->object != b->object || dependence_commutes(a->manner, b->manner);
}

static inline void steps_add(Steps *steps, const Sleeper *step)
{
    if (steps->count == steps->size) {
        steps->size = MAX(2 * steps->size, 64);
        steps->at = g_renew(Sleeper, steps->at, steps->size);
    }
    steps->at[steps->count++] = *step;
}

void steps_copy(Steps *to, const Steps *from);
void steps_clear(Steps *steps);
