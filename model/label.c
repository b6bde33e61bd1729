/* label.c - one range of numbers for each window; the number of blocks along each dimension decodes a block's indices. */
#include "label.h"
#include <glib.h>

enum { LABELS_MAX = 1 << 24 };                  /* of one buffer; with more blocks all share one label */

static const Labels *labels_at(const Program *program, size_t i)
{
    return &STORE(Labels, &program->labels, i);
}

uint32_t label_add(Program *program, Labels labels)
{
    size_t before = program->labels.count;
    int64_t count = labels.ndim > 0;
    for (unsigned d = 0; d < labels.ndim && count <= LABELS_MAX; d++)
        count *= labels.blocks[d];
    labels.first = before > 0 ? labels_at(program, before - 1)->first + labels_at(program, before - 1)->count : 1;
    bool many = count > LABELS_MAX || count > (UINT32_MAX - labels.first) / 2;
    labels.count = many ? 1 : (uint32_t)count + 1;
    *(Labels *)store_push(&program->labels, 1) = labels;
    return (uint32_t)before;
}

uint32_t label_of_block(const Program *program, uint32_t of, const int64_t *index)
{
    const Labels *labels = labels_at(program, of);
    int64_t at = 0;
    for (unsigned d = 0; d < labels->ndim && labels->count > 1; d++) {
        if (index[d] < 0 || index[d] >= labels->blocks[d])
            return labels->first;
        at = at * labels->blocks[d] + index[d];
    }
    return labels->count > 1 ? labels->first + 1 + (uint32_t)at : labels->first;
}

static const Labels *labels_of(const Program *program, uint32_t label)
{
    size_t low = 0, high = program->labels.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (labels_at(program, middle)->first <= label)
            low = middle;
        else
            high = middle;
    }
    return labels_at(program, low);
}

char *label_describe(const Program *program, uint32_t label)
{
    const Labels *labels = labels_of(program, label);
    const char *name = program_text(program, program_decl(program, labels->decl)->name);
    GString *text = g_string_new(labels->fetch ? "the fetch of " : "the write-back of ");
    int64_t index[VIEW_DIMS_MAX] = { 0 }, at = (int64_t)label - labels->first - 1;
    for (unsigned d = labels->ndim; d-- > 0; at /= labels->blocks[d])
        index[d] = at % labels->blocks[d];
    if (labels->ndim > 0)
        g_string_append(text, label == labels->first ? "a block" : "block (");
    for (unsigned d = 0; d < labels->ndim && label != labels->first; d++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT "%s", d ? ", " : "", index[d], d + 1 == labels->ndim ? ")" : "");
    g_string_append_printf(text, "%s%s", labels->ndim > 0 ? " of " : "", name);
    return g_string_free(text, FALSE);
}

char *label_describe_copy(const Program *program, const char *core, uint32_t ordinal, uint32_t label)
{
    g_autofree char *name = label != 0 ? label_describe(program, label) : NULL;
    return name != NULL ? g_strdup_printf("%s by %s", name, core) : g_strdup_printf("copy %u of %s", ordinal, core);
}

char *label_describe_start(const Program *program, uint32_t site, uint32_t described)
{
    char *start = program_describe_site(program, site);
    if (described == site || described == NONE)
        return start;
    g_autofree char *where = program_describe_site(program, described), *only = start;
    return g_strdup_printf("%s (described at %s)", only, where);
}

void label_mark_site(Program *program, uint32_t site)
{
    STORE(Site, &program->sites, site).library = 1;
}

bool label_marks_site(const Program *program, uint32_t site)
{
    return site < program->sites.count && program_get_site(program, site)->library;
}
