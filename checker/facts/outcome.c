/* outcome.c - each member is named once, for both directions; both sides are this very program. */
#include "outcome.h"

static void carry_finding(Codec *codec, void *item)
{
    Finding *finding = item;
    CODEC_PLAIN(codec, finding->id);
    CODEC_PLAIN(codec, finding->count);
    codec_bool(codec, &finding->at_most);
    codec_array_or_null(codec, &finding->instances, sizeof(uint64_t));
    CODEC_PLAIN(codec, finding->places);
    CODEC_PLAIN(codec, finding->place);
    CODEC_PLAIN(codec, finding->criticals);
    CODEC_PLAIN(codec, finding->critical);
    CODEC_PLAIN(codec, finding->object);
    codec_bool(codec, &finding->object_is_semaphore);
    CODEC_PLAIN(codec, finding->have);
    CODEC_PLAIN(codec, finding->need);
    codec_text(codec, &finding->message);
    codec_text(codec, &finding->why);
    CODEC_PLAIN(codec, finding->cause);
    CODEC_PLAIN(codec, finding->meant);
    codec_array_or_null(codec, &finding->clashes, sizeof(Clash));
    codec_array_or_null(codec, &finding->delays, sizeof(Delay));
    codec_array_or_null(codec, &finding->moves, sizeof(Move));
    codec_texts(codec, &finding->lines);
    codec_bool(codec, &finding->shown);
    codec_bool(codec, &finding->known);
    CODEC_PLAIN(codec, finding->holds);
    CODEC_PLAIN(codec, finding->open);
    codec_text(codec, &finding->departure);
    codec_bytes(codec, &finding->recording);
}

void outcome_carry_limits(Codec *codec, Outcome *outcome)
{
    uint64_t limits = codec_count(codec, outcome->limits->len);
    for (uint64_t i = 0; i < limits && !codec->bad; i++) {
        char *limit = codec_reads(codec) ? NULL : g_ptr_array_index(outcome->limits, i);
        codec_text(codec, &limit);
        if (!codec_reads(codec))
            continue;
        codec->bad |= limit == NULL;
        if (limit != NULL)
            outcome_add_limit(outcome, g_intern_string(limit));
        g_free(limit);
    }
}

void outcome_carry(Codec *codec, Outcome *outcome)
{
    codec_items(codec, outcome->findings, sizeof(Finding), carry_finding);
    outcome_carry_limits(codec, outcome);
    codec_bool(codec, &outcome->complete);      /* after the limits: adding one makes it false */
    codec_bool(codec, &outcome->incomplete_after_race);
    codec_bool(codec, &outcome->unjudged_after_race);
    codec_bool(codec, &outcome->values_observed);
    CODEC_PLAIN(codec, outcome->executions);
    CODEC_PLAIN(codec, outcome->classes);
    CODEC_PLAIN(codec, outcome->states);
    CODEC_PLAIN(codec, outcome->transitions);
    CODEC_PLAIN(codec, outcome->steps);
    CODEC_PLAIN(codec, outcome->conflicts);
    CODEC_PLAIN(codec, outcome->modes);
    CODEC_PLAIN(codec, outcome->rotated);
    CODEC_PLAIN(codec, outcome->estimate);
    CODEC_PLAIN(codec, outcome->redundant);
    codec_text(codec, &outcome->promise);
    codec_text(codec, &outcome->stopped);
    codec_array(codec, &outcome->end_states, sizeof(uint64_t));
}

void outcome_save(const Outcome *outcome, Store *bytes)
{
    store_reset(bytes);
    Codec codec = codec_to_store(bytes);
    outcome_carry(&codec, (Outcome *)outcome);
}

Outcome *outcome_load(const Store *bytes)
{
    Codec codec = codec_from(bytes->base, bytes->count);
    Outcome *outcome = outcome_new();
    outcome_carry(&codec, outcome);
    if (codec_is_over(&codec))
        return outcome;
    outcome_free(outcome);
    return NULL;
}
