/* dump.h - a search between two levels, in a checkpoint: what was unrolled, which states are known and which come next, what was found.
 *
 * Trees and components are not written down but grown again: the turns that made something new, in their order. So ids are the same.
 *
 * Errors:      bytes that make no sense are of another version of us: false.
 */
#pragma once
#include "walk.h"

struct Dump {                                   /* what is left to be read */
    GBytes *bytes;
    const char *at;
    size_t left;
    bool bad;
};

void dump_note_growth(Walk *walk, const uint32_t *id, uint32_t core, uint32_t turn);    /* that turn made something new */
void dump_write(Walk *walk);                    /* into options->checkpoint, after a level */
/* Which of the searches that a check may need was under way. */
bool dump_open(Dump *dump, GBytes *bytes, bool *contents, bool *until_race);
bool dump_grow(Dump *dump, Walk *walk);         /* before anything else is done with a walk that was set up */
bool dump_layout(Dump *dump, Walk *walk);       /* of its keys, before tables are made for them */
bool dump_fill(Dump *dump, Walk *walk);         /* its level, in place of the start */
/* For parts that are written by their owners. */
bool dump_ids_fit(const Walk *walk, const uint32_t *id, unsigned fields);       /* ids of a state, of what there is so far */
void dump_put(const Walk *walk, const void *data, size_t bytes);
const void *dump_take(Dump *dump, size_t bytes);        /* aligned to nothing; NULL: bad */
void dump_put_text(const Walk *walk, const char *text); /* or NULL */
char *dump_take_text(Dump *dump);               /* g_malloc; NULL */
