/* checked.h - a check whose spec lives as long as its result; reports that can be compared. */
#pragma once
#include "../../checker/check/check.h"

CheckResult *checked(const CheckSpec *spec);    /* a copy of the spec is kept; checked_free */
void checked_free(CheckResult *result);
/* A JSON report without what was measured; g_free. */
char *checked_unmeasured(const char *json);
char *checked_take_report(const char *path);     /* of a file, which is removed */
