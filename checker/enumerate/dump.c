/* dump.c - numbers are those of this machine: a checkpoint is no exchange format. */
#include "dump.h"
#include <string.h>
#include "memory.h"

void dump_put(const Walk *walk, const void *data, size_t bytes)
{
    checkpoint_put(walk->options->checkpoint, data, bytes);
}

const void *dump_take(Dump *dump, size_t bytes)
{
    dump->bad |= bytes > dump->left;
    if (dump->bad)
        return NULL;
    const void *data = dump->at;
    dump->at += bytes, dump->left -= bytes;
    return data;
}

void dump_take_into(Dump *dump, void *into, size_t bytes)
{
    const void *data = dump_take(dump, bytes);
    if (data != NULL)
        memcpy(into, data, bytes);
    else
        memset(into, 0, bytes);
}

void dump_put_number(const Walk *walk, uint64_t number)
{
    dump_put(walk, &number, sizeof number);
}

uint64_t dump_take_number(Dump *dump)
{
    uint64_t number;
    dump_take_into(dump, &number, sizeof number);
    return number;
}

void dump_put_text(const Walk *walk, const char *text)
{
    dump_put_number(walk, text ? strlen(text) + 1 : 0);
    if (text)
        dump_put(walk, text, strlen(text) + 1);
}

char *dump_take_text(Dump *dump)
{
    uint64_t bytes = dump_take_number(dump);
    const char *text = bytes ? dump_take(dump, bytes) : NULL;
    return text ? g_strndup(text, bytes - 1) : NULL;
}

bool dump_take_bool(Dump *dump)
{
    uint64_t number = dump_take_number(dump);
    dump->bad |= number > 1;
    return number == 1;
}

/* Ids of a state: what each field has so far. */
uint32_t dump_largest_id(const Walk *walk, unsigned field)
{
    return field < walk->cores ? (uint32_t)walk->core[field].components.count - 1
        : walk->memory ? memory_vectors(walk, field - walk->cores) : 1;
}

bool dump_ids_fit(const Walk *walk, const uint32_t *id, unsigned fields)
{
    for (unsigned f = 0; f < fields; f++)
        if (id[f] == 0 || id[f] > dump_largest_id(walk, f))
            return false;
    return true;
}

uint32_t dump_ids_kept(const Walk *walk) { return walk->cores + walk->program->devices; }

/* Core, turn, and the ids of the state in which it was taken; those of memories are 1 where there are none. */
void dump_note_growth(Walk *walk, const uint32_t *id, uint32_t core, uint32_t turn)
{
    if (walk->growth == NULL)
        return;
    uint32_t one = 1;
    g_array_append_val(walk->growth, core);
    g_array_append_val(walk->growth, turn);
    for (uint32_t f = 0; f < dump_ids_kept(walk); f++)
        g_array_append_val(walk->growth, *(f < walk->layout.fields ? &id[f] : &one));
}
