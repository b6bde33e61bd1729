/* findings.c - sightings interned by their identity; the subsumption rules are set operations on them. */
#include "findings.h"
#include <string.h>
#include "../../model/sane.h"
#include "../facts/fits.h"
#include "growth.h"
#include "lives.h"
#include "state_path.h"
#include "transition.h"

typedef struct FindingEntry {
    Sighting sighting;
    uint64_t level;                             /* of the state */
    bool dropped;
} FindingEntry;

enum { ENTRIES_MAX = 1 << 24 };

void findings_open(Findings *findings, StateSpace *space, bool until_race)
{
    *findings = (Findings){.outcome = outcome_new(), .until_race = until_race};
    Reservation *reservation = &space->reservation;
    reservation_intern(reservation, &findings->keys, ENTRIES_MAX, (size_t)ENTRIES_MAX * 24);
    reservation_store(reservation, &findings->entries, sizeof(FindingEntry), ENTRIES_MAX);
    reservation_store(reservation, &findings->ids, sizeof(uint32_t), (size_t)ENTRIES_MAX * 64);
}

void findings_forget(Findings *findings)
{
    for (size_t i = 0; i < findings->entries.count; i++)
        g_free(STORE(FindingEntry, &findings->entries, i).sighting.why);
    reservation_empty(&findings->keys);
    store_reset(&findings->entries);
    store_reset(&findings->ids);
    memset(findings->of_fault, 0, sizeof findings->of_fault);
    findings->results = (EndResults){.any = false};
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

static bool is_exempt(const StateSpace *space, const Sighting *s)
{
    const Finding finding = {.id = s->id, .object = s->object, .object_is_semaphore = s->is_semaphore};
    return finding_exemption(space->program, &finding) != NULL;
}

void findings_add(const StateSpace *space, Findings *findings, const Sighting *sighting)
{
    Sighting s = *sighting;
    if (s.places == 2 && s.id == FAULT_RACE && s.event[0] > s.event[1])
        s.event[0] = sighting->event[1], s.event[1] = sighting->event[0];
    uint32_t index = index_of_sighting(findings, &s);
    bool fresh = index == findings->entries.count;
    bool highest = s.id == FAULT_OVERFLOW || s.id == FAULT_LEFTOVER;       /* the largest count is shown */
    if (!fresh && (!highest || STORE(FindingEntry, &findings->entries, index).sighting.have >= s.have))
        return;
    if (fresh) {
        store_push(&findings->entries, 1);
        store_push(&findings->ids, space->layout.fields);
        findings->of_fault[s.id]++;
    }
    STORE(FindingEntry, &findings->entries, index) = (FindingEntry){.sighting = s, .level = findings->level};
    memcpy(&STORE(uint32_t, &findings->ids, (size_t)index * space->layout.fields), findings->state,
           space->layout.fields * sizeof *findings->state);
    findings->done |= space->options->first;
    findings->raced |= findings->until_race && s.id == FAULT_RACE && !is_exempt(space, &s);
    SANE(findings_assert_sane(space, findings));
}

void findings_assert_sane(const StateSpace *space, const Findings *findings)
{
    uint32_t of_fault[FAULT_COUNT] = {0};
    g_assert(findings->entries.count == intern_count(&findings->keys));
    g_assert(findings->ids.count == findings->entries.count * space->layout.fields);
    for (size_t i = 0; i < findings->entries.count; i++)
        of_fault[STORE(FindingEntry, &findings->entries, i).sighting.id]++;
    g_assert(memcmp(of_fault, findings->of_fault, sizeof of_fault) == 0);
}

static bool is_copy_moment_of(const FindingEntry *entry, uint32_t event)
{
    return entry->sighting.event[0] == event;
}

/* Is a lifetime fault only another view of a copy in flight, or of a count left over? */
static bool shadows_lifetime(StateSpace *space, const FindingEntry *other, const FindingEntry *lifetime)
{
    const Sighting *late = &lifetime->sighting, *s = &other->sighting;
    if (late->have <= 0)
        return false;
    if (s->id == FAULT_LEFTOVER)
        return late->is_semaphore && s->object == late->object;
    if (s->id != FAULT_IN_FLIGHT || !is_copy_moment_of(other, late->event[0]))
        return false;
    uint32_t life = late->is_semaphore ? lives_of_semaphore(space, late->object) : lives_of_object(space, late->object);
    return lives_get(space, life)->kind == LIFE_LAUNCHES;
}

static bool any_other(const StateSpace *space, const Findings *findings, const FindingEntry *entry)
{
    bool any = false;
    for (size_t i = 0; i < findings->entries.count && !any; i++) {
        const FindingEntry *other = &STORE(FindingEntry, &findings->entries, i);
        any = other != entry && !is_exempt(space, &other->sighting);
    }
    return any;
}

static bool is_shadowed(StateSpace *space, const Findings *findings, const FindingEntry *entry)
{
    FaultId id = entry->sighting.id;
    if (id == FAULT_DIVERGENCE)                 /* of a program that is free of faults otherwise */
        return any_other(space, findings, entry);
    if (id != FAULT_LIFETIME && id != FAULT_UNINITIALISED)
        return false;
    for (size_t i = 0; i < findings->entries.count; i++) {
        const FindingEntry *other = &STORE(FindingEntry, &findings->entries, i);
        if (is_exempt(space, &other->sighting)) /* it subsumes nothing */
            continue;
        if (id == FAULT_LIFETIME && shadows_lifetime(space, other, entry))
            return true;
        if (id == FAULT_UNINITIALISED && other->sighting.id == FAULT_RACE
            && (other->sighting.event[0] == entry->sighting.event[0] || other->sighting.event[1] == entry->sighting.event[0]))
            return true;
    }
    return false;
}

/* An incomplete search may have missed writes that race with a load: its finding is true, but may have another name. */
static void doubt_uninitialised(const Frontier *frontier, Finding *finding)
{
    if (frontier->limit == NULL || finding->id != FAULT_UNINITIALISED)
        return;
    g_free(finding->why);
    finding->why = g_strdup("The search was cut short. A write that comes later may race with this load: then the fault is that race.");
}

static Finding *finding_of(const StateSpace *space, Sighting *s)
{
    Finding *finding = finding_new(s->id);
    finding->places = s->places;
    for (unsigned i = 0; i < s->places; i++)
        finding->place[i] = *space_event(space, s->event[i]);
    if (s->id == FAULT_RACE)
        finding_add_clashes(finding, finding->place);
    if (s->id == FAULT_RACE && finding->place[0].site > finding->place[1].site) {
        finding->place[0] = *space_event(space, s->event[1]);
        finding->place[1] = *space_event(space, s->event[0]);
    }
    finding->object = s->object;
    finding->object_is_semaphore = s->is_semaphore;
    finding->have = s->have, finding->need = s->need;
    finding->why = g_steal_pointer(&s->why);
    finding_take_message(finding, s->message);
    return finding;
}

static void add_schedule(StateSpace *space, const Frontier *frontier, const Findings *findings, Finding *finding, size_t index)
{
    const FindingEntry *entry = &STORE(FindingEntry, &findings->entries, index);
    const uint32_t *id = &STORE(uint32_t, &findings->ids, index * space->layout.fields);
    finding->moves = state_path_find(space, frontier, id, entry->level);
    if (finding->moves == NULL || entry->sighting.transition == NONE)
        return;
    uint32_t core = entry->sighting.core;
    Move last = transition_move(space, core, id[core], space_transition(space, core, entry->sighting.transition));
    g_array_append_val(finding->moves, last);
}

void findings_settle(StateSpace *space, const Frontier *frontier, Findings *findings)
{
    GHashTable *index_of = g_hash_table_new(NULL, NULL);        /* looked up only, never walked */
    for (size_t i = 0; i < findings->entries.count; i++)
        STORE(FindingEntry, &findings->entries, i).dropped = is_shadowed(space, findings, &STORE(FindingEntry, &findings->entries, i));
    for (size_t i = 0; i < findings->entries.count; i++) {
        if (STORE(FindingEntry, &findings->entries, i).dropped)
            continue;
        Finding *finding = finding_of(space, &STORE(FindingEntry, &findings->entries, i).sighting);
        doubt_uninitialised(frontier, finding);
        g_ptr_array_add(findings->outcome->findings, finding);
        g_hash_table_insert(index_of, finding, GSIZE_TO_POINTER(i));
    }
    outcome_settle(findings->outcome, space->program);
    for (guint i = 0; i < findings->outcome->findings->len; i++) {
        Finding *finding = g_ptr_array_index(findings->outcome->findings, i);
        add_schedule(space, frontier, findings, finding, GPOINTER_TO_SIZE(g_hash_table_lookup(index_of, finding)));
    }
    g_hash_table_destroy(index_of);
}

/* Without its message, which belongs to the program, and its cause. */
static void carry_entry(Codec *codec, FindingEntry *entry)
{
    Sighting *s = &entry->sighting;
    CODEC_PLAIN(codec, s->id);
    CODEC_PLAIN(codec, s->places);
    CODEC_PLAIN(codec, s->event);
    CODEC_PLAIN(codec, s->object);
    codec_bool(codec, &s->is_semaphore);
    CODEC_PLAIN(codec, s->have);
    CODEC_PLAIN(codec, s->need);
    CODEC_PLAIN(codec, s->core);
    CODEC_PLAIN(codec, s->transition);
    CODEC_PLAIN(codec, entry->level);
    codec_bool(codec, &entry->dropped);
}

/* The ids of the state, the message and the cause of an entry. */
static void carry_state(Codec *codec, const StateSpace *space, uint32_t *id, char **message, char **why)
{
    codec_plain(codec, id, space->layout.fields * sizeof *id);
    codec_text(codec, message);
    codec_text(codec, why);
}

void findings_save(Codec *codec, const StateSpace *space, const Findings *findings)
{
    uint64_t entries = codec_count(codec, findings->entries.count);
    for (size_t i = 0; i < entries; i++) {
        FindingEntry *entry = &STORE(FindingEntry, &findings->entries, i);
        carry_entry(codec, entry);
        carry_state(codec, space, &STORE(uint32_t, &findings->ids, i * space->layout.fields), (char **)&entry->sighting.message,
                    &entry->sighting.why);
    }
}

/* Of a file: a possible fault in a possible state. */
static bool is_entry(const StateSpace *space, const Findings *findings, FindingEntry *entry, const uint32_t *id)
{
    Sighting *s = &entry->sighting;
    bool good = s->places <= G_N_ELEMENTS(s->event) && entry->level <= findings->level && growth_ids_fit(space, id, space->layout.fields)
        && (s->transition == NONE || (s->core < space->cores && s->transition < space->core[s->core].transitions.count));
    for (unsigned i = 0; good && i < G_N_ELEMENTS(s->event); i++)
        good = i < s->places ? s->event[i] < intern_count(&space->events) : s->event[i] == NONE;
    if (!good)
        return false;
    Finding *finding = finding_of(space, s);
    good = finding_fits(space->program, finding);
    finding_free(finding);
    return good;
}

static void load_entry(Codec *codec, StateSpace *space, Findings *findings)
{
    const unsigned fields = space->layout.fields;
    g_autofree uint32_t *id = g_new(uint32_t, fields);
    g_autofree char *message = NULL, *why = NULL;
    FindingEntry read = { 0 };
    carry_entry(codec, &read);
    carry_state(codec, space, id, &message, &why);
    codec->bad = codec->bad || !is_entry(space, findings, &read, id);
    if (codec->bad)
        return;
    FindingEntry *entry = store_push(&findings->entries, 1);
    *entry = read;
    memcpy(store_push(&findings->ids, fields), id, fields * sizeof *id);
    entry->sighting.why = g_steal_pointer(&why);
    entry->sighting.message = message ? program_text(space->program, program_string(space->program, message)) : NULL;
    codec->bad |= index_of_sighting(findings, &entry->sighting) + 1 != findings->entries.count;
    findings->of_fault[entry->sighting.id]++;
}

void findings_load(Codec *codec, StateSpace *space, Findings *findings)
{
    uint64_t entries = codec_count(codec, 0);
    for (uint64_t i = 0; i < entries && !codec->bad; i++)
        load_entry(codec, space, findings);
}
