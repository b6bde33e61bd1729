/* repack.h - rewrites all keys in another layout, when an id outgrows its field or when narrow fields make the table compact. */
#pragma once
#include "frontier.h"

bool repack_table_init(const Frontier *frontier, Table *table, const Layout *layout, unsigned owner, unsigned bits);
/* The layout of a new search: fits the ids of all that is unrolled. False: there is none. */
bool repack_first(StateSpace *space, unsigned fields);
void repack_wider(StateSpace *space, Frontier *frontier);       /* may stop the search for memory. All successors must be in tables */
void repack_tighter(StateSpace *space, Frontier *frontier);     /* if tables that are about to grow can become compact */
