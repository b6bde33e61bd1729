/* enumerate.c - sets up a state space, searches it (again, if it turns out to need a memory), and makes the outcome. */
#include "enumerate.h"
#include <math.h>
#include "../../model/rewind.h"
#include "levels.h"
#include "lives.h"
#include "persistent.h"
#include "resume.h"
#include "space_setup.h"
#include "state_counter.h"
#include "symmetry.h"

static gint compare_hashes(gconstpointer a, gconstpointer b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void sort_end_states(GArray *hashes)
{
    g_array_sort(hashes, compare_hashes);
    guint kept = 0;
    for (guint i = 0; i < hashes->len; i++)
        if (kept == 0 || g_array_index(hashes, uint64_t, i) != g_array_index(hashes, uint64_t, kept - 1))
            g_array_index(hashes, uint64_t, kept++) = g_array_index(hashes, uint64_t, i);
    g_array_set_size(hashes, kept);
}

/* Did some core observe different data on different schedules? Then its next steps may depend on a race. */
static bool data_differed(const StateSpace *space)
{
    for (uint32_t core = 0; core < space->cores; core++) {
        const Tree *tree = &space->core[core].tree;
        for (uint32_t node = 0; node < tree->nodes.count; node++) {
            const TreeNode *at = tree_node(tree, node);
            bool looks = at->observes && (at->step.kind == STEP_LOAD || at->step.kind == STEP_SWAP);
            if (looks && at->child != NONE && tree_node(tree, at->child)->sibling != NONE)
                return true;
        }
    }
    return false;
}

/* P. Wolper, D. Leroy, Reliable Hashing without Collision Detection, CAV 1993: a state is missed only if its hash is another's, and among n
 * hashes of b bits two are the same with a probability of at most n (n - 1) / 2 divided by 2^b. */
static void say_risk(const Frontier *frontier, Outcome *outcome)
{
    double states = (double)frontier_states(frontier), risk = MIN(ldexp(states * (states - 1), -65), 1);
    outcome_add_limit(outcome, "hash-compact");
    outcome->promise = g_strdup_printf("states are told apart by hashes of 64 bits; the probability that any was missed is at most %.2g",
                                       risk);
}

static void say_counts(const StateSpace *space, const Frontier *frontier, Outcome *outcome)
{
    outcome->states = frontier_states(frontier);
    outcome->transitions = 0;
    outcome->rotated = space->symmetry ? 0 : UINT64_MAX;
    for (unsigned i = 0; i < frontier->workers; i++) {
        outcome->transitions += frontier->worker[i].transitions;
        outcome->rotated += space->symmetry ? frontier->worker[i].covered : 0;
    }
}

static void say_limits(const StateSpace *space, const Frontier *frontier, Outcome *outcome)
{
    if (frontier->limit)
        outcome_add_limit(outcome, frontier->limit);
    for (uint32_t c = 0; c < space->counters.count; c++)
        if (state_counter_get(space, c)->looked_at && state_counter_get(space, c)->coarse)
            outcome_add_limit(outcome, "fluid-look");
    for (uint32_t core = 0; core < space->cores; core++)
        if (space->core[core].tree.guessed)
            outcome_add_limit(outcome, "polls");
    if (lives_hang_on_looks(space))
        outcome_add_limit(outcome, "scopes");
    if (frontier->hashed)
        say_risk(frontier, outcome);
}

static bool lacks_schedules(const Outcome *outcome)
{
    bool lacks = false;
    for (guint i = 0; i < outcome->findings->len; i++)
        lacks |= ((const Finding *)g_ptr_array_index(outcome->findings, i))->moves == NULL;
    return lacks;
}

static void say(StateSpace *space, const Frontier *frontier, Findings *findings)
{
    Outcome *outcome = findings->outcome;
    say_counts(space, frontier, outcome);
    outcome->complete = !findings->done && !space->unknown && symmetry_why(space->symmetry) == NULL;
    say_limits(space, frontier, outcome);
    outcome->incomplete_after_race = space->contents && findings_has(findings, FAULT_RACE) && data_differed(space);
    outcome->modes = space->options->modes;
    sort_end_states(outcome->end_states);
    if (outcome->refused != NULL)
        return;
    findings_settle(space, frontier, findings);
    if (space_forgets(space) && lacks_schedules(outcome))
        outcome->refused = g_strdup("no schedule for a fault was found without a table of all states; check it without --sweep and "
                                    "--hash-compact");
}

/* The line in which some core polls. */
static char *polling_line(const StateSpace *space)
{
    for (uint32_t core = 0; core < space->cores; core++) {
        const Tree *tree = &space->core[core].tree;
        for (uint32_t node = 0; node < tree->nodes.count; node++) {
            const TreeNode *at = tree_node(tree, node);
            if (!at->loops)
                continue;
            g_autofree char *where = program_describe_site(space->program, at->step.site);
            return g_strdup_printf(" (%s polls)", where);
        }
    }
    return g_strdup("");
}

static void refuse_sweep(const StateSpace *space, Outcome *outcome)
{
    g_autofree char *line = polling_line(space);
    outcome->refused = g_strdup_printf("--sweep is not possible for this program: its steps do not lead from one level of states to the "
                                       "next%s; check it without", line);
}

static void refuse_symmetry(Outcome *outcome, const char *why)
{
    g_free(outcome->refused);
    outcome->refused = g_strdup_printf("--symmetry is not possible for this program: %s; check it without", why);
}

/* Memory is not renamed: the images of words and contents are unknown. */
static void find_symmetry(StateSpace *space, Outcome *outcome)
{
    g_autofree char *why = NULL;
    if (space->memory != NULL)
        refuse_symmetry(outcome, space->contents ? "contents are part of its states (--data opaque leaves them out)" : "it has flags");
    else if (space->symmetry == NULL && (space->symmetry = symmetry_find(space, &why)) == NULL)
        refuse_symmetry(outcome, why);
}

/* Repeats the search until the space needs no further parts, or a limit is reached. */
static void run(StateSpace *space, Frontier *frontier, Findings *findings, Codec *resumed)
{
    Outcome *outcome = findings->outcome;
    if (space->options->modes & ENUMERATE_SYMMETRY)
        find_symmetry(space, outcome);
    if (outcome->refused == NULL && resumed != NULL && !resume_grow(resumed, space))
        outcome->refused = g_strdup(CHECKPOINT_UNFIT);
    while (outcome->refused == NULL) {
        space->restart = findings->done = false;
        frontier->keeps = space->memory != NULL && !space_forgets(space);
        frontier_close(frontier);
        layout_clear(&space->layout);
        persistent_recheck(space);
        findings_forget(findings);
        g_array_set_size(outcome->end_states, 0);
        levels_run(space, frontier, findings, g_steal_pointer(&resumed));
        if (symmetry_why(space->symmetry) != NULL)
            refuse_symmetry(outcome, symmetry_why(space->symmetry));
        if (!space->restart || frontier->limit != NULL)
            break;
        if (space->symmetry != NULL)
            find_symmetry(space, outcome);
    }
    if (space_sweeps(space) && space->uneven && outcome->refused == NULL)
        refuse_sweep(space, outcome);
}

typedef enum Ending { ENDED, ENDED_AT_RACE, ENDED_UNKNOWN } Ending;

/* One search. until_race: with contents, abandoned at the first race. UNKNOWN: a core observed data that is not in the state. */
static Outcome *search(UnrollSource *source, const EnumerateOptions *options, int64_t begun, bool contents, bool until_race,
                       Codec *resumed, Ending *ending)
{
    Frontier frontier = {.begun = begun, .stores_before = store_bytes_used()};
    StateSpace space;
    Findings findings;
    space_setup(&space, source, options, contents);
    findings_open(&findings, &space, until_race);
    space.growth = options->checkpoint ? g_array_new(FALSE, FALSE, sizeof(uint32_t)) : NULL;
    run(&space, &frontier, &findings, resumed);
    *ending = space.unknown ? ENDED_UNKNOWN : findings.raced ? ENDED_AT_RACE : ENDED;
    say(&space, &frontier, &findings);
    frontier_close(&frontier);
    findings_forget(&findings);
    space_clear(&space);
    return findings.outcome;
}

bool enumerate_asked_contents(GBytes *resumed)
{
    return resume_asked_contents(resumed);
}

static bool has_race(const Outcome *outcome)
{
    bool race = false;
    for (guint i = 0; i < outcome->findings->len; i++)
        race |= ((const Finding *)g_ptr_array_index(outcome->findings, i))->id == FAULT_RACE;
    return race;
}

/* Contents multiply the states of a racy program, whose results mean little: they are left out from the first race on, unless cores observe
 * them. */
Outcome *enumerate_run(UnrollSource *source, const EnumerateOptions *options)
{
    int64_t begun = g_get_monotonic_time();
    Ending ending;
    if (!layout_fields_fit(source->program->cores + source->program->devices)) {
        Outcome *none = outcome_new();          /* too many cores for any table */
        none->states = none->transitions = 0;
        outcome_add_limit(none, "memory");
        return none;
    }
    bool contents = options->contents, until_race = options->contents && !options->first;
    Codec codec;
    if (options->resumed != NULL && !resume_open(&codec, options, &contents, &until_race)) {
        Outcome *none = outcome_new();
        none->refused = g_strdup(CHECKPOINT_UNFIT);
        return none;
    }
    const Rewind mark = rewind_mark(source->program);
    Outcome *outcome = search(source, options, begun, contents, until_race, options->resumed ? &codec : NULL, &ending);
    if (ending == ENDED_AT_RACE && outcome->refused == NULL) {
        outcome_free(outcome);
        rewind_to(source->program, &mark);
        contents = until_race = false;
        outcome = search(source, options, begun, contents, until_race, NULL, &ending);
    }
    bool unfounded = options->resumed != NULL && outcome->complete && !has_race(outcome);       /* contents left out without a race */
    if ((ending != ENDED_UNKNOWN && !unfounded) || outcome->refused != NULL || contents || !options->contents)
        return outcome;
    outcome_free(outcome);
    rewind_to(source->program, &mark);
    return search(source, options, begun, true, false, NULL, &ending);
}
