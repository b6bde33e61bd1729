/* wakeup.c - nodes in one array, the unused ones chained. */
#include "wakeup.h"
#include <glib.h>

void wake_pool_clear(WakePool *pool)
{
    g_free(pool->wake);
    *pool = (WakePool){ 0 };
}

static uint32_t new_node(WakePool *pool, const Sleeper *step)
{
    uint32_t node = pool->unused;
    if (node != 0) {
        pool->unused = pool->wake[node - 1].next;
    } else {
        if (pool->used == pool->size) {
            pool->size = MAX(pool->size * 2, 256);
            pool->wake = g_renew(Wake, pool->wake, pool->size);
        }
        node = ++pool->used;
    }
    pool->wake[node - 1] = (Wake){ .step = *step };
    return node;
}

static void free_node(WakePool *pool, uint32_t node)
{
    pool->wake[node - 1].next = pool->unused;
    pool->unused = node;
}

void wake_add(WakePool *pool, WakeTree *tree, const Sleeper *steps, uint32_t count)
{
    uint32_t first = 0, below = 0;
    for (uint32_t i = count; i-- > 0;) {
        first = new_node(pool, &steps[i]);
        pool->wake[first - 1].child = pool->wake[first - 1].last = below;
        below = first;
    }
    g_assert(first != 0);
    if (tree->last != 0)
        pool->wake[tree->last - 1].next = first;
    else
        tree->child = first;
    tree->last = first;
}

bool wake_take(WakePool *pool, WakeTree *tree, Sleeper *step, WakeTree *rest)
{
    uint32_t node = tree->child;
    if (node == 0)
        return false;
    *step = pool->wake[node - 1].step;
    *rest = wake_tree(pool, node);
    tree->child = pool->wake[node - 1].next;
    if (tree->child == 0)
        tree->last = 0;
    free_node(pool, node);
    return true;
}

void wake_free(WakePool *pool, WakeTree *tree)
{
    Sleeper step;
    WakeTree rest;
    while (wake_take(pool, tree, &step, &rest))
        wake_free(pool, &rest);
}
