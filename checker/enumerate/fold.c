/* fold.c - seeing that a core which polls has come back to where it was.
 *
 * With a fingerprint of the core's state (its stack, registers, arena) the question is exact: equal states have equal futures, whatever
 * they observe next. Without one, the evidence is the steps alone: a cycle of observations and steps that was gone through twice in the
 * same way, and that goes on the same way when the core is fed it many more times. That is a guess (a core may count its polls), and the
 * tree says so. It is made, too, where states have not repeated after LOOKS_MAX looks. Only steps that leave no trace may lie on the cycle.
 */
#include "tree.h"

enum { CYCLES_FED = 64, CYCLE_MAX = 16, LOOKS_MAX = 1000 };

/* The observation before the one that led to `node`, if only traceless steps lie between; else NONE. */
static uint32_t observation_before(const Tree *tree, uint32_t node)
{
    do {
        uint32_t parent = tree_node(tree, node)->parent;
        if (parent == NONE || !step_leaves_no_trace(&tree_step(tree, tree_node(tree, parent)->step)->step, tree_node(tree, node)->seen))
            return NONE;
        node = parent;
    } while (!tree_node(tree, node)->observed);
    return node;
}

static bool same_step(const UnrollStep *a, const UnrollStep *b)
{
    return a->step.kind == b->step.kind && a->step.site == b->step.site && a->step.object == b->step.object
        && a->step.value == b->step.value && a->step.extra == b->step.extra && a->view == b->view;
}

/* Are the observations that led to a and b equal, and the steps that follow them up to the next one? */
static bool same_segment(const Tree *tree, uint32_t a, uint32_t b)
{
    if (tree_node(tree, a)->seen != tree_node(tree, b)->seen)
        return false;
    for (;; a++, b++) {                         /* a segment's nodes are consecutive */
        const Node *one = tree_node(tree, a), *other = tree_node(tree, b);
        if ((one->step == NONE) != (other->step == NONE))
            return false;
        if (one->step == NONE)
            return true;
        if (!same_step(tree_step(tree, one->step), tree_step(tree, other->step)))
            return false;
        if (one->observes)
            return true;
    }
}

/* Feeds the core the cycle of observations again and again: does it always do the same steps? */
static bool goes_on(Tree *tree, const uint32_t *cycle, uint32_t length)
{
    GArray *observed = tree_observations(tree, cycle[0]), *steps = g_array_new(FALSE, TRUE, sizeof(UnrollStep));
    bool same = true;
    for (uint32_t i = 0; same && i < CYCLES_FED * length; i++) {
        uint32_t expected = cycle[length - 1 - i % length];
        Observation next = g_array_index(observed, Observation, observed->len - length);
        g_array_append_val(observed, next);
        g_array_set_size(steps, 0);
        const Observation *first = (const Observation *)(const void *)observed->data;
        UnrollEnd end = tree->source->extend(tree->source->self, tree->core, first, observed->len, tree->contents, steps);
        same = end == UNROLL_OBSERVES;
        for (guint s = 0; same && s < steps->len; s++)
            same = tree_node(tree, expected + s)->step != NONE
                && same_step(tree_step(tree, tree_node(tree, expected + s)->step), &g_array_index(steps, UnrollStep, s));
    }
    g_array_free(steps, TRUE);
    g_array_free(observed, TRUE);
    return same;
}

static uint32_t find_by_steps(Tree *tree, uint32_t node)
{
    uint32_t back[2 * CYCLE_MAX + 1], length = 0;
    for (uint32_t at = node; at != NONE && length < G_N_ELEMENTS(back); at = observation_before(tree, at))
        back[length++] = at;
    for (uint32_t period = 1; 2 * period <= length; period++) {
        bool repeats = true;
        for (uint32_t i = 0; repeats && i < period; i++)
            repeats = same_segment(tree, back[i], back[i + period]);
        if (repeats && goes_on(tree, back, period))
            return back[period];
    }
    return NONE;
}

uint32_t fold_find(Tree *tree, uint32_t node, bool *guessed)
{
    uint64_t fingerprint = tree_node(tree, node)->fingerprint;
    uint32_t looks = 0, at = observation_before(tree, node);
    *guessed = fingerprint == 0;
    for (; at != NONE && !*guessed; at = observation_before(tree, at)) {
        *guessed = ++looks == LOOKS_MAX;
        if (!*guessed && (tree_node(tree, at)->fingerprint == fingerprint || tree->hasty))
            return at;
    }
    return *guessed ? find_by_steps(tree, node) : NONE;
}
