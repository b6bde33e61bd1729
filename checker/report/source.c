/* source.c - reads each file once, and only small regular files, because a #line may name anything. */
#include "source.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (8 << 20)

struct Source {
    GHashTable *lines;                          /* name -> char**; looked up only, never walked */
};

Source *source_new(void)
{
    Source *source = g_new0(Source, 1);
    source->lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_strfreev);
    return source;
}

void source_free(Source *source)
{
    g_hash_table_unref(source->lines);
    g_free(source);
}

static char **read_lines(const char *file)
{
    GStatBuf info;
    char *text = NULL;
    gsize bytes = 0;
    if (g_stat(file, &info) || !S_ISREG(info.st_mode) || info.st_size > FILE_BYTES_MAX || !g_file_get_contents(file, &text, &bytes, NULL))
        return g_new0(char *, 1);
    char **lines = g_utf8_validate(text, bytes, NULL) ? g_strsplit(text, "\n", -1) : g_new0(char *, 1);
    for (char **line = lines; *line; line++) {
        for (char *at = *line; *at; at++)
            if (g_ascii_iscntrl(*at))
                *at = ' ';
        g_strchomp(*line);
    }
    g_free(text);
    return lines;
}

static char **lines_of(Source *source, const char *file)
{
    char **lines = g_hash_table_lookup(source->lines, file);
    if (!lines) {
        lines = read_lines(file);
        g_hash_table_insert(source->lines, g_strdup(file), lines);
    }
    return lines;
}

unsigned source_count(Source *source, const char *file)
{
    return g_strv_length(lines_of(source, file));
}

const char *source_line(Source *source, const char *file, unsigned line)
{
    char **lines = lines_of(source, file);
    unsigned count = g_strv_length(lines);
    return line >= 1 && line <= count && *lines[line - 1] ? lines[line - 1] : NULL;
}
