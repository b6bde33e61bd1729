/* class_results.c - judges each class at its end: by the ends of its cores if that is enough, else by a proof of its record. */
#include "class_results.h"
#include "../../model/rng.h"
#include "../proof/prove.h"
#include <string.h>

enum { FINDINGS_HELD_MAX = 256 };               /* before they are merged */

ClassResults *class_results_new(Explorer *x)
{
    ClassResults *results = g_new0(ClassResults, 1);
    results->position = g_new0(uint32_t, x->program->cores);
    results->families = families_new(x->program);
    results->ends = g_hash_table_new(NULL, NULL), results->classes = g_hash_table_new(NULL, NULL);
    return results;
}

void class_results_free(ClassResults *results)
{
    if (results->record != NULL)
        record_free(results->record);
    g_free(results->position);
    families_free(results->families);
    g_hash_table_unref(results->ends);
    g_hash_table_unref(results->classes);
    g_clear_pointer(&results->result.bytes, g_array_unref);
    g_clear_pointer(&results->moves, g_array_unref);
    g_free(results);
}

Outcome *class_results_new_outcome(void)
{
    Outcome *outcome = outcome_new();
    outcome->conflicts = outcome->steps = 0;
    outcome->summed = true;
    return outcome;
}

/* Equal for equal classes: a sum over choices, each mixed with the choices immediately before it on its object. */
static uint64_t hash_class(const Explorer *x)
{
    const Path *path = &x->path;
    uint64_t sum = 0;
    g_autofree uint64_t *event = g_new(uint64_t, path->choices + 1);
    for (uint32_t i = 0; i < path->choices; i++) {
        const PathChoice *choice = &path->choice[i];
        event[i] = rng_mix(((uint64_t)choice->agent << 32 | choice->stage) + (choice->of_agent ? event[choice->of_agent - 1] : 0));
        uint64_t before = 0;
        for (uint32_t at = path_group(path, choice->on_object, (Manner)choice->manner); at != 0; at = path_group_next(path, at))
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
        x->results->position[c] = at->position;
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

/* Moves the findings. Conflicts are not a limit here: all their orders are explored. */
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
            x->results->deadlock = g_ptr_array_index(one->findings, i);
    move_outcome(one, all);
    if (all->findings->len > FINDINGS_HELD_MAX) {
        outcome_settle(all, x->program);
        x->results->deadlock = NULL;
    }
    x->done |= x->options->first && all->findings->len > 0;
}

static Outcome *prove(const Explorer *x, bool looks_aside)
{
    gint64 deadline = x->shared->deadline;
    double left = deadline ? MAX((double)(deadline - g_get_monotonic_time()) / 1e6, 0.01) : 0;
    const ProveOptions options = { .looks_aside = looks_aside, .first = x->options->first,
                                   .limits = { .memory = x->options->limits.memory, .seconds = left } };
    return prove_record(x->results->record, &options);
}

/* NULL: this proof decides nothing. */
static Outcome *prove_without_looks(Explorer *x, uint32_t steps)
{
    Outcome *one = prove(x, true);
    if (x->options->canary == CLASSES_CANARY_LOOKS_IGNORED)
        g_ptr_array_set_size(one->findings, 0);
    bool faultless = one->findings->len + one->limits->len == 0;
    families_note(x->results->families, steps, faultless ? FAMILY_FAULTLESS : FAMILY_OPEN);
    if (!faultless)
        outcome_free(one);
    return faultless ? one : NULL;
}

static void prove_class(Explorer *x, bool finished)
{
    ClassResults *results = x->results;
    bool checked = finished && x->options->contents;
    uint32_t steps = finished ? families_find(x) : NONE;
    bool known = steps != NONE && families_verdict(results->families, steps) == FAMILY_FAULTLESS;
    if (known && !checked)
        return;
    record_of_run(x);
    if (checked)
        final_results_check(x);
    Outcome *one = NULL;
    bool as_expected = results->record->raised.count == 0, faultless = known && as_expected;
    if (!faultless && as_expected && steps != NONE && families_verdict(results->families, steps) == FAMILY_UNTRIED)
        one = prove_without_looks(x, steps);
    if (!faultless && one == NULL)
        one = prove(x, false);
    if (one != NULL) {
        faultless = one->findings->len == 0;
        merge(x, one);
        outcome_free(one);
    }
    if (faultless && checked)
        final_results_compare(x);
}

void class_results_add(Explorer *x)
{
    ClassResults *results = x->results;
    if (x->usage->grew)
        return;                                 /* the search restarts, and this class is visited again */
    if (x->options->audit && !g_hash_table_add(results->classes, GSIZE_TO_POINTER(hash_class(x))))
        x->redundant++;
    Ends ends = count_ends(x);
    if (!x->options->no_end_states && ends.polling == 0)
        g_hash_table_add(results->ends, GSIZE_TO_POINTER(outcome_end_state(results->position, x->program->cores, x->world->value,
                                                                           MIN(x->program->semaphores, x->world->semaphores))));
    bool finished = ends.finished == x->program->cores;
    x->outcome->steps += x->world->events;
    if (finished && !x->usage->proof && !x->usage->raises && !x->options->contents)
        return;
    bool only_blocked = ends.blocked > 0 && ends.stopped + ends.polling == 0;
    if (!only_blocked || x->usage->proof || x->usage->raises || results->deadlock == NULL)
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

/* Does one fault only repeat, for another class, what the other reports? */
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

void totals_init(Totals *totals)
{
    *totals = (Totals){ .outcome = class_results_new_outcome(), .ends = g_hash_table_new(NULL, NULL),
                        .classes = g_hash_table_new(NULL, NULL) };
}

void totals_clear(Totals *totals)
{
    outcome_free(totals->outcome);
    g_hash_table_unref(totals->ends);
    g_hash_table_unref(totals->classes);
    g_clear_pointer(&totals->result.bytes, g_array_unref);
}

/* Returns the number of duplicates. */
static uint64_t move_hashes(GHashTable *from, GHashTable *to)
{
    uint64_t duplicates = 0;
    GHashTableIter iter;
    gpointer hash;
    g_hash_table_iter_init(&iter, from);
    while (g_hash_table_iter_next(&iter, &hash, NULL))
        duplicates += !g_hash_table_add(to, hash);
    g_hash_table_remove_all(from);
    return duplicates;
}

void totals_add(Totals *totals, Explorer *x)
{
    final_results_merge(totals, x);
    Outcome *all = totals->outcome, *one = x->outcome;
    move_outcome(one, all);
    all->steps += one->steps;
    if (one->findings->len > 0)
        outcome_settle(all, x->program);
    outcome_free(one);
    x->outcome = class_results_new_outcome();
    x->results->deadlock = NULL;
    totals->runs += x->runs;
    totals->redundant += x->redundant + move_hashes(x->results->classes, totals->classes);
    move_hashes(x->results->ends, totals->ends);
    x->runs = x->redundant = 0;
    totals->limit = totals->limit ? totals->limit : x->limit;
    totals->done |= x->done;
}

void totals_settle(Totals *totals, const Program *program)
{
    Outcome *outcome = totals->outcome;
    GHashTableIter iter;
    gpointer end;
    g_hash_table_iter_init(&iter, totals->ends);
    while (g_hash_table_iter_next(&iter, &end, NULL))
        g_array_append_val(outcome->end_states, end);
    g_array_sort(outcome->end_states, compare_hashes);
    outcome_settle(outcome, program);
    drop_repetitions(outcome, program);
}
