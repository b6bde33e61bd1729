/* shared.c - nodes: an array in which places that are given up are used again. */
#include "shared.h"

void shared_free_node(Node *node)
{
    g_array_unref(node->sleep);
    g_array_unref(node->open);
    node->sleep = NULL;
}

uint32_t shared_add_node(Shared *shared, const Node *node)
{
    for (guint i = 0; i < shared->nodes->len; i++)
        if (shared_node(shared, i)->sleep == NULL) {
            *shared_node(shared, i) = *node;
            return i;
        }
    g_array_append_vals(shared->nodes, node, 1);
    return shared->nodes->len - 1;
}
