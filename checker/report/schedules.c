/* schedules.c - names depend only on the check: the same check writes the same files. */
#include "schedules.h"
#include <errno.h>
#include <string.h>
#include <xxhash.h>
#include "describe.h"
#include "message.h"
#include "schedule_file.h"

static unsigned short_hash(const CheckSpec *spec)
{
    GString *all = g_string_new(spec->program);
    char *knobs = describe_knobs(&spec->knobs);
    g_string_append_printf(all, "\n%s\n%s\n%u cores, seed %" G_GUINT64_FORMAT "\n", spec->source ? spec->source : "", knobs, spec->cores,
                           spec->seed);
    for (unsigned axis = 0; axis < spec->mesh.axes; axis++)
        g_string_append_printf(all, "%s=%u\n", spec->mesh.name[axis], spec->mesh.size[axis]);
    for (size_t i = 0; i < spec->overrides; i++)
        g_string_append_printf(all, "%s=%" G_GINT64_FORMAT "\n", spec->override[i].name, spec->override[i].value);
    unsigned hash = XXH3_64bits(all->str, all->len) & 0xffff;
    g_string_free(all, TRUE);
    g_free(knobs);
    return hash;
}

/* "ring-n3-race-1-4f2a.schedule"; g_free */
static char *name_of(const CheckResult *result, const Finding *finding, unsigned number)
{
    char *program = g_strcanon(g_strdup(result->spec->program), G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-", '_');
    char *name = g_strdup_printf("%s-n%u-%s-%u-%04x.schedule", program, mesh_devices(&result->spec->mesh), fault_name(finding->id), number,
                                 short_hash(result->spec));
    g_free(program);
    return name;
}

GPtrArray *schedules_write(const CheckResult *result, const char *folder, char **error)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    unsigned number[FAULT_COUNT] = {0};
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        char *path = NULL;
        if (finding->moves && !finding_exemption(result->program, finding) && !*error) {
            char *name = name_of(result, finding, ++number[finding->id]);
            path = g_build_filename(folder, name, NULL);
            if (g_mkdir_with_parents(folder, 0777))
                *error = g_strdup_printf("cannot make the folder %s: %s", folder, g_strerror(errno));
            if (*error || !schedule_write(result, finding, path, error))
                g_clear_pointer(&path, g_free);
            g_free(name);
        }
        g_ptr_array_add(paths, path);
    }
    return paths;
}
