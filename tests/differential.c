/* differential.c - runs everything on one program, turns each opinion into sorted lines of text, and compares the lines. */
#include "differential.h"
#include <stdio.h>
#include <string.h>
#include "../checker/classes/classes.h"
#include "../checker/enumerate/enumerate.h"
#include "../checker/run/judge.h"
#include "brute.h"

typedef struct Opinion {
    GPtrArray *faults;                          /* of char*, sorted, as brute_line words them */
    GArray *end_states;                         /* borrowed */
} Opinion;

typedef struct Comparison {
    const RandomProgram *random;
    const DifferentialOptions *options;
    Program *program;
    Record *record, *replayed;
    Execution *execution, *replay;
    Outcome *proof, *search, *classes;
    GString *difference;
    bool stuck;                                 /* in some execution a core is blocked for ever */
} Comparison;

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint32_t line_at(const Program *program, uint32_t site)
{
    return site == NONE ? 0 : program_get_site(program, site)->line;
}

static void name_object(const Comparison *c, const Finding *finding, char name[8])
{
    g_strlcpy(name, "-", 8);
    if (finding->object == NONE)
        return;
    uint32_t decl = finding->object_is_semaphore ? program_semaphore_decl(c->program, finding->object)
        : program_object_decl(c->program, finding->object);
    for (int t = 0; t < c->random->things; t++)
        if (random_decl(c->random, c->program, t) == decl)
            random_thing_name(c->random, t, name);
}

static char *describe(const Comparison *c, const Finding *finding)
{
    char name[8];
    name_object(c, finding, name);
    uint32_t line = finding->places > 0 ? line_at(c->program, finding->place[0].site) : 0;
    uint32_t other = finding->places > 1 ? line_at(c->program, finding->place[1].site) : 0;
    return brute_line(finding->id, line, other, name, finding->count);
}

/* Shared memory of a scope lives until the last core that opens it has closed it. Where a core is stuck for ever before it opens, the search
 * of states takes it for one that opens, the proof knows better: not compared. */
static bool is_open_question(const Comparison *c, const char *line)
{
    return c->stuck && g_str_has_prefix(line, "lifetime") && strstr(line, " hs") != NULL;
}

static void add_line(const Comparison *c, Opinion *opinion, char *line)
{
    if (is_open_question(c, line))
        g_free(line);
    else
        g_ptr_array_add(opinion->faults, line);
}

static Opinion opinion_of(const Comparison *c, const Outcome *outcome)
{
    Opinion opinion = { g_ptr_array_new_with_free_func(g_free), outcome->end_states };
    for (guint i = 0; i < outcome->findings->len; i++)
        add_line(c, &opinion, describe(c, g_ptr_array_index(outcome->findings, i)));
    g_ptr_array_sort(opinion.faults, compare_lines);
    return opinion;
}

typedef enum Want { WANT_ALL, WANT_KEYS, WANT_RACES } Want;      /* KEYS: numbers of pairs may differ; RACES: other faults too */

static bool has_line(const GPtrArray *lines, const char *line, Want want)
{
    const char *count = want == WANT_ALL ? NULL : strstr(line, " x");
    size_t length = count ? (size_t)(count - line) + 2 : strlen(line) + 1;
    for (guint i = 0; i < lines->len; i++)
        if (strncmp(g_ptr_array_index(lines, i), line, length) == 0)
            return true;
    return false;
}

/* In a class, a fault may stand alone that elsewhere a race, a count left over or a copy in flight covers. */
static bool is_covered_elsewhere(const char *line, const GPtrArray *others)
{
    unsigned at, one, other;
    char thing[8] = "", name[16];
    if (sscanf(line, "uninitialised %u", &at) != 1 && sscanf(line, "lifetime %u %*u %7s", &at, thing) != 2)
        return false;
    bool late = g_str_has_prefix(line, "lifetime");
    for (guint i = 0; i < others->len; i++) {
        char about[8];
        if (sscanf(g_ptr_array_index(others, i), "%15s %u %u %7s", name, &one, &other, about) != 4)
            continue;
        if (late ? (strcmp(name, "leftover") == 0 && strcmp(thing, about) == 0) || (strcmp(name, "in-flight") == 0 && one == at)
            : strcmp(name, "race") == 0 && (one == at || other == at))
            return true;
    }
    return false;
}

/* Lines of `one` that `other` lacks. */
static void want_subset(Comparison *c, const GPtrArray *one, const GPtrArray *other, const char *what, Want want)
{
    for (guint i = 0; i < one->len; i++) {
        const char *line = g_ptr_array_index(one, i);
        bool asked = want == WANT_RACES ? g_str_has_prefix(line, "race") : want == WANT_ALL || !is_covered_elsewhere(line, other);
        if (asked && !has_line(other, line, want))
            g_string_append_printf(c->difference, "%s: %s\n", what, line);
    }
}

static void want_same_ends(Comparison *c, const GArray *one, const GArray *other, const char *what)
{
    bool same = one->len == other->len;
    for (guint i = 0; same && i < one->len; i++)
        same = g_array_index(one, uint64_t, i) == g_array_index(other, uint64_t, i);
    if (!same)
        g_string_append_printf(c->difference, "end states differ between %s: %u and %u of them\n", what, one->len, other->len);
}

static void compare_with_brute(Comparison *c, const Opinion *search, DifferentialStats *stats)
{
    if (!brute_can(c->random))
        return;
    BruteResult *brute = brute_run(c->random, c->program, c->options->states_max * 2);
    if (brute->complete) {
        stats->brute++;
        Opinion third = { g_ptr_array_new_with_free_func(g_free), brute->end_states };
        for (guint i = 0; i < brute->faults->len; i++)
            add_line(c, &third, g_strdup(g_ptr_array_index(brute->faults, i)));
        want_subset(c, search->faults, third.faults, "enumeration, but not brute force", WANT_ALL);
        want_subset(c, third.faults, search->faults, "brute force, but not enumeration", WANT_ALL);
        g_ptr_array_free(third.faults, TRUE);
        want_same_ends(c, search->end_states, brute->end_states, "enumeration and brute force");
    }
    brute_free(brute);
}

/* Is a race enough to make the rest of the proof's lists unreliable? Then it must have said so, and the race must be real. */
static void compare_proof(Comparison *c, const Opinion *proof, const Opinion *search)
{
    bool conflicts = c->proof->conflicts != UINT64_MAX && c->proof->conflicts > 0, steered = c->proof->incomplete_after_race;
    Want want = steered ? WANT_RACES : conflicts ? WANT_KEYS : WANT_ALL;    /* in other classes cores may take other ways */
    want_subset(c, proof->faults, search->faults, "proof, but not enumeration", want);
    if (conflicts || steered) {
        if (conflicts && c->proof->complete)
            g_string_append(c->difference, "the proof claims to be complete in spite of conflicts\n");
        if (steered && proof->faults->len == 0 && search->faults->len > 0)
            g_string_append(c->difference, "a racing value reached control, but the proof has no fault\n");
        return;
    }
    want_subset(c, search->faults, proof->faults, "enumeration, but not proof", WANT_ALL);
    want_same_ends(c, proof->end_states, search->end_states, "proof and enumeration");
    if (!c->proof->complete)
        g_string_append(c->difference, "the proof is not complete, without a reason\n");
}

/* The classes have no gaps that a conflict could excuse. */
static void compare_classes(Comparison *c, const Opinion *search)
{
    Opinion classes = opinion_of(c, c->classes);
    bool steered = c->classes->incomplete_after_race;
    Want want = steered ? WANT_RACES : WANT_KEYS;
    want_subset(c, classes.faults, search->faults, "classes, but not enumeration", want);
    if (!steered) {
        want_subset(c, search->faults, classes.faults, "enumeration, but not classes", want);
        want_same_ends(c, classes.end_states, search->end_states, "classes and enumeration");
        if (c->classes->complete != c->search->complete)
            g_string_append_printf(c->difference, "the classes are %scomplete, the enumeration is not so\n", c->classes->complete ? "" : "not ");
    } else if (classes.faults->len == 0 && search->faults->len > 0) {
        g_string_append(c->difference, "a racing value reached control, but the classes have no fault\n");
    }
    g_ptr_array_free(classes.faults, TRUE);
}

static bool shows(Comparison *c, const Finding *finding)
{
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
    if (c->record->values_observed)
        outcome_drop_unreached(outcome);
    for (guint i = 0; i < outcome->findings->len; i++) {
        const Finding *finding = g_ptr_array_index(outcome->findings, i);
        g_autofree char *line = describe(c, finding);
        const char *what = finding->moves ? "a schedule that does not show what it should, of" : "no schedule, of";
        if (!finding->shown)
            g_string_append_printf(c->difference, "%s %s: %s\n", what, whose, line);
    }
}

/* A whole run in which each move is picked at random. */
static void run_at_random(Comparison *c)
{
    Rng rng;
    rng_init(&rng, c->random->seed ^ 0x9e3779b97f4a7c15);
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    const ExecutionOptions options = { .fill = 0x5b };
    execution_begin(c->replay, &options);
    for (execution_enabled(c->replay, moves); moves->len > 0; execution_enabled(c->replay, moves))
        execution_do(c->replay, g_array_index(moves, Move, rng_below(&rng, moves->len)));
    execution_end(c->replay);
}

static void compare_other_orders(Comparison *c, const Opinion *proof, DifferentialStats *stats)
{
    const ExecutionOptions reversed = { .reversed = true, .fill = 0xa7, .shift = 16 * 33 };
    const ProveOptions options = { .canary = c->options->canary };
    for (unsigned i = 0; i < 2; i++) {
        if (i == 0)
            execution_run_eager(c->replay, &reversed);
        else
            run_at_random(c);
        Outcome *outcome = prove_record(c->replayed, &options);
        outcome_drop_after_race(outcome);
        Opinion opinion = opinion_of(c, outcome);
        want_subset(c, proof->faults, opinion.faults, i ? "not after a run at random" : "not after a reversed run", WANT_ALL);
        want_subset(c, opinion.faults, proof->faults, i ? "only after a run at random" : "only after a reversed run", WANT_ALL);
        want_same_ends(c, proof->end_states, opinion.end_states, i ? "two runs (one at random)" : "two runs (one reversed)");
        g_ptr_array_free(opinion.faults, TRUE);
        outcome_free(outcome);
        stats->other_orders++;
    }
}

static Outcome *enumerate(const Comparison *c)
{
    EnumerateOptions options = { .states_max = c->options->states_max,
                                 .contents = c->program->expectations.count > 0 && c->program->knobs.data == DATA_REAL };
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
    return outcome;
}

static Outcome *explore_classes(const Comparison *c)
{
    Unroller *unroller = unroller_new(c->program);
    bool contents = c->random->features & RANDOM_DATA;
    const ClassesOptions options = { .contents = contents, .values_observed = c->record->values_observed, .audit = true };
    Outcome *outcome = classes_run(unroller_source(unroller), &options);
    unroller_free(unroller);
    return outcome;
}

static bool any_ended(const Record *record, CoreEnd end)
{
    for (size_t i = 0; i < record->ends.count; i++)
        if (STORE(CoreState, &record->ends, i).end == end)
            return true;
    return false;
}

/* A run that got stuck before an entry barrier which the launch turns out not to have is no run of this program: once more. */
static void run_and_settle(Comparison *c)
{
    const ExecutionOptions options = { .fill = 0x5b };
    bool again;
    do {
        execution_run_eager(c->execution, &options);
        bool stuck = any_ended(c->record, CORE_BLOCKED), stopped = any_ended(c->record, CORE_STOPPED);
        again = !stopped && program_settle_launches(c->program, !stuck) && stuck;
    } while (again && c->program->usage_error == NULL);
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
}

static bool was_limited(const Outcome *outcome)
{
    for (guint i = 0; i < outcome->limits->len; i++)
        if (strcmp(g_ptr_array_index(outcome->limits, i), "states") == 0)
            return true;
    return false;
}

static void compare(Comparison *c, DifferentialStats *stats)
{
    const ProveOptions options = { .canary = c->options->canary };
    c->search = enumerate(c);
    if (was_limited(c->search)) {
        stats->skipped++;
        return;
    }
    c->proof = prove_record(c->record, &options);
    outcome_drop_after_race(c->proof);
    outcome_drop_after_race(c->search);
    if (!c->options->quick) {
        replay_all(c, c->proof, "the proof");
        replay_all(c, c->search, "the enumeration");
    }
    bool conflicts = c->proof->conflicts != UINT64_MAX && c->proof->conflicts > 0;
    if (!c->options->quick && (conflicts || c->random->seed % 4 == 0)) {
        c->classes = explore_classes(c);
        outcome_drop_after_race(c->classes);
        replay_all(c, c->classes, "the classes");
        stats->classes++;
    }
    for (guint i = 0; i < c->search->findings->len; i++)
        c->stuck |= ((const Finding *)g_ptr_array_index(c->search->findings, i))->id == FAULT_DEADLOCK;
    Opinion proof = opinion_of(c, c->proof), search = opinion_of(c, c->search);
    if (c->classes != NULL)
        compare_classes(c, &search);
    compare_proof(c, &proof, &search);
    if (!c->options->quick) {
        compare_with_brute(c, &search, stats);
        bool unique = c->proof->complete && !c->proof->incomplete_after_race;
        if (unique)
            compare_other_orders(c, &proof, stats);
    }
    count_faults(c, stats);
    g_ptr_array_free(proof.faults, TRUE);
    g_ptr_array_free(search.faults, TRUE);
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

static void remove_at(RandomProgram *random, unsigned core, unsigned index)
{
    RandomOp *op = random->op[core];
    memmove(&op[index], &op[index + 1], (random->ops[core] - index - 1u) * sizeof *op);
    random->ops[core]--;
    for (unsigned i = 0; i < random->ops[core]; i++) {
        if (op[i].kind == OP_WAIT_MEANT && op[i].value > index)
            op[i].value--;
        if (i < index && op[i].skip > 0 && i + op[i].skip >= index)
            op[i].skip--;
    }
}

static bool names(const RandomOp *op, int thing)
{
    return op->kind != OP_OPEN && op->kind != OP_CLOSE
        && (op->at.thing == thing || op->source.thing == thing || op->send.thing == thing || op->receive.thing == thing);
}

/* Takes out one operation of a core, a scope with both its ends. False: others depend on it. */
static bool drop_operation(RandomProgram *random, unsigned core, unsigned index)
{
    const RandomOp dropped = random->op[core][index];
    const RandomOp *op = random->op[core];
    if (dropped.kind == OP_CLOSE)
        return false;
    for (unsigned i = random->ops[core]; i-- > 0;) {
        if ((op[i].kind == OP_WAIT_MEANT && op[i].value == index) || (dropped.kind == OP_OPEN && names(&op[i], dropped.at.thing)))
            return false;
    }
    for (unsigned i = random->ops[core]; dropped.kind == OP_OPEN && i-- > 0;)
        if (op[i].kind == OP_CLOSE && op[i].at.thing == dropped.at.thing)
            remove_at(random, core, i);
    remove_at(random, core, index);
    return true;
}

void differential_shrink(RandomProgram *random, const DifferentialOptions *options)
{
    DifferentialStats ignored = { 0 };
    for (bool again = true; again;) {
        again = false;
        for (unsigned core = 0; core < random->cores; core++)
            for (unsigned i = random->ops[core]; i-- > 0;) {
                RandomProgram smaller = *random;
                if (!drop_operation(&smaller, core, i))
                    continue;
                g_autofree char *difference = differential_compare(&smaller, options, &ignored);
                if (difference == NULL)
                    continue;
                *random = smaller, again = true;
                i = MIN(i, random->ops[core]);
            }
    }
}

char *differential_report(const RandomProgram *random, const DifferentialOptions *options, const char *difference)
{
    RandomProgram smaller = *random;
    DifferentialStats ignored = { 0 };
    differential_shrink(&smaller, options);
    g_autofree char *still = differential_compare(&smaller, options, &ignored);
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "seed %" G_GUINT64_FORMAT ", features", random->seed);
    random_describe_features(random->features, out);
    g_string_append_printf(out, "\n%s\nmade smaller:\n%s\n", difference, still ? still : difference);
    random_print(&smaller, out);
    return g_string_free(out, FALSE);
}
