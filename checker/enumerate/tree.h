/* tree.h - one core unrolled: a node for each point between two of its steps, a branch for each outcome of a step that observes.
 *
 *     node --step--> node --step--> node --observing step, saw 0--> node ...
 *                                       \--the same step, saw 1--> node ...
 *
 * A core is a deterministic function of what it has observed, so the tree is all it can ever do. It grows on demand, a branch at a time.
 * A core that only polls would make it grow for ever: a branch that leads back to the state of an earlier node ends there (fold.c).
 *
 * Invariants:  1. node 0 is the start.  2. only a node whose step observes has more than one child, or none yet.
 * Ownership:   steps' tiles and masks belong to the source.
 */
#pragma once
#include "../run/unroll.h"
#include "idset.h"

typedef enum NodeEnd { NODE_GOES_ON, NODE_FINISHED, NODE_STOPPED } NodeEnd;

typedef struct Node {
    uint32_t parent;                            /* NONE: the start */
    uint32_t step;                              /* what comes next; NONE: the core has ended here */
    uint32_t child, sibling;                    /* outcomes of the step; the parent's other outcomes */
    int64_t seen;                               /* the observation that led here */
    uint64_t fingerprint;                       /* of the core's state right after that observation, 0: unknown */
    uint32_t position;                          /* steps done */
    uint32_t copies;                            /* copies of bytes > 0 started */
    uint32_t marks;                             /* set of TREE_OPENED and TREE_CLOSED marks */
    uint32_t entered, exited;                   /* launches entered and left: id of the last one, plus 1 */
    uint8_t end;
    bool observes;                              /* its step observes */
    bool observed;                              /* an observation led here */
    bool loops;                                 /* lies on a loop that only polls */
    bool guessed;                               /* that one, or another through it, on a guess: the core may well leave it */
    uint32_t same;                              /* the earlier node that this one folds into; NONE */
} Node;

#define TREE_OPENED(decl) ((decl) * 2)
#define TREE_CLOSED(decl) ((decl) * 2 + 1)
#define TREE_HELD 0                             /* outcomes of EXPECT_COUNT, in place of an observation */
#define TREE_FAILED 1

typedef struct Tree Tree;
struct Tree {
    UnrollSource *source;
    uint32_t core;
    bool contents;
    IdSets *sets;
    Store nodes, steps;                         /* Node, UnrollStep */
    Store opens;                                /* by decl: some step known so far opens it (a byte) */
    uint32_t folds;                             /* loops closed */
    bool guessed;                               /* one of them on the evidence of equal steps alone */
    bool hasty;                                 /* ENUMERATE_CANARY_FOLD_EARLY */
    const Tile *(*tile)(void *owner, int64_t seen);        /* contents: the tile that an observation stands for */
    void *owner;
};

void tree_init(Tree *tree, UnrollSource *source, uint32_t core, bool contents, IdSets *sets);
void tree_reserve(Tree *tree, Reservation *reservation, size_t nodes_max);
void tree_grow(Tree *tree);                     /* makes the start; once, after `tile` was set */
/* The node after the step of `node`, which saw `seen` (0 where the step observes nothing). Steps added are the last of tree->steps. */
uint32_t tree_after(Tree *tree, uint32_t node, int64_t seen);
uint32_t tree_known(const Tree *tree, uint32_t node, int64_t seen);            /* the same, NONE: not seen so far */
bool tree_note_open(Tree *tree, uint32_t decl);         /* a step opens that scope; true: the first one known */
bool tree_opens(const Tree *tree, uint32_t decl);       /* does any step known so far open that scope? */

static inline Node *tree_node(const Tree *tree, uint32_t node) { return &STORE(Node, &tree->nodes, node); }
static inline const UnrollStep *tree_step(const Tree *tree, uint32_t step) { return &STORE(UnrollStep, &tree->steps, step); }

/* All that the core has observed on its way to a node, the start first. */
GArray *tree_observations(const Tree *tree, uint32_t node);
/* fold.c: the earlier node whose state is that of the fresh `node`, or NONE. *guessed: set where that is a guess. */
uint32_t fold_find(Tree *tree, uint32_t node, bool *guessed);
