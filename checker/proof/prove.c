/* prove.c - the proof from end to end: index, clocks, releases, order; then every kind of fault; then a schedule for each.
 *
 * All memory belongs to the arena, so a limit can end the proof at any point: what was found so far is kept, and the outcome says that it
 * is incomplete.
 */
#include "prove.h"

#include <glib.h>

#include "../facts/instances.h"
#include "prover.h"

static void add_end_state(Prover *prover)
{
    const Index *index = prover->index;
    uint32_t *position = ARENA_NEW(uint32_t, prover->arena, index->cores);
    for (uint32_t core = 0; core < index->cores; core++)
        position[core] = index_length(index, core);
    uint64_t hash = outcome_end_state(position, index->cores, index->final_count, index->semaphores);
    g_array_append_val(prover->outcome->end_states, hash);
}

static void note_coverage(Prover *prover)
{
    Outcome *outcome = prover->outcome;
    const Record *record = prover->record;
    outcome->executions = outcome->classes = 1;
    outcome->steps = record->steps.count + (record->eager ? (uint64_t)prover->index->copies * 2 : 0);
    outcome->conflicts = prover->index->conflicts;
    if (!prover->index->decided)
        outcome_add_limit(outcome, "conflicts");
    if (!record->complete || prover->index->running)
        outcome_add_limit(outcome, "runs");
    add_end_state(prover);
}

static void add_clashes(Prover *prover, const FaultTally *tally, Finding *finding)
{
    Races *races = prover->races;
    const PairClass *class = races_class(races, tally->key.site[0], tally->key.site[1], tally->key.decl);
    for (uint32_t id = class->shape_first; id != NONE; id = PILE(PairShape, &races->shapes, id).next) {
        const PairShape *shape = &PILE(PairShape, &races->shapes, id);
        Event a = races_event(prover->index, shape->a), b = races_event(prover->index, shape->b);
        const Place place[2] = { prover_place(prover, &a), prover_place(prover, &b) };
        bool writes = (shape->a & shape->b & (RACES_COPY | 1)) == (RACES_COPY | 1);
        if (!writes || prover->options->canary != PROVE_CANARY_WRITES_DO_NOT_CLASH)
            finding_add_clashes(finding, place);
    }
}

/* Where a conflict's order is chosen, other executions show the same pairs again. */
static void list_pairs(Prover *prover, const FaultTally *tally, Finding *finding)
{
    Races *races = prover->races;
    const PairClass *class = races_class(races, tally->key.site[0], tally->key.site[1], tally->key.decl);
    for (uint32_t id = class->certain_first; id != NONE; id = PILE(OpenPair, &races->listed, id).next) {
        const OpenPair *pair = &PILE(OpenPair, &races->listed, id);
        Event a = races_event(prover->index, pair->a), b = races_event(prover->index, pair->b);
        instances_add(finding, instance_of(finding, (const Place[]){ prover_place(prover, &a), prover_place(prover, &b) }));
    }
}

static void list_events(Prover *prover, const FaultTally *tally, Finding *finding)
{
    Finding one = *finding;
    for (uint32_t id = tally->event_first; id != 0; id = PILE(FaultTally, &prover->events, id - 1).event_first) {
        const FaultTally *event = &PILE(FaultTally, &prover->events, id - 1);
        Place place[2] = { { .kind = 0 } };
        one.object = event->object;
        for (unsigned p = 0; p < tally->places; p++)
            place[p] = prover_place(prover, p == 0 ? &event->a : &event->b);
        instances_add(finding, instance_of(&one, place));
    }
}

static Finding *to_finding(Prover *prover, const FaultTally *tally)
{
    Finding *finding = finding_new(tally->id);
    finding->count = tally->count;
    finding->at_most = tally->at_most;
    finding->places = tally->places;
    if (tally->places > 0)
        finding->place[0] = prover_place(prover, &tally->a);
    if (tally->places > 1)
        finding->place[1] = prover_place(prover, &tally->b);
    finding->object = tally->object;
    finding->object_is_semaphore = tally->is_semaphore;
    finding->have = tally->have;
    finding->need = tally->need;
    if (tally->id == FAULT_RACE)
        add_clashes(prover, tally, finding), list_pairs(prover, tally, finding);
    else
        list_events(prover, tally, finding);
    return finding;
}

static gint compare_tallies(gconstpointer left, gconstpointer right)
{
    const FaultKey *a = &((const FaultTally *)left)->key, *b = &((const FaultTally *)right)->key;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->site[0] != b->site[0])
        return a->site[0] < b->site[0] ? -1 : 1;
    if (a->site[1] != b->site[1])
        return a->site[1] < b->site[1] ? -1 : 1;
    return a->decl != b->decl ? (a->decl < b->decl ? -1 : 1) : 0;
}

/* Each tally becomes a finding; the first `findings_max` get a schedule and a reason. */
static void hand_over(Prover *prover)
{
    size_t tallies = prover->tallies.count, shown_max = prover->options->findings_max ? prover->options->findings_max : SIZE_MAX;
    FaultTally *tally = pile_base(&prover->tallies);
    if (tallies > 1)
        qsort(tally, tallies, sizeof *tally, compare_tallies);
    for (size_t i = 0; i < tallies; i++) {
        Finding *finding = to_finding(prover, &tally[i]);
        g_ptr_array_add(prover->outcome->findings, finding);
        if (i >= shown_max)
            continue;
        finding->moves = witness_of(prover, &tally[i]);
        g_assert(finding->moves || prover->options->canary != PROVE_SOUND);
        Meant meant;
        prover->cause = &finding->cause;
        finding->why = why_fault(prover, &tally[i], &meant);
        finding->meant = (uint8_t)meant;
    }
}

static bool found_enough(const Prover *prover)
{
    return prover->options->first && (prover->tallies.count > 0 || prover->outcome->findings->len > 0);
}

static void tell(const Prover *prover, const char *what)
{
    if (prover->options->phase != NULL)
        prover->options->phase(what, prover->options->phase_data);
}

static void decide(Prover *prover)
{
    tell(prover, "indexing the run");
    prover->index = index_new(prover->record, prover->options->canary, prover->options->looks_aside, prover->arena);
    tell(prover, "proving what comes before what");
    prover->clocks = clocks_new(prover->index, prover->arena);
    prover->releases = releases_new(prover->index, prover->clocks, prover->arena);
    prover->order = order_new(prover->index, prover->clocks, prover->releases, prover->arena);
    tell(prover, "judging accesses, counts and lifetimes");
    prover->left_over = ARENA_NEW(uint8_t, prover->arena, prover->index->semaphores + 1);
    pile_init(&prover->events, prover->arena, sizeof(FaultTally));
    pile_init(&prover->tallies, prover->arena, sizeof(FaultTally));
    lifespan_prepare(prover);
    note_coverage(prover);
    prover->races = races_new(prover->order, &prover->race_keys, prover->arena);
    void (*const part[])(Prover *) = { races_settle, raised_check, deadlock_check, counts_check, lives_check };
    for (size_t i = 0; i < G_N_ELEMENTS(part) && !found_enough(prover); i++)
        part[i](prover);
    if (prover->tallies.count > 0)
        tell(prover, "making a schedule for each fault");
    hand_over(prover);
}

static void finish(Prover *prover)
{
    Outcome *outcome = prover->outcome;
    outcome_settle(outcome, prover->program);
    outcome->values_observed = prover->record->values_observed;
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = outcome->findings->pdata[i];
        outcome->incomplete_after_race |= finding->id == FAULT_RACE && prover->record->values_observed;
    }
    if (prover->options->first && outcome->findings->len > 1)
        g_ptr_array_set_size(outcome->findings, 1);
}

/* A limit ended the proof: what is certain so far still gets a schedule. */
static void keep_what_was_found(Prover *prover, Budget *budget)
{
    outcome_add_limit(prover->outcome, budget->limit);
    budget->bytes_max = 0;
    budget->deadline = 0;
    if (prover->order)
        hand_over(prover);
}

Outcome *prove_record(const Record *record, const ProveOptions *options)
{
    static const ProveOptions defaults = { .canary = PROVE_SOUND };
    Budget budget = { .bytes_max = options ? options->limits.memory : 0 };
    if (options && options->limits.seconds > 0)
        budget.deadline = (double)g_get_monotonic_time() / 1e6 + options->limits.seconds;
    Arena arena;
    arena_init(&arena, &budget);
    Prover prover = { .record = record, .program = record->program, .options = options ? options : &defaults, .arena = &arena,
                      .outcome = outcome_new() };
    if (setjmp(budget.bail) == 0)
        decide(&prover);
    else
        keep_what_was_found(&prover, &budget);
    budget_clear(&budget);
    intern_clear(&prover.tally_keys);
    intern_clear(&prover.race_keys.classes);
    intern_clear(&prover.race_keys.shapes);
    finish(&prover);
    return prover.outcome;
}
