/* shared.h - what the explorers of one search share: facts about the program, and nodes.
 *
 * A *node* is a frame that several units share (units.h). Nodes change between rounds only.
 *
 * Ownership:   of Units.
 */
#pragma once
#include "classes_options.h"
#include "data.h"
#include "numbers.h"
#include "usage.h"
#include "wakeup.h"

typedef struct Node {
    uint32_t parent;                            /* NONE: none */
    uint32_t agent;                             /* the agent whose choice leads here */
    uint32_t depth;
    uint32_t begun;                             /* branches */
    uint64_t classes;                           /* visited by the units immediately below that are done */
    GArray *sleep;                              /* Sleeper: those asleep from the start, then branches in the order in which they
                                                   began; NULL: this slot of the array is unused */
    GArray *open;                               /* Sleeper: branches that began and are not done */
    WakeTree tree;
} Node;

struct Result;
typedef struct Shared {
    const ClassesOptions *options;
    Program *program;
    Usage usage;
    Numbers numbers;
    Tree unrolled;                              /* all cores; grows under the lock */
    uint32_t *start;                            /* by core: its first node there */
    GMutex lock;                                /* held to run the user's code or to add to the program */
    Tiles *tiles;
    gint64 deadline;                            /* monotonic microseconds, 0: none */
    GArray *nodes;                              /* Node */
    WakePool pool;                              /* of their trees */
    const struct Result *first;                 /* final contents of the first class */
    bool alone;                                 /* one explorer does all the work */
} Shared;

void shared_init(Shared *shared, UnrollSource *source, const ClassesOptions *options);
void shared_clear(Shared *shared);              /* its nodes were freed */
const char *shared_keep_text(Shared *shared, const char *text); /* lives as long as the program */
uint32_t shared_add_node(Shared *shared, const Node *node);     /* its sleep is taken */
void shared_free_node(Node *node);

static inline Node *shared_node(const Shared *shared, uint32_t node) { return &g_array_index(shared->nodes, Node, node); }
/* A single unit stops at once when more objects become contended; several complete their round, so that the outcome does not depend on
 * which of them finds out. */
static inline bool shared_stop(const Shared *shared) { return shared->usage.grew && shared->alone; }
