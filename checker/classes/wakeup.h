/* wakeup.h - wakeup trees: for each choice still to be made, the runs that are known to begin there.
 *
 * A tree hangs at each depth of the search; its branches are tried in order. Nodes come from one pool and go back to it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* A step as sleep sets and wakeup trees know it: enough to tell with what it commutes. */
typedef struct Sleeper { uint32_t agent, object; uint8_t manner; } Sleeper;

typedef struct Wake {
    Sleeper step;
    uint32_t child, last, next;                 /* first and last branch, the next one beside it; plus 1 */
} Wake;

typedef struct WakePool { Wake *wake; uint32_t used, size, unused; } WakePool;
typedef struct WakeTree { uint32_t child, last; } WakeTree;            /* plus 1 */

void wake_pool_clear(WakePool *pool);
/* Adds a chain of steps as the last branch of the tree. */
void wake_add(WakePool *pool, WakeTree *tree, const Sleeper *steps, uint32_t count);
/* Takes the first branch off: its step, and the tree that follows it. False: there is none. */
bool wake_take(WakePool *pool, WakeTree *tree, Sleeper *step, WakeTree *rest);
void wake_free(WakePool *pool, WakeTree *tree);
/* The tree below a node, to be changed in place by wake_put_tree. */
static inline WakeTree wake_tree(const WakePool *pool, uint32_t node)
{
    return (WakeTree){ pool->wake[node - 1].child, pool->wake[node - 1].last };
}
static inline void wake_put_tree(WakePool *pool, uint32_t node, WakeTree tree)
{
    pool->wake[node - 1].child = tree.child, pool->wake[node - 1].last = tree.last;
}
