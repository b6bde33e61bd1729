/* repairs_size.c - checks a faulty program on a line of devices at smaller sizes, to find the smallest faulty one and a repair for it.
 *
 * A program that is too large for trying repairs is usually faulty at a few devices too, for the same reason. The report names the size at
 * which a repair was tried.
 */
#include "../check/check.h"
#include "../check/interrupt.h"
#include "advise.h"
#include "repairs.h"
#include <string.h>

static CheckSpec spec_at(const CheckResult *result, uint32_t devices)
{
    CheckSpec spec = whatif_spec(result);
    spec.mesh.size[0] = devices;
    return spec;
}

static Verdict verdict_at(const CheckResult *result, uint32_t devices)
{
    CheckSpec spec = spec_at(result, devices);
    CheckResult *smaller = whatif_run(result, &spec);
    Verdict verdict = smaller->verdict;
    check_result_free(smaller);
    return verdict;
}

static bool is_wrong_line(const CheckResult *result)
{
    return result->verdict == VERDICT_FAULTY && result->spec->mesh.axes == 1 && result->spec->edits == NULL && result->program != NULL;
}

/* The first size that is not tried: the program's own, or one that is not small. */
static uint32_t end_of_sizes(const CheckResult *result)
{
    return MIN(mesh_devices(&result->spec->mesh), WHATIF_CORES_MAX / MAX(result->spec->cores, 1) + 1);
}

static SmallerSizes try_sizes(const CheckResult *result)
{
    uint32_t own = mesh_devices(&result->spec->mesh), end = end_of_sizes(result);
    SmallerSizes sizes = { .known = true };
    for (uint32_t devices = 1; devices < end && !interrupt_requested(); devices++) {
        Verdict verdict = verdict_at(result, devices);
        if (verdict == VERDICT_FAULTY)
            sizes.wrong = devices;
        if (verdict != VERDICT_VERIFIED && verdict != VERDICT_NOT_APPLICABLE)
            return sizes;
        sizes.right += verdict == VERDICT_VERIFIED;
        if (verdict == VERDICT_VERIFIED && sizes.least == 0)
            sizes.least = devices;
    }
    sizes.wrong = end == own && !interrupt_requested() ? own : 0;
    return sizes;
}

/* Computed once for each result. */
static const SmallerSizes *smaller_sizes(CheckResult *result)
{
    if (!result->smaller.known)
        result->smaller = is_wrong_line(result) ? try_sizes(result) : (SmallerSizes){ .known = true };
    return &result->smaller;
}

void check_try_smaller(CheckResult *result)
{
    const SmallerSizes *found = smaller_sizes(result);
    uint32_t wrong = found->wrong, right = found->right, least = found->least;
    if (wrong == 0 || right == 0)
        return;
    g_autofree char *sizes = least == wrong - 1 ? g_strdup_printf("%u device%s", least, least == 1 ? "" : "s")
        : g_strdup_printf("%u %s %u devices", least, least + 2 == wrong ? "and" : "to", wrong - 1);
    if (right == wrong - least)
        whatif_tell(result, REPAIR_SIZE, g_strdup_printf("right with %s: the smallest wrong size is %u devices", sizes, wrong));
    else
        whatif_tell(result, REPAIR_SIZE, g_strdup_printf("the smallest wrong size is %u devices", wrong));
}

static bool shares_a_fault(const CheckResult *one, const CheckResult *other)
{
    for (guint i = 0; i < one->outcome->findings->len; i++)
        for (guint j = 0; j < other->outcome->findings->len; j++)
            if (((const Finding *)one->outcome->findings->pdata[i])->id == ((const Finding *)other->outcome->findings->pdata[j])->id)
                return true;
    return false;
}

void repairs_at_smaller_size(CheckResult *result)
{
    uint32_t wrong = smaller_sizes(result)->wrong;
    if (wrong == 0 || wrong == mesh_devices(&result->spec->mesh))
        return;
    CheckSpec spec = spec_at(result, wrong);
    spec.first = false;
    CheckResult *smaller = whatif_run(result, &spec);
    if (smaller->verdict == VERDICT_FAULTY && shares_a_fault(result, smaller))
        check_try_repairs(smaller);
    for (guint i = 0; smaller->tried != NULL && i < smaller->tried->len; i++)
        ((Repair *)smaller->tried->pdata[i])->devices = wrong;
    g_clear_pointer(&result->tried, g_ptr_array_unref);
    result->tried = g_steal_pointer(&smaller->tried);
    check_result_free(smaller);
}
