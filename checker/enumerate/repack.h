/* repack.h - all keys written anew in another layout, when an id outgrew its field or when narrow fields make the table compact. */
#pragma once
#include "frontier.h"

/* What stands for a key of that layout where only hashes are kept: the same in every layout; never 0. */
uint64_t repack_print(const Layout *layout, const uint64_t *key);
/* A key's scattered value, whose top bits are its place and its owner. Of a print table_unhash gives it back. */
static inline uint64_t repack_scatter(const Frontier *frontier, const Layout *layout, const uint64_t *key)
{
    if (!frontier->hashed)
        return table_hash(key, layout->words, layout->bits);
    uint64_t print = repack_print(layout, key);
    return table_hash(&print, 1, 64);
}
/* Which worker a key of that layout belongs to. */
unsigned repack_owner(const Frontier *frontier, const Layout *layout, const uint64_t *key);
bool repack_table_init(const Frontier *frontier, Table *table, const Layout *layout, unsigned owner, unsigned bits);
/* The layout of a search that begins: of all that was unrolled before, ids fit. False: there is none. */
bool repack_first(StateSpace *space, unsigned fields);
void repack_wider(StateSpace *space, Frontier *frontier);      /* may stop the search: memory. All successors must be in tables */
void repack_tighter(StateSpace *space, Frontier *frontier);    /* if tables that are about to grow can be compact then */
