/* resume.c - one writer and one reader of each part, side by side.
 *
 * Keys are written in their layout, not tables as they lie: whoever goes on may have another number of workers.
 */
#include "resume.h"
#include <string.h>
#include "../facts/fits.h"
#include "closed_set.h"
#include "expand.h"
#include "findings.h"
#include "frontier.h"
#include "inspect.h"
#include "memory.h"
#include "repack.h"
#include "stream.h"
#include "symmetry.h"
#include "transition.h"

enum { VERSION = 5, BUFFER_KEYS = 4096 };

typedef struct Head { uint32_t version, place_bytes, contents, until_race; } Head;
typedef struct Level { uint64_t level, swept, transitions, covered, states; uint8_t polls, uneven; } Level;

/* ---- what was unrolled ---- */

static void put_growth(const Walk *walk)
{
    stream_put_number(walk, intern_count(&walk->events));
    for (uint32_t event = 0; event < intern_count(&walk->events); event++)
        stream_put(walk, walk_event(walk, event), sizeof(Place));
    stream_put_number(walk, walk->growth->len);
    stream_put(walk, walk->growth->data, walk->growth->len * sizeof(uint32_t));
}

static bool is_transition(const Walk *walk, const uint32_t *entry)
{
    uint32_t core = entry[0], transition = entry[1];
    if (core >= walk->cores || transition >= walk->core[core].transitions.count)
        return false;
    if (!space_ids_fit(walk, entry + 2, growth_ids(walk)))
        return false;
    const Component *component = walk_component(walk, core, entry[2 + core]);
    return transition >= component->transitions && transition < component->transitions + component->transition_count;
}

bool resume_grow(Stream *stream, Walk *walk)
{
    uint64_t events = stream_take_number(stream);
    for (uint64_t event = 0; event < events && !stream->bad; event++) {
        const void *place = stream_take(stream, sizeof(Place));
        stream->bad |= place == NULL || intern_add(&walk->events, place, sizeof(Place)) != event
            || walk_event(walk, (uint32_t)event)->core >= walk->cores;
    }
    uint64_t numbers = stream_take_number(stream);
    const uint32_t entry_numbers = 2 + growth_ids(walk);
    g_autofree uint32_t *entry = g_new(uint32_t, entry_numbers);
    layout_clear(&walk->layout);
    layout_init(&walk->layout, growth_ids(walk));
    for (uint64_t at = 0; at < numbers && !stream->bad; at += entry_numbers) {
        stream_take_into(stream, entry, entry_numbers * sizeof *entry);
        stream->bad |= !is_transition(walk, entry);
        if (stream->bad)
            break;
        size_t before = store_bytes_used();
        transition_take(walk, entry + 2, entry[0], entry[1], walk->after);
        stream->bad |= store_bytes_used() == before;      /* it made nothing new: nobody would have noted it */
        stream->bad |= walk->symmetry != NULL && !symmetry_check(walk->symmetry, walk);
        walk->polls |= walk->core[entry[0]].tree.folds > 0;
        growth_note(walk, entry + 2, entry[0], entry[1]);
    }
    walk->repack = false;
    for (uint32_t event = 0; event < intern_count(&walk->events); event++)
        stream->bad |= !place_fits(walk->program, walk_event(walk, event));
    return !stream->bad && numbers % entry_numbers == 0;
}

/* ---- its states ---- */

typedef struct Buffer { const Walk *walk; unsigned words; uint64_t key[BUFFER_KEYS]; size_t used; } Buffer;

static void flush(Buffer *buffer)
{
    stream_put(buffer->walk, buffer->key, buffer->used * sizeof *buffer->key);
    buffer->used = 0;
}

static void put_key(void *data, const uint64_t *key)
{
    Buffer *buffer = data;
    unsigned words = buffer->words;
    if (buffer->used + words > BUFFER_KEYS)
        flush(buffer);
    memcpy(buffer->key + buffer->used, key, words * sizeof *key);
    buffer->used += words;
}

/* Where a level that is kept begins in a worker's queue; the one that comes has not begun yet. */
static uint64_t level_start(const Worker *worker, uint64_t level)
{
    return level < worker->levels->len ? g_array_index(worker->levels, uint64_t, level) : worker->queue.head;
}

static void put_states(const Walk *walk, uint64_t level, Buffer *buffer)
{
    uint64_t states = 0;
    for (unsigned i = 0; i < walk->workers; i++) {
        const Worker *worker = &walk->worker[i];
        states += (level < walk->level ? level_start(worker, level + 1) : worker->queue.tail) - level_start(worker, level);
    }
    stream_put_number(walk, states);
    for (unsigned i = 0; i < walk->workers; i++) {
        const Worker *worker = &walk->worker[i];
        uint64_t end = level < walk->level ? level_start(worker, level + 1) : worker->queue.tail;
        for (uint64_t at = level_start(worker, level); at < end; at++)
            put_key(buffer, worker->queue.key + at * worker->queue.words);
    }
    flush(buffer);
}

static void put_level(Walk *walk)
{
    Level level = {.level = walk->level, .swept = walk->swept, .polls = walk->polls, .uneven = walk->uneven};
    for (unsigned i = 0; i < walk->workers; i++) {
        const Worker *worker = &walk->worker[i];
        level.transitions += worker->transitions, level.covered += worker->covered, level.states += worker->table.count;
    }
    stream_put_number(walk, walk->layout.fields);
    for (unsigned f = 0; f < walk->layout.fields; f++)
        stream_put_number(walk, walk->layout.field[f].bits);
    stream_put_number(walk, walk->hashed);
    stream_put(walk, &level, sizeof level);
    g_autofree Buffer *buffer = g_new0(Buffer, 1);
    buffer->walk = walk, buffer->words = walk->hashed ? 1 : walk->layout.words;
    for (unsigned i = 0; i < walk->workers; i++)
        table_each(&walk->worker[i].table, put_key, buffer);
    flush(buffer);
    buffer->words = walk->layout.words;
    for (uint64_t l = walk->keeps ? 0 : walk->level; l <= walk->level; l++)
        put_states(walk, l, buffer);
}

bool resume_layout(Stream *stream, Walk *walk)
{
    uint64_t fields = stream_take_number(stream);
    if (stream->bad || fields != walk->layout.fields)
        return false;
    unsigned bits[fields];
    for (uint64_t f = 0; f < fields; f++) {
        uint64_t width = stream_take_number(stream);
        if (width == 0 || width > 31 || space_largest_id(walk, (unsigned)f) >> width != 0)
            return false;
        bits[f] = (unsigned)width;
    }
    walk->hashed = stream_take_bool(stream);
    layout_set(&walk->layout, bits);
    return !stream->bad && walk->layout.words <= LAYOUT_WORDS_MAX && (!walk->hashed || walk->options->modes & WALK_HASH_COMPACT);
}

/* Is it a state at all, as we write them? */
static bool is_state(const Walk *walk, const uint64_t *key)
{
    uint64_t again[LAYOUT_WORDS_MAX];
    layout_unpack(&walk->layout, key, walk->after);
    if (!space_ids_fit(walk, walk->after, walk->layout.fields))
        return false;
    layout_pack(&walk->layout, walk->after, again);
    return memcmp(key, again, walk->layout.words * sizeof *key) == 0;
}

/* A key of the file among the states of its owner; queued: among those to come. */
static void place_key(Stream *stream, Walk *walk, bool queued)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    bool print = walk->hashed && !queued;
    unsigned words = print ? 1 : walk->layout.words;
    stream_take_into(stream, key, words * sizeof *key);
    stream->bad |= print ? key[0] == 0 : !is_state(walk, key);
    if (stream->bad || walk->limit != NULL)
        return;
    uint64_t place = print ? table_hash(key, 1, 64) : repack_scatter(walk, &walk->layout, key);
    Worker *worker = &walk->worker[walk->owner_bits ? place >> (64 - walk->owner_bits) : 0];
    bool full = queued ? worker->queue.tail == worker->queue.room && !queue_grow(&worker->queue)
                       : worker->table.count >= worker->table.grow_at && !table_grow(&worker->table);
    if (full)
        walk_stop(walk, "memory");
    else if (queued)
        memcpy(worker->queue.key + worker->queue.tail++ * words, key, words * sizeof *key);
    else
        stream->bad |= !table_add(&worker->table, key);   /* it was there */
}

/* Keys come in the order of their places: in a table that has to grow they would all crowd at its start. */
static void make_room(Walk *walk, uint64_t states)
{
    uint64_t each = states / walk->workers + states / walk->workers / 8;
    unsigned bits = walk->worker[0].table.bits;
    while ((3ull << bits) / 4 < each)
        bits++;
    for (unsigned i = 0; i < walk->workers; i++)
        if (!table_empty(&walk->worker[i].table, bits))
            walk_stop(walk, "memory");
}

static void take_states(Stream *stream, Walk *walk, uint64_t level)
{
    uint64_t states = stream_take_number(stream);
    for (unsigned i = 0; i < walk->workers; i++) {
        Worker *worker = &walk->worker[i];
        worker->queue.head = worker->queue.tail;
        if (level < walk->level)
            g_array_append_val(worker->levels, worker->queue.head);
    }
    for (uint64_t i = 0; i < states && !stream->bad; i++)
        place_key(stream, walk, true);
}

/* Each state but the start was led to; only a sweep gives states up; only rotated states cover others. */
static bool is_plausible(const Walk *walk, const Level *level)
{
    const uint64_t most = UINT64_C(1) << 60;
    return level->polls <= 1 && level->uneven <= 1 && level->transitions < most && level->swept < most
        && level->states <= level->transitions + 1 && level->swept <= level->transitions + 1 && level->level <= level->transitions + 1
        && (walk_sweeps(walk) || level->swept == 0) && level->covered < most && (walk->symmetry != NULL || level->covered == 0);
}

static bool take_level(Stream *stream, Walk *walk)
{
    Level level;
    stream_take_into(stream, &level, sizeof level);
    stream->bad |= !is_plausible(walk, &level);
    walk->level = level.level, walk->swept = level.swept, walk->polls |= level.polls, walk->uneven |= level.uneven;
    walk->worker[0].transitions = level.transitions, walk->worker[0].covered = level.covered;
    if (!stream->bad && level.states <= stream->left)
        make_room(walk, level.states);
    for (uint64_t i = 0; i < level.states && !stream->bad; i++)
        place_key(stream, walk, false);
    for (uint64_t l = walk->keeps ? 0 : walk->level; l <= walk->level && !stream->bad; l++)
        take_states(stream, walk, l);
    return !stream->bad && walk->limit == NULL && closed_set_check(walk);
}

/* ---- all of it ---- */

void resume_write(Walk *walk)
{
    const Head head = {.version = VERSION, .place_bytes = sizeof(Place), .contents = walk->contents, .until_race = walk->until_race};
    const GArray *ends = walk->outcome->end_states;
    checkpoint_begin(walk->options->checkpoint);
    stream_put(walk, &head, sizeof head);
    put_growth(walk);
    put_level(walk);
    stream_put_number(walk, ends->len);
    stream_put(walk, ends->data, ends->len * sizeof(uint64_t));
    findings_save(walk);
    end_results_save(walk);
    checkpoint_commit(walk->options->checkpoint);
}

bool resume_open(Stream *stream, GBytes *bytes, bool *contents, bool *until_race)
{
    *stream = (Stream){.bytes = bytes};
    stream->at = g_bytes_get_data(bytes, &stream->left);
    Head head;
    stream_take_into(stream, &head, sizeof head);
    *contents = head.contents, *until_race = head.until_race;
    return !stream->bad && head.version == VERSION && head.place_bytes == sizeof(Place) && head.contents <= 1
        && head.until_race <= head.contents;
}

bool resume_fill(Stream *stream, Walk *walk)
{
    if (!take_level(stream, walk))
        return false;
    uint64_t ends = stream_take_number(stream);
    for (uint64_t i = 0; i < ends && !stream->bad; i++) {
        uint64_t hash = stream_take_number(stream);
        g_array_append_val(walk->outcome->end_states, hash);
    }
    findings_load(walk, stream);
    end_results_load(walk, stream);
    return !stream->bad && stream->left == 0;
}
