/* wakeup.c - nodes in one array, with a free list.
 *
 * A sequence descends along steps that can come first in the rest of it, to a leaf, which covers it, or to a node below which it becomes a
 * new branch.
 */
#include "wakeup.h"
#include "../../model/sane.h"

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

void steps_copy(Steps *to, const Steps *from)
{
    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++)
        steps_add(to, &from->at[i]);
}

void steps_clear(Steps *steps)
{
    g_free(steps->at);
    *steps = (Steps){ 0 };
}

static void drop(Steps *steps, uint32_t index)
{
    steps->count--;
    for (uint32_t i = index; i < steps->count; i++)
        steps->at[i] = steps->at[i + 1];
}

bool wake_comes_first(const Sleeper *step, const Steps *sequence, uint32_t *at)
{
    *at = NONE;
    for (uint32_t i = 0; i < sequence->count; i++) {
        const Sleeper *other = &sequence->at[i];
        if (other->agent == step->agent) {
            *at = i;
            return true;
        }
        if (!wake_commute(other, step))
            return false;
    }
    return true;
}

bool wake_covers(const WakePool *pool, const WakeTree *tree, Steps *sequence, uint32_t *above)
{
    *above = 0;
    for (uint32_t node = tree->first; node != 0;) {
        uint32_t at;
        if (!wake_comes_first(&wake_get(pool, node)->step, sequence, &at)) {
            node = wake_get(pool, node)->beside;
            continue;
        }
        if (at != NONE)
            drop(sequence, at);
        *above = node;
        node = wake_get(pool, node)->below.first;
        if (node == 0 || sequence->count == 0)
            return true;
    }
    return false;
}

static void append(WakePool *pool, WakeTree *tree, WakeTree branch)
{
    if (tree->last != 0)
        wake_get(pool, tree->last)->beside = branch.first;
    else
        tree->first = branch.first;
    tree->last = branch.last;
}

void wake_insert(WakePool *pool, WakeTree *tree, Steps *sequence)
{
    uint32_t above;
    if (wake_covers(pool, tree, sequence, &above))
        return;
    WakeTree chain = { 0, 0 };
    for (uint32_t i = sequence->count; i-- > 0;) {
        uint32_t node = new_node(pool);
        *wake_get(pool, node) = (Wake){ sequence->at[i], 0, chain };
        chain = (WakeTree){ node, node };
    }
    g_assert(chain.first != 0);
    append(pool, above != 0 ? &wake_get(pool, above)->below : tree, chain);
    SANE_SELDOM(wake_assert_sane(pool, tree));
}

static bool is_apart(const WakePool *pool, const WakeTree *tree, uint32_t branch, const Sleeper *steps, uint32_t count)
{
    const Sleeper *step = &wake_get(pool, branch)->step;
    for (uint32_t i = 0; i < count; i++)
        if (wake_commute(&steps[i], step))
            return false;
    for (uint32_t other = tree->first; other != branch; other = wake_get(pool, other)->beside)
        if (wake_commute(&wake_get(pool, other)->step, step))
            return false;
    return true;
}

bool wake_find_apart(const WakePool *pool, const WakeTree *tree, const Sleeper *steps, uint32_t count, uint32_t *before)
{
    *before = 0;
    for (uint32_t branch = tree->first; branch != 0; branch = wake_get(pool, branch)->beside) {
        if (is_apart(pool, tree, branch, steps, count))
            return true;
        *before = branch;
    }
    return false;
}

bool wake_take_after(WakePool *pool, WakeTree *tree, uint32_t before, Sleeper *step, WakeTree *rest)
{
    uint32_t *link = before != 0 ? &wake_get(pool, before)->beside : &tree->first, node = *link;
    if (node == 0)
        return false;
    Wake *wake = wake_get(pool, node);
    *step = wake->step;
    *rest = wake->below;
    *link = wake->beside;
    if (tree->last == node)
        tree->last = before;
    wake->beside = pool->unused;
    pool->unused = node;
    return true;
}

bool wake_take(WakePool *pool, WakeTree *tree, Sleeper *step, WakeTree *rest)
{
    return wake_take_after(pool, tree, 0, step, rest);
}

void wake_append(WakePool *pool, WakeTree *tree, const Sleeper *step, WakeTree below)
{
    uint32_t node = new_node(pool);
    *wake_get(pool, node) = (Wake){ *step, 0, below };
    append(pool, tree, (WakeTree){ node, node });
}

WakeTree wake_move(WakePool *from, WakeTree *tree, WakePool *to)
{
    WakeTree moved = { 0, 0 }, rest;
    Sleeper step;
    while (wake_take(from, tree, &step, &rest)) {
        WakeTree below = wake_move(from, &rest, to);
        wake_append(to, &moved, &step, below);
    }
    return moved;
}

void wake_free(WakePool *pool, WakeTree *tree)
{
    Sleeper step;
    WakeTree rest;
    while (wake_take(pool, tree, &step, &rest))
        wake_free(pool, &rest);
}

uint32_t wake_branches(const WakePool *pool, const WakeTree *tree)
{
    uint32_t count = 0;
    for (uint32_t node = tree->first; node != 0; node = wake_get(pool, node)->beside)
        count++;
    return count;
}

bool wake_keeps_out(const WakePool *pool, uint32_t branch, const Sleeper *step)
{
    const Wake *wake = wake_get(pool, branch);
    if (wake->step.agent == step->agent || !wake_commute(&wake->step, step))
        return wake->step.agent != step->agent;
    bool out = wake->below.first != 0;
    for (uint32_t node = wake->below.first; node != 0; node = wake_get(pool, node)->beside)
        out &= wake_keeps_out(pool, node, step);
    return out;
}

void wake_assert_sane(const WakePool *pool, const WakeTree *tree)
{
    uint32_t last = 0;
    for (uint32_t node = tree->first; node != 0; node = wake_get(pool, last = node)->beside) {
        for (uint32_t later = wake_get(pool, node)->beside; later != 0; later = wake_get(pool, later)->beside)
            g_assert(wake_keeps_out(pool, later, &wake_get(pool, node)->step));
        wake_assert_sane(pool, &wake_get(pool, node)->below);
    }
    g_assert(tree->last == last);
}
