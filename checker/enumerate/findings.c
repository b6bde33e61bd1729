/* findings.c - sightings interned by what makes them the same; the subsumption rules are set operations on them. */
#include "findings.h"
#include <string.h>
#include "../facts/fits.h"
#include "lives.h"
#include "stream.h"
#include "transition.h"

typedef struct Entry {
    Sighting sighting;
    uint64_t level;                             /* of the state */
    bool dropped;
} Entry;

struct Findings {
    Intern keys;
    Store entries, ids;                         /* Entry; ids of the state, layout.fields each */
    uint32_t of_fault[FAULT_COUNT];
};

enum { ENTRIES_MAX = 1 << 24 };

Findings *findings_new(Reservation *reservation)
{
    Findings *findings = g_new0(Findings, 1);
    reservation_intern(reservation, &findings->keys, ENTRIES_MAX, (size_t)ENTRIES_MAX * 24);
    reservation_store(reservation, &findings->entries, sizeof(Entry), ENTRIES_MAX);
    reservation_store(reservation, &findings->ids, sizeof(uint32_t), (size_t)ENTRIES_MAX * 64);
    return findings;
}

void findings_forget(Findings *findings)
{
    for (size_t i = 0; i < findings->entries.count; i++)
        g_free(STORE(Entry, &findings->entries, i).sighting.why);
    reservation_empty(&findings->keys);
    store_reset(&findings->entries);
    store_reset(&findings->ids);
    memset(findings->of_fault, 0, sizeof findings->of_fault);
}

uint64_t findings_kinds(const Findings *findings)
{
    uint64_t kinds = 0;
    for (unsigned id = 0; id < FAULT_COUNT; id++)
        kinds += findings->of_fault[id] > 0;
    return kinds;
}

bool findings_has(const Findings *findings, FaultId id)
{
    return findings->of_fault[id] > 0;
}

static uint32_t index_of_sighting(Findings *findings, const Sighting *s)
{
    uint32_t key[6] = {s->id, s->event[0], s->event[1], s->object, s->is_semaphore, s->id == FAULT_LIFETIME && s->have > 0};
    return intern_add(&findings->keys, key, sizeof key);
}

static bool is_exempt(const Walk *walk, const Sighting *s)
{
    const Finding finding = {.id = s->id, .object = s->object, .object_is_semaphore = s->is_semaphore};
    return finding_exemption(walk->program, &finding) != NULL;
}

void findings_add(Walk *walk, const Sighting *sighting)
{
    Findings *findings = walk->findings;
    Sighting s = *sighting;
    if (s.places == 2 && s.id == FAULT_RACE && s.event[0] > s.event[1])
        s.event[0] = sighting->event[1], s.event[1] = sighting->event[0];
    uint32_t index = index_of_sighting(findings, &s);
    bool fresh = index == findings->entries.count;
    bool highest = s.id == FAULT_OVERFLOW || s.id == FAULT_LEFTOVER;       /* the largest count is shown */
    if (!fresh && (!highest || STORE(Entry, &findings->entries, index).sighting.have >= s.have))
        return;
    if (fresh) {
        store_push(&findings->entries, 1);
        store_push(&findings->ids, walk->layout.fields);
        findings->of_fault[s.id]++;
    }
    STORE(Entry, &findings->entries, index) = (Entry){.sighting = s, .level = walk->level};
    memcpy(&STORE(uint32_t, &findings->ids, (size_t)index * walk->layout.fields), walk->id, walk->layout.fields * sizeof *walk->id);
    walk->done |= walk->options->first;
    walk->raced |= walk->until_race && s.id == FAULT_RACE && !is_exempt(walk, &s);
}

static bool is_copy_moment_of(const Entry *entry, uint32_t event)
{
    return entry->sighting.event[0] == event;
}

/* Is a lifetime fault only another view of a copy in flight, or of a count left over? */
static bool shadows_lifetime(Walk *walk, const Entry *other, const Entry *lifetime)
{
    const Sighting *late = &lifetime->sighting, *s = &other->sighting;
    if (late->have <= 0)
        return false;
    if (s->id == FAULT_LEFTOVER)
        return late->is_semaphore && s->object == late->object;
    if (s->id != FAULT_IN_FLIGHT || !is_copy_moment_of(other, late->event[0]))
        return false;
    uint32_t life = late->is_semaphore ? lives_of_semaphore(walk, late->object) : lives_of_object(walk, late->object);
    return lives_get(walk, life)->kind == LIFE_LAUNCHES;
}

static bool any_other(const Walk *walk, const Entry *entry)
{
    bool any = false;
    for (size_t i = 0; i < walk->findings->entries.count && !any; i++) {
        const Entry *other = &STORE(Entry, &walk->findings->entries, i);
        any = other != entry && !is_exempt(walk, &other->sighting);
    }
    return any;
}

static bool is_shadowed(Walk *walk, const Entry *entry)
{
    const Findings *findings = walk->findings;
    FaultId id = entry->sighting.id;
    if (id == FAULT_DIVERGENCE)                 /* of a program that is free of faults otherwise */
        return any_other(walk, entry);
    if (id != FAULT_LIFETIME && id != FAULT_UNINITIALISED)
        return false;
    for (size_t i = 0; i < findings->entries.count; i++) {
        const Entry *other = &STORE(Entry, &findings->entries, i);
        if (is_exempt(walk, &other->sighting))  /* it says nothing */
            continue;
        if (id == FAULT_LIFETIME && shadows_lifetime(walk, other, entry))
            return true;
        if (id == FAULT_UNINITIALISED && other->sighting.id == FAULT_RACE
            && (other->sighting.event[0] == entry->sighting.event[0] || other->sighting.event[1] == entry->sighting.event[0]))
            return true;
    }
    return false;
}

/* A search that was cut short has not seen all writes that may race with a load: what it saw is true, but may have another name. */
static void doubt_uninitialised(const Walk *walk, Finding *finding)
{
    if (walk->limit == NULL || finding->id != FAULT_UNINITIALISED)
        return;
    g_free(finding->why);
    finding->why = g_strdup("The search was cut short. A write that comes later may race with this load: then the fault is that race.");
}

static Finding *finding_of(const Walk *walk, Sighting *s)
{
    Finding *finding = finding_new(s->id);
    finding->places = s->places;
    for (unsigned i = 0; i < s->places; i++)
        finding->place[i] = *walk_event(walk, s->event[i]);
    if (s->id == FAULT_RACE)
        finding_add_clashes(finding, finding->place);
    if (s->id == FAULT_RACE && finding->place[0].site > finding->place[1].site) {
        finding->place[0] = *walk_event(walk, s->event[1]);
        finding->place[1] = *walk_event(walk, s->event[0]);
    }
    finding->object = s->object;
    finding->object_is_semaphore = s->is_semaphore;
    finding->have = s->have, finding->need = s->need;
    finding->message = g_strdup(s->message);
    finding->why = g_steal_pointer(&s->why);
    return finding;
}

static void add_schedule(Walk *walk, Finding *finding, size_t index)
{
    const Entry *entry = &STORE(Entry, &walk->findings->entries, index);
    const uint32_t *id = &STORE(uint32_t, &walk->findings->ids, index * walk->layout.fields);
    finding->moves = state_path_find(walk, id, entry->level);
    if (finding->moves == NULL || entry->sighting.transition == NONE)
        return;
    uint32_t core = entry->sighting.core;
    Move last = transition_move(walk, core, id[core], &STORE(Transition, &walk->core[core].transitions, entry->sighting.transition));
    g_array_append_val(finding->moves, last);
}

void findings_settle(Walk *walk)
{
    Findings *findings = walk->findings;
    GHashTable *index_of = g_hash_table_new(NULL, NULL);        /* looked up only, never walked */
    for (size_t i = 0; i < findings->entries.count; i++)
        STORE(Entry, &findings->entries, i).dropped = is_shadowed(walk, &STORE(Entry, &findings->entries, i));
    for (size_t i = 0; i < findings->entries.count; i++) {
        if (STORE(Entry, &findings->entries, i).dropped)
            continue;
        Finding *finding = finding_of(walk, &STORE(Entry, &findings->entries, i).sighting);
        doubt_uninitialised(walk, finding);
        g_ptr_array_add(walk->outcome->findings, finding);
        g_hash_table_insert(index_of, finding, GSIZE_TO_POINTER(i));
    }
    outcome_settle(walk->outcome, walk->program);
    for (guint i = 0; i < walk->outcome->findings->len; i++) {
        Finding *finding = g_ptr_array_index(walk->outcome->findings, i);
        add_schedule(walk, finding, GPOINTER_TO_SIZE(g_hash_table_lookup(index_of, finding)));
    }
    g_hash_table_destroy(index_of);
}

void findings_save(const Walk *walk)
{
    const Findings *findings = walk->findings;
    uint64_t entries = findings->entries.count;
    stream_put(walk, &entries, sizeof entries);
    for (size_t i = 0; i < entries; i++) {
        const Entry *entry = &STORE(Entry, &findings->entries, i);
        stream_put(walk, entry, sizeof *entry);
        stream_put_text(walk, entry->sighting.message);
        stream_put_text(walk, entry->sighting.why);
        stream_put(walk, &STORE(uint32_t, &findings->ids, i * walk->layout.fields), walk->layout.fields * sizeof(uint32_t));
    }
}

static bool is_bool(const char *raw, size_t offset) { return (unsigned char)raw[offset] <= 1; }

/* Of a file: a fault that there can be, seen in a state that there can be. */
static bool is_entry(Walk *walk, const void *raw, const void *ids)
{
    Entry entry;
    g_autofree uint32_t *id = g_memdup2(ids, walk->layout.fields * sizeof *id);
    if (!is_bool(raw, offsetof(Entry, sighting.is_semaphore)) || !is_bool(raw, offsetof(Entry, dropped)))
        return false;
    memcpy(&entry, raw, sizeof entry);
    Sighting *s = &entry.sighting;
    s->message = NULL, s->why = NULL;
    bool good = s->places <= G_N_ELEMENTS(s->event) && entry.level <= walk->level && space_ids_fit(walk, id, walk->layout.fields)
        && (s->transition == NONE || (s->core < walk->cores && s->transition < walk->core[s->core].transitions.count));
    for (unsigned i = 0; good && i < G_N_ELEMENTS(s->event); i++)
        good = i < s->places ? s->event[i] < intern_count(&walk->events) : s->event[i] == NONE;
    if (!good)
        return false;
    Finding *finding = finding_of(walk, s);
    good = finding_fits(walk->program, finding);
    finding_free(finding);
    return good;
}

static void load_entry(Walk *walk, Stream *stream)
{
    Findings *findings = walk->findings;
    const unsigned fields = walk->layout.fields;
    const void *raw = stream_take(stream, sizeof(Entry));
    g_autofree char *message = stream_take_text(stream), *why = stream_take_text(stream);
    const void *ids = stream_take(stream, fields * sizeof(uint32_t));
    if (stream->bad)
        return;
    if (!is_entry(walk, raw, ids)) {
        stream->bad = true;
        return;
    }
    Entry *entry = store_push(&findings->entries, 1);
    memcpy(entry, raw, sizeof *entry);
    memcpy(store_push(&findings->ids, fields), ids, fields * sizeof(uint32_t));
    entry->sighting.why = g_steal_pointer(&why);
    entry->sighting.message = message ? program_text(walk->program, program_string(walk->program, message)) : NULL;
    stream->bad |= index_of_sighting(findings, &entry->sighting) + 1 != findings->entries.count;
    findings->of_fault[entry->sighting.id]++;
}

void findings_load(Walk *walk, Stream *stream)
{
    uint64_t entries = 0;
    const void *number = stream_take(stream, sizeof entries);
    if (number != NULL)
        memcpy(&entries, number, sizeof entries);
    for (uint64_t i = 0; i < entries && !stream->bad; i++)
        load_entry(walk, stream);
}
