/* json.h - `heddle list --json`; the report for tools, heddle-report version 1, is a format of output.h.
 *
 * Ownership:   strings belong to the caller (g_free).
 */
#pragma once
#include "../check/catalogue.h"

/* catalogue: of CatalogueEntry. */
char *json_catalogue(const GPtrArray *catalogue);
