/* checked.c - see checked.h. */
#include "checked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include "../../kernels/pallas/module.h"

CheckSpec checked_spec(const char *program, uint32_t devices, uint32_t cores, Search search)
{
    CheckSpec spec = { .open = pl_module_open, .program = program, .cores = cores, .search = search };
    mesh_line(&spec.mesh, devices);
    return spec;
}

CheckResult *checked(const CheckSpec *spec)
{
    return check_run(g_memdup2(spec, sizeof *spec));
}

void checked_free(CheckResult *result)
{
    CheckSpec *spec = (CheckSpec *)result->spec;
    check_result_free(result);
    g_free(spec);
}

uint32_t checked_faults(const CheckResult *result)
{
    uint32_t faults = 0;
    for (guint i = 0; result->outcome != NULL && i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        assert_true(finding->shown);
        assert_non_null(finding->lines);
        assert_true(finding->lines->len > 0);
        faults |= finding_exemption(result->program, finding) ? 0 : 1u << finding->id;
    }
    return faults;
}

GPtrArray *checked_catalogue(const char *group)
{
    char *error = NULL;
    GPtrArray *entries = catalogue_read(pl_module_open, NULL, &error);
    assert_non_null(entries);
    for (guint i = entries->len; group != NULL && i-- > 0;)
        if (strcmp(((const CatalogueEntry *)entries->pdata[i])->group, group) != 0)
            g_ptr_array_remove_index(entries, i);
    return entries;
}

char *checked_faults_text(uint32_t faults)
{
    GString *text = g_string_new(NULL);
    for (int f = 0; f < FAULT_COUNT; f++)
        if (faults >> f & 1)
            g_string_append_printf(text, " %s", fault_name((FaultId)f));
    return g_string_free(g_string_append(text, faults ? "" : " nothing"), FALSE);
}

uint32_t checked_faults_due(const CheckResult *result)
{
    const Program *program = result->program;
    return program != NULL && program->devices >= program->expected_from ? program->expected_faults : 0;
}

char *checked_unmeasured(const char *json)
{
    g_autoptr(GRegex) measured = g_regex_new("\"measured\" : \\{[^}]*\\}", 0, 0, NULL);
    return g_regex_replace(measured, json, -1, 0, "", 0, NULL);
}

char *checked_take_report(const char *path)
{
    g_autofree char *json = NULL;
    assert_true(g_file_get_contents(path, &json, NULL, NULL));
    g_unlink(path);
    return checked_unmeasured(json);
}
