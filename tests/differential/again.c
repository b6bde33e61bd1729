/* again.c - the file of a checkpoint lives as long as one comparison. */
#include "again.h"
#include <unistd.h>
#include "../support/outcomes.h"

static const char IDENTITY[] = "test again\n";

typedef struct AgainSearch {                         /* a search, and the places of what changes in its options */
    const char *name;
    Outcome *(*run)(UnrollSource *source, const void *options);
    const void *options;
    unsigned *workers;
    uint64_t *limit;
    Checkpoint **checkpoint;
    GBytes **resumed;
} AgainSearch;

static Outcome *run(Program *program, const AgainSearch *search)
{
    Unroller *unroller = unroller_new(program);
    Outcome *outcome = search->run(unroller_source(unroller), search->options);
    unroller_free(unroller);
    return outcome;
}

/* Runs it up to `cut`; its checkpoint. */
static GBytes *run_short(Program *program, const AgainSearch *search, uint64_t cut)
{
    char path[] = "/tmp/heddle-test-XXXXXX", *error = NULL;
    const uint64_t limit = *search->limit;
    close(mkstemp(path));
    *search->limit = cut;
    Checkpoint *checkpoint = *search->checkpoint = checkpoint_new(path, IDENTITY, &error);
    g_assert(checkpoint != NULL);
    outcome_free(run(program, search));
    checkpoint_free(checkpoint);
    *search->limit = limit, *search->checkpoint = NULL;
    GBytes *bytes = checkpoint_read(path, IDENTITY, &error);
    g_assert(bytes != NULL);
    unlink(path);
    return bytes;
}

static char *again(Program *program, const AgainSearch *search, uint64_t cut, const Outcome *expected)
{
    g_autofree char *name = g_strdup_printf("%s %s", search->name, cut > 0 ? "resumed" : "by other workers");
    if (cut > 0)
        *search->resumed = run_short(program, search, cut);
    *search->workers = *search->workers > 1 ? 1 : 2;
    Outcome *outcome = run(program, search);
    char *differs = outcomes_differ(outcome, expected, name);
    outcome_free(outcome);
    g_bytes_unref(*search->resumed);
    return differs;
}

static Outcome *run_states(UnrollSource *source, const void *options)
{
    return enumerate_run(source, options);
}

char *again_by_states(Program *program, const EnumerateOptions *given, uint64_t cut, const Outcome *expected)
{
    EnumerateOptions own = *given;
    const AgainSearch search = { "the enumeration", run_states, &own, &own.workers, &own.limits.states, &own.checkpoint, &own.resumed };
    return again(program, &search, cut, expected);
}

static Outcome *run_classes(UnrollSource *source, const void *options)
{
    char *error = NULL;
    Outcome *outcome = classes_run(source, options, &error);
    g_assert(outcome != NULL);
    return outcome;
}

char *again_by_classes(Program *program, const ClassesOptions *given, uint64_t cut, const Outcome *expected)
{
    ClassesOptions own = *given;
    const AgainSearch search = { "the classes", run_classes, &own, &own.workers, &own.limits.runs, &own.checkpoint, &own.resumed };
    return again(program, &search, cut, expected);
}
