/* differential.c - runs everything on one program and compares the opinions. */
#include "differential.h"
#include <string.h>
#include "../../checker/check/orders.h"
#include "../../checker/check/race_marks.h"
#include "../../checker/run/entry_barriers.h"
#include "../../checker/run/judge.h"
#include "../../model/racing.h"
#include "../support/brute.h"
#include "again.h"
#include "opinion.h"

typedef struct Comparison {
    const RandomProgram *random;
    const DifferentialOptions *options;
    Program *program;
    Record *record, *replayed;
    Execution *execution, *replay;
    Outcome *proof, *search, *classes;
    bool contents;                              /* the enumeration went over contents, too */
    GString *difference;
} Comparison;

static Opinion opinion_of(const Comparison *c, const char *whose, const Outcome *outcome)
{
    Opinion opinion;
    opinion_of_outcome(&opinion, whose, c->random, c->program, outcome);
    return opinion;
}

static void want_equal(Comparison *c, const Opinion *one, const Opinion *other, OpinionWant want)
{
    opinion_want_subset(c->difference, one, other, want);
    opinion_want_subset(c->difference, other, one, want);
    if (!random_polls(c->random))               /* how often a core polled is part of where it is, but not of any end state */
        opinion_want_same_ends(c->difference, one, other);
}

static void compare_with_brute(Comparison *c, const Opinion *search, DifferentialStats *stats)
{
    if (!brute_can(c->random) || c->search->limits->len > 0)
        return;
    BruteResult *brute = brute_run(c->random, c->program, c->options->states_max * 2);
    if (brute->complete) {
        stats->brute++;
        Opinion third;
        opinion_of_lines(&third, "brute force", brute->faults, brute->end_states);
        opinion_drop_open_questions(&third, c->search);
        want_equal(c, search, &third, OPINION_ALL);
        opinion_clear(&third);
        bool whole = c->random->knobs.dma_progress == DMA_PROGRESS_WHOLE;
        if (c->search->states != brute->states || (whole && c->search->transitions != brute->transitions))
            g_string_append_printf(c->difference, "%" G_GUINT64_FORMAT " states and %" G_GUINT64_FORMAT " transitions, but %"
                                   G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " by brute force\n", c->search->states,
                                   c->search->transitions, brute->states, brute->transitions);
    }
    brute_free(brute);
}

/* What searches say of values beside a race is for a check to settle, which knows what the race can have reached. */
static void drop_values_after_race(Outcome *outcome)
{
    GPtrArray *findings = outcome->findings;
    bool race = false;
    for (guint i = 0; i < findings->len; i++)
        race |= ((const Finding *)g_ptr_array_index(findings, i))->id == FAULT_RACE;
    for (guint i = findings->len; race && i-- > 0;)
        if (race_marks_matter_to(g_ptr_array_index(findings, i))) {
            g_ptr_array_remove_index(findings, i);
            outcome->incomplete_after_race = true;
        }
}

static bool has_conflicts(const Outcome *outcome)
{
    return outcome->conflicts != UINT64_MAX && outcome->conflicts > 0;
}

/* A racing value that reached control, or a conflict, makes the proof's lists one side of the matter. Then it must not claim more; and no
 * race, no doubt about it. What the enumeration does not judge because of a race is judged by a proof of a class without that race. */
static void compare_proof(Comparison *c, const Opinion *proof, const Opinion *search)
{
    bool conflicts = has_conflicts(c->proof), steered = c->proof->incomplete_after_race;
    if (!conflicts && !steered) {
        want_equal(c, proof, search, OPINION_ALL);
        if (!c->proof->complete)
            g_string_append(c->difference, "the proof is not complete, without a reason\n");
        return;
    }
    bool values_judged = !steered && !c->search->incomplete_after_race;
    opinion_want_subset(c->difference, proof, search, values_judged ? OPINION_KEYS : OPINION_RACES);
    if (conflicts && c->proof->complete)
        g_string_append(c->difference, "the proof claims to be complete in spite of conflicts\n");
    if (!conflicts && proof->faults->len == 0 && search->faults->len > 0)
        g_string_append(c->difference, "a racing value reached control, but the proof has no fault\n");
}

/* The classes have no gaps that a conflict could excuse. */
static void compare_classes(Comparison *c, const Opinion *search)
{
    Opinion classes = opinion_of(c, "classes", c->classes);
    opinion_drop_open_questions(&classes, c->search);
    if (!c->classes->incomplete_after_race) {
        want_equal(c, &classes, search, OPINION_KEYS);
        if (c->classes->complete != c->search->complete)
            g_string_append_printf(c->difference, "the classes are %scomplete, the enumeration is not so\n",
                                   c->classes->complete ? "" : "not ");
    } else {
        opinion_want_subset(c->difference, &classes, search, OPINION_RACES);
        if (classes.faults->len == 0 && search->faults->len > 0)
            g_string_append(c->difference, "a racing value reached control, but the classes have no fault\n");
    }
    opinion_clear(&classes);
}

/* A divergence is shown by two schedules, of which a finding has one. */
static bool shows(Comparison *c, const Finding *finding)
{
    if (finding->id == FAULT_DIVERGENCE)
        return true;
    const ExecutionOptions options = { .fill = 0x5b };
    execution_begin(c->replay, &options);
    for (guint i = 0; i < finding->moves->len; i++)
        if (!execution_do(c->replay, g_array_index(finding->moves, Move, i)))
            return false;
    if (finding->id == FAULT_ASSERT || finding->id == FAULT_UNINITIALISED) {
        execution_end(c->replay);
        execution_check_results(c->replay);
    }
    return judge_shows(c->replay, finding);
}

static void replay_all(Comparison *c, Outcome *outcome, const char *whose)
{
    for (guint i = 0; i < outcome->findings->len; i++) {
        Finding *finding = g_ptr_array_index(outcome->findings, i);
        finding->shown = finding->moves != NULL && shows(c, finding);
    }
    if (c->record->values_observed && outcome->incomplete_after_race)
        outcome_drop_unreached(outcome);
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        g_autofree char *line = opinion_line(c->random, c->program, finding);
        const char *what = finding->moves ? "a schedule that does not show what it should, of" : "no schedule, of";
        if (!finding->shown && !opinion_is_open_question(c->search, line))
            g_string_append_printf(c->difference, "%s %s: %s\n", what, whose, line);
    }
}

enum { MOVES_MAX = 5000 };                      /* of a run at random: a core may poll for ever */

/* A whole run in which each move is picked at random. False: it did not end. */
static bool run_at_random(Comparison *c, unsigned number)
{
    Rng rng;
    rng_init(&rng, c->random->seed ^ (0x9e3779b97f4a7c15 + number));
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    const ExecutionOptions options = { .fill = 0x5b };
    execution_begin(c->replay, &options);
    unsigned done = 0;
    for (execution_enabled(c->replay, moves); moves->len > 0 && done < MOVES_MAX; execution_enabled(c->replay, moves), done++)
        execution_do(c->replay, g_array_index(moves, Move, rng_below(&rng, moves->len)));
    execution_end(c->replay);
    return done < MOVES_MAX;
}

static void compare_replayed(Comparison *c, const Opinion *proof, const char *whose, DifferentialStats *stats)
{
    const ProveOptions options = { .canary = c->options->canary };
    Outcome *outcome = prove_record(c->replayed, &options);
    drop_values_after_race(outcome);
    Opinion again = opinion_of(c, whose, outcome);
    opinion_drop_open_questions(&again, c->search);
    want_equal(c, proof, &again, OPINION_ALL);
    opinion_clear(&again);
    outcome_free(outcome);
    stats->other_orders++;
}

static void compare_other_orders(Comparison *c, const Opinion *proof, DifferentialStats *stats)
{
    const ExecutionOptions reversed = { .reversed = true, .fill = 0xa7, .shift = 16 * 33 };
    execution_run_eager(c->replay, &reversed);
    compare_replayed(c, proof, "proof of a reversed run", stats);
    if (run_at_random(c, 0))
        compare_replayed(c, proof, "proof of a run at random", stats);
}

static Outcome *enumerate(Comparison *c, unsigned modes, unsigned workers)
{
    EnumerateOptions options = { .canary = c->options->states_canary, .limits.states = c->options->states_max, .modes = modes,
                                 .workers = workers,
                                 .contents = (c->random->features & RANDOM_DATA)
                                     && (c->program->expectations.count > 0 || classes_needed(c->record)) };
    Unroller *unroller = unroller_new(c->program);
    Outcome *outcome = enumerate_run(unroller_source(unroller), &options);
    if (!options.contents && unroller_needs_contents(unroller)) {
        outcome_free(outcome);
        unroller_free(unroller);
        unroller = unroller_new(c->program);
        options.contents = true;
        outcome = enumerate_run(unroller_source(unroller), &options);
    }
    unroller_free(unroller);
    c->contents = options.contents;
    return outcome;
}

static void note_difference(Comparison *c, char *differs, uint64_t *asked)
{
    g_string_append(c->difference, differs ? differs : "");
    g_free(differs);
    ++*asked;
}

/* In each way of walking: by another number of workers, or interrupted somewhere and resumed. */
static void compare_states_again(Comparison *c, DifferentialStats *stats)
{
    static const unsigned MODES[] = { 0, 0, ENUMERATE_SWEEP, ENUMERATE_MERGE_LOCAL, ENUMERATE_MERGE_LOCAL | ENUMERATE_SWEEP };
    uint64_t seed = c->random->seed;
    if (seed % 4 > 1)
        return;
    EnumerateOptions options = { .canary = c->options->states_canary, .limits.states = c->options->states_max, .contents = c->contents,
                                 .modes = MODES[seed / 4 % G_N_ELEMENTS(MODES)], .workers = 1 };
    Outcome *expected = options.modes ? enumerate(c, options.modes, 1) : c->search;
    uint64_t cut = seed % 4 ? 1 + seed / 4 % expected->states : 0;
    if (expected->refused == NULL)
        note_difference(c, again_by_states(c->program, &options, cut, expected), cut > 0 ? &stats->resumed : &stats->workers);
    if (options.modes)
        outcome_free(expected);
}

/* By another number of workers, or interrupted and resumed. */
static void compare_classes_again(Comparison *c, const ClassesOptions *options, const Outcome *outcome, DifferentialStats *stats)
{
    uint64_t cut = c->random->seed / 2 % 2 ? 1 + c->random->seed / 4 % MAX(outcome->classes, 1) : 0;
    note_difference(c, again_by_classes(c->program, options, cut, outcome), cut > 0 ? &stats->resumed : &stats->workers);
}

/* Another way of walking all states: it finds the same, and its schedules show it. NULL: it was refused, which only some may be. */
static Outcome *walk_otherwise(Comparison *c, const Opinion *search, unsigned modes, unsigned workers, const char *name,
                               bool may_be_refused)
{
    Outcome *outcome = enumerate(c, modes, workers);
    if (outcome->refused != NULL) {
        if (!may_be_refused)
            g_string_append_printf(c->difference, "%s: %s\n", name, outcome->refused);
        outcome_free(outcome);
        return NULL;
    }
    drop_values_after_race(outcome);
    replay_all(c, outcome, name);
    Opinion other = opinion_of(c, name, outcome);
    opinion_drop_open_questions(&other, c->search);
    want_equal(c, search, &other, OPINION_ALL);
    opinion_clear(&other);
    return outcome;
}

static void compare_modes(Comparison *c, const Opinion *search, DifferentialStats *stats)
{
    static const struct { unsigned modes, workers; const char *name; } WAY[] = {
        { ENUMERATE_SWEEP, 1, "the sweep" }, { ENUMERATE_MERGE_LOCAL, 1, "merging local steps" }, { 0, 2, "two workers" },
        { ENUMERATE_MERGE_LOCAL | ENUMERATE_SWEEP, 4, "four workers, sweeping and merging" },
    };
    unsigned i = c->random->seed % (2 * G_N_ELEMENTS(WAY));
    if (i >= G_N_ELEMENTS(WAY))
        return;
    Outcome *outcome = walk_otherwise(c, search, WAY[i].modes, WAY[i].workers, WAY[i].name, random_polls(c->random));
    if (outcome == NULL) {
        stats->refused++;
        return;
    }
    bool reduced = WAY[i].modes & ENUMERATE_MERGE_LOCAL;
    if (reduced ? outcome->states > c->search->states
                : outcome->states != c->search->states || outcome->transitions != c->search->transitions)
        g_string_append_printf(c->difference, "%s: another number of states or transitions\n", WAY[i].name);
    outcome_free(outcome);
    stats->modes++;
}

/* One of the rotated states in place of all: refused, or the same of everything. Programs that were made so are not refused. */
static void compare_symmetry(Comparison *c, const Opinion *search, DifferentialStats *stats)
{
    static const struct { unsigned modes, workers; } WAY[] = {
        { ENUMERATE_SYMMETRY, 1 }, { ENUMERATE_SYMMETRY, 1 }, { ENUMERATE_SYMMETRY, 2 }, { ENUMERATE_SYMMETRY | ENUMERATE_SWEEP, 1 },
        { ENUMERATE_SYMMETRY | ENUMERATE_MERGE_LOCAL, 1 },
    };
    unsigned way = (unsigned)(c->random->seed / 7 % G_N_ELEMENTS(WAY)), modes = WAY[way].modes;
    if (c->random->features & (RANDOM_DATA | RANDOM_FLAGS))
        return;
    bool may_be_refused = !c->random->rotated || (random_polls(c->random) && (modes & ENUMERATE_SWEEP));
    Outcome *outcome = walk_otherwise(c, search, modes, WAY[way].workers, "symmetry", may_be_refused);
    if (outcome == NULL)
        return;
    if (!(modes & ENUMERATE_MERGE_LOCAL) && outcome->rotated != c->search->states)
        g_string_append_printf(c->difference, "symmetry: %" G_GUINT64_FORMAT " states with their rotations in place of %" G_GUINT64_FORMAT
                               "\n", outcome->rotated, c->search->states);
    outcome_free(outcome);
    stats->rotated++;
}

/* Two of three searches are divided early and often, among some workers. */
static Outcome *explore_classes(Comparison *c, DifferentialStats *stats)
{
    Unroller *unroller = unroller_new(c->program);
    bool contents = c->random->features & RANDOM_DATA;
    unsigned divided = (unsigned)(c->random->seed % 3);
    const ClassesOptions options = { .contents = contents, .audit = true, .units = 4 * divided, .budget = divided, .workers = 1 + divided,
                                     .canary = c->options->classes_canary };
    Outcome *outcome = classes_run(unroller_source(unroller), &options, NULL);
    unroller_free(unroller);
    compare_classes_again(c, &options, outcome, stats);
    return outcome;
}

static void run_and_settle(Comparison *c)
{
    const ExecutionOptions options = { .fill = 0x5b };
    entry_barriers_run(c->execution, &options);
    execution_run_eager(c->replay, &options);   /* replays know from a run which cores open a shared scope */
}

static bool prepare(Comparison *c)
{
    c->program = random_build(c->random);
    c->record = record_new(c->program), c->replayed = record_new(c->program);
    c->execution = execution_new(c->program, c->record), c->replay = execution_new(c->program, c->replayed);
    run_and_settle(c);
    if (c->program->usage_error == NULL && c->random->expects) {
        random_promise(c->program, execution_machine(c->execution));
        execution_check_results(c->execution);
    }
    const char *damage;
    if (c->program->usage_error == NULL && record_check(c->record, &damage))
        return true;
    g_string_append_printf(c->difference, "the program cannot be run: %s\n", c->program->usage_error ? c->program->usage_error : damage);
    return false;
}

/* Final contents of all buffers after the current run, by object; freed by its array. */
static GPtrArray *all_contents(Machine *machine, const Program *program)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)tile_free);
    for (uint32_t object = 0; object < program->objects; object++) {
        const Decl *decl = program_decl(program, program_object_decl(program, object));
        bool real = decl->space != SPACE_SEMAPHORE && !decl->opaque;
        const Contents *contents = real ? machine_contents(machine, object) : NULL;
        Tile *tile = contents ? tile_new(decl->dtype, 1, &contents->elements, false) : NULL;
        if (tile != NULL) {
            memcpy(tile->bytes, contents->bytes, (size_t)contents->elements);
            for (int64_t i = 0; i < contents->elements; i++)
                tile->written[i] = contents_state(contents, i, contents_mask(1));
        }
        g_ptr_array_add(all, tile);
    }
    return all;
}

static void want_same_where_unmarked(Comparison *c, const GPtrArray *one, const GPtrArray *other)
{
    for (guint object = 0; object < MIN(one->len, other->len); object++) {
        const Tile *a = one->pdata[object], *b = other->pdata[object];
        for (int64_t i = 0; a != NULL && b != NULL && i < a->elements; i++)
            if (element_marks(a->written[i]) == 0 && (a->written[i] != element_state(b->written[i]) || a->bytes[i] != b->bytes[i]))
                g_string_append_printf(c->difference, "byte %d of object %u is not marked, but %u in one run and %u in another\n", (int)i,
                                       object, a->bytes[i], b->bytes[i]);
    }
}

/* What no racing value can have reached is the same whatever is done first. Last: marks stay in the program. */
static void compare_marked(Comparison *c, DifferentialStats *stats)
{
    enum { RUNS = 6 };
    const ExecutionOptions options = { .fill = 0x5b };
    bool bytes = c->random->features & RANDOM_DATA;
    if (!bytes || has_conflicts(c->proof) || !c->proof->complete || race_marks_due(c->proof, c->program) == 0)
        return;
    race_marks_set(c->proof, c->program);
    execution_run_eager(c->replay, &options);
    if (racing_reached(c->program, REACH_CONTROL, ELEMENT_MARKS))
        return;
    g_autoptr(GPtrArray) eager = all_contents(execution_machine(c->replay), c->program);
    for (unsigned run = 0; run < RUNS && run_at_random(c, run); run++) {
        g_autoptr(GPtrArray) other = all_contents(execution_machine(c->replay), c->program);
        want_same_where_unmarked(c, eager, other);
    }
    stats->marked++;
}

/* By the number of states; or by polls that nobody can say the end of: states of cores are not compared with the address sanitizer. */
static bool was_limited(const Outcome *outcome)
{
    for (guint i = 0; i < outcome->limits->len; i++)
        if (strcmp(g_ptr_array_index(outcome->limits, i), "states") == 0 || strcmp(g_ptr_array_index(outcome->limits, i), "polls") == 0)
            return true;
    return false;
}

static void add_shown_under(Comparison *c, const Outcome *outcome, DmaOrder order, GPtrArray *lines)
{
    const ExecutionOptions options = { .fill = 0x5b };
    for (guint i = 0; i < outcome->findings->len; i++) {
        Finding *finding = g_ptr_array_index(outcome->findings, i);
        if (finding->shown && finding->holds == 0)
            orders_try(c->replay, &options, finding);
        if (finding->holds >> order & 1)
            g_ptr_array_add(lines, opinion_line(c->random, c->program, finding));
    }
}

/* A fault whose schedule shows it under a stricter order of copies is found by an enumeration under that order. Of one program in four. */
static void compare_copy_orders(Comparison *c, DifferentialStats *stats)
{
    bool steered = c->proof->incomplete_after_race || c->search->incomplete_after_race;
    if (c->random->seed % 4 != 0 || c->program->knobs.dma_order != DMA_ORDER_UNORDERED || steered)
        return;
    for (DmaOrder order = DMA_ORDER_LINK_FIFO; order <= DMA_ORDER_ISSUE_ORDER; order++) {
        g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
        add_shown_under(c, c->proof, order, lines);
        add_shown_under(c, c->search, order, lines);
        if (lines->len == 0)
            continue;
        c->program->knobs.dma_order = order;
        Outcome *stricter = enumerate(c, 0, 1);
        c->program->knobs.dma_order = DMA_ORDER_UNORDERED;
        Opinion shown, found = opinion_of(c, "enumeration under the stricter order", stricter);
        opinion_of_lines(&shown, "schedule", lines, NULL);
        if (!was_limited(stricter))
            opinion_want_subset(c->difference, &shown, &found, OPINION_KEYS);
        stats->ordered += !was_limited(stricter);
        opinion_clear(&shown);
        opinion_clear(&found);
        outcome_free(stricter);
    }
}

static void count_faults(const Comparison *c, DifferentialStats *stats)
{
    bool seen[FAULT_COUNT] = { false };
    for (guint i = 0; i < c->search->findings->len; i++)
        seen[((const Finding *)g_ptr_array_index(c->search->findings, i))->id] = true;
    for (unsigned f = 0; f < FAULT_COUNT; f++)
        stats->found[f] += seen[f];
    stats->programs++;
    stats->states += c->search->states;
    stats->verified += c->search->findings->len == 0;
    stats->bounded += !c->proof->complete;
    stats->conflicts += has_conflicts(c->proof);
}

static void compare(Comparison *c, DifferentialStats *stats)
{
    const ProveOptions options = { .canary = c->options->canary };
    c->search = enumerate(c, 0, 1);
    if (was_limited(c->search)) {
        stats->skipped++;
        return;
    }
    if (!c->options->quick)
        compare_states_again(c, stats);
    c->proof = prove_record(c->record, &options);
    drop_values_after_race(c->proof);
    drop_values_after_race(c->search);
    if (!c->options->quick) {
        replay_all(c, c->proof, "the proof");
        replay_all(c, c->search, "the enumeration");
    }
    if (!c->options->quick && (has_conflicts(c->proof) || c->random->seed % 4 == 0)) {
        c->classes = explore_classes(c, stats);
        drop_values_after_race(c->classes);
        c->record->values_observed |= c->classes->values_observed;
        replay_all(c, c->classes, "the classes");
        stats->classes++;
    }
    Opinion proof = opinion_of(c, "proof", c->proof), search = opinion_of(c, "enumeration", c->search);
    opinion_drop_open_questions(&proof, c->search);
    opinion_drop_open_questions(&search, c->search);
    if (c->classes != NULL)
        compare_classes(c, &search);
    compare_proof(c, &proof, &search);
    if (!c->options->quick) {
        compare_with_brute(c, &search, stats);
        compare_modes(c, &search, stats);
        compare_symmetry(c, &search, stats);
        compare_copy_orders(c, stats);
        bool unique = c->proof->complete && !c->proof->incomplete_after_race;
        if (unique)
            compare_other_orders(c, &proof, stats);
    }
    compare_marked(c, stats);
    count_faults(c, stats);
    opinion_clear(&proof);
    opinion_clear(&search);
}

char *differential_compare(const RandomProgram *random, const DifferentialOptions *options, DifferentialStats *stats)
{
    Comparison c = { .random = random, .options = options, .difference = g_string_new(NULL) };
    if (prepare(&c))
        compare(&c, stats);
    outcome_free(c.proof);
    outcome_free(c.search);
    outcome_free(c.classes);
    execution_free(c.execution);
    execution_free(c.replay);
    record_free(c.record);
    record_free(c.replayed);
    program_free(c.program);
    return g_string_free(c.difference, c.difference->len == 0);
}
