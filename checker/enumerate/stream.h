/* stream.h - the bytes of a search in a checkpoint: numbers, texts, ids.
 *
 * Errors:      bytes that make no sense are of another version of us: false.
 */
#pragma once
#include "walk.h"

struct Stream {                                 /* what is left to be read */
    GBytes *bytes;
    const char *at;
    size_t left;
    bool bad;
};

void growth_note(Walk *walk, const uint32_t *id, uint32_t core, uint32_t transition);    /* that transition made something new */
uint32_t growth_ids(const Walk *walk);          /* how many ids of a state are noted with it */
uint32_t space_largest_id(const Walk *walk, unsigned field);     /* that there is so far */
bool space_ids_fit(const Walk *walk, const uint32_t *id, unsigned fields);       /* ids of a state, of what there is so far */
void stream_put(const Walk *walk, const void *data, size_t bytes);
const void *stream_take(Stream *stream, size_t bytes);        /* aligned to nothing; NULL: bad */
void stream_put_text(const Walk *walk, const char *text); /* or NULL */
char *stream_take_text(Stream *stream);         /* g_malloc; NULL */
void stream_put_number(const Walk *walk, uint64_t number);
uint64_t stream_take_number(Stream *stream);
bool stream_take_bool(Stream *stream);
void stream_take_into(Stream *stream, void *into, size_t bytes);      /* zeros where it is bad */
