/* repack.h - all keys written anew in another layout, when an id outgrew its field or when narrow fields make the table compact. */
#pragma once
#include "walk.h"

/* Which worker a key of that layout belongs to. */
unsigned repack_owner(const Walk *walk, const Layout *layout, const uint64_t *key);
bool repack_table_init(const Walk *walk, Table *table, const Layout *layout, unsigned owner, unsigned bits);
void repack_wider(Walk *walk);                  /* may stop the walk: memory. All successors must be in tables */
void repack_tighter(Walk *walk);                /* if tables that are about to grow can be compact then */
