/* stream.c - numbers are in the byte order of this machine: a checkpoint is not an exchange format. */
#include "stream.h"
#include <string.h>


const void *stream_take(Stream *stream, size_t bytes)
{
    stream->bad |= bytes > stream->left;
    if (stream->bad)
        return NULL;
    const void *data = stream->at;
    stream->at += bytes, stream->left -= bytes;
    return data;
}

void stream_take_into(Stream *stream, void *into, size_t bytes)
{
    const void *data = stream_take(stream, bytes);
    if (data != NULL)
        memcpy(into, data, bytes);
    else
        memset(into, 0, bytes);
}

void stream_put_number(Checkpoint *checkpoint, uint64_t number)
{
    checkpoint_put(checkpoint, &number, sizeof number);
}

uint64_t stream_take_number(Stream *stream)
{
    uint64_t number;
    stream_take_into(stream, &number, sizeof number);
    return number;
}

void stream_put_text(Checkpoint *checkpoint, const char *text)
{
    stream_put_number(checkpoint, text ? strlen(text) + 1 : 0);
    if (text)
        checkpoint_put(checkpoint, text, strlen(text) + 1);
}

char *stream_take_text(Stream *stream)
{
    uint64_t bytes = stream_take_number(stream);
    const char *text = bytes ? stream_take(stream, bytes) : NULL;
    return text ? g_strndup(text, bytes - 1) : NULL;
}

bool stream_take_bool(Stream *stream)
{
    uint64_t number = stream_take_number(stream);
    stream->bad |= number > 1;
    return number == 1;
}
