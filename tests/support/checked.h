/* checked.h - a check whose spec exists as long as its result; reports that can be compared. */
#pragma once
#include "../../checker/check/catalogue.h"
#include "../../checker/check/check.h"

/* Of a built-in program on a line of devices, for what else a test wants to set. */
CheckSpec checked_spec(const char *program, uint32_t devices, uint32_t cores, Search search);
CheckResult *checked(const CheckSpec *spec);    /* a copy of the spec is kept; checked_free */
void checked_free(CheckResult *result);
/* Bits of the faults that were found and are not exempt; every one was shown by its schedule. */
uint32_t checked_faults(const CheckResult *result);
/* Of CatalogueEntry: the built-in programs of a group; NULL: of all. g_ptr_array_unref */
GPtrArray *checked_catalogue(const char *group);
char *checked_faults_text(uint32_t faults);      /* " race deadlock", " nothing"; g_free */
uint32_t checked_faults_due(const CheckResult *result);        /* what the program promises at this size */
/* A JSON report without what was measured; g_free. */
char *checked_unmeasured(const char *json);
char *checked_take_report(const char *path);     /* of a file, which is removed */
