/* wakeup.h - wakeup trees: for each choice still to be made, the runs that must be explored from there.
 *
 * Each frame of the search has a tree, whose branches are tried in order. Each path from the root to a leaf wakes all sleepers of the
 * frame. Nodes come from one pool and return to it.
 *
 * Invariants:  1. no branch's step can come first in a run that begins with a later branch of its tree: that run would be its own.
 */
#pragma once
#include <glib.h>
#include "usage.h"

/* A step in a sleep set or a wakeup tree: enough to decide commutation. */
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
/* Is the step a (weak) initial of the sequence? *at: its index there; NONE: it commutes with the whole sequence. */
bool wake_comes_first(const Sleeper *step, const Steps *sequence, uint32_t *at);
/* Does a leaf cover the sequence? If not, *above is the node below which it becomes a new branch; 0: the root. Steps on the path to that
 * node are removed from the sequence. */
bool wake_covers(const WakePool *pool, const WakeTree *tree, Steps *sequence, uint32_t *above);
/* Inserts the sequence, which is consumed, as a new branch unless it is covered. */
void wake_insert(WakePool *pool, WakeTree *tree, Steps *sequence);
/* The first branch that commutes neither with any of the steps nor with a branch before it. False: there is none. *before: the branch
 * before it; 0: none. */
bool wake_find_apart(const WakePool *pool, const WakeTree *tree, const Sleeper *steps, uint32_t count, uint32_t *before);
/* Removes the branch after `before` (0: the first): its step, and the tree below it. False: there is none. */
bool wake_take_after(WakePool *pool, WakeTree *tree, uint32_t before, Sleeper *step, WakeTree *rest);
bool wake_take(WakePool *pool, WakeTree *tree, Sleeper *step, WakeTree *rest);
/* Moves the tree to another pool. */
WakeTree wake_move(WakePool *from, WakeTree *tree, WakePool *to);
void wake_append(WakePool *pool, WakeTree *tree, const Sleeper *step, WakeTree below);  /* a branch, unconditionally */
void wake_free(WakePool *pool, WakeTree *tree);
uint32_t wake_branches(const WakePool *pool, const WakeTree *tree);
/* Is there no run that begins with that branch in which the step can come first? */
bool wake_keeps_out(const WakePool *pool, uint32_t branch, const Sleeper *step);
void wake_assert_sane(const WakePool *pool, const WakeTree *tree);

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
