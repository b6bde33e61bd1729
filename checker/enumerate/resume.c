/* resume.c - one writer and one reader of each part, side by side.
 *
 * Keys are written in their layout, not tables as they lie: whoever goes on may have another number of workers.
 */
#include "resume.h"
#include <string.h>
#include "../facts/fits.h"
#include "closed.h"
#include "dump.h"
#include "expand.h"
#include "found.h"
#include "frontier.h"
#include "judge.h"
#include "memory.h"
#include "repack.h"
#include "symmetry.h"
#include "turn.h"

enum { VERSION = 5, BUFFER_KEYS = 4096 };

typedef struct Head { uint32_t version, place_bytes, contents, until_race; } Head;
typedef struct Level { uint64_t level, swept, transitions, covered, states; uint8_t polls, uneven; } Level;

/* ---- what was unrolled ---- */

static void put_growth(const Walk *walk)
{
    dump_put_number(walk, intern_count(&walk->events));
    for (uint32_t event = 0; event < intern_count(&walk->events); event++)
        dump_put(walk, walk_event(walk, event), sizeof(Place));
    dump_put_number(walk, walk->growth->len);
    dump_put(walk, walk->growth->data, walk->growth->len * sizeof(uint32_t));
}

static bool is_turn(const Walk *walk, const uint32_t *entry)
{
    uint32_t core = entry[0], turn = entry[1];
    if (core >= walk->cores || turn >= walk->core[core].turns.count)
        return false;
    if (!dump_ids_fit(walk, entry + 2, dump_ids_kept(walk)))
        return false;
    const Component *component = walk_component(walk, core, entry[2 + core]);
    return turn >= component->turns && turn < component->turns + component->turn_count;
}

bool resume_grow(Dump *dump, Walk *walk)
{
    uint64_t events = dump_take_number(dump);
    for (uint64_t event = 0; event < events && !dump->bad; event++) {
        const void *place = dump_take(dump, sizeof(Place));
        dump->bad |= place == NULL || intern_add(&walk->events, place, sizeof(Place)) != event
            || walk_event(walk, (uint32_t)event)->core >= walk->cores;
    }
    uint64_t numbers = dump_take_number(dump);
    const uint32_t entry_numbers = 2 + dump_ids_kept(walk);
    g_autofree uint32_t *entry = g_new(uint32_t, entry_numbers);
    layout_clear(&walk->layout);
    layout_init(&walk->layout, dump_ids_kept(walk));
    for (uint64_t at = 0; at < numbers && !dump->bad; at += entry_numbers) {
        dump_take_into(dump, entry, entry_numbers * sizeof *entry);
        dump->bad |= !is_turn(walk, entry);
        if (dump->bad)
            break;
        size_t before = store_bytes_used();
        turn_take(walk, entry + 2, entry[0], entry[1], walk->after);
        dump->bad |= store_bytes_used() == before;      /* it made nothing new: nobody would have noted it */
        dump->bad |= walk->symmetry != NULL && !symmetry_check(walk->symmetry, walk);
        walk->polls |= walk->core[entry[0]].tree.folds > 0;
        dump_note_growth(walk, entry + 2, entry[0], entry[1]);
    }
    walk->repack = false;
    for (uint32_t event = 0; event < intern_count(&walk->events); event++)
        dump->bad |= !place_fits(walk->program, walk_event(walk, event));
    return !dump->bad && numbers % entry_numbers == 0;
}

/* ---- its states ---- */

typedef struct Buffer { const Walk *walk; unsigned words; uint64_t key[BUFFER_KEYS]; size_t used; } Buffer;

static void flush(Buffer *buffer)
{
    dump_put(buffer->walk, buffer->key, buffer->used * sizeof *buffer->key);
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
    dump_put_number(walk, states);
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
    dump_put_number(walk, walk->layout.fields);
    for (unsigned f = 0; f < walk->layout.fields; f++)
        dump_put_number(walk, walk->layout.field[f].bits);
    dump_put_number(walk, walk->hashed);
    dump_put(walk, &level, sizeof level);
    g_autofree Buffer *buffer = g_new0(Buffer, 1);
    buffer->walk = walk, buffer->words = walk->hashed ? 1 : walk->layout.words;
    for (unsigned i = 0; i < walk->workers; i++)
        table_each(&walk->worker[i].table, put_key, buffer);
    flush(buffer);
    buffer->words = walk->layout.words;
    for (uint64_t l = walk->keeps ? 0 : walk->level; l <= walk->level; l++)
        put_states(walk, l, buffer);
}

bool resume_layout(Dump *dump, Walk *walk)
{
    uint64_t fields = dump_take_number(dump);
    if (dump->bad || fields != walk->layout.fields)
        return false;
    unsigned bits[fields];
    for (uint64_t f = 0; f < fields; f++) {
        uint64_t width = dump_take_number(dump);
        if (width == 0 || width > 31 || dump_largest_id(walk, (unsigned)f) >> width != 0)
            return false;
        bits[f] = (unsigned)width;
    }
    walk->hashed = dump_take_bool(dump);
    layout_set(&walk->layout, bits);
    return !dump->bad && walk->layout.words <= LAYOUT_WORDS_MAX && (!walk->hashed || walk->options->modes & WALK_HASH_COMPACT);
}

/* Is it a state at all, as we write them? */
static bool is_state(const Walk *walk, const uint64_t *key)
{
    uint64_t again[LAYOUT_WORDS_MAX];
    layout_unpack(&walk->layout, key, walk->after);
    if (!dump_ids_fit(walk, walk->after, walk->layout.fields))
        return false;
    layout_pack(&walk->layout, walk->after, again);
    return memcmp(key, again, walk->layout.words * sizeof *key) == 0;
}

/* A key of the file among the states of its owner; queued: among those to come. */
static void place_key(Dump *dump, Walk *walk, bool queued)
{
    uint64_t key[LAYOUT_WORDS_MAX];
    bool print = walk->hashed && !queued;
    unsigned words = print ? 1 : walk->layout.words;
    dump_take_into(dump, key, words * sizeof *key);
    dump->bad |= print ? key[0] == 0 : !is_state(walk, key);
    if (dump->bad || walk->limit != NULL)
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
        dump->bad |= !table_add(&worker->table, key);   /* it was there */
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

static void take_states(Dump *dump, Walk *walk, uint64_t level)
{
    uint64_t states = dump_take_number(dump);
    for (unsigned i = 0; i < walk->workers; i++) {
        Worker *worker = &walk->worker[i];
        worker->queue.head = worker->queue.tail;
        if (level < walk->level)
            g_array_append_val(worker->levels, worker->queue.head);
    }
    for (uint64_t i = 0; i < states && !dump->bad; i++)
        place_key(dump, walk, true);
}

/* Each state but the start was led to; only a sweep gives states up; only rotated states cover others. */
static bool is_plausible(const Walk *walk, const Level *level)
{
    const uint64_t most = UINT64_C(1) << 60;
    return level->polls <= 1 && level->uneven <= 1 && level->transitions < most && level->swept < most
        && level->states <= level->transitions + 1 && level->swept <= level->transitions + 1 && level->level <= level->transitions + 1
        && (walk_sweeps(walk) || level->swept == 0) && level->covered < most && (walk->symmetry != NULL || level->covered == 0);
}

static bool take_level(Dump *dump, Walk *walk)
{
    Level level;
    dump_take_into(dump, &level, sizeof level);
    dump->bad |= !is_plausible(walk, &level);
    walk->level = level.level, walk->swept = level.swept, walk->polls |= level.polls, walk->uneven |= level.uneven;
    walk->worker[0].transitions = level.transitions, walk->worker[0].covered = level.covered;
    if (!dump->bad && level.states <= dump->left)
        make_room(walk, level.states);
    for (uint64_t i = 0; i < level.states && !dump->bad; i++)
        place_key(dump, walk, false);
    for (uint64_t l = walk->keeps ? 0 : walk->level; l <= walk->level && !dump->bad; l++)
        take_states(dump, walk, l);
    return !dump->bad && walk->limit == NULL && closed_table(walk);
}

/* ---- all of it ---- */

void resume_write(Walk *walk)
{
    const Head head = {.version = VERSION, .place_bytes = sizeof(Place), .contents = walk->contents, .until_race = walk->until_race};
    const GArray *ends = walk->outcome->end_states;
    checkpoint_begin(walk->options->checkpoint);
    dump_put(walk, &head, sizeof head);
    put_growth(walk);
    put_level(walk);
    dump_put_number(walk, ends->len);
    dump_put(walk, ends->data, ends->len * sizeof(uint64_t));
    found_save(walk);
    results_save(walk);
    checkpoint_commit(walk->options->checkpoint);
}

bool resume_open(Dump *dump, GBytes *bytes, bool *contents, bool *until_race)
{
    *dump = (Dump){.bytes = bytes};
    dump->at = g_bytes_get_data(bytes, &dump->left);
    Head head;
    dump_take_into(dump, &head, sizeof head);
    *contents = head.contents, *until_race = head.until_race;
    return !dump->bad && head.version == VERSION && head.place_bytes == sizeof(Place) && head.contents <= 1
        && head.until_race <= head.contents;
}

bool resume_fill(Dump *dump, Walk *walk)
{
    if (!take_level(dump, walk))
        return false;
    uint64_t ends = dump_take_number(dump);
    for (uint64_t i = 0; i < ends && !dump->bad; i++) {
        uint64_t hash = dump_take_number(dump);
        g_array_append_val(walk->outcome->end_states, hash);
    }
    found_load(walk, dump);
    results_load(walk, dump);
    return !dump->bad && dump->left == 0;
}
