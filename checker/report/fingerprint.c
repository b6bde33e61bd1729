/* fingerprint.c - a hash of the words that name the fault, without spaces, so that reformatting the source does not change it. */
#include "fingerprint.h"
#include <string.h>
#include <xxhash.h>

static void append_squeezed(GString *out, const char *line)
{
    for (; *line; line++)
        if (!g_ascii_isspace(*line))
            g_string_append_c(out, *line);
}

static bool same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (g_ascii_isspace(*a))
            a++;
        while (g_ascii_isspace(*b))
            b++;
        if (*a != *b || !*a)
            return *a == *b;
    }
}

static void append_site(GString *out, Source *source, const Program *program, uint32_t site_id)
{
    const Site *site = program_get_site(program, site_id);
    const char *file = program_text(program, site->file), *line = source_line(source, file, site->line);
    g_autofree char *base = g_path_get_basename(file);
    g_string_append_printf(out, "%s\n%s\n", base, program_text(program, site->function));
    if (!line) {
        g_string_append_printf(out, "line %u\n", site->line);
        return;
    }
    unsigned same = 0;
    for (unsigned i = 1; i < site->line; i++) {
        const char *other = source_line(source, file, i);
        same += other && same_text(other, line);
    }
    append_squeezed(out, line);
    g_string_append_printf(out, "\n%u\n", same);
}

static void append_sites(GString *out, Source *source, const Program *program, uint32_t site)
{
    for (; site != NONE; site = program_caller(program, site))
        append_site(out, source, program, site);
}

static int compare_texts(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *fingerprint_finding(Source *source, const CheckResult *result, const Finding *finding)
{
    const Program *program = result->program;
    g_autoptr(GString) all = g_string_new(NULL);
    g_autoptr(GPtrArray) sites = g_ptr_array_new_with_free_func(g_free);
    g_string_append_printf(all, "%s\n%s\n", result->spec->program, fault_name(finding->id));
    if (finding->object != NONE) {
        uint32_t decl = finding->object_is_semaphore ? program_semaphore_decl(program, finding->object)
                                                     : program_object_decl(program, finding->object);
        g_string_append_printf(all, "%s\n", program_text(program, program_decl(program, decl)->name));
    }
    for (unsigned i = 0; i < finding->places; i++) {
        GString *site = g_string_new(step_kind_name(finding->place[i].kind));
        g_string_append_c(site, '\n');
        append_sites(site, source, program, finding->place[i].site);
        g_ptr_array_add(sites, g_string_free(site, FALSE));
    }
    g_ptr_array_sort(sites, compare_texts);     /* their order may depend on the size */
    for (guint i = 0; i < sites->len; i++)
        g_string_append(all, g_ptr_array_index(sites, i));
    return g_strdup_printf("%016" G_GINT64_MODIFIER "x", (guint64)XXH3_64bits(all->str, all->len));
}
