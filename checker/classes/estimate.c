/* estimate.c - the number of classes, from what a depth-first search has seen of its tree.
 *
 * Bottom up along the frames in hand, from what lies below the branches of a frame that were begun to what lies below all of them. There
 * are two ways: branches still to come, as far as they are known, are as large as the mean of those begun (the "recursive estimator" of
 * Kilby, Slaney, Thiebaux and Walsh, 2006); or those begun make up the same part of the whole as they did in frames of this depth, or one
 * or two below, that are done. The first knows nothing of branches that later races add, the second nothing of this frame: their geometric
 * mean is taken.
 *
 * Bounds are measured, not proved: on the programs of test_classes.c with 3,000 to 500,000 classes, looked at again and again while the
 * search went on, the number lay within them in eight cases of ten.
 */
#include "units.h"
#include <math.h>

/* Which part of the classes of a frame lies below its first `begun` branches; 0: nothing is known. */
static double part(const Units *units, uint32_t depth, uint32_t begun)
{
    for (uint32_t d = depth; d < MIN(depth + 3, units->shapes.depths); d++) {
        uint64_t first = 0, all = 0;
        for (uint32_t i = 0; i < SHAPE_BRANCHES; i++) {
            first += i < begun ? units->shapes.at[d].classes[i] : 0;
            all += units->shapes.at[d].classes[i];
        }
        if (first > 0)
            return (double)first / (double)all;
    }
    return 0;
}

/* begun: branches, with `classes` below them, as far as one can tell. */
static double extend(const Units *units, uint32_t depth, uint32_t begun, uint32_t pending, double classes)
{
    if (begun == 0)
        return classes;
    double alike = classes * (begun + pending) / begun, known = part(units, depth, begun);
    return known > 0 ? sqrt(alike * classes / known) : alike;
}

static double below_frame(const Units *units, const Explorer *x)
{
    double classes = 0;
    for (uint32_t d = x->frames; d-- > x->base;) {
        const Frame *frame = &x->frame[d];
        uint64_t done = (d + 1 < x->frames ? x->frame[d + 1].classes : x->classes) - frame->classes;
        classes = extend(units, d, frame->tried, wake_branches(&x->pool, &frame->tree), classes + (double)done);
    }
    return classes;
}

static double below_node(const Units *units, uint32_t id)
{
    const Node *node = shared_node(&units->shared, id);
    double classes = (double)node->classes;
    for (guint i = 0; i < units->shared.nodes->len; i++)
        if (shared_node(&units->shared, i)->sleep != NULL && shared_node(&units->shared, i)->parent == id)
            classes += below_node(units, i);
    for (guint i = 0; i < units->live->len; i++) {
        const Explorer *x = units->live->pdata[i];
        if (x->base == node->depth + 1 && g_array_index(x->nodes, uint32_t, node->depth) == id)
            classes += below_frame(units, x);
    }
    return extend(units, node->depth, node->begun, wake_branches(&units->shared.pool, &node->tree), classes);
}

/* By the part that was seen, if the estimate is right: the most by which the number was below it, and above. */
static const struct { double part, below, above; } ERROR[] = { { 0.5, 1.3, 1.2 }, { 0.2, 2.2, 3.5 }, { 0.05, 6, 6 }, { 0, 6, 10 } };

Estimate units_estimate(const Units *units)
{
    double seen = (double)units->sum.runs, all = seen;
    for (guint i = 0; i < units->shared.nodes->len; i++)
        if (shared_node(&units->shared, i)->sleep != NULL && shared_node(&units->shared, i)->parent == NONE)
            all = below_node(units, i);
    if (units->shared.nodes->len == 0 && units->live->len > 0)
        all = below_frame(units, units->live->pdata[0]);
    all = MAX(all, seen);
    size_t e = 0;
    while (seen < ERROR[e].part * all)
        e++;
    return (Estimate){ all, MAX(all / ERROR[e].below, seen), all * ERROR[e].above };
}
