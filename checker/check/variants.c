/* variants.c - compares records without source lines, since variants are compiled differently. */
#include "variants.h"
#include <string.h>
#include "check_parts.h"

/* The first step that differs and the first core that ends differently; SIZE_MAX: none. */
typedef struct VariantDifference { size_t step, core; } VariantDifference;

static VariantDifference first_difference(const Record *a, const Record *b)
{
    size_t both = MIN(a->steps.count, b->steps.count);
    VariantDifference found = { SIZE_MAX, SIZE_MAX };
    for (size_t i = 0; i < both && found.step == SIZE_MAX; i++)
        if (!record_same_step(a, &STORE(Step, &a->steps, i), b, &STORE(Step, &b->steps, i)))
            found.step = i;
    for (size_t c = 0; c < MIN(a->ends.count, b->ends.count) && found.core == SIZE_MAX; c++) {
        const CoreState *left = &STORE(CoreState, &a->ends, c), *right = &STORE(CoreState, &b->ends, c);
        if (left->end != right->end || (left->end == CORE_BLOCKED && (left->pending.kind != right->pending.kind
                || left->pending.object != right->pending.object || left->pending.value != right->pending.value)))
            found.core = c;
    }
    if (found.step == SIZE_MAX && a->steps.count != b->steps.count)
        found.step = both;
    return found;
}

/* "k.c:7: what k does"; NULL: the step has no line of the author. */
static char *describe(const Record *record, const Step *step)
{
    if (step == NULL || step_has(step->kind, STEP_ON_LAUNCH))
        return NULL;
    const Program *program = record->program;
    g_autofree char *where = program_describe_site(program, step->site);
    return g_strdup_printf("%s: what %s does", where, program_text(program, program_get_site(program, step->site)->function));
}

static char *describe_step(const Record *record, size_t index)
{
    return index < record->steps.count ? describe(record, &STORE(Step, &record->steps, index)) : NULL;
}

static char *describe_end(const Record *record, size_t core)
{
    const CoreState *end = core < record->ends.count ? &STORE(CoreState, &record->ends, core) : NULL;
    return end != NULL && end->end == CORE_BLOCKED ? describe(record, &end->pending) : NULL;
}

static void refuse(CheckResult *result, const Variants *variants, const char *what)
{
    check_fail(result, "%s depends on a local that was never set: %s", what, variants->locals);
}

/* Names the first difference that has a source line, in either record. */
static void refuse_difference(CheckResult *result, const Variants *variants, const Record *variant, VariantDifference difference)
{
    char *(*const of[])(const Record *, size_t) = { describe_step, describe_end };
    const size_t at[] = { difference.step, difference.core };
    g_autofree char *what = NULL;
    for (size_t i = 0; i < 4 && what == NULL; i++)
        what = of[i / 2](i % 2 ? variant : result->record, at[i / 2]);
    if (what == NULL)
        what = g_strdup_printf("%s: what it does", check_module(result->spec));
    refuse(result, variants, what);
}

static bool same_numbers(const Outcome *a, const Outcome *b)
{
    return a->executions == b->executions && a->classes == b->classes && a->states == b->states && a->transitions == b->transitions
        && a->conflicts == b->conflicts && a->findings->len == b->findings->len;
}

/* A limit that ended the variant leaves the check undecided too. */
static void take_limits(CheckResult *result, const Outcome *of_variant)
{
    for (guint i = 0; i < of_variant->limits->len; i++)
        outcome_add_limit(result->outcome, g_ptr_array_index(of_variant->limits, i));
    if (result->verdict == VERDICT_VERIFIED)
        result->verdict = VERDICT_BOUNDED;
}

static bool same_search(const CheckResult *a, const CheckResult *b)
{
    return a->outcome->complete && b->outcome->complete ? same_numbers(a->outcome, b->outcome)
        : a->verdict == b->verdict || b->verdict != VERDICT_FAULTY;
}

void variants_compare(CheckResult *result, const Variants *variants, const CheckResult *variant)
{
    const char *module = check_module(result->spec);
    if (variant->verdict == VERDICT_ERROR || variant->verdict == VERDICT_NOT_APPLICABLE) {
        check_fail(result, "%s: whether it runs depends on a local that was never set: %s; with other values %s", module, variants->locals,
                   variant->error);
        return;
    }
    if (!variant->record->complete && variant->verdict == VERDICT_BOUNDED) {
        take_limits(result, variant->outcome);
        return;
    }
    VariantDifference difference = first_difference(result->record, variant->record);
    bool same = difference.step == SIZE_MAX && difference.core == SIZE_MAX && variant->record->complete
        && result->record->raised.count == variant->record->raised.count;
    g_autofree char *computed = g_strdup_printf("%s: what it computes", module), *orders = g_strdup_printf("%s: what it does in other "
                                                                                                           "orders", module);
    if (!same)
        refuse_difference(result, variants, variant->record, difference);
    else if (result->record->final_hash != variant->record->final_hash)
        refuse(result, variants, computed);
    else if (!same_search(result, variant))
        refuse(result, variants, orders);
    else if (variant->verdict == VERDICT_BOUNDED)
        take_limits(result, variant->outcome);
}

const Variants *variants_to_compare(const CheckResult *result)
{
    bool judged = result->verdict == VERDICT_VERIFIED || result->verdict == VERDICT_FAULTY || result->verdict == VERDICT_BOUNDED;
    bool over = result->verdict != VERDICT_VERIFIED && check_is_over(result);
    bool due = judged && !over && !result->spec->whatif && result->spec->edits == NULL && result->record->complete;
    return due ? compile_variants(result->spec->module) : NULL;
}

CheckSpec variants_spec(const CheckResult *result, const char *module, const char *facts)
{
    CheckSpec spec = *result->spec;
    spec.module = module, spec.facts = facts;
    spec.whatif = true, spec.until = check_until(result);
    spec.results = spec.recording = false, spec.checkpoint = spec.resume = NULL;
    return spec;
}
