/* learn.c - clock entries that are not kept by default: requested in a list, computed in one more pass, then looked up. */
#include <glib.h>

#include "../../model/rng.h"
#include "plan.h"
#include "vclock_inside.h"

typedef struct Learnt { uint32_t slot, column, entry; bool used; } Learnt;

static gint compare_asked(gconstpointer left, gconstpointer right, gpointer data)
{
    const Index *index = data;
    const Asked *a = left, *b = right;
    uint32_t a_step = index->step[a->slot], b_step = index->step[b->slot];
    if (a_step != b_step)
        return a_step < b_step ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

static size_t place_of(const Clocks *clocks, uint32_t slot, uint32_t column)
{
    size_t at = rng_mix(((uint64_t)slot << 32) | column) & (clocks->learnt_size - 1);
    while (clocks->learnt[at].used && (clocks->learnt[at].slot != slot || clocks->learnt[at].column != column))
        at = (at + 1) & (clocks->learnt_size - 1);
    return at;
}

static void remember(Clocks *clocks, Learnt learnt)
{
    size_t at = place_of(clocks, learnt.slot, learnt.column);
    clocks->learnt_count += !clocks->learnt[at].used;
    clocks->learnt[at] = learnt;
}

static void make_room(Clocks *clocks, size_t more, Arena *arena)
{
    const Learnt *old = clocks->learnt;
    size_t old_size = clocks->learnt_size;
    if (old_size >= (clocks->learnt_count + more) * 2)
        return;
    while (clocks->learnt_size < (clocks->learnt_count + more) * 2)
        clocks->learnt_size = MAX(clocks->learnt_size * 2, 1024);
    clocks->learnt = ARENA_NEW(Learnt, arena, clocks->learnt_size);
    clocks->learnt_count = 0;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].used)
            remember(clocks, old[i]);
}

void clocks_learn(Clocks *clocks, Asked *asked, size_t askeds, Arena *arena)
{
    if (askeds == 0)
        return;
    Arena scratch;
    arena_init(&scratch, arena->budget);
    g_qsort_with_data(asked, (gint)askeds, sizeof *asked, compare_asked, (gpointer)clocks->index);
    const Plan *plan = plan_new(clocks->index, asked, askeds, &scratch, &scratch);
    clocks_compute(plan, arena->budget);
    make_room(clocks, askeds, arena);
    for (size_t i = 0; i < askeds; i++)
        remember(clocks, (Learnt){ asked[i].slot, asked[i].column, plan->answer[i], true });
    arena_clear(&scratch);
}

bool clocks_learnt(const Clocks *clocks, uint32_t slot, uint32_t column, uint32_t *entry)
{
    if (clocks->learnt_size == 0)
        return false;
    const Learnt *learnt = &clocks->learnt[place_of(clocks, slot, column)];
    *entry = learnt->entry;
    return learnt->used;
}
