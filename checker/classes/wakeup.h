/* wakeup.h - wakeup trees: for each choice still to be made, the runs that are known to begin there.
 *
 * A tree hangs at each depth of the search; its branches are tried in order. Each way from the root to a leaf wakes all that sleeps there.
 * Nodes come from one pool and go back to it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* A step as sleep sets and wakeup trees know it: enough to tell with what it commutes. */
typedef struct Sleeper { uint32_t agent, object; uint8_t manner; } Sleeper;

typedef struct WakeTree { uint32_t first, last; } WakeTree;            /* its branches; plus 1 */

typedef struct Wake {
    Sleeper step;
    uint32_t beside;                            /* the next branch of the same tree; plus 1 */
    WakeTree below;                             /* what follows; empty: a leaf */
} Wake;

typedef struct WakePool { Wake *wake; uint32_t used, size, unused; } WakePool;

void wake_pool_clear(WakePool *pool);
/* Adds a chain of steps as the last branch below a node, or of the tree itself (node 0). */
void wake_add(WakePool *pool, WakeTree *tree, uint32_t node, const Sleeper *steps, uint32_t count);
/* Takes the first branch off: its step, and the tree that follows it. False: there is none. */
bool wake_take(WakePool *pool, WakeTree *tree, Sleeper *step, WakeTree *rest);
void wake_free(WakePool *pool, WakeTree *tree);

static inline Wake *wake_get(const WakePool *pool, uint32_t node) { return &pool->wake[node - 1]; }
