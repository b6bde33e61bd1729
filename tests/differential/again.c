/* again.c - the file of a checkpoint lives as long as one comparison. */
#include "again.h"
#include <string.h>
#include <unistd.h>

static const char IDENTITY[] = "test again\n";

static bool same_moves(const GArray *one, const GArray *other)
{
    if (one == NULL || other == NULL)
        return one == other;
    bool same = one->len == other->len;
    for (guint i = 0; same && i < one->len; i++) {
        const Move a = g_array_index(one, Move, i), b = g_array_index(other, Move, i);
        same = a.core == b.core && a.copy == b.copy && a.moment == b.moment;
    }
    return same;
}

static bool same_ends(const GArray *one, const GArray *other)
{
    return one->len == other->len && (one->len == 0 || memcmp(one->data, other->data, one->len * sizeof(uint64_t)) == 0);
}

static char *difference(const Outcome *one, const Outcome *expected, const char *what)
{
    bool same = one->findings->len == expected->findings->len;
    for (guint i = 0; same && i < one->findings->len; i++) {
        const Finding *a = g_ptr_array_index(one->findings, i), *b = g_ptr_array_index(expected->findings, i);
        same = finding_compare(a, b) == 0 && a->count == b->count && same_moves(a->moves, b->moves);
    }
    const struct { const char *name; uint64_t one, expected; } number[] = {
        { "states", one->states, expected->states }, { "transitions", one->transitions, expected->transitions },
        { "classes", one->classes, expected->classes }, { "redundant classes", one->redundant, expected->redundant },
        { "steps", one->steps, expected->steps }, { "conflicts", one->conflicts, expected->conflicts },
        { "complete", one->complete, expected->complete }, { "limits", one->limits->len, expected->limits->len },
        { "findings as they were", same, true },
        { "end states as they were", same_ends(one->end_states, expected->end_states), true },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(number); i++)
        if (number[i].one != number[i].expected)
            return g_strdup_printf("%s: %s: %" G_GUINT64_FORMAT " in place of %" G_GUINT64_FORMAT "\n", what, number[i].name, number[i].one,
                                   number[i].expected);
    return NULL;
}

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
    char *differs = difference(outcome, expected, cut > 0 ? "the enumeration resumed" : "the enumeration by other workers");
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
    char *differs = difference(outcome, expected, cut > 0 ? "the classes resumed" : "the classes by other workers");
    outcome_free(outcome);
    g_bytes_unref(options.resumed);
    return differs;
}
