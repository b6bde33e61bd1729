/* checked.c - see checked.h. */
#include "checked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include "../../checker/check/check.h"

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
