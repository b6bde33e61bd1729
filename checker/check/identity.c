/* identity.c - a source may include other files, so the hash of the recorded run is part of the identity. */
#include "identity.h"
#include "../../model/input.h"
#include "../run/infile.h"
#include <stddef.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

char *identity_hash_file(const char *path)
{
    g_autofree char *text = NULL;
    g_autofree char *error = NULL;
    gsize length;
    if (path == NULL || (text = infile_read(path, &length, &error)) == NULL)
        return g_strdup("-");
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x", (guint64)XXH3_64bits(text, length));
}

static uint64_t hash_run(const Record *record)
{
    uint64_t hash = XXH3_64bits(record->steps.base, record->steps.count * record->steps.item_bytes);
    for (size_t i = 0; i < record->copies.count; i++)       /* without the struct's padding */
        hash = XXH3_64bits_withSeed(&STORE(Copy, &record->copies, i), offsetof(Copy, remote) + 1, hash);
    return hash;
}

char *identity_input(const Program *program)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < program->drawn.count; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? "," : "", input_drawn(program, i)->value);
    return program->drawn.count > 0 ? g_strdup(text->str) : NULL;
}

static void append_parameters(GString *text, const Program *program)
{
    g_autofree char *input = identity_input(program);
    if (input != NULL)
        g_string_append_printf(text, "input %s\n", input);
    for (size_t i = 0; i < program->parameters.count; i++) {
        const Parameter *parameter = &STORE(Parameter, &program->parameters, i);
        g_string_append_printf(text, "-D%s %" G_GINT64_FORMAT "\n", program_text(program, parameter->name), parameter->value);
    }
}

char *identity_of_check(const CheckSpec *spec, const Program *program, const Record *record, const char *facts)
{
    g_autofree char *source = identity_hash_file(program->source), *build = identity_hash_file("/proc/self/exe");
    g_autofree char *module = identity_hash_file(spec->source ? NULL : spec->module);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "program %s\nsearch %s\nmesh ", spec->program, search_name(spec->search));
    for (unsigned a = 0; a < program->mesh.axes; a++)
        g_string_append_printf(text, "%s%s=%u", a ? "," : "", program->mesh.name[a], program->mesh.size[a]);
    g_string_append_printf(text, "\ncores %u\n", program->cores_per_device);
    append_parameters(text, program);
    const Knobs *knobs = &program->knobs;
    g_string_append_printf(text, "knobs %d %d %d %d %d %d %d\n", (int)knobs->dma_order, (int)knobs->dma_progress, (int)knobs->bounds,
                           (int)knobs->scopes, (int)knobs->data, (int)knobs->windows, (int)knobs->at_bounds);
    g_string_append_printf(text, "--sweep %d\n--merge-local %d\n--hash-compact %d\n--symmetry %d\n", (spec->modes & ENUMERATE_SWEEP) != 0,
                           (spec->modes & ENUMERATE_MERGE_LOCAL) != 0, (spec->modes & ENUMERATE_HASH_COMPACT) != 0,
                           (spec->modes & ENUMERATE_SYMMETRY) != 0);
    g_string_append_printf(text, "--seed %" G_GUINT64_FORMAT "\n--depth %u\n--first %d\nsource-hash %s\n", spec->seed, spec->depth,
                           spec->first, source);
    g_string_append_printf(text, "heddle-build %s\nheddle-module %s\n", build, module);
    g_string_append_printf(text, IDENTITY_FACTS " %s\n", facts);
    g_string_append_printf(text, "run-hash %016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x\n", (guint64)hash_run(record),
                           (guint64)record->final_hash);
    return g_string_free(text, FALSE);
}
