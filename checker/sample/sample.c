/* sample.c - distributes runs to workers and merges their answers in order.
 *
 * Ids of regions and sites differ between processes, so workers answer with numbers and finding_keys. A run in which a kind of finding
 * first shows is repeated here, to get its places and schedule. The count of a kind is the most that one run showed. A checkpoint holds the
 * answers and the numbers of the runs to repeat.
 */
#include "sample.h"
#include <string.h>
#include "../run/entry_barriers.h"
#include "../run/pool.h"
#include "sampler.h"

enum { BATCH_MAX = 4096, JOBS_A_WORKER = 2 };
static const double BATCH_SECONDS = 0.02, PATIENCE = 0.1;       /* the time for a job; between two tests whether to stop */

#define KEYS "a(tbs)"                           /* count, at most?, finding_key */
#define RUN "(ttbbsas" KEYS ")"                 /* steps, conflicts, cut off?, incomplete after a race?, misuse, limits, findings */
#define ANSWER "(da" RUN ")"                    /* seconds taken */
/* Runs, steps, conflicts, cut off?, longer?, incomplete?, facts of launches, limits, runs with new kinds, findings. */
#define SAVED "(tttbbbsasat" KEYS ")"

typedef struct KindTally { uint64_t count; bool at_most; } KindTally;

typedef struct Sampling {
    const SampleOptions *options;
    Program *program;
    uint64_t steps_expected;
    Sampler *sampler;                           /* of this process */
    Outcome *outcome;
    char *misuse;                               /* of the API, in the first run with one; NULL: none */
    bool cut_off, longer;                       /* any run was; any was longer than steps_expected */
    GHashTable *tallies;                        /* finding_key -> KindTally */
    GArray *revealing;                          /* numbers of runs in which a kind of finding first showed */
    Pool *pool;
    GArray *given;                              /* of RunBatch, not answered yet */
    uint64_t next, batch;                       /* the next run; runs for each job */
} Sampling;

typedef struct RunBatch { uint64_t first, runs; } RunBatch;

static GVariant *limits_to_variant(const Outcome *outcome)
{
    return g_variant_new_strv((const char *const *)outcome->limits->pdata, outcome->limits->len);
}

static GVariant *run_to_variant(const Program *program, const Outcome *one, bool cut_off)
{
    GVariantBuilder keys;
    g_variant_builder_init(&keys, G_VARIANT_TYPE(KEYS));
    for (guint i = 0; i < one->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(one->findings, i);
        g_autofree char *key = finding_key(program, finding);
        g_variant_builder_add(&keys, "(tbs)", finding->count, finding->at_most, key);
    }
    return g_variant_new("(ttbbs@as" KEYS ")", one->steps == UINT64_MAX ? 0 : one->steps, one->conflicts == UINT64_MAX ? 0 : one->conflicts,
                         cut_off, one->incomplete_after_race, program->usage_error ? program->usage_error : "", limits_to_variant(one),
                         &keys);
}

static void begin_in_worker(void *argument, ChildControl *control)
{
    Sampling *sampling = argument;
    if (sampling->options->workers == 0)
        return;
    program_make_private(sampling->program);
    sampling->sampler = sampler_new(record_new(sampling->program), sampling->steps_expected, sampling->options, &control->pulse, NULL);
}

static GBytes *serve_batch(void *argument, uint64_t job, const void *request, size_t bytes)
{
    const Sampling *sampling = argument;
    RunBatch batch;
    (void)job;
    g_assert(bytes == sizeof batch);
    memcpy(&batch, request, sizeof batch);
    gint64 start = g_get_monotonic_time();
    GVariantBuilder runs;
    g_variant_builder_init(&runs, G_VARIANT_TYPE("a" RUN));
    for (uint64_t run = batch.first; run < batch.first + batch.runs; run++) {
        bool cut_off;
        Outcome *one = sampler_run(sampling->sampler, run, &cut_off);
        g_variant_builder_add_value(&runs, run_to_variant(sampling->program, one, cut_off));
        outcome_free(one);
    }
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_new("(da" RUN ")", (double)(g_get_monotonic_time() - start) / 1e6, &runs));
    return g_variant_get_data_as_bytes(answer);
}

static void take_limits(Outcome *outcome, GVariantIter *limits)
{
    const char *limit;
    while (g_variant_iter_next(limits, "&s", &limit))
        outcome_add_limit(outcome, g_intern_string(limit));
}

/* Keeps the findings that no earlier run showed. */
static void take_findings(Sampling *sampling, uint64_t run)
{
    bool cut_off;
    Outcome *one = sampler_run(sampling->sampler, run, &cut_off);
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < sampling->outcome->findings->len; i++)
        g_hash_table_add(known, finding_key(sampling->program, g_ptr_array_index(sampling->outcome->findings, i)));
    for (guint i = one->findings->len; i-- > 0;) {
        g_autofree char *key = finding_key(sampling->program, g_ptr_array_index(one->findings, i));
        if (!g_hash_table_contains(known, key))
            g_ptr_array_add(sampling->outcome->findings, g_ptr_array_steal_index(one->findings, i));
    }
    outcome_free(one);
}

static bool take_keys(Sampling *sampling, GVariantIter *keys)
{
    uint64_t count;
    gboolean at_most;
    char *key;
    bool fresh = false;
    while (g_variant_iter_next(keys, "(tbs)", &count, &at_most, &key)) {
        KindTally *tally = g_hash_table_lookup(sampling->tallies, key);
        if (tally == NULL) {
            tally = g_new0(KindTally, 1);
            g_hash_table_insert(sampling->tallies, g_strdup(key), tally);
            fresh = true;
        }
        tally->count = MAX(tally->count, count), tally->at_most |= at_most;
        g_free(key);
    }
    return fresh;
}

static void merge_run(Sampling *sampling, uint64_t run, GVariant *answer)
{
    Outcome *all = sampling->outcome;
    uint64_t steps, conflicts;
    gboolean cut_off, incomplete;
    const char *misuse;
    g_autoptr(GVariantIter) limits = NULL, keys = NULL;
    g_variant_get(answer, "(ttbb&sas" KEYS ")", &steps, &conflicts, &cut_off, &incomplete, &misuse, &limits, &keys);
    if (misuse[0] != '\0') {
        sampling->misuse = g_strdup(misuse);
        return;
    }
    take_limits(all, limits);
    if (take_keys(sampling, keys)) {
        g_array_append_val(sampling->revealing, run);
        take_findings(sampling, run);
    }
    sampling->cut_off |= cut_off, sampling->longer |= steps > sampling->steps_expected;
    all->incomplete_after_race |= incomplete;
    all->conflicts = MAX(all->conflicts, conflicts);
    all->steps += steps;
    all->executions++;
}

static void save(const Sampling *sampling)
{
    const Outcome *all = sampling->outcome;
    GVariantBuilder revealing, keys;
    g_variant_builder_init(&revealing, G_VARIANT_TYPE("at"));
    g_variant_builder_init(&keys, G_VARIANT_TYPE(KEYS));
    for (guint i = 0; i < sampling->revealing->len; i++)
        g_variant_builder_add(&revealing, "t", g_array_index(sampling->revealing, uint64_t, i));
    GHashTableIter iter;
    gpointer key, value;
    for (g_hash_table_iter_init(&iter, sampling->tallies); g_hash_table_iter_next(&iter, &key, &value);)
        g_variant_builder_add(&keys, "(tbs)", ((const KindTally *)value)->count, ((const KindTally *)value)->at_most, key);
    g_autofree char *facts = entry_barriers_known(sampling->program);
    g_autoptr(GVariant) saved = g_variant_ref_sink(g_variant_new("(tttbbbs@asat" KEYS ")", all->executions, all->steps, all->conflicts,
        sampling->cut_off, sampling->longer, all->incomplete_after_race, facts, limits_to_variant(all), &revealing, &keys));
    checkpoint_begin(sampling->options->checkpoint);
    checkpoint_put(sampling->options->checkpoint, g_variant_get_data(saved), g_variant_get_size(saved));
    checkpoint_commit(sampling->options->checkpoint);
}

/* Repeats the runs of a checkpoint that first showed a kind of finding; false: one shows nothing new, so the checkpoint is damaged. */
static bool repeat_runs(Sampling *sampling, GVariantIter *revealing)
{
    const GPtrArray *findings = sampling->outcome->findings;
    uint64_t next = 0;
    for (uint64_t run; g_variant_iter_next(revealing, "t", &run); next = run + 1) {
        guint before = findings->len;
        if (run < next || run >= sampling->outcome->executions)
            return false;
        g_array_append_val(sampling->revealing, run);
        take_findings(sampling, run);
        if (findings->len == before)
            return false;
    }
    for (guint i = 0; i < findings->len; i++) {
        g_autofree char *key = finding_key(sampling->program, g_ptr_array_index(findings, i));
        if (!g_hash_table_contains(sampling->tallies, key))
            return false;
    }
    return g_hash_table_size(sampling->tallies) == findings->len;
}

/* Without conflicts the first run decides, so it is repeated to check the checkpoint's claim. */
static bool is_plausible(Sampling *sampling)
{
    Outcome *all = sampling->outcome;
    if (all->executions == 0)
        return all->steps == 0 && all->conflicts == 0 && g_hash_table_size(sampling->tallies) == 0;
    bool cut_off, few = all->steps < all->executions;
    Outcome *first = sampler_run(sampling->sampler, 0, &cut_off);
    bool fits = first->conflicts == UINT64_MAX || first->conflicts <= all->conflicts;
    sampling->cut_off = cut_off;
    all->incomplete_after_race |= first->incomplete_after_race;
    outcome_free(first);
    return fits && !few;
}

static bool resume(Sampling *sampling, char **error)
{
    Outcome *all = sampling->outcome;
    g_autoptr(GVariant) saved = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(SAVED), sampling->options->resumed, FALSE));
    g_autoptr(GVariantIter) limits = NULL, revealing = NULL, keys = NULL;
    gboolean cut_off, longer, incomplete;
    const char *facts;
    if (!g_variant_is_normal_form(saved)) {
        *error = g_strdup(CHECKPOINT_UNFIT);
        return false;
    }
    g_variant_get(saved, "(tttbbb&sasat" KEYS ")", &all->executions, &all->steps, &all->conflicts, &cut_off, &longer, &incomplete, &facts,
                  &limits, &revealing, &keys);
    entry_barriers_add_facts(sampling->program, facts);
    if (all->executions > sampling->options->limits.runs) {
        *error = g_strdup_printf("the checkpoint has %" G_GUINT64_FORMAT " runs already: --runs must not be less", all->executions);
        return false;
    }
    take_limits(all, limits);
    take_keys(sampling, keys);
    bool good = all->steps >> 60 == 0 && repeat_runs(sampling, revealing) && is_plausible(sampling);
    if (!good)
        *error = g_strdup(CHECKPOINT_UNFIT);
    sampling->cut_off |= cut_off, sampling->longer |= longer, all->incomplete_after_race |= incomplete;
    return good;
}

static void give_batches(Sampling *sampling)
{
    unsigned jobs = MAX(sampling->options->workers * JOBS_A_WORKER, 1);
    while (sampling->given->len < jobs && sampling->next < sampling->options->limits.runs) {
        const RunBatch batch = { sampling->next, MIN(sampling->batch, sampling->options->limits.runs - sampling->next) };
        pool_give(sampling->pool, &batch, sizeof batch);
        g_array_append_val(sampling->given, batch);
        sampling->next += batch.runs;
    }
}

static bool found_enough(const Sampling *sampling)
{
    return sampling->misuse != NULL || (sampling->options->first && sampling->outcome->findings->len > 0);
}

/* NULL: the worker died, or its kernel damaged the answer. */
static GVariant *read_answer(GBytes *bytes, uint64_t runs)
{
    if (bytes == NULL)
        return NULL;
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(ANSWER), bytes, FALSE));
    if (!g_variant_is_normal_form(answer))
        return NULL;
    g_autoptr(GVariant) list = g_variant_get_child_value(answer, 1);
    return g_variant_n_children(list) == runs ? g_steal_pointer(&answer) : NULL;
}

/* A batch that a worker did not finish is run here, so that the parent sees the same death. */
static void take_batch(Sampling *sampling, PoolAnswer *answer)
{
    const RunBatch batch = g_array_index(sampling->given, RunBatch, 0);
    g_array_remove_index(sampling->given, 0);
    g_autoptr(GVariant) all = read_answer(answer->bytes, batch.runs);
    g_bytes_unref(answer->bytes);
    if (all == NULL) {
        g_autoptr(GBytes) own = serve_batch(sampling, answer->job, &batch, sizeof batch);
        all = read_answer(own, batch.runs);
        g_assert(all != NULL);
    }
    g_autoptr(GVariantIter) runs = NULL;
    double seconds;
    g_variant_get(all, ANSWER, &seconds, &runs);
    for (uint64_t run = batch.first; run < batch.first + batch.runs && !found_enough(sampling); run++) {
        g_autoptr(GVariant) one = g_variant_iter_next_value(runs);
        merge_run(sampling, run, one);
    }
    sampling->batch = seconds < BATCH_SECONDS / 2 ? MIN(sampling->batch * 2, BATCH_MAX)
        : seconds > BATCH_SECONDS * 2 ? MAX(sampling->batch / 2, 1) : sampling->batch;
}

/* The limit that ended it early; NULL: none. */
static const char *take_all(Sampling *sampling)
{
    const SampleOptions *options = sampling->options;
    gint64 start = g_get_monotonic_time();
    while (sampling->outcome->executions < options->limits.runs && !found_enough(sampling)) {
        const char *stop = progress_stop(options->progress);
        if (stop == NULL && options->limits.seconds > 0 && (double)(g_get_monotonic_time() - start) / 1e6 > options->limits.seconds)
            stop = "time";
        if (stop != NULL)
            return stop;
        PoolAnswer answer;
        give_batches(sampling);
        if (pool_take(sampling->pool, PATIENCE, &answer))
            take_batch(sampling, &answer);
        progress_set(options->progress, sampling->outcome->executions, sampling->outcome->findings->len);
        if (checkpoint_due(options->checkpoint))
            save(sampling);
    }
    return NULL;
}

/* Sets the counts of each kind. A divergence is a fault only if there is no other. */
static void settle(Sampling *sampling)
{
    Outcome *all = sampling->outcome;
    bool explained = sample_explains_divergence(sampling->program, all);
    for (guint i = all->findings->len; i-- > 0;) {
        Finding *finding = g_ptr_array_index(all->findings, i);
        g_autofree char *key = finding_key(sampling->program, finding);
        const KindTally *tally = g_hash_table_lookup(sampling->tallies, key);
        if (tally != NULL)
            finding->count = tally->count, finding->at_most = tally->at_most;
        if (finding->id == FAULT_DIVERGENCE && explained)
            g_ptr_array_remove_index(all->findings, i);
    }
    outcome_settle(all, sampling->program);
}

static bool search(Sampling *sampling, char **error)
{
    const SampleOptions *options = sampling->options;
    Outcome *all = sampling->outcome;
    if (options->resumed != NULL && !resume(sampling, error))
        return false;
    sampling->next = all->executions;
    progress_begin(options->progress, PROGRESS_RUNS, (double)options->limits.runs);
    sampling->pool = pool_new(options->workers, &(PoolWork){ begin_in_worker, serve_batch, sampling }, error);
    if (sampling->pool == NULL)
        return false;
    const char *stop = take_all(sampling);
    pool_free(sampling->pool);
    *error = sampling->misuse;
    if (*error != NULL)
        return false;
    if (options->checkpoint != NULL)
        save(sampling);
    if (all->conflicts > 0 || all->executions == 0)         /* else the first run decides */
        outcome_add_limit(all, stop ? stop : "runs");
    if (sampling->cut_off)
        outcome_add_limit(all, "steps");
    settle(sampling);
    if (!sampling->longer)
        all->promise = strategy_promise(options->strategy, options->depth, options->agents, sampling->steps_expected, all->executions);
    return true;
}

Outcome *sample_run(Program *program, uint64_t steps_expected, const SampleOptions *options, char **error)
{
    Sampling sampling = { .options = options, .program = program, .steps_expected = steps_expected, .batch = 1,
                          .sampler = sampler_new(options->record, steps_expected, options, options->pulse, options->move_log),
                          .outcome = outcome_new(),
                          .tallies = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                          .revealing = g_array_new(FALSE, FALSE, sizeof(uint64_t)), .given = g_array_new(FALSE, FALSE, sizeof(RunBatch)) };
    sampling.outcome->executions = sampling.outcome->steps = sampling.outcome->conflicts = 0;
    bool good = search(&sampling, error);
    sampler_free(sampling.sampler);
    g_hash_table_unref(sampling.tallies);
    g_array_unref(sampling.revealing);
    g_array_unref(sampling.given);
    if (good)
        return sampling.outcome;
    outcome_free(sampling.outcome);
    return NULL;
}
