/* wakeup.c - nodes in one array, the unused ones chained. */
#include "wakeup.h"
#include <glib.h>

void wake_pool_clear(WakePool *pool)
{
    g_free(pool->wake);
    *pool = (WakePool){ 0 };
}

static uint32_t new_node(WakePool *pool)
{
    uint32_t node = pool->unused;
    if (node != 0) {
        pool->unused = pool->wake[node - 1].beside;
        return node;
    }
    if (pool->used == pool->size) {
        pool->size = MAX(pool->size * 2, 256);
        pool->wake = g_renew(Wake, pool->wake, pool->size);
    }
    return ++pool->used;
}

void wake_add(WakePool *pool, WakeTree *tree, uint32_t above, const Sleeper *steps, uint32_t count)
{
    WakeTree chain = { 0, 0 };
    for (uint32_t i = count; i-- > 0;) {
        uint32_t node = new_node(pool);
        *wake_get(pool, node) = (Wake){ steps[i], 0, chain };
        chain = (WakeTree){ node, node };
    }
    g_assert(chain.first != 0);
    WakeTree *to = above != 0 ? &wake_get(pool, above)->below : tree;
    if (to->last != 0)
        wake_get(pool, to->last)->beside = chain.first;
    else
        to->first = chain.first;
    to->last = chain.first;
}

bool wake_take(WakePool *pool, WakeTree *tree, Sleeper *step, WakeTree *rest)
{
    uint32_t node = tree->first;
    if (node == 0)
        return false;
    Wake *wake = wake_get(pool, node);
    *step = wake->step;
    *rest = wake->below;
    tree->first = wake->beside;
    if (tree->first == 0)
        tree->last = 0;
    wake->beside = pool->unused;
    pool->unused = node;
    return true;
}

void wake_free(WakePool *pool, WakeTree *tree)
{
    Sleeper step;
    WakeTree rest;
    while (wake_take(pool, tree, &step, &rest))
        wake_free(pool, &rest);
}
