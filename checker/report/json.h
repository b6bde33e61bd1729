/* json.h - the report for tools: heddle-report version 1, described by heddle-report.schema.json beside this file.
 *
 * Ownership:   strings belong to the caller (g_free).
 */
#pragma once
#include "../check/catalogue.h"

/* The whole document so far: json_document_begin, then each json_check in turn; its text is complete JSON after every call. */
typedef struct JsonDocument {
    GString *text;
    size_t open;                                /* bytes of it without the closing brackets */
    unsigned checks;
    char *root;                                 /* files are told relative to it */
    GPtrArray *errors;                          /* of char*: one line each, for what could not be checked */
} JsonDocument;

void json_document_begin(JsonDocument *document, const char *version, const char *source_root);     /* as in paths.h */
/* schedules: as in text_check. Results without a verdict (ERROR) are no checks but errors. */
void json_document_add(JsonDocument *document, const CheckResult *result, const GPtrArray *schedules);
void json_document_add_error(JsonDocument *document, const char *message);
void json_document_clear(JsonDocument *document);
/* `heddle list --json`; catalogue: of CatalogueEntry. */
char *json_catalogue(const GPtrArray *catalogue);
