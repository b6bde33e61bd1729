/* move_graph.h - the moves of a schedule as a graph of what each needs and gives, so that other orders can be tried without running them.
 *
 * A move needs: earlier moves of its agent (of all members of a join); for a moment, the start and earlier moments of its copy, and
 * moments of earlier copies under the DMA order in force; a count. Moves on objects whose order matters (looks, flags, several waiters)
 * keep their relative order.
 *
 * Ownership:   move_graph_free.
 * Errors:      NULL if the moves are not possible in the order given.
 */
#pragma once
#include <glib.h>
#include "../run/execution.h"

typedef struct MoveNode {                       /* one move */
    Move move;
    uint32_t wait_on, give_to;                  /* semaphores, NONE: none */
    int64_t need, take, give;
    guint before_first, before_count;           /* in MoveGraph.before: its predecessors */
} MoveNode;

typedef struct MoveGraph {
    GArray *nodes;                              /* of MoveNode, in the order given */
    GArray *before;                             /* of guint */
    uint32_t semaphores;                        /* ids are below */
} MoveGraph;

MoveGraph *move_graph_new(Execution *execution, const ExecutionOptions *options, const GArray *moves);
void move_graph_free(MoveGraph *graph);
