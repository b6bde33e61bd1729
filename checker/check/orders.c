/* orders.c - replays a schedule under stricter orders of copies; where it overtakes, the earlier copies go first. */
#include "orders.h"
#include "../explain/minimise.h"

Holds orders_hold(const Finding *finding)
{
    const unsigned decided = finding->holds | finding->open;
    if (finding->open != 0)
        return HOLDS_UNDECIDED;
    if (decided == 0 || (decided >> DMA_ORDER_ISSUE_ORDER & 1))
        return HOLDS_ALWAYS;
    return decided >> DMA_ORDER_LINK_FIFO & 1 ? HOLDS_UNLESS_ISSUE_ORDER : HOLDS_UNLESS_LINK_FIFO;
}

static bool is_done(Execution *e, Move move)
{
    uint32_t copy = move.copy == NONE ? NONE : execution_find_copy(e, move.core, move.copy);
    return copy != NONE && execution_moment_done(e, copy, move.moment);
}

/* Does what holds the move back: moments of earlier copies of its core. False: it is not possible all the same. */
static bool make_possible(Execution *e, Move move, GArray *enabled)
{
    while (!is_done(e, move) && !execution_is_enabled(e, move)) {
        const Move *first = NULL;
        execution_enabled(e, enabled);
        for (guint i = 0; move.copy != NONE && i < enabled->len && first == NULL; i++) {
            const Move *other = &g_array_index(enabled, Move, i);
            first = other->core == move.core && other->copy != NONE && other->copy < move.copy ? other : NULL;
        }
        if (first == NULL)
            return false;
        execution_do(e, *first);
    }
    return true;
}

/* The judge looks at the count alone, but the fault is the step that takes it beyond the limit. */
static bool comes_too_late(Execution *e, const Finding *finding, Move last)
{
    return finding->id == FAULT_OVERFLOW && (is_done(e, last) || machine_count(execution_machine(e), finding->object) > finding->need);
}

static bool shows_under(Execution *e, const ExecutionOptions *options, const Finding *finding, DmaOrder order)
{
    Knobs *knobs = &machine_program(execution_machine(e))->knobs;
    const DmaOrder in_force = knobs->dma_order;
    g_autoptr(GArray) enabled = g_array_new(FALSE, FALSE, sizeof(Move));
    bool possible = true;
    knobs->dma_order = order;
    execution_begin(e, options);
    for (guint i = 0; i < finding->moves->len && possible; i++) {
        const Move move = g_array_index(finding->moves, Move, i);
        possible = make_possible(e, move, enabled) && !(i + 1 == finding->moves->len && comes_too_late(e, finding, move));
        if (possible && !is_done(e, move))
            execution_do(e, move);
    }
    bool shown = possible && minimise_shows(e, finding);
    knobs->dma_order = in_force;
    return shown;
}

/* A divergence is shown by two schedules, of which a finding has one. */
void orders_try(Execution *execution, const ExecutionOptions *options, Finding *finding)
{
    const DmaOrder in_force = machine_program(execution_machine(execution))->knobs.dma_order;
    finding->holds = (uint8_t)(1u << in_force), finding->open = 0;
    for (DmaOrder order = DMA_ORDER_ISSUE_ORDER; order > in_force; order--) {
        bool shown = finding->holds >> (order + 1) != 0
            || (finding->id != FAULT_DIVERGENCE && finding->moves != NULL && shows_under(execution, options, finding, order));
        *(shown ? &finding->holds : &finding->open) |= (uint8_t)(1u << order);
    }
}

bool orders_matter(const Record *record)
{
    g_autoptr(GHashTable) links = g_hash_table_new(g_direct_hash, g_direct_equal);
    bool matter = false;
    for (size_t i = 0; i < record->copies.count && !matter; i++) {
        const Copy *copy = &STORE(Copy, &record->copies, i);
        matter = copy->remote && !g_hash_table_add(links, GSIZE_TO_POINTER((gsize)copy->core << 32 | copy->target_device));
    }
    return matter;
}
