/* codec.c - a text is its length with the zero (0: it is NULL) and its bytes; an array the number of its items and their bytes. */
#include "codec.h"
#include <string.h>

static void to_bytes(void *to, const void *data, size_t bytes) { g_byte_array_append(to, data, (guint)bytes); }

static void to_store(void *to, const void *data, size_t bytes) { memcpy(store_push(to, bytes), data, bytes); }

Codec codec_to(CodecSink *sink, void *to) { return (Codec){ .sink = sink, .to = to }; }

Codec codec_to_bytes(GByteArray *bytes) { return codec_to(to_bytes, bytes); }

Codec codec_to_store(Store *store) { return codec_to(to_store, store); }

Codec codec_from(const void *data, size_t bytes) { return (Codec){ .at = data, .left = bytes }; }

Codec codec_from_bytes(GBytes *bytes)
{
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    return codec_from(data, size);
}

const void *codec_take(Codec *codec, size_t bytes)
{
    codec->bad |= bytes > codec->left;
    if (codec->bad)
        return NULL;
    const void *data = codec->at;
    codec->at += bytes, codec->left -= bytes;
    return data;
}

static void put(Codec *codec, const void *data, size_t bytes)
{
    if (bytes > 0)
        codec->sink(codec->to, data, bytes);
}

void codec_plain(Codec *codec, void *data, size_t bytes)
{
    if (!codec_reads(codec)) {
        put(codec, data, bytes);
        return;
    }
    const void *read = codec_take(codec, bytes);
    if (bytes > 0 && read != NULL)
        memcpy(data, read, bytes);
    else if (bytes > 0)
        memset(data, 0, bytes);
}

uint64_t codec_number(Codec *codec, uint64_t number)
{
    CODEC_PLAIN(codec, number);
    return number;
}

uint64_t codec_count(Codec *codec, uint64_t count)
{
    count = codec_number(codec, count);
    codec_check(codec, count <= codec->left);
    return codec->bad ? 0 : count;
}

bool codec_flag(Codec *codec, bool flag)
{
    uint64_t number = codec_number(codec, flag);
    codec_check(codec, number <= 1);
    return number == 1;
}

void codec_bool(Codec *codec, bool *flag) { *flag = codec_flag(codec, *flag); }

const void *codec_block(Codec *codec, const void *data, size_t *bytes)
{
    *bytes = codec_count(codec, *bytes);
    if (codec_reads(codec))
        return codec_take(codec, *bytes);
    put(codec, data, *bytes);
    return data;
}

void codec_text(Codec *codec, char **text)
{
    size_t bytes = *text ? strlen(*text) + 1 : 0;
    const char *data = codec_block(codec, *text, &bytes);
    if (codec_reads(codec))
        *text = data && bytes > 0 ? g_strndup(data, bytes - 1) : NULL;
}

void codec_items(Codec *codec, GPtrArray *items, size_t item_bytes, void (*carry)(Codec *codec, void *item))
{
    uint64_t count = codec_count(codec, items->len);
    for (uint64_t i = 0; i < count && !codec->bad; i++) {
        if (codec_reads(codec))
            g_ptr_array_add(items, g_malloc0(item_bytes));
        carry(codec, items->pdata[i]);
    }
}

void codec_texts(Codec *codec, GPtrArray **texts)
{
    if (!codec_flag(codec, *texts != NULL))
        return;
    if (codec_reads(codec))
        *texts = g_ptr_array_new_with_free_func(g_free);
    uint64_t count = codec_count(codec, (*texts)->len);
    for (uint64_t i = 0; i < count && !codec->bad; i++) {
        if (codec_reads(codec))
            g_ptr_array_add(*texts, NULL);
        codec_text(codec, (char **)&g_ptr_array_index(*texts, i));
    }
}

void codec_bytes(Codec *codec, GBytes **bytes)
{
    if (!codec_flag(codec, *bytes != NULL))
        return;
    gsize size = 0;
    const void *data = codec_block(codec, *bytes ? g_bytes_get_data(*bytes, &size) : NULL, &size);
    if (codec_reads(codec) && data != NULL)
        *bytes = g_bytes_new(data, size);
}

/* Read: not more items than there are bytes for. */
static uint64_t count_items(Codec *codec, uint64_t count, size_t item_bytes)
{
    count = codec_count(codec, count);
    codec_check(codec, count <= codec->left / item_bytes);
    return codec->bad ? 0 : count;
}

void codec_array(Codec *codec, GArray **array, size_t item_bytes)
{
    uint64_t count = count_items(codec, *array ? (*array)->len : 0, item_bytes);
    if (codec_reads(codec)) {
        *array = *array ? *array : g_array_new(FALSE, FALSE, (guint)item_bytes);
        g_array_set_size(*array, (guint)count);
    }
    codec_plain(codec, (*array)->data, count * item_bytes);
}

void codec_array_or_null(Codec *codec, GArray **array, size_t item_bytes)
{
    if (codec_flag(codec, *array != NULL))
        codec_array(codec, array, item_bytes);
}

void codec_store(Codec *codec, Store *store)
{
    uint64_t count = count_items(codec, store->count, store->item_bytes);
    if (count > 0)
        codec_plain(codec, codec_reads(codec) ? store_push(store, count) : store->base, count * store->item_bytes);
}
