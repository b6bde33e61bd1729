/* dump.h - the bytes of a search in a checkpoint: numbers, texts, ids.
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
uint32_t dump_ids_kept(const Walk *walk);       /* how many ids of a state are noted with it */
uint32_t dump_largest_id(const Walk *walk, unsigned field);     /* that there is so far */
bool dump_ids_fit(const Walk *walk, const uint32_t *id, unsigned fields);       /* ids of a state, of what there is so far */
void dump_put(const Walk *walk, const void *data, size_t bytes);
const void *dump_take(Dump *dump, size_t bytes);        /* aligned to nothing; NULL: bad */
void dump_put_text(const Walk *walk, const char *text); /* or NULL */
char *dump_take_text(Dump *dump);               /* g_malloc; NULL */
void dump_put_number(const Walk *walk, uint64_t number);
uint64_t dump_take_number(Dump *dump);
bool dump_take_bool(Dump *dump);
void dump_take_into(Dump *dump, void *into, size_t bytes);      /* zeros where it is bad */
