/* stuck_cores.c - every execution of a conflict-free program ends with the same steps left, so the record's end is the deadlock. A core
 * stuck at a join needs the missing members; one stuck at a wait needs the cores that would signal its semaphore later. Where that cannot
 * be foreseen, the likely ones are those that signalled this semaphore, or its siblings, before.
 */
#include "stuck_cores.h"

static bool gives(const Lookahead *entry)
{
    return entry->kind == STEP_SIGNAL || entry->kind == STEP_READ || entry->kind == STEP_WRITE || entry->kind == STEP_FLAG_ADD
        || entry->kind == STEP_FLAG_STORE;
}

static const Lookahead *foreseen_at(const Stuck *stuck, size_t i)
{
    return &STORE(Lookahead, &stuck->prover->record->lookahead, i);
}

Stuck *stuck_new(const Prover *prover)
{
    const Store *foreseen = &prover->record->lookahead;
    Stuck *stuck = ARENA_NEW(Stuck, prover->arena, 1);
    stuck->prover = prover;
    stuck->head = ARENA_NEW(uint32_t, prover->arena, prover->index->semaphores + 1);
    stuck->next = ARENA_NEW(uint32_t, prover->arena, foreseen->count + 1);
    stuck->vague = ARENA_NEW(bool, prover->arena, prover->index->cores);
    stuck->foreseen = foreseen->count > 0;
    for (size_t i = foreseen->count; i-- > 0;) {
        const Lookahead *entry = foreseen_at(stuck, i);
        if (entry->kind == STEP_STOP)
            stuck->vague[entry->core] = stuck->any_vague = true;
        if (!gives(entry) || entry->object == NONE || entry->object >= prover->index->semaphores)
            continue;
        stuck->next[i] = stuck->head[entry->object];
        stuck->head[entry->object] = (uint32_t)i + 1;
    }
    return stuck;
}

const CoreState *stuck_end(const Stuck *stuck, uint32_t core)
{
    return &STORE(CoreState, &stuck->prover->record->ends, core);
}

bool stuck_is_missing(const Stuck *stuck, const Join *join, uint32_t core)
{
    const CoreState *end = stuck_end(stuck, core);
    return join_has(stuck->prover->program, join, core) && !(end->end == CORE_BLOCKED && join_includes(join, &end->pending));
}

/* Adds the stuck cores that signalled this semaphore, or another one of the same declaration and core, before. */
static void add_likely(const Stuck *stuck, uint32_t waiter, uint32_t semaphore, GArray *helpers)
{
    const Prover *prover = stuck->prover;
    const Index *index = prover->index;
    const Decl *decl = program_decl(prover->program, program_semaphore_decl(prover->program, semaphore));
    uint32_t first = decl->first_semaphore + program_semaphore_core(prover->program, semaphore) * decl->elements;
    for (unsigned round = 0; round < 2 && helpers->len == 0; round++) {
        uint32_t low = round ? first : semaphore, high = round ? first + decl->elements : semaphore + 1;
        for (uint32_t i = index->signal_first[high]; i-- > index->signal_first[low] && helpers->len == 0;) {
            const Signal *signal = &index->signal[i];
            if (signal->core == waiter || stuck_end(stuck, signal->core)->end != CORE_BLOCKED
                || (stuck->foreseen && !stuck->vague[signal->core]))
                continue;
            const Helper helper = { signal->core, index_step(index, signal->core, signal->position)->site, 0, false };
            g_array_append_val(helpers, helper);
        }
    }
}

GArray *stuck_helpers(const Stuck *stuck, uint32_t core)
{
    const Step *pending = &stuck_end(stuck, core)->pending;
    GArray *helpers = g_array_new(FALSE, FALSE, sizeof(Helper));
    if (step_is_join(pending->kind))
        return helpers;
    for (uint32_t i = stuck->head[pending->object]; i > 0; i = stuck->next[i - 1]) {
        const Lookahead *entry = foreseen_at(stuck, i - 1);
        Helper *last = helpers->len > 0 ? &g_array_index(helpers, Helper, helpers->len - 1) : NULL;
        const Helper fresh = { entry->core, entry->site, entry->value, true };
        if (last != NULL && last->core == entry->core)
            last->gives += entry->value;
        else
            g_array_append_val(helpers, fresh);
    }
    if (helpers->len == 0)
        add_likely(stuck, core, pending->object, helpers);
    return helpers;
}

uint32_t stuck_needs(const Stuck *stuck, uint32_t core)
{
    const Step *pending = &stuck_end(stuck, core)->pending;
    if (step_is_join(pending->kind)) {
        const Join join = join_of(stuck->prover->program, pending);
        for (uint32_t c = join.first; c < join.last; c++)
            if (stuck_is_missing(stuck, &join, c))
                return c;
        return NONE;
    }
    g_autoptr(GArray) helpers = stuck_helpers(stuck, core);
    uint32_t found = NONE;
    for (guint i = 0; i < helpers->len && (found == NONE || found == core); i++)
        found = g_array_index(helpers, Helper, i).core;
    return found;
}
