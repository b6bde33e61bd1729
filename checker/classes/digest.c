/* digest.c - each class judged at its end: by a look at its cores where that is all there is to judge, else by the proof of its record. */
#include "digest.h"
#include "../../model/rng.h"
#include "../proof/prove.h"
#include <string.h>

enum { FINDINGS_HELD_MAX = 256 };               /* before they are merged */

Digest *digest_new(Explorer *x)
{
    Digest *digest = g_new0(Digest, 1);
    digest->position = g_new0(uint32_t, x->program->cores);
    digest->aside = aside_new(x->program);
    return digest;
}

void digest_free(Digest *digest)
{
    if (digest->record != NULL)
        record_free(digest->record);
    g_free(digest->position);
    aside_free(digest->aside);
    g_free(digest->ends.slot);
    g_free(digest->classes.slot);
    g_clear_pointer(&digest->result.bytes, g_array_unref);
    g_clear_pointer(&digest->moves, g_array_unref);
    g_free(digest);
}

Outcome *digest_new_outcome(void)
{
    Outcome *outcome = outcome_new();
    outcome->conflicts = outcome->steps = 0;
    return outcome;
}

bool hashes_add(Hashes *hashes, uint64_t hash)
{
    if (2 * hashes->used >= hashes->size) {
        Hashes larger = { g_new0(uint64_t, MAX(hashes->size * 2, 1024)), 0, MAX(hashes->size * 2, 1024) };
        for (size_t i = 0; i < hashes->size; i++)
            if (hashes->slot[i] != 0)
                hashes_add(&larger, hashes->slot[i]);
        g_free(hashes->slot);
        *hashes = larger;
    }
    hash = hash ? hash : 1;
    size_t at = rng_mix(hash) & (hashes->size - 1);
    for (; hashes->slot[at] != 0; at = (at + 1) & (hashes->size - 1))
        if (hashes->slot[at] == hash)
            return false;
    hashes->slot[at] = hash;
    hashes->used++;
    return true;
}

/* Equal for equal classes: a sum over the picks, each mixed with the picks right before it on its object. */
static uint64_t hash_class(const Explorer *x)
{
    const Path *path = &x->path;
    uint64_t sum = 0;
    g_autofree uint64_t *event = g_new(uint64_t, path->picks + 1);
    for (uint32_t i = 0; i < path->picks; i++) {
        const Pick *pick = &path->pick[i];
        event[i] = rng_mix(((uint64_t)pick->agent << 32 | pick->stage) + (pick->of_agent ? event[pick->of_agent - 1] : 0));
        uint64_t before = 0;
        for (uint32_t at = path_group(path, pick->on_object, (Manner)pick->manner); at != 0; at = path_group_next(path, at))
            before += rng_mix(event[at - 1] ^ 0x5bd1e995);
        sum += rng_mix(event[i] ^ rng_mix(before));
    }
    return sum;
}

typedef struct Ends { uint32_t finished, stopped, blocked, polling; } Ends;

static Ends count_ends(Explorer *x)
{
    Ends ends = { 0 };
    for (uint32_t c = 0; c < x->program->cores; c++) {
        const TreeNode *at = tree_node(x->tree, x->world->stage[c]);
        x->digest->position[c] = at->position;
        if (at->end == TREE_FINISHED)
            ends.finished++;
        else if (at->end == TREE_STOPPED)
            ends.stopped++;
        else if (world_polls(x->world, c))
            ends.polling++;
        else
            ends.blocked++;
    }
    return ends;
}

/* Findings change hands. That there were conflicts is no limit: all their orders are gone through. */
static void move_outcome(Outcome *one, Outcome *all)
{
    for (guint i = 0; i < one->findings->len; i++)
        g_ptr_array_add(all->findings, g_ptr_array_index(one->findings, i));
    g_ptr_array_set_free_func(one->findings, NULL);
    for (guint i = 0; i < one->limits->len; i++)
        if (strcmp(g_ptr_array_index(one->limits, i), "conflicts") != 0)
            outcome_add_limit(all, g_ptr_array_index(one->limits, i));
    all->incomplete_after_race |= one->incomplete_after_race;
    all->values_observed |= one->values_observed;
    all->conflicts = MAX(all->conflicts, one->conflicts);
}

static void merge(Explorer *x, Outcome *one)
{
    Outcome *all = x->outcome;
    for (guint i = 0; i < one->findings->len && !x->usage->proof; i++)
        if (((const Finding *)g_ptr_array_index(one->findings, i))->id == FAULT_DEADLOCK)
            x->digest->deadlock = g_ptr_array_index(one->findings, i);
    move_outcome(one, all);
    if (all->findings->len > FINDINGS_HELD_MAX) {
        outcome_settle(all, x->program);
        x->digest->deadlock = NULL;
    }
    x->done |= x->options->first && all->findings->len > 0;
}

static Outcome *prove(const Explorer *x, bool looks_aside)
{
    gint64 deadline = x->shared->deadline;
    double left = deadline ? MAX((double)(deadline - g_get_monotonic_time()) / 1e6, 0.01) : 0;
    const ProveOptions options = { .looks_aside = looks_aside, .first = x->options->first,
                                   .limits = { .memory = x->options->limits.memory, .seconds = left } };
    return prove_record(x->digest->record, &options);
}

/* NULL: that decides nothing. */
static Outcome *prove_looks_aside(Explorer *x, uint32_t steps)
{
    Outcome *one = prove(x, true);
    if (x->options->canary == CLASSES_CANARY_LOOKS_IGNORED)
        g_ptr_array_set_size(one->findings, 0);
    bool faultless = one->findings->len + one->limits->len == 0;
    aside_note(x->digest->aside, steps, faultless ? ASIDE_FAULTLESS : ASIDE_OPEN);
    if (!faultless)
        outcome_free(one);
    return faultless ? one : NULL;
}

static void prove_class(Explorer *x, bool finished)
{
    Digest *digest = x->digest;
    bool results = finished && x->options->contents;
    uint32_t steps = finished ? aside_find(x) : NONE;
    bool known = steps != NONE && aside_verdict(digest->aside, steps) == ASIDE_FAULTLESS;
    if (known && !results)
        return;
    digest_record(x);
    if (results)
        digest_results(x);
    Outcome *one = NULL;
    bool as_expected = digest->record->raised.count == 0, faultless = known && as_expected;
    if (!faultless && as_expected && steps != NONE && aside_verdict(digest->aside, steps) == ASIDE_UNTRIED)
        one = prove_looks_aside(x, steps);
    if (!faultless && one == NULL)
        one = prove(x, false);
    if (one != NULL) {
        faultless = one->findings->len == 0;
        merge(x, one);
        outcome_free(one);
    }
    if (faultless && results)
        digest_compare(x);
}

void digest_class(Explorer *x)
{
    Digest *digest = x->digest;
    if (x->usage->grew)
        return;                                 /* what was proved of it would not hold */
    if (x->options->audit && !hashes_add(&digest->classes, hash_class(x)))
        x->redundant++;
    Ends ends = count_ends(x);
    if (!x->options->no_end_states && ends.polling == 0)
        hashes_add(&digest->ends, outcome_end_state(digest->position, x->program->cores, x->world->value,
                                                  MIN(x->program->semaphores, x->world->semaphores)));
    bool finished = ends.finished == x->program->cores;
    x->outcome->steps += x->world->deeds;
    if (finished && !x->usage->proof && !x->usage->raises && !x->options->contents)
        return;
    bool only_blocked = ends.blocked > 0 && ends.stopped + ends.polling == 0;
    if (only_blocked && !x->usage->proof && !x->usage->raises && digest->deadlock != NULL)
        digest->deadlock->count++;
    else
        prove_class(x, finished);
}

static gint compare_hashes(gconstpointer left, gconstpointer right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint32_t decl_of(const Program *program, const Finding *finding)
{
    return finding->object_is_semaphore ? program_semaphore_decl(program, finding->object) : program_object_decl(program, finding->object);
}

static bool same_step(const Place *a, const Place *b)
{
    return a->core == b->core && a->position == b->position && a->copy == b->copy && a->site == b->site;
}

/* Does one fault only say again, of another class, what the other says? A race or a count that is exempted says nothing. */
static bool says_again(const Program *program, const Finding *fault, const Finding *other)
{
    const Place *place = &fault->place[0], *first = &other->place[0], *second = &other->place[1];
    if (fault->id == FAULT_DIVERGENCE)
        return other->id != FAULT_DIVERGENCE;
    if (fault->id == FAULT_UNINITIALISED)
        return fault->message == NULL && other->id == FAULT_RACE && (same_step(first, place) || same_step(second, place));
    if (fault->id != FAULT_LIFETIME || fault->have <= 0)
        return false;
    if (other->id == FAULT_LEFTOVER)
        return fault->object_is_semaphore && decl_of(program, fault) == decl_of(program, other);
    return other->id == FAULT_IN_FLIGHT && place->copy != NONE && first->site == place->site && first->kind == place->kind
        && program_decl(program, decl_of(program, fault))->life == LIFE_LAUNCHES;
}

static void drop_repetitions(Outcome *outcome, const Program *program)
{
    GPtrArray *findings = outcome->findings;
    for (guint i = findings->len; i-- > 0;)
        for (guint k = 0; k < findings->len; k++) {
            const Finding *other = g_ptr_array_index(findings, k);
            if (k != i && finding_exemption(program, other) == NULL && says_again(program, g_ptr_array_index(findings, i), other)) {
                g_ptr_array_remove_index(findings, i);
                break;
            }
        }
}

void sum_init(Sum *sum)
{
    *sum = (Sum){ .outcome = digest_new_outcome() };
}

void sum_clear(Sum *sum)
{
    outcome_free(sum->outcome);
    g_free(sum->ends.slot);
    g_free(sum->classes.slot);
    g_clear_pointer(&sum->result.bytes, g_array_unref);
}

/* Returns how many were there already. */
static uint64_t move_hashes(Hashes *from, Hashes *to)
{
    uint64_t before = to->used + from->used;
    for (size_t i = 0; i < from->size; i++)
        if (from->slot[i] != 0)
            hashes_add(to, from->slot[i]);
    g_free(from->slot);
    *from = (Hashes){ 0 };
    return before - to->used;
}

void sum_add(Sum *sum, Explorer *x)
{
    digest_compare_rounds(sum, x);
    Outcome *all = sum->outcome, *one = x->outcome;
    move_outcome(one, all);
    all->steps += one->steps;
    if (one->findings->len > 0)
        outcome_settle(all, x->program);
    outcome_free(one);
    x->outcome = digest_new_outcome();
    x->digest->deadlock = NULL;
    sum->runs += x->runs;
    sum->redundant += x->redundant + move_hashes(&x->digest->classes, &sum->classes);
    move_hashes(&x->digest->ends, &sum->ends);
    x->runs = x->redundant = 0;
    sum->limit = sum->limit ? sum->limit : x->limit;
    sum->done |= x->done;
}

void sum_settle(Sum *sum, const Program *program)
{
    Outcome *outcome = sum->outcome;
    for (size_t i = 0; i < sum->ends.size; i++)
        if (sum->ends.slot[i] != 0)
            g_array_append_val(outcome->end_states, sum->ends.slot[i]);
    g_array_sort(outcome->end_states, compare_hashes);
    outcome_settle(outcome, program);
    drop_repetitions(outcome, program);
}
