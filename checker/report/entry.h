/* entry.h - the findings of a check, one entry for each thing to mend: the finding that says most, and below it its other symptoms.
 *
 *     entries_new -> Entry: findings[0] is told in full, the rest in a line each
 *
 * Invariants:  1. every finding that is not exempted is in exactly one entry; entries are in the order of their first findings.
 * Ownership:   findings belong to the outcome.
 */
#pragma once
#include <glib.h>
#include "../check/check.h"

typedef struct Entry {
    GArray *findings;                           /* of guint: places in outcome->findings */
} Entry;

GPtrArray *entries_new(const CheckResult *result);              /* of Entry; g_ptr_array_unref */
const Finding *entry_finding(const CheckResult *result, const Entry *entry, guint i);
