/* sample.c - distributes runs to workers and merges their answers in order.
 *
 * Ids of regions and sites differ between processes, so workers answer with numbers and finding_keys. A run in which a kind of finding
 * first shows is repeated here, to get its places and schedule. The count of a kind is the most that one run showed. A checkpoint holds the
 * answers and the numbers of the runs to repeat.
 */
#include "sample.h"
#include <string.h>
#include "../facts/outcome.h"
#include "../run/entry_barriers.h"
#include "../run/pool.h"
#include "sampler.h"

enum { BATCH_MAX = 4096, JOBS_A_WORKER = 2 };
static const double BATCH_SECONDS = 0.02, PATIENCE = 0.1;       /* the time for a job; between two tests whether to stop */

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

typedef struct RunAnswer {
    uint64_t steps, conflicts;
    bool cut_off, incomplete;                   /* incomplete: after a race */
    char *misuse;                               /* NULL: none */
    GPtrArray *limits;                          /* of char * */
    GHashTable *kinds;                          /* as Sampling.tallies */
} RunAnswer;

static GHashTable *new_tallies(void) { return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free); }

/* Keeps the greater count. true: the kind is new. */
static bool add_tally(GHashTable *tallies, const char *key, const KindTally *seen)
{
    KindTally *tally = g_hash_table_lookup(tallies, key);
    const bool fresh = tally == NULL;
    if (fresh)
        g_hash_table_insert(tallies, g_strdup(key), tally = g_new0(KindTally, 1));
    tally->count = MAX(tally->count, seen->count), tally->at_most |= seen->at_most;
    return fresh;
}

static void carry_tally(Codec *codec, char **key, KindTally *tally)
{
    codec_text(codec, key);
    CODEC_PLAIN(codec, tally->count);
    codec_bool(codec, &tally->at_most);
}

static void carry_tallies(Codec *codec, GHashTable *tallies)
{
    GHashTableIter iter;
    gpointer name, value;
    g_hash_table_iter_init(&iter, tallies);
    uint64_t kinds = codec_count(codec, g_hash_table_size(tallies));
    for (uint64_t i = 0; i < kinds && !codec->bad; i++) {
        if (!codec_reads(codec)) {
            g_hash_table_iter_next(&iter, &name, &value);
            carry_tally(codec, (char **)&name, value);
            continue;
        }
        g_autofree char *key = NULL;
        KindTally tally = { 0 };
        carry_tally(codec, &key, &tally);
        codec_check(codec, key != NULL);
        if (!codec->bad)
            add_tally(tallies, key, &tally);
    }
}

static void carry_run(Codec *codec, RunAnswer *answer)
{
    CODEC_PLAIN(codec, answer->steps);
    CODEC_PLAIN(codec, answer->conflicts);
    codec_bool(codec, &answer->cut_off);
    codec_bool(codec, &answer->incomplete);
    codec_text(codec, &answer->misuse);
    codec_texts(codec, &answer->limits);
    carry_tallies(codec, answer->kinds);
}

static void clear_run(void *data)
{
    RunAnswer *answer = data;
    g_free(answer->misuse);
    g_clear_pointer(&answer->limits, g_ptr_array_unref);
    g_hash_table_unref(answer->kinds);
}

/* The sampler does the run and answers. */
static void answer_run(const Sampling *sampling, uint64_t run, Codec *codec)
{
    bool cut_off;
    Outcome *one = sampler_run(sampling->sampler, run, &cut_off);
    g_autoptr(GHashTable) kinds = new_tallies();
    for (guint i = 0; i < one->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(one->findings, i);
        g_autofree char *key = finding_key(sampling->program, finding);
        add_tally(kinds, key, &(KindTally){ finding->count, finding->at_most });
    }
    carry_run(codec, &(RunAnswer){ .steps = one->steps == UINT64_MAX ? 0 : one->steps,
                                   .conflicts = one->conflicts == UINT64_MAX ? 0 : one->conflicts, .cut_off = cut_off,
                                   .incomplete = one->incomplete_after_race, .misuse = (char *)sampling->program->usage_error,
                                   .limits = one->limits, .kinds = kinds });
    outcome_free(one);
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
    GByteArray *answer = g_byte_array_new();
    Codec codec = codec_to_bytes(answer);
    for (uint64_t run = batch.first; run < batch.first + batch.runs; run++)
        answer_run(sampling, run, &codec);
    double seconds = (double)(g_get_monotonic_time() - start) / 1e6;
    CODEC_PLAIN(&codec, seconds);
    return g_byte_array_free_to_bytes(answer);
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

static bool take_kinds(Sampling *sampling, GHashTable *kinds)
{
    GHashTableIter iter;
    gpointer key, value;
    bool fresh = false;
    for (g_hash_table_iter_init(&iter, kinds); g_hash_table_iter_next(&iter, &key, &value);)
        fresh |= add_tally(sampling->tallies, key, value);
    return fresh;
}

static void merge_run(Sampling *sampling, uint64_t run, const RunAnswer *answer)
{
    Outcome *all = sampling->outcome;
    if (answer->misuse != NULL) {
        sampling->misuse = g_strdup(answer->misuse);
        return;
    }
    for (guint i = 0; answer->limits != NULL && i < answer->limits->len; i++)
        outcome_add_limit(all, g_intern_string(g_ptr_array_index(answer->limits, i)));
    if (take_kinds(sampling, answer->kinds)) {
        g_array_append_val(sampling->revealing, run);
        take_findings(sampling, run);
    }
    sampling->cut_off |= answer->cut_off, sampling->longer |= answer->steps > sampling->steps_expected;
    all->incomplete_after_race |= answer->incomplete;
    all->conflicts = MAX(all->conflicts, answer->conflicts);
    all->steps += answer->steps;
    all->executions++;
}

/* facts: of entry_barriers_known. */
static void carry(Codec *codec, Sampling *sampling, char **facts)
{
    Outcome *all = sampling->outcome;
    CODEC_PLAIN(codec, all->executions);
    CODEC_PLAIN(codec, all->steps);
    CODEC_PLAIN(codec, all->conflicts);
    codec_bool(codec, &sampling->cut_off);
    codec_bool(codec, &sampling->longer);
    codec_bool(codec, &all->incomplete_after_race);
    codec_text(codec, facts);
    codec_check(codec, *facts != NULL);
    outcome_carry_limits(codec, all);
    codec_array(codec, &sampling->revealing, sizeof(uint64_t));
    carry_tallies(codec, sampling->tallies);
}

static void save(Sampling *sampling)
{
    Checkpoint *checkpoint = sampling->options->checkpoint;
    g_autofree char *facts = entry_barriers_known(sampling->program);
    checkpoint_begin(checkpoint);
    Codec codec = checkpoint_codec(checkpoint);
    carry(&codec, sampling, &facts);
    checkpoint_commit(checkpoint);
}

/* Repeats the runs of a checkpoint that first showed a kind of finding; false: one shows nothing new, so the checkpoint is damaged. */
static bool repeat_runs(Sampling *sampling)
{
    const GPtrArray *findings = sampling->outcome->findings;
    uint64_t next = 0;
    for (guint i = 0; i < sampling->revealing->len; i++) {
        const uint64_t run = g_array_index(sampling->revealing, uint64_t, i);
        guint before = findings->len;
        if (run < next || run >= sampling->outcome->executions)
            return false;
        next = run + 1;
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
    sampling->cut_off |= cut_off;
    all->incomplete_after_race |= first->incomplete_after_race;
    outcome_free(first);
    return fits && !few;
}

static bool resume(Sampling *sampling, char **error)
{
    const Outcome *all = sampling->outcome;
    g_autofree char *facts = NULL;
    Codec codec = codec_from_bytes(sampling->options->resumed);
    carry(&codec, sampling, &facts);
    const bool whole = codec_is_over(&codec);
    if (whole)
        entry_barriers_add_facts(sampling->program, facts);
    if (whole && all->executions > sampling->options->limits.runs)
        *error = g_strdup_printf("the checkpoint has %" G_GUINT64_FORMAT " runs already: --runs must not be less", all->executions);
    else if (!whole || all->steps >> 60 != 0 || !repeat_runs(sampling) || !is_plausible(sampling))
        *error = g_strdup(CHECKPOINT_UNFIT);
    return *error == NULL;
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

/* The answers to a batch; NULL: the worker died, or its kernel damaged them. */
static GArray *read_answers(GBytes *bytes, uint64_t runs, double *seconds)
{
    if (bytes == NULL)
        return NULL;
    GArray *answers = g_array_new(FALSE, FALSE, sizeof(RunAnswer));
    g_array_set_clear_func(answers, clear_run);
    Codec codec = codec_from_bytes(bytes);
    for (uint64_t i = 0; i < runs && !codec.bad; i++) {
        RunAnswer answer = { .kinds = new_tallies() };
        carry_run(&codec, &answer);
        g_array_append_val(answers, answer);
    }
    codec_plain(&codec, seconds, sizeof *seconds);
    if (codec_is_over(&codec))
        return answers;
    g_array_unref(answers);
    return NULL;
}

/* A batch that a worker did not finish is run here, so that the parent sees the same death. */
static void take_batch(Sampling *sampling, PoolAnswer *answer)
{
    const RunBatch batch = g_array_index(sampling->given, RunBatch, 0);
    double seconds;
    g_array_remove_index(sampling->given, 0);
    g_autoptr(GArray) answers = read_answers(answer->bytes, batch.runs, &seconds);
    g_bytes_unref(answer->bytes);
    if (answers == NULL) {
        g_autoptr(GBytes) own = serve_batch(sampling, answer->job, &batch, sizeof batch);
        answers = read_answers(own, batch.runs, &seconds);
        g_assert(answers != NULL);
    }
    for (uint64_t i = 0; i < batch.runs && !found_enough(sampling); i++)
        merge_run(sampling, batch.first + i, &g_array_index(answers, RunAnswer, i));
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
    if (all->complete && all->findings->len == 0)
        all->promise = g_strdup("One run proves it: no step's result depends on the order, so what holds for one run holds for all.");
    else if (!sampling->longer)
        all->promise = strategy_promise(options->strategy, options->depth, options->agents, sampling->steps_expected, all->executions);
    return true;
}

Outcome *sample_run(Program *program, uint64_t steps_expected, const SampleOptions *options, char **error)
{
    Sampling sampling = { .options = options, .program = program, .steps_expected = steps_expected, .batch = 1,
                          .sampler = sampler_new(options->record, steps_expected, options, options->pulse, options->move_log),
                          .outcome = outcome_new(),
                          .tallies = new_tallies(),
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
