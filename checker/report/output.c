/* output.c - keeps the text of the report ready, so that an interruption can write the report so far. Rendering costs as much as the report
 * is long, so after the first checks it is repeated only when a tenth has been added.
 */
#include "output.h"
#include "outfile.h"

struct Output {
    const OutputFormat *format;
    void *document;
    Outfile *file;
    unsigned added, shown;                      /* changes so far; how many of them the file has */
};

enum { ALWAYS_UP_TO = 64 };

#define FORMAT_OF(kind, name, commands, help) [OUTPUT_##kind] = &name##_format,
static const OutputFormat *const format_of[OUTPUT_KINDS] = { OUTPUT_FORMATS(FORMAT_OF) };

static void refresh(Output *output)
{
    const GString *text = output->format->text(output->document);
    outfile_set(output->file, text->str, text->len);
    output->shown = output->added;
}

static void refresh_soon(Output *output)
{
    output->added++;
    if (output->format->grows || output->added <= ALWAYS_UP_TO || output->added - output->shown > output->shown / 10)
        refresh(output);
}

Output *output_open(OutputKind kind, const char *path, const OutputSettings *settings, char **error)
{
    Outfile *file = outfile_open(path, error);
    if (file == NULL)
        return NULL;
    Output *output = g_new0(Output, 1);
    output->format = format_of[kind], output->file = file;
    output->document = output->format->begin(settings);
    refresh(output);
    return output;
}

void output_add(Output *output, const CheckResult *result, const GPtrArray *schedules)
{
    output->format->add(output->document, result, schedules);
    refresh_soon(output);
}

void output_add_error(Output *output, const char *message)
{
    output->format->add_error(output->document, message);
    refresh_soon(output);
}

void output_commit(Output *output)
{
    (void)outfile_commit(output->file);
}

bool output_close(Output *output, bool keep, char **error)
{
    if (output->shown < output->added)
        refresh(output);
    bool good = outfile_close(output->file, keep, error);
    output->format->clear(output->document);
    g_free(output);
    return good;
}
