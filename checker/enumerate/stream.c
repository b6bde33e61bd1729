/* stream.c - numbers are those of this machine: a checkpoint is no exchange format. */
#include "stream.h"
#include <string.h>
#include "memory.h"

void stream_put(const Walk *walk, const void *data, size_t bytes)
{
    checkpoint_put(walk->options->checkpoint, data, bytes);
}

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

void stream_put_number(const Walk *walk, uint64_t number)
{
    stream_put(walk, &number, sizeof number);
}

uint64_t stream_take_number(Stream *stream)
{
    uint64_t number;
    stream_take_into(stream, &number, sizeof number);
    return number;
}

void stream_put_text(const Walk *walk, const char *text)
{
    stream_put_number(walk, text ? strlen(text) + 1 : 0);
    if (text)
        stream_put(walk, text, strlen(text) + 1);
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

/* Ids of a state: what each field has so far. */
uint32_t space_largest_id(const Walk *walk, unsigned field)
{
    return field < walk->cores ? (uint32_t)walk->core[field].components.count - 1
        : walk->memory ? memory_vectors(walk, field - walk->cores) : 1;
}

bool space_ids_fit(const Walk *walk, const uint32_t *id, unsigned fields)
{
    for (unsigned f = 0; f < fields; f++)
        if (id[f] == 0 || id[f] > space_largest_id(walk, f))
            return false;
    return true;
}

uint32_t growth_ids(const Walk *walk) { return walk->cores + walk->program->devices; }

/* Core, transition, and the ids of the state in which it was taken; those of memories are 1 where there are none. */
void growth_note(Walk *walk, const uint32_t *id, uint32_t core, uint32_t transition)
{
    if (walk->growth == NULL)
        return;
    uint32_t one = 1;
    g_array_append_val(walk->growth, core);
    g_array_append_val(walk->growth, transition);
    for (uint32_t f = 0; f < growth_ids(walk); f++)
        g_array_append_val(walk->growth, *(f < walk->layout.fields ? &id[f] : &one));
}
