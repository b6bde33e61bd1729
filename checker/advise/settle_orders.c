/* settle_orders.c - decides by further checks under which orders of copies a fault holds, where its schedule does not show it.
 *
 * A stricter order has a part of the executions. So a fault that a whole check under it does not have is absent under it and all that are
 * stricter, and one that it has holds under all that are weaker.
 */
#include "../check/orders.h"
#include "../check/race_marks.h"
#include "advise.h"
#include "whatif.h"

enum { STEPS_MAX = 60000 };                     /* of a program that is checked again */

static uint8_t bit(DmaOrder order) { return (uint8_t)(1u << order); }

/* Has the check every such fault of its program? */
static bool is_whole(const CheckResult *checked, const Finding *finding)
{
    const Outcome *outcome = checked->outcome;
    return checked->verdict == VERDICT_VERIFIED
        || (checked->verdict == VERDICT_FAULTY && outcome->complete && !outcome->incomplete_after_race
            && !(outcome->unjudged_after_race && race_marks_matter_to(finding)));
}

static bool has_shown(const CheckResult *checked, const char *key)
{
    bool found = false;
    for (guint i = 0; checked->verdict == VERDICT_FAULTY && i < checked->outcome->findings->len && !found; i++) {
        const Finding *finding = checked->outcome->findings->pdata[i];
        g_autofree char *own = finding_key(checked->program, finding);
        found = finding->shown && strcmp(own, key) == 0;
    }
    return found;
}

static void settle(const CheckResult *result, const CheckResult *checked, DmaOrder order)
{
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        Finding *finding = result->outcome->findings->pdata[i];
        g_autofree char *key = finding_key(result->program, finding);
        if (!(finding->open & bit(order)))
            continue;
        if (has_shown(checked, key)) {
            uint8_t weaker = (uint8_t)((bit(order) << 1) - bit(result->spec->knobs.dma_order));
            finding->holds |= weaker, finding->open &= (uint8_t)~weaker;
        } else if (is_whole(checked, finding)) {
            finding->open &= (uint8_t)(bit(order) - 1);
        }
    }
}

static bool may_check_again(const CheckResult *result)
{
    return result->verdict == VERDICT_FAULTY && result->record != NULL && result->spec->edits == NULL
        && result->record->steps.count <= STEPS_MAX;
}

static bool any_open(const CheckResult *result, DmaOrder order)
{
    bool any = false;
    for (guint i = 0; i < result->outcome->findings->len; i++) {
        const Finding *finding = result->outcome->findings->pdata[i];
        any |= whatif_is_reported(result, finding) && (finding->open & bit(order));
    }
    return any;
}

static gint by_holds(gconstpointer a, gconstpointer b)
{
    return (gint)orders_hold(*(Finding *const *)a) - (gint)orders_hold(*(Finding *const *)b);
}

void check_settle_orders(CheckResult *result)
{
    if (result->verdict != VERDICT_FAULTY)
        return;
    for (DmaOrder order = result->spec->knobs.dma_order + 1; order <= DMA_ORDER_ISSUE_ORDER && may_check_again(result); order++) {
        if (!any_open(result, order))
            continue;
        Knobs knobs = result->spec->knobs;
        knobs.dma_order = order;
        CheckResult *checked = whatif_check(result, NULL, &knobs, false);
        settle(result, checked, order);
        check_result_free(checked);
    }
    g_ptr_array_sort(result->outcome->findings, by_holds);         /* stable */
}
