/* suspects.c - from pairs to findings: open pairs are settled by runs, and each class with a race becomes a finding.
 *
 * If settling all open pairs is cheap, all are settled and counts are exact. Otherwise a class with a certain pair counts its open pairs as
 * "at most", and a class without one is searched until one of its pairs turns out to be a race, or all are ordered.
 */
#include <glib.h>

#include "prover.h"

enum { SETTLE_STEPS_MAX = 100000000 };          /* moves spent on runs that only make counts exact */

typedef struct Settler {
    Prover *prover;
    bool all;                                   /* every open pair is settled */
    Pile pairs;                                 /* OpenPair of the current class, the event that the run leaves out first */
} Settler;

static gint compare_pairs(gconstpointer left, gconstpointer right)
{
    const OpenPair *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* Pairs, each with the event that the clocks cannot order first, sorted by it: one run serves all pairs of an event. */
static void collect_pairs(Settler *settler, const PairClass *class)
{
    const Index *index = settler->prover->index;
    settler->pairs.count = 0;
    for (uint32_t id = class->open_first; id != NONE; id = PILE(OpenPair, &settler->prover->races->open, id).next) {
        OpenPair pair = PILE(OpenPair, &settler->prover->races->open, id);
        Event a = races_event(index, pair.a), b = races_event(index, pair.b);
        if (order_known(settler->prover->order, &a, &b) != ORDER_OPEN) {
            uint32_t swap = pair.a;
            pair.a = pair.b;
            pair.b = swap;
        }
        *(OpenPair *)pile_push(&settler->pairs, 1) = pair;
    }
    if (settler->pairs.count > 1)
        qsort(pile_base(&settler->pairs), settler->pairs.count, sizeof(OpenPair), compare_pairs);
}

/* For an open pair (a, b): asks for b's clock entry of the core on which a's write is released. */
static void ask_about(const Prover *prover, const Event *a, const Event *b, Pile *asked)
{
    const Copy *copy = index_copy(prover->index, a->copy);
    uint32_t end = a->copy * 2 + 1;
    if (prover->releases->at[end] != NONE)
        *(Asked *)pile_push(asked, 1) = (Asked){ index_slot(prover->index, b->core, b->position),
                                                 releases_core(prover->releases, copy->receive_semaphore, end) };
}

/* A read without a wait is known to be done if the receiver has acknowledged its copy's arrival. Such pairs are decided once the later
 * step's clock entry of the receiver's core is known; one pass computes it for all of them. */
static void settle_by_arrival(Settler *settler)
{
    Prover *prover = settler->prover;
    Races *races = prover->races;
    Pile asked;
    pile_init(&asked, settler->pairs.arena, sizeof(Asked));
    for (size_t i = 0; i < races->classes.count; i++) {
        collect_pairs(settler, &PILE(PairClass, &races->classes, i));
        for (size_t p = 0; p < settler->pairs.count; p++) {
            Event a = races_event(prover->index, PILE(OpenPair, &settler->pairs, p).a);
            Event b = races_event(prover->index, PILE(OpenPair, &settler->pairs, p).b);
            if (a.copy != NONE)
                ask_about(prover, &a, &b, &asked);
        }
    }
    clocks_learn(prover->clocks, pile_base(&asked), asked.count, prover->arena);
    for (size_t i = 0; i < races->classes.count; i++) {
        PairClass *class = &PILE(PairClass, &races->classes, i);
        for (uint32_t *link = &class->open_first; *link != NONE;) {
            OpenPair *pair = &PILE(OpenPair, &races->open, *link);
            Event a = races_event(prover->index, pair->a), b = races_event(prover->index, pair->b);
            if (order_known(prover->order, &a, &b) == ORDER_YES || order_known(prover->order, &b, &a) == ORDER_YES) {
                *link = pair->next;
                class->open--;
            } else {
                link = &pair->next;
            }
        }
    }
}

static bool is_race(Prover *prover, const OpenPair *pair)
{
    Event a = races_event(prover->index, pair->a), b = races_event(prover->index, pair->b);
    return !order_must(prover->order, &a, &b) && !order_must(prover->order, &b, &a);
}

static void settle_class(Settler *settler, PairClass *class)
{
    Prover *prover = settler->prover;
    collect_pairs(settler, class);
    uint64_t settled = 0;
    for (size_t i = 0; i < settler->pairs.count; i++) {
        const OpenPair pair = PILE(OpenPair, &settler->pairs, i);
        if (!settler->all && class->certain > 0)
            break;
        settled++;
        if (is_race(prover, &pair))
            races_add_certain(prover->races, class, pair.a, pair.b, 1);
    }
    class->open -= settled;
    if (class->unlisted > 0 && class->certain == 0)
        outcome_add_limit(prover->outcome, "memory");
}

static void add_race(Prover *prover, const PairClass *class)
{
    const uint32_t *sample = class->sample;
    FaultTally fault = { .id = FAULT_RACE, .a = races_event(prover->index, sample[0]), .b = races_event(prover->index, sample[1]),
                         .places = 2, .object = races_object(prover->index, sample[0]), .count = class->certain + class->open,
                         .at_most = class->open > 0 };
    prover_add(prover, &fault);
}

void races_settle(Prover *prover)
{
    Races *races = prover->races;
    Settler settler = { .prover = prover };
    Arena scratch;
    arena_init(&scratch, prover->arena->budget);
    pile_init(&settler.pairs, &scratch, sizeof(OpenPair));
    uint64_t run = prover->record->steps.count + (uint64_t)prover->index->copies * 2 + 1;
    uint64_t few = SETTLE_STEPS_MAX / run, open = 0;
    if (races->open.count > few)
        settle_by_arrival(&settler);
    for (size_t i = 0; i < races->classes.count; i++)
        open += PILE(PairClass, &races->classes, i).open;
    settler.all = open <= few;
    for (size_t i = 0; i < races->classes.count; i++) {
        PairClass *class = &PILE(PairClass, &races->classes, i);
        settler.all &= class->unlisted == 0;
    }
    for (size_t i = 0; i < races->classes.count; i++) {
        PairClass *class = &PILE(PairClass, &races->classes, i);
        if (class->open > 0)
            settle_class(&settler, class);
        if (class->certain > 0)
            add_race(prover, class);
    }
    arena_clear(&scratch);
}
