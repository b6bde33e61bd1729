/* resume.c - each part has one function for writing and reading, or two side by side.
 *
 * Keys are written in their layout, not tables as they lie: whoever goes on may have another number of workers.
 */
#include "resume.h"
#include <string.h>
#include "../facts/fits.h"
#include "closed_set.h"
#include "end_results.h"
#include "growth.h"
#include "repack.h"
#include "symmetry.h"
#include "transition.h"

enum { BUFFER_KEYS = 4096 };

typedef struct Head { bool asked, contents, until_race; } Head;  /* asked: options->contents */
typedef struct Level { uint64_t level, swept, transitions, covered, states; bool polls, uneven; } Level;

/* ---- what was unrolled ---- */

static void carry_events(Codec *codec, StateSpace *space)
{
    uint64_t events = codec_count(codec, intern_count(&space->events));
    for (uint32_t event = 0; event < events && !codec->bad; event++) {
        Place place;
        codec_plain(codec, codec_reads(codec) ? &place : (void *)space_event(space, event), sizeof place);
        if (codec_reads(codec) && !codec->bad)
            codec->bad = intern_add(&space->events, &place, sizeof place) != event || place.core >= space->cores;
    }
}

static void put_growth(Codec *codec, const StateSpace *space)
{
    carry_events(codec, (StateSpace *)space);
    codec_number(codec, space->growth->len);
    codec_plain(codec, space->growth->data, space->growth->len * sizeof(uint32_t));
}

static bool is_transition(const StateSpace *space, const uint32_t *entry)
{
    uint32_t core = entry[0], transition = entry[1];
    if (core >= space->cores || transition >= space->core[core].transitions.count)
        return false;
    if (!growth_ids_fit(space, entry + 2, growth_ids(space)))
        return false;
    const Component *component = space_component(space, core, entry[2 + core]);
    return transition >= component->transitions && transition < component->transitions + component->transition_count;
}

bool resume_grow(Codec *codec, StateSpace *space)
{
    carry_events(codec, space);
    uint64_t numbers = codec_number(codec, 0);
    const uint32_t entry_numbers = 2 + growth_ids(space);
    g_autofree uint32_t *entry = g_new(uint32_t, entry_numbers), *after = g_new(uint32_t, growth_ids(space));
    layout_clear(&space->layout);
    layout_init(&space->layout, growth_ids(space));
    for (uint64_t at = 0; at < numbers && !codec->bad; at += entry_numbers) {
        codec_plain(codec, entry, entry_numbers * sizeof *entry);
        codec->bad |= !is_transition(space, entry);
        if (codec->bad)
            break;
        size_t before = store_bytes_used();
        transition_take(space, entry + 2, entry[0], entry[1], after);
        codec->bad |= store_bytes_used() == before;      /* it made nothing new: nobody would have noted it */
        codec->bad |= space->symmetry != NULL && !symmetry_check(space->symmetry, space);
        space->polls |= space->core[entry[0]].tree.folds > 0;
        growth_note(space, entry + 2, entry[0], entry[1]);
    }
    space->repack = false;
    for (uint32_t event = 0; event < intern_count(&space->events); event++)
        codec->bad |= !place_fits(space->program, space_event(space, event));
    return !codec->bad && numbers % entry_numbers == 0;
}

/* ---- its states ---- */

typedef struct Buffer { Codec *codec; unsigned words; uint64_t key[BUFFER_KEYS]; size_t used; } Buffer;

static void flush(Buffer *buffer)
{
    codec_plain(buffer->codec, buffer->key, buffer->used * sizeof *buffer->key);
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

static void put_states(const Frontier *frontier, uint64_t level, Buffer *buffer)
{
    uint64_t states = 0;
    for (unsigned i = 0; i < frontier->workers; i++) {
        const Worker *worker = &frontier->worker[i];
        states += (level < frontier->level ? level_start(worker, level + 1) : worker->queue.tail) - level_start(worker, level);
    }
    codec_number(buffer->codec, states);
    for (unsigned i = 0; i < frontier->workers; i++) {
        const Worker *worker = &frontier->worker[i];
        uint64_t end = level < frontier->level ? level_start(worker, level + 1) : worker->queue.tail;
        for (uint64_t at = level_start(worker, level); at < end; at++)
            put_key(buffer, worker->queue.key + at * worker->queue.words);
    }
    flush(buffer);
}

static void carry_level(Codec *codec, Level *level)
{
    CODEC_PLAIN(codec, level->level);
    CODEC_PLAIN(codec, level->swept);
    CODEC_PLAIN(codec, level->transitions);
    CODEC_PLAIN(codec, level->covered);
    CODEC_PLAIN(codec, level->states);
    codec_bool(codec, &level->polls);
    codec_bool(codec, &level->uneven);
}

static void put_level(Codec *codec, const StateSpace *space, const Frontier *frontier)
{
    Level level = {.level = frontier->level, .swept = frontier->swept, .polls = space->polls, .uneven = space->uneven};
    for (unsigned i = 0; i < frontier->workers; i++) {
        const Worker *worker = &frontier->worker[i];
        level.transitions += worker->transitions, level.covered += worker->covered, level.states += worker->table.count;
    }
    codec_number(codec, space->layout.fields);
    for (unsigned f = 0; f < space->layout.fields; f++)
        codec_number(codec, space->layout.field[f].bits);
    codec_flag(codec, frontier->hashed);
    carry_level(codec, &level);
    g_autofree Buffer *buffer = g_new0(Buffer, 1);
    buffer->codec = codec, buffer->words = frontier->hashed ? 1 : space->layout.words;
    for (unsigned i = 0; i < frontier->workers; i++)
        table_each(&frontier->worker[i].table, put_key, buffer);
    flush(buffer);
    buffer->words = space->layout.words;
    for (uint64_t l = frontier->keeps ? 0 : frontier->level; l <= frontier->level; l++)
        put_states(frontier, l, buffer);
}

bool resume_layout(Codec *codec, StateSpace *space, Frontier *frontier)
{
    uint64_t fields = codec_number(codec, 0);
    if (codec->bad || fields != space->layout.fields)
        return false;
    unsigned bits[fields];
    for (uint64_t f = 0; f < fields; f++) {
        uint64_t width = codec_number(codec, 0);
        if (width == 0 || width > 31 || growth_largest_id(space, (unsigned)f) >> width != 0)
            return false;
        bits[f] = (unsigned)width;
    }
    frontier->hashed = codec_flag(codec, false);
    layout_set(&space->layout, bits);
    return !codec->bad && space->layout.words <= LAYOUT_WORDS_MAX && (!frontier->hashed || space->options->modes & ENUMERATE_HASH_COMPACT);
}

/* Is it a state at all, as we write them? */
static bool is_state(const StateSpace *space, const uint64_t *key)
{
    uint64_t again[LAYOUT_WORDS_MAX];
    uint32_t id[space->layout.fields];
    layout_unpack(&space->layout, key, id);
    if (!growth_ids_fit(space, id, space->layout.fields))
        return false;
    layout_pack(&space->layout, id, again);
    return memcmp(key, again, space->layout.words * sizeof *key) == 0;
}

/* A key of the file among the states of its owner; queued: among those to come. */
static void place_key(Codec *codec, const StateSpace *space, Frontier *frontier, bool queued)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    bool print = frontier->hashed && !queued;
    unsigned words = print ? 1 : space->layout.words;
    codec_plain(codec, key, words * sizeof *key);
    codec->bad |= print ? key[0] == 0 : !is_state(space, key);
    if (codec->bad || frontier->limit != NULL)
        return;
    uint64_t place = print ? table_hash(key, 1, 64) : frontier_scatter(frontier, &space->layout, key);
    Worker *worker = &frontier->worker[frontier->owner_bits ? place >> (64 - frontier->owner_bits) : 0];
    bool full = queued ? worker->queue.tail == worker->queue.room && !queue_grow(&worker->queue)
                       : worker->table.count >= worker->table.grow_at && !table_grow(&worker->table);
    if (full)
        frontier_stop(frontier, "memory");
    else if (queued)
        memcpy(worker->queue.key + worker->queue.tail++ * words, key, words * sizeof *key);
    else
        codec->bad |= !table_add(&worker->table, key);   /* it was there */
}

/* Keys come in the order of their places: in a table that has to grow they would all crowd at its start. */
static void make_room(Frontier *frontier, uint64_t states)
{
    uint64_t each = states / frontier->workers + states / frontier->workers / 8;
    unsigned bits = frontier->worker[0].table.bits;
    while ((3ull << bits) / 4 < each)
        bits++;
    for (unsigned i = 0; i < frontier->workers; i++)
        if (!table_empty(&frontier->worker[i].table, bits))
            frontier_stop(frontier, "memory");
}

static void take_states(Codec *codec, const StateSpace *space, Frontier *frontier, uint64_t level)
{
    uint64_t states = codec_number(codec, 0);
    for (unsigned i = 0; i < frontier->workers; i++) {
        Worker *worker = &frontier->worker[i];
        worker->queue.head = worker->queue.tail;
        if (level < frontier->level)
            g_array_append_val(worker->levels, worker->queue.head);
    }
    for (uint64_t i = 0; i < states && !codec->bad; i++)
        place_key(codec, space, frontier, true);
}

/* Each state but the start was led to; only a sweep gives states up; only rotated states cover others. */
static bool is_plausible(const StateSpace *space, const Level *level)
{
    const uint64_t most = UINT64_C(1) << 60;
    return level->transitions < most && level->swept < most
        && level->states <= level->transitions + 1 && level->swept <= level->transitions + 1 && level->level <= level->transitions + 1
        && (space_sweeps(space) || level->swept == 0) && level->covered < most && (space->symmetry != NULL || level->covered == 0);
}

static bool take_level(Codec *codec, StateSpace *space, Frontier *frontier)
{
    Level level = { 0 };
    carry_level(codec, &level);
    codec->bad |= !is_plausible(space, &level);
    frontier->level = level.level, frontier->swept = level.swept, space->polls |= level.polls, space->uneven |= level.uneven;
    frontier->worker[0].transitions = level.transitions, frontier->worker[0].covered = level.covered;
    if (!codec->bad && level.states <= codec->left)
        make_room(frontier, level.states);
    for (uint64_t i = 0; i < level.states && !codec->bad; i++)
        place_key(codec, space, frontier, false);
    for (uint64_t l = frontier->keeps ? 0 : frontier->level; l <= frontier->level && !codec->bad; l++)
        take_states(codec, space, frontier, l);
    return !codec->bad && frontier->limit == NULL && closed_set_check(space, frontier);
}

/* ---- all of it ---- */

static void carry_head(Codec *codec, Head *head)
{
    codec_bool(codec, &head->asked);
    codec_bool(codec, &head->contents);
    codec_bool(codec, &head->until_race);
}

void resume_write(const StateSpace *space, const Frontier *frontier, const Findings *findings)
{
    Head head = {.asked = space->options->contents, .contents = space->contents, .until_race = findings->until_race};
    Checkpoint *to = space->options->checkpoint;
    checkpoint_begin(to);
    Codec codec = checkpoint_codec(to);
    carry_head(&codec, &head);
    put_growth(&codec, space);
    put_level(&codec, space, frontier);
    codec_array(&codec, &findings->outcome->end_states, sizeof(uint64_t));
    findings_save(&codec, space, findings);
    end_results_carry(&codec, space, (Findings *)findings);
    checkpoint_commit(to);
}

bool resume_asked_contents(GBytes *resumed)
{
    Codec codec = codec_from_bytes(resumed);
    Head head = { 0 };
    carry_head(&codec, &head);
    return !codec.bad && head.asked;
}

bool resume_open(Codec *codec, const EnumerateOptions *options, bool *contents, bool *until_race)
{
    Head head = { 0 };
    *codec = codec_from_bytes(options->resumed);
    carry_head(codec, &head);
    *contents = head.contents, *until_race = head.until_race;
    return !codec->bad && head.asked == options->contents && head.contents <= head.asked && head.until_race <= head.contents
        && head.until_race <= !options->first;
}

bool resume_fill(Codec *codec, StateSpace *space, Frontier *frontier, Findings *findings)
{
    if (!take_level(codec, space, frontier))
        return false;
    findings->level = frontier->level;
    codec_array(codec, &findings->outcome->end_states, sizeof(uint64_t));
    findings_load(codec, space, findings);
    end_results_carry(codec, space, findings);
    return codec_is_over(codec);
}
