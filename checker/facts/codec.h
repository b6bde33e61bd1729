/* codec.h - members as bytes. One function names the members of a thing; by the codec that it is given it writes them or reads them back.
 *
 *     void carry(Codec *codec, Thing *thing) { CODEC_PLAIN(codec, thing->number); codec_text(codec, &thing->name); }
 *     write:  Codec codec = codec_to_store(store); carry(&codec, thing);
 *     read:   Codec codec = codec_from(data, bytes); carry(&codec, thing); codec_is_over(&codec)
 *
 * What is written is not changed, and what is read into is fresh: its members are zero, or arrays without items. Numbers are those of this
 * machine: this is no exchange format.
 *
 * Ownership:   what is read is a copy, g_malloc or of GLib, unless said otherwise.
 * Errors:      bytes that end too early, or hold what can be no bool or length: bad, which stays. From then on zeros, NULL and nothing
 *              are read. Whether numbers make sense is for the reader to say.
 */
#pragma once
#include <glib.h>
#include "../../model/store.h"

typedef void CodecSink(void *to, const void *data, size_t bytes);

typedef struct Codec {
    CodecSink *sink;                            /* NULL: it reads */
    void *to;
    const char *at;                             /* what is left to be read */
    size_t left;
    bool bad;
} Codec;

Codec codec_to(CodecSink *sink, void *to);
Codec codec_to_bytes(GByteArray *bytes);        /* appends */
Codec codec_to_store(Store *store);             /* of bytes; appends */
Codec codec_from(const void *data, size_t bytes);
static inline bool codec_reads(const Codec *codec) { return codec->sink == NULL; }
Codec codec_from_bytes(GBytes *bytes);          /* of a GBytes, which must outlive it */
static inline bool codec_is_over(const Codec *codec) { return !codec->bad && codec->left == 0; }       /* all is read, and good */

void codec_plain(Codec *codec, void *data, size_t bytes);       /* as they lie in memory: a pointer or a bool in them is not looked at */
#define CODEC_PLAIN(codec, member) codec_plain(codec, &(member), sizeof(member))
void codec_bool(Codec *codec, bool *flag);
void codec_text(Codec *codec, char **text);     /* or NULL */
/* Of so many bytes each; read: appended, zeroed before they are carried. */
void codec_items(Codec *codec, GPtrArray *items, size_t item_bytes, void (*carry)(Codec *codec, void *item));
void codec_texts(Codec *codec, GPtrArray **texts);              /* of char *, or NULL */
void codec_bytes(Codec *codec, GBytes **bytes); /* or NULL */
void codec_array(Codec *codec, GArray **array, size_t item_bytes);      /* read: made if it is NULL */
void codec_array_or_null(Codec *codec, GArray **array, size_t item_bytes);
void codec_store(Codec *codec, Store *store);   /* read: its items are appended */

/* Read: bad, unless it is. */
static inline void codec_check(Codec *codec, bool good) { codec->bad |= codec_reads(codec) && !good; }

/* Writes and gives the number, or gives what was read. */
uint64_t codec_number(Codec *codec, uint64_t number);
bool codec_flag(Codec *codec, bool flag);
/* How many items follow, of at least a byte each: not more than there are bytes left. */
uint64_t codec_count(Codec *codec, uint64_t count);
/* Read: the bytes where they lie, aligned to nothing. NULL: bad. */
const void *codec_take(Codec *codec, size_t bytes);
/* With their length in front. Gives `data`, or what was read where it lies. */
const void *codec_block(Codec *codec, const void *data, size_t *bytes);
