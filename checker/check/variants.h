/* variants.h - repeats a check with each variant of the module, in which unset locals hold other values (compile.h).
 *
 * A kernel must not depend on them: if steps, results or findings differ, the check is an error.
 */
#pragma once
#include "compile.h"
#include "spec.h"

/* The variants to check, once the result has its verdict. NULL: there are none, or a limit leaves no time to compare. */
const Variants *variants_to_compare(const CheckResult *result);
/* The spec for one of them. facts: what the check learned about the launches (entry_barriers_facts); borrowed. */
CheckSpec variants_spec(const CheckResult *result, const char *module, const char *facts);
/* A difference makes `result` an error; a limit that the variant reached makes it bounded. */
void variants_compare(CheckResult *result, const Variants *variants, const CheckResult *variant);
