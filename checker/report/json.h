/* json.h - `heddle list --json`; the report for tools, heddle-report version 1, is a format of output.h.
 *
 * Ownership:   strings belong to the caller (g_free).
 */
#pragma once
#include <json-glib/json-glib.h>
#include "../check/catalogue.h"

/* catalogue: of CatalogueEntry. */
char *json_catalogue(const GPtrArray *catalogue);
/* The names of orders of copies; a bit each. */
void json_add_orders(JsonBuilder *builder, const char *name, uint8_t orders);
