/* stream.h - the bytes of a search in a checkpoint: numbers and texts.
 *
 * Errors:      bytes that make no sense set `bad`: another version of heddle wrote them.
 */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include "../run/checkpoint.h"

typedef struct Stream {                         /* the unread rest */
    GBytes *bytes;
    const char *at;
    size_t left;
    bool bad;
} Stream;

void stream_put_text(Checkpoint *checkpoint, const char *text);        /* or NULL */
void stream_put_number(Checkpoint *checkpoint, uint64_t number);
const void *stream_take(Stream *stream, size_t bytes);  /* aligned to nothing; NULL: bad */
char *stream_take_text(Stream *stream);         /* g_malloc; NULL */
uint64_t stream_take_number(Stream *stream);
bool stream_take_bool(Stream *stream);
void stream_take_into(Stream *stream, void *into, size_t bytes);        /* zeros where it is bad */
