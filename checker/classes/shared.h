/* shared.h - what the explorers of one search share: what is known of the program, and nodes.
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
    uint32_t agent;                             /* whose pick leads here */
    uint32_t depth;
    uint32_t begun;                             /* branches */
    uint64_t classes;                           /* seen by the units right below that are done */
    GArray *sleep;                              /* Sleeper: asleep from the start, then branches in the order in which they began;
                                                   NULL: this place in the array is not used */
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
    GMutex lock;                                /* whoever runs the user's code or adds to the program */
    Tiles *tiles;
    gint64 deadline;                            /* monotonic microseconds, 0: none */
    GArray *nodes;                              /* Node */
    WakePool pool;                              /* of their trees */
    const struct Result *first;                 /* what the first class handed back */
    bool alone;                                 /* one explorer does all the work */
} Shared;

void shared_init(Shared *shared, UnrollSource *source, const ClassesOptions *options);
void shared_clear(Shared *shared);              /* its nodes were freed */
const char *shared_keep_text(Shared *shared, const char *text);        /* as long as the program */
uint32_t shared_add_node(Shared *shared, const Node *node);     /* its sleep is taken */
void shared_free_node(Node *node);

static inline Node *shared_node(const Shared *shared, uint32_t node) { return &g_array_index(shared->nodes, Node, node); }
/* Work by one unit ends at once when objects are to be contended; several go on to the end of their round, whoever finds it out. */
static inline bool shared_stop(const Shared *shared) { return shared->usage.grew && shared->alone; }
