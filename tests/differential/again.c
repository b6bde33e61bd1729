/* again.c - the file of a checkpoint lives as long as one comparison. */
#include "again.h"
#include <unistd.h>
#include "../support/outcomes.h"

static const char IDENTITY[] = "test again\n";

typedef struct File { char path[sizeof "/tmp/heddle-test-XXXXXX"]; } File;

static Checkpoint *open_file(File *file)
{
    char *error = NULL;
    *file = (File){ "/tmp/heddle-test-XXXXXX" };
    close(mkstemp(file->path));
    Checkpoint *checkpoint = checkpoint_new(file->path, IDENTITY, &error);
    g_assert(checkpoint != NULL);
    return checkpoint;
}

static GBytes *take_file(const File *file, Checkpoint *checkpoint)
{
    char *error = NULL;
    checkpoint_free(checkpoint);
    GBytes *bytes = checkpoint_read(file->path, IDENTITY, &error);
    g_assert(bytes != NULL);
    unlink(file->path);
    return bytes;
}

static Outcome *by_states(Program *program, const EnumerateOptions *options)
{
    Unroller *unroller = unroller_new(program);
    Outcome *outcome = enumerate_run(unroller_source(unroller), options);
    unroller_free(unroller);
    return outcome;
}

char *again_by_states(Program *program, const EnumerateOptions *given, uint64_t cut, const Outcome *expected)
{
    EnumerateOptions options = *given;
    File file;
    if (cut > 0) {
        options.limits.states = cut, options.checkpoint = open_file(&file);
        outcome_free(by_states(program, &options));
        options.resumed = take_file(&file, options.checkpoint);
        options.limits.states = given->limits.states, options.checkpoint = NULL;
    }
    options.workers = given->workers > 1 ? 1 : 2;
    Outcome *outcome = by_states(program, &options);
    char *differs = outcomes_differ(outcome, expected, cut > 0 ? "the enumeration resumed" : "the enumeration by other workers");
    outcome_free(outcome);
    g_bytes_unref(options.resumed);
    return differs;
}

static Outcome *by_classes(Program *program, const ClassesOptions *options)
{
    Unroller *unroller = unroller_new(program);
    char *error = NULL;
    Outcome *outcome = classes_run(unroller_source(unroller), options, &error);
    g_assert(outcome != NULL);
    unroller_free(unroller);
    return outcome;
}

char *again_by_classes(Program *program, const ClassesOptions *given, uint64_t cut, const Outcome *expected)
{
    ClassesOptions options = *given;
    File file;
    if (cut > 0) {
        options.limits.runs = cut, options.checkpoint = open_file(&file);
        outcome_free(by_classes(program, &options));
        options.resumed = take_file(&file, options.checkpoint);
        options.limits.runs = given->limits.runs, options.checkpoint = NULL;
    }
    options.workers = given->workers > 1 ? 1 : 2;
    Outcome *outcome = by_classes(program, &options);
    char *differs = outcomes_differ(outcome, expected, cut > 0 ? "the classes resumed" : "the classes by other workers");
    outcome_free(outcome);
    g_bytes_unref(options.resumed);
    return differs;
}
