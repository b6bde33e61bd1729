/* repack.h - all keys written anew in another layout, when an id outgrew its field or when narrow fields make the table compact. */
#pragma once
#include "frontier.h"

bool repack_table_init(const Frontier *frontier, Table *table, const Layout *layout, unsigned owner, unsigned bits);
/* The layout of a search that begins: of all that was unrolled before, ids fit. False: there is none. */
bool repack_first(StateSpace *space, unsigned fields);
void repack_wider(StateSpace *space, Frontier *frontier);      /* may stop the search: memory. All successors must be in tables */
void repack_tighter(StateSpace *space, Frontier *frontier);    /* if tables that are about to grow can be compact then */
