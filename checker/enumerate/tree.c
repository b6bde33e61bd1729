/* tree.c - growing a core's tree: the source runs the core once more with one more observation, and its steps become a chain of nodes. */
#include "tree.h"
#include <string.h>

void tree_init(Tree *tree, UnrollSource *source, uint32_t core, bool contents, IdSets *sets)
{
    *tree = (Tree){.source = source, .core = core, .contents = contents, .sets = sets};
}

void tree_reserve(Tree *tree, Reservation *reservation, size_t nodes_max)
{
    reservation_store(reservation, &tree->nodes, sizeof(Node), nodes_max);
    reservation_store(reservation, &tree->steps, sizeof(UnrollStep), nodes_max);
    reservation_store(reservation, &tree->opens, 1, 1u << 26);
}

GArray *tree_observations(const Tree *tree, uint32_t node)
{
    GArray *all = g_array_new(FALSE, TRUE, sizeof(Observation));
    for (; node != NONE; node = tree_node(tree, node)->parent) {
        const Node *at = tree_node(tree, node);
        if (!at->observed)
            continue;
        Observation one = {.value = at->seen};
        uint8_t kind = tree_step(tree, tree_node(tree, at->parent)->step)->step.kind;
        if (kind == STEP_LOAD || kind == STEP_SWAP)
            one.tile = tree->tile(tree->owner, at->seen);
        g_array_append_val(all, one);
    }
    observations_reverse(all);
    return all;
}

/* A new node after the step of `parent`. */
static uint32_t add_node(Tree *tree, uint32_t parent, int64_t seen, bool observed)
{
    uint32_t id = (uint32_t)tree->nodes.count;
    Node *node = store_push(&tree->nodes, 1);
    *node = (Node){.parent = parent, .step = NONE, .child = NONE, .sibling = NONE, .same = NONE, .seen = seen,
                   .observed = observed};
    if (parent == NONE)
        return id;
    Node *before = tree_node(tree, parent);
    const Step *step = &tree_step(tree, before->step)->step;
    node->position = before->position + 1;
    node->copies = before->copies + (step->kind == STEP_COPY_START && step->object != NONE);
    node->entered = step->kind == STEP_ENTER ? step->object + 1 : before->entered;
    node->exited = step->kind == STEP_EXIT ? step->object + 1 : before->exited;
    node->marks = before->marks;
    if (step->kind == STEP_ALLOC || step->kind == STEP_FREE)
        node->marks = idsets_with(tree->sets, before->marks,
                                  step->kind == STEP_ALLOC ? TREE_OPENED(step->object) : TREE_CLOSED(step->object));
    node->sibling = before->child;
    before->child = id;
    return id;
}

/* Appends the steps that follow, from `node` on; the last one observes, or the chain ends. */
static void add_chain(Tree *tree, uint32_t node, const GArray *steps, UnrollEnd end)
{
    for (guint i = 0; i < steps->len; i++) {
        UnrollStep *step = store_push(&tree->steps, 1);
        *step = g_array_index(steps, UnrollStep, i);
        tree_node(tree, node)->step = (uint32_t)(tree->steps.count - 1);
        bool last = i + 1 == steps->len;
        g_assert((step->step.kind == STEP_STOP) == (last && end == UNROLL_STOPPED));
        if (last && end == UNROLL_OBSERVES)
            tree_node(tree, node)->observes = true;
        else
            node = add_node(tree, node, TREE_HELD, false);
    }
    if (end != UNROLL_OBSERVES)
        tree_node(tree, node)->end = end == UNROLL_FINISHED ? NODE_FINISHED : NODE_STOPPED;
}

static uint32_t extend(Tree *tree, uint32_t parent, int64_t seen)
{
    uint32_t node = add_node(tree, parent, seen, parent != NONE);
    GArray *observed = tree_observations(tree, node);
    GArray *steps = g_array_new(FALSE, TRUE, sizeof(UnrollStep));
    UnrollSource *source = tree->source;
    const Observation *first = (const Observation *)(const void *)observed->data;
    UnrollEnd end = source->extend(source->self, tree->core, first, observed->len, tree->contents, steps);
    add_chain(tree, node, steps, end);
    if (source->fingerprint != NULL && parent != NONE)
        tree_node(tree, node)->fingerprint = source->fingerprint(source->self, tree->core, first, observed->len, tree->contents);
    g_array_free(steps, TRUE);
    g_array_free(observed, TRUE);
    return node;
}

void tree_grow(Tree *tree)
{
    uint32_t start = extend(tree, NONE, 0);
    g_assert(start == 0);
}

static void mark_loop(Node *node, bool guessed)
{
    node->loops = true;
    node->guessed |= guessed;
}

uint32_t tree_known(const Tree *tree, uint32_t node, int64_t seen)
{
    for (uint32_t child = tree_node(tree, node)->child; child != NONE; child = tree_node(tree, child)->sibling)
        if (tree_node(tree, child)->seen == seen)
            return tree_node(tree, child)->same != NONE ? tree_node(tree, child)->same : child;
    return NONE;
}

uint32_t tree_after(Tree *tree, uint32_t node, int64_t seen)
{
    const UnrollStep *step = tree_step(tree, tree_node(tree, node)->step);
    uint32_t known = tree_known(tree, node, seen);
    if (known != NONE)
        return known;
    if (step->step.kind == STEP_EXPECT_COUNT) {
        uint32_t stopped = add_node(tree, node, TREE_FAILED, false);
        tree_node(tree, stopped)->end = NODE_STOPPED;
        return stopped;
    }
    g_assert(tree_node(tree, node)->observes);
    bool guessed = false;
    uint32_t fresh = extend(tree, node, seen), same = fold_find(tree, fresh, &guessed);
    if (same == NONE)
        return fresh;
    tree_node(tree, fresh)->same = same;
    for (uint32_t at = node; at != same; at = tree_node(tree, at)->parent)
        mark_loop(tree_node(tree, at), guessed);
    mark_loop(tree_node(tree, same), guessed);
    tree->folds++;
    tree->guessed |= guessed;
    return same;
}

bool tree_note_open(Tree *tree, uint32_t decl)
{
    bool fresh = !tree_opens(tree, decl);
    if (decl >= tree->opens.count)
        store_push(&tree->opens, decl + 1 - tree->opens.count);
    STORE(uint8_t, &tree->opens, decl) = 1;
    return fresh;
}

bool tree_opens(const Tree *tree, uint32_t decl)
{
    return decl < tree->opens.count && STORE(uint8_t, &tree->opens, decl);
}
