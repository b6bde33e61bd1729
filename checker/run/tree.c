/* tree.c - growing cores' trees: the source runs the core once more with one more observation, and its steps become a branch. */
#include "tree.h"
#include "../../model/sane.h"

static uint32_t add_node(Tree *tree, uint32_t core, uint32_t parent, int64_t seen, bool observed)
{
    uint32_t id = (uint32_t)tree->nodes.count;
    TreeNode *node = store_push(&tree->nodes, 1);
    *node = (TreeNode){ .step.core = core, .unrolled = NONE, .parent = parent, .child = NONE, .sibling = NONE, .same = id, .seen = seen,
                        .observed = observed, .position = parent == NONE ? 0 : tree_node(tree, parent)->position + 1 };
    return id;
}

/* From now on others find it. */
static void link_node(Tree *tree, uint32_t id)
{
    TreeNode *node = tree_node(tree, id), *before = tree_node(tree, node->parent);
    node->sibling = before->child;
    g_atomic_int_set((gint *)&before->child, (gint)id);
}

/* Fills `node` and adds those after it; the last one observes, or the core ends there. */
static void add_steps(Tree *tree, uint32_t node, const GArray *steps, UnrollEnd end)
{
    uint32_t core = tree_node(tree, node)->step.core;
    for (guint i = 0; i < steps->len; i++) {
        const UnrollStep *step = &g_array_index(steps, UnrollStep, i);
        bool last = i + 1 == steps->len;
        g_assert(step->step.core == core);
        g_assert((step->step.kind == STEP_STOP) == (last && end == UNROLL_STOPPED));
        *(UnrollStep *)store_push(&tree->steps, 1) = *step;
        TreeNode *at = tree_node(tree, node);
        at->step = step->step;
        at->unrolled = (uint32_t)(tree->steps.count - 1);
        at->observes = last && end == UNROLL_OBSERVES;
        if (at->observes)
            return;
        node = add_node(tree, core, node, TREE_HELD, false);
        link_node(tree, node);
    }
    tree_node(tree, node)->end = end == UNROLL_FINISHED ? TREE_FINISHED : TREE_STOPPED;
}

static void reverse(GArray *observations)
{
    for (guint low = 0, high = observations->len; low + 1 < high; low++, high--) {
        Observation swapped = g_array_index(observations, Observation, low);
        g_array_index(observations, Observation, low) = g_array_index(observations, Observation, high - 1);
        g_array_index(observations, Observation, high - 1) = swapped;
    }
}

GArray *tree_observations(const Tree *tree, uint32_t node)
{
    GArray *all = g_array_new(FALSE, TRUE, sizeof(Observation));
    for (; node != NONE; node = tree_node(tree, node)->parent) {
        const TreeNode *at = tree_node(tree, node);
        if (!at->observed)
            continue;
        Observation one = { .value = at->seen };
        uint8_t kind = tree_node(tree, at->parent)->step.kind;
        if (kind == STEP_LOAD || kind == STEP_SWAP)
            one.tile = tree->tile(tree->owner, at->seen);
        g_array_append_val(all, one);
    }
    reverse(all);
    return all;
}

static void unroll(Tree *tree, uint32_t node)
{
    UnrollSource *source = tree->source;
    uint32_t core = tree_node(tree, node)->step.core;
    g_autoptr(GArray) observed = tree_observations(tree, node), steps = g_array_new(FALSE, TRUE, sizeof(UnrollStep));
    const Observation *all = (const Observation *)(const void *)observed->data;
    add_steps(tree, node, steps, source->extend(source->self, core, all, observed->len, tree->contents, steps));
    poll_close(tree, node, observed);
}

uint32_t tree_begin(Tree *tree, uint32_t core)
{
    uint32_t node = add_node(tree, core, NONE, 0, false);
    unroll(tree, node);
    if (tree->grown != NULL)
        tree->grown(tree->owner, node);
    SANE_NOW_AND_THEN(tree->nodes.count, tree_assert_sane(tree));
    return node;
}

bool tree_can_follow(const Tree *tree, uint32_t node)
{
    return tree_node(tree, node)->observes || tree_node(tree, node)->step.kind == STEP_EXPECT_COUNT;
}

static void add_branch(Tree *tree, uint32_t parent, int64_t seen)
{
    const TreeNode *before = tree_node(tree, parent);
    g_assert(tree_can_follow(tree, parent));
    uint32_t node = add_node(tree, before->step.core, parent, before->observes ? seen : TREE_FAILED, before->observes);
    if (before->observes)
        unroll(tree, node);
    else
        tree_node(tree, node)->end = TREE_STOPPED;
    if (tree->grown != NULL)
        tree->grown(tree->owner, node);
    link_node(tree, node);
    SANE_NOW_AND_THEN(tree->nodes.count, tree_assert_sane(tree));
}

uint32_t tree_extend(Tree *tree, uint32_t node, int64_t seen)
{
    if (tree->lock != NULL)
        g_mutex_lock(tree->lock);
    if (tree_known(tree, node, seen) == NONE)
        add_branch(tree, node, seen);
    if (tree->lock != NULL)
        g_mutex_unlock(tree->lock);
    return tree_known(tree, node, seen);
}

void tree_assert_sane(const Tree *tree)
{
    for (uint32_t id = 0; id < tree->nodes.count; id++) {
        const TreeNode *node = tree_node(tree, id);
        bool follows = node->end == TREE_GOES_ON && tree_can_follow(tree, id);
        uint32_t children = 0;
        for (uint32_t child = node->child; child != NONE; child = tree_node(tree, child)->sibling, children++)
            g_assert(tree_node(tree, child)->parent == id && (follows || child == id + 1));
        g_assert(node->same <= id && (follows || children == (node->end == TREE_GOES_ON)));
    }
}
