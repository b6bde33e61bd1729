/* tree.h - cores unrolled: a node for each point between two steps of a core, a branch for each outcome of a step that observes.
 *
 *     node --step--> node --step--> node --observing step, saw 0--> node ...
 *                                       \--the same step, saw 1--> node ...
 *
 * A core is a deterministic function of what it has observed, so the tree is all that it can ever do. It grows on demand, a branch at a
 * time. A branch that brings a polling core back to the state of an earlier node leads to that node (poll.c).
 *
 * With a lock, several threads may ask for nodes at once: those that are there are read without it, one thread at a time makes new ones,
 * and a branch can be found only when it is complete.
 *
 * Invariants:  1. the nodes of a branch are consecutive.  2. only a node whose step has several outcomes has more than one child, or none
 *              yet.  3. a node that leads back leads to one on its own way, over steps that leave no trace; the nodes between say so.
 * Ownership:   steps' tiles and masks belong to the source. Who initialises the Stores clears them.
 */
#pragma once
#include "unroll.h"

typedef enum TreeEnd { TREE_GOES_ON, TREE_FINISHED, TREE_STOPPED } TreeEnd;

typedef struct TreeNode {                       /* what is asked for often comes first */
    Step step;                                  /* what comes next; if the core has ended here, only `core` counts */
    int64_t seen;                               /* the observation that led here */
    uint32_t child, sibling;                    /* outcomes of the step; the parent's other outcomes */
    uint32_t position;                          /* steps done */
    uint32_t same;                              /* the earlier node whose state this is; itself */
    uint8_t end;                                /* TreeEnd */
    bool observes;                              /* the step's outcome is an observation */
    bool observed;                              /* an observation led here */
    bool loops;                                 /* lies on a loop that only polls */
    bool guessed;                               /* that one, or another through it, was closed on a guess: the core may well leave it */
    uint32_t unrolled;                          /* the step as it was unrolled, NONE: the core has ended here */
    uint32_t parent;                            /* NONE: the start */
    uint64_t fingerprint;                       /* POLL_AFTER_LOOK: of the core's state right after that observation, 0: unknown */
} TreeNode;

enum { TREE_HELD = 0, TREE_FAILED = 1 };        /* outcomes of EXPECT_COUNT, in place of an observation */

typedef enum PollRule { POLL_AFTER_LOOK, POLL_AT_LOOK } PollRule;       /* poll.c */

typedef struct Tree {
    UnrollSource *source;
    Store nodes, steps;                         /* TreeNode, UnrollStep; of one core or of several */
    GMutex *lock;                               /* whoever runs the user's code or adds to the program; NULL: there is one thread */
    bool contents;
    PollRule rule;
    uint32_t folds;                             /* loops closed */
    bool guessed;                               /* one of them on a guess */
    bool hasty;                                 /* ENUMERATE_CANARY_FOLD_EARLY */
    const Tile *(*tile)(void *owner, int64_t seen);        /* contents: the tile that an observation stands for */
    void (*grown)(void *owner, uint32_t first); /* nodes from `first` on are new, and nobody can find them yet; NULL: nobody is told */
    void *owner;
} Tree;

uint32_t tree_begin(Tree *tree, uint32_t core); /* makes its first node; once, after all of the above was set */
uint32_t tree_extend(Tree *tree, uint32_t node, int64_t seen);         /* tree_after where nobody asked before */
bool tree_can_follow(const Tree *tree, uint32_t node);         /* what comes after its step has to be asked for */
GArray *tree_observations(const Tree *tree, uint32_t node);    /* all that the core has observed on its way there, the first one first */

void tree_assert_sane(const Tree *tree);

/* poll.c: may lead the fresh branch, from `first` to the last node, back to an earlier node. observed: all on the way to `first`. */
void poll_close(Tree *tree, uint32_t first, const GArray *observed);
void poll_assert_sane(const Tree *tree);        /* invariant 3 */

static inline TreeNode *tree_node(const Tree *tree, uint32_t node) { return &STORE(TreeNode, &tree->nodes, node); }
static inline const UnrollStep *tree_step(const Tree *tree, uint32_t step) { return &STORE(UnrollStep, &tree->steps, step); }
static inline const UnrollStep *tree_unrolled(const Tree *tree, uint32_t node) { return tree_step(tree, tree_node(tree, node)->unrolled); }

/* The node after the step of `node`, which saw `seen` (0 where the step observes nothing); NONE: nobody has asked for it yet. */
static inline uint32_t tree_known(const Tree *tree, uint32_t node, int64_t seen)
{
    uint32_t child = (uint32_t)g_atomic_int_get((const gint *)&tree_node(tree, node)->child);
    while (child != NONE && tree_node(tree, child)->seen != seen)
        child = tree_node(tree, child)->sibling;
    return child != NONE ? tree_node(tree, child)->same : NONE;
}

/* The same, made if need be. Steps added are the last of tree->steps. */
static inline uint32_t tree_after(Tree *tree, uint32_t node, int64_t seen)
{
    uint32_t known = tree_known(tree, node, seen);
    return G_LIKELY(known != NONE) ? known : tree_extend(tree, node, seen);
}
