/* outcome.c - plain fields, then strings and arrays with their lengths in front; both sides are this very program. */
#include "outcome.h"
#include <string.h>

static void put(Store *store, const void *data, size_t bytes)
{
    if (bytes > 0)
        memcpy(store_push(store, bytes), data, bytes);
}

static void put_number(Store *store, uint64_t number)
{
    put(store, &number, sizeof number);
}

static void put_text(Store *store, const char *text)
{
    put_number(store, text ? strlen(text) + 1 : 0);
    put(store, text, text ? strlen(text) + 1 : 0);
}

static void put_array(Store *store, const GArray *array, size_t item)
{
    put_number(store, array ? array->len : UINT64_MAX);
    put(store, array ? array->data : NULL, array ? array->len * item : 0);
}

static void put_bytes(Store *store, GBytes *bytes)
{
    gsize size = 0;
    const void *data = bytes ? g_bytes_get_data(bytes, &size) : NULL;
    put_number(store, bytes ? size : UINT64_MAX);
    put(store, data, size);
}

static void put_texts(Store *store, const GPtrArray *texts)
{
    put_number(store, texts ? texts->len : UINT64_MAX);
    for (guint i = 0; texts && i < texts->len; i++)
        put_text(store, g_ptr_array_index(texts, i));
}

void outcome_save(const Outcome *outcome, Store *store)
{
    store_reset(store);
    put(store, outcome, sizeof *outcome);
    put_number(store, outcome->findings->len);
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        put(store, finding, sizeof *finding);
        put_text(store, finding->message);
        put_text(store, finding->why);
        put_array(store, finding->clashes, sizeof(Clash));
        put_array(store, finding->delays, sizeof(Delay));
        put_array(store, finding->moves, sizeof(Move));
        put_texts(store, finding->lines);
        put_text(store, finding->departure);
        put_bytes(store, finding->film);
    }
    put_texts(store, outcome->limits);
    put_array(store, outcome->end_states, sizeof(uint64_t));
    put_text(store, outcome->promise);
    put_text(store, outcome->stopped);
}

typedef struct OutcomeReader { const Store *store; size_t at; bool bad; } OutcomeReader;

static const void *take(OutcomeReader *reader, size_t bytes)
{
    if (reader->bad || bytes > reader->store->count - reader->at) {
        reader->bad = true;
        return NULL;
    }
    const char *data = reader->store->base + reader->at;
    reader->at += bytes;
    return data;
}

static void take_into(OutcomeReader *reader, void *into, size_t bytes)
{
    const void *data = take(reader, bytes);
    if (data != NULL)
        memcpy(into, data, bytes);
}

static uint64_t take_number(OutcomeReader *reader)
{
    uint64_t number = 0;
    take_into(reader, &number, sizeof number);
    return number;
}

static char *take_text(OutcomeReader *reader)
{
    uint64_t bytes = take_number(reader);
    const char *text = bytes ? take(reader, bytes) : NULL;
    if (text == NULL)
        return NULL;
    char *copy = g_strndup(text, bytes);
    return copy;
}

static GArray *take_array(OutcomeReader *reader, size_t item)
{
    uint64_t count = take_number(reader);
    if (reader->bad || count == UINT64_MAX || count > reader->store->count)
        return NULL;
    const void *data = take(reader, count * item);
    GArray *array = g_array_new(FALSE, FALSE, (guint)item);
    if (data != NULL)
        g_array_append_vals(array, data, (guint)count);
    return array;
}

static GPtrArray *take_texts(OutcomeReader *reader)
{
    uint64_t count = take_number(reader);
    if (count == UINT64_MAX || reader->bad)
        return NULL;
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    for (uint64_t i = 0; i < count && !reader->bad; i++)
        g_ptr_array_add(texts, take_text(reader));
    return texts;
}

static GBytes *take_bytes(OutcomeReader *reader)
{
    uint64_t bytes = take_number(reader);
    if (reader->bad || bytes == UINT64_MAX)
        return NULL;
    const void *data = take(reader, bytes);
    return data ? g_bytes_new(data, bytes) : NULL;
}

/* Bytes other than 0 and 1 must not be read as a bool. */
static bool is_bool(const void *raw, size_t offset) { return ((const unsigned char *)raw)[offset] <= 1; }

static bool has_bools(const void *raw)
{
    return is_bool(raw, offsetof(Finding, at_most)) && is_bool(raw, offsetof(Finding, object_is_semaphore))
        && is_bool(raw, offsetof(Finding, shown)) && is_bool(raw, offsetof(Finding, known));
}

static Finding *take_finding(OutcomeReader *reader)
{
    Finding *finding = g_new0(Finding, 1);
    const void *raw = take(reader, sizeof *finding);
    if (raw != NULL && has_bools(raw))
        memcpy(finding, raw, sizeof *finding);
    else
        reader->bad = true;
    finding->message = take_text(reader);
    finding->why = take_text(reader);
    finding->clashes = take_array(reader, sizeof(Clash));
    finding->delays = take_array(reader, sizeof(Delay));
    finding->moves = take_array(reader, sizeof(Move));
    finding->lines = take_texts(reader);
    finding->departure = take_text(reader);
    finding->film = take_bytes(reader);
    return finding;
}

Outcome *outcome_load(const Store *store)
{
    OutcomeReader reader = { store, 0, false };
    Outcome raw = { 0 }, *outcome = outcome_new();
    const void *plain = take(&reader, sizeof raw);
    if (plain != NULL && is_bool(plain, offsetof(Outcome, complete)) && is_bool(plain, offsetof(Outcome, incomplete_after_race))
        && is_bool(plain, offsetof(Outcome, values_observed)))
        memcpy(&raw, plain, sizeof raw);
    else
        reader.bad = true;
    uint64_t findings = take_number(&reader);
    for (uint64_t i = 0; i < findings && !reader.bad; i++)
        g_ptr_array_add(outcome->findings, take_finding(&reader));
    GPtrArray *limits = take_texts(&reader);
    for (guint i = 0; limits && i < limits->len; i++)
        g_ptr_array_add(outcome->limits, (gpointer)g_intern_string(g_ptr_array_index(limits, i)));
    if (limits)
        g_ptr_array_free(limits, TRUE);
    GArray *ends = take_array(&reader, sizeof(uint64_t));
    if (ends) {
        g_array_free(outcome->end_states, TRUE);
        outcome->end_states = ends;
    }
    outcome->promise = take_text(&reader);
    outcome->stopped = take_text(&reader);
    outcome->complete = raw.complete, outcome->incomplete_after_race = raw.incomplete_after_race;
    outcome->unjudged_after_race = raw.unjudged_after_race;
    outcome->values_observed = raw.values_observed;
    outcome->executions = raw.executions, outcome->classes = raw.classes, outcome->states = raw.states;
    outcome->transitions = raw.transitions, outcome->steps = raw.steps, outcome->conflicts = raw.conflicts;
    outcome->estimate = raw.estimate;
    outcome->redundant = raw.redundant, outcome->modes = raw.modes, outcome->rotated = raw.rotated;
    if (reader.bad) {
        outcome_free(outcome);
        return NULL;
    }
    return outcome;
}
