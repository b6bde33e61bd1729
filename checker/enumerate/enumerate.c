/* enumerate.c - sets up a walk, runs it (again, with a memory, if that proves to matter), and says what came of it. */
#include "enumerate.h"
#include "state_counter.h"
#include <math.h>
#include "component.h"
#include "expand.h"
#include "findings.h"
#include "frontier.h"
#include "levels.h"
#include "lives.h"
#include "memory.h"
#include "persistent.h"
#include "resume.h"
#include "stream.h"
#include "symmetry.h"

static void init_core(Walk *walk, uint32_t core)
{
    component_init(walk, core);
    Tree *tree = &walk->core[core].tree;
    tree_init(tree, walk->source, core, walk->contents, &walk->sets);
    tree_reserve(tree, &walk->reservation, walk->components_max);
    tree->tile = contents_tile, tree->owner = walk->pool;
    tree->hasty = walk->options->canary == ENUMERATE_CANARY_FOLD_EARLY;
    tree_grow(tree);
    state_counter_scan(walk, core);
}

static void init(Walk *walk)
{
    Program *program = walk->program;
    walk->fluid = moment_is_fluid(&program->knobs);
    walk->cores = program->cores;
    walk->components_max = MIN((size_t)1 << 24, ((size_t)1 << 28) / MAX(program->cores, 1));
    walk->stores_before = store_bytes_used();
    reservation_open(&walk->reservation);
    idsets_init(&walk->sets, &walk->reservation);
    accesses_init(&walk->accesses, program, &walk->reservation);
    reservation_store(&walk->reservation, &walk->counters, sizeof(StateCounter), 1u << 24);
    reservation_store(&walk->reservation, &walk->counter_of, sizeof(uint32_t), 1u << 28);
    reservation_intern(&walk->reservation, &walk->others_keys, 1u << 24, (size_t)1 << 28);
    intern_add(&walk->others_keys, "", 0);
    reservation_store(&walk->reservation, &walk->others, sizeof(Others), 1u << 24);
    store_push(&walk->others, 1);
    reservation_intern(&walk->reservation, &walk->joins, 1u << 20, (size_t)1 << 28);
    reservation_intern(&walk->reservation, &walk->events, 1u << 24, (size_t)1 << 32);
    walk->lives = lives_new(&walk->reservation);
    walk->findings = findings_new(&walk->reservation);
    uint32_t fields = walk->cores + program->devices;
    walk->after = g_new0(uint32_t, fields), walk->lone = g_new0(uint32_t, fields);
    if (walk->contents) {
        walk->pool = contents_new(program, &walk->reservation);
        walk->memory = memory_new(program->devices, &walk->reservation);
    }
    walk->core = g_new0(WalkCore, walk->cores);
    for (uint32_t core = 0; core < walk->cores; core++)
        init_core(walk, core);
    layout_init(&walk->layout, walk->cores);    /* components made now ask it whether they fit */
    for (uint32_t core = 0; core < walk->cores; core++)
        component_start(walk, core);
}

static void clear(Walk *walk)
{
    levels_clear(walk);
    for (uint32_t g = 0; g < walk->counters.count; g++)
        g_free(state_counter_get(walk, g)->addend);
    for (uint32_t i = 0; i < walk->others.count; i++)
        g_free(STORE(Others, &walk->others, i).addend);
    findings_forget(walk->findings);
    symmetry_free(walk->symmetry);
    reservation_close(&walk->reservation);
    g_free(walk->core);
    g_free(walk->lives);
    g_free(walk->findings);
    memory_free(walk->memory);
    contents_free(walk->pool);
    g_free(walk->results);
    if (walk->growth != NULL)
        g_array_unref(walk->growth);
    g_free(walk->after);
    g_free(walk->lone);
}

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

/* Did some core see different data on different schedules? Then what it did next may hang on a race. */
static bool data_differed(const Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        const Tree *tree = &walk->core[core].tree;
        for (uint32_t node = 0; node < tree->nodes.count; node++) {
            const Node *at = tree_node(tree, node);
            StepKind kind = at->step == NONE ? STEP_KIND_COUNT : (StepKind)tree_step(tree, at->step)->step.kind;
            if ((kind == STEP_LOAD || kind == STEP_SWAP) && at->observes && at->child != NONE
                && tree_node(tree, at->child)->sibling != NONE)
                return true;
        }
    }
    return false;
}

/* P. Wolper, D. Leroy, Reliable Hashing without Collision Detection, CAV 1993: a state is missed only if its hash is another's, and among n
 * hashes of b bits two are the same with a probability of at most n (n - 1) / 2 divided by 2^b. */
static void say_risk(Walk *walk)
{
    double states = (double)frontier_states(walk), risk = MIN(ldexp(states * (states - 1), -65), 1);
    outcome_add_limit(walk->outcome, "hash-compact");
    walk->outcome->promise = g_strdup_printf("states are told apart by hashes of 64 bits; the probability that any was missed is at most "
                                             "%.2g", risk);
}

static void say(Walk *walk)
{
    Outcome *outcome = walk->outcome;
    outcome->states = frontier_states(walk);
    outcome->transitions = 0;
    outcome->rotated = walk->symmetry ? 0 : UINT64_MAX;
    for (unsigned i = 0; i < walk->workers; i++) {
        outcome->transitions += walk->worker[i].transitions;
        outcome->rotated += walk->symmetry ? walk->worker[i].covered : 0;
    }
    outcome->complete = !walk->done && !walk->unknown;
    if (walk->limit)
        outcome_add_limit(outcome, walk->limit);
    for (uint32_t g = 0; g < walk->counters.count; g++)
        if (state_counter_get(walk, g)->looked_at && state_counter_get(walk, g)->coarse)
            outcome_add_limit(outcome, "fluid-look");
    for (uint32_t core = 0; core < walk->cores; core++)
        if (walk->core[core].tree.guessed)
            outcome_add_limit(outcome, "polls");
    if (lives_hang_on_looks(walk))
        outcome_add_limit(outcome, "scopes");
    outcome->incomplete_after_race = walk->contents && findings_has(walk->findings, FAULT_RACE) && data_differed(walk);
    outcome->modes = walk->options->modes;
    if (walk->hashed)
        say_risk(walk);
    sort_end_states(outcome->end_states);
    if (outcome->refused != NULL)
        return;
    findings_settle(walk);
    for (guint i = 0; i < outcome->findings->len && walk_forgets(walk) && outcome->refused == NULL; i++)
        if (((const Finding *)g_ptr_array_index(outcome->findings, i))->moves == NULL)
            outcome->refused = g_strdup("no schedule for a fault was found without a table of all states; check it without --sweep and "
                                        "--hash-compact");
}

/* The line in which some core polls. */
static char *polling_line(const Walk *walk)
{
    for (uint32_t core = 0; core < walk->cores; core++) {
        const Tree *tree = &walk->core[core].tree;
        for (uint32_t node = 0; node < tree->nodes.count; node++) {
            const Node *at = tree_node(tree, node);
            if (!at->loops || at->step == NONE)
                continue;
            g_autofree char *where = program_describe_site(walk->program, tree_step(tree, at->step)->step.site);
            return g_strdup_printf(" (%s polls)", where);
        }
    }
    return g_strdup("");
}

static void refuse_sweep(Walk *walk)
{
    g_autofree char *line = polling_line(walk);
    walk->outcome->refused = g_strdup_printf("--sweep is not possible for this program: its steps do not lead from one level of states "
                                             "to the next%s; check it without", line);
}

static void refuse_symmetry(Walk *walk, const char *why)
{
    g_free(walk->outcome->refused);
    walk->outcome->refused = g_strdup_printf("--symmetry is not possible for this program: %s; check it without", why);
}

/* Memory is not renamed: which words and contents stand for which nobody knows. */
static void find_symmetry(Walk *walk)
{
    g_autofree char *why = NULL;
    if (walk->memory != NULL)
        refuse_symmetry(walk, walk->contents ? "contents are part of its states (--data opaque leaves them out)" : "it has flags");
    else if (walk->symmetry == NULL && (walk->symmetry = symmetry_find(walk, &why)) == NULL)
        refuse_symmetry(walk, why);
}

typedef enum Ending { ENDED, ENDED_AT_RACE, ENDED_UNKNOWN } Ending;

/* One search. until_race: contents in the state, given up at the first race. UNKNOWN: a core looked at data that was not there. */
static Outcome *search(UnrollSource *source, const EnumerateOptions *options, int64_t begun, bool contents, bool until_race,
                       Stream *resumed, Ending *ending)
{
    Walk walk = {.program = source->program, .source = source, .options = options, .outcome = outcome_new(), .begun = begun,
                 .contents = contents, .until_race = until_race};
    init(&walk);
    walk.growth = options->checkpoint ? g_array_new(FALSE, FALSE, sizeof(uint32_t)) : NULL;
    walk.merges = options->modes & WALK_MERGE_LOCAL;
    walk.resumed = resumed;
    if (options->modes & WALK_SYMMETRY)
        find_symmetry(&walk);
    if (walk.outcome->refused == NULL && resumed != NULL && !resume_grow(resumed, &walk))
        walk.outcome->refused = g_strdup(CHECKPOINT_UNFIT);
    while (walk.outcome->refused == NULL) {
        walk.restart = walk.done = false;
        walk.keeps = walk.memory != NULL && !walk_forgets(&walk);
        levels_clear(&walk);
        persistent_recheck(&walk);
        findings_forget(walk.findings);
        g_array_set_size(walk.outcome->end_states, 0);
        levels_run(&walk);
        if (walk.symmetry != NULL && symmetry_why(walk.symmetry) != NULL)
            refuse_symmetry(&walk, symmetry_why(walk.symmetry));
        if (!walk.restart || walk.limit != NULL)
            break;
        if (walk.symmetry != NULL)
            find_symmetry(&walk);
    }
    if (walk_sweeps(&walk) && walk.uneven && walk.outcome->refused == NULL)
        refuse_sweep(&walk);
    *ending = walk.unknown ? ENDED_UNKNOWN : walk.raced ? ENDED_AT_RACE : ENDED;
    say(&walk);
    clear(&walk);
    return walk.outcome;
}

static bool has_race(const Outcome *outcome)
{
    bool race = false;
    for (guint i = 0; i < outcome->findings->len; i++)
        race |= ((const Finding *)g_ptr_array_index(outcome->findings, i))->id == FAULT_RACE;
    return race;
}

/* Contents multiply the states of a program that races, and what its results are means little then: so they are left out from the first
 * race on, unless the cores look at them. */
Outcome *enumerate_run(UnrollSource *source, const EnumerateOptions *options)
{
    int64_t begun = g_get_monotonic_time();
    Ending ending;
    if (!layout_fields_fit(source->program->cores + source->program->devices)) {
        Outcome *none = outcome_new();          /* so many cores that no table would hold even the first steps' states */
        none->states = none->transitions = 0;
        outcome_add_limit(none, "memory");
        return none;
    }
    bool contents = options->contents, until_race = options->contents && !options->first;
    Stream stream;
    if (options->resumed != NULL
        && (!resume_open(&stream, options->resumed, &contents, &until_race) || contents > options->contents
            || until_race > !options->first)) {
        Outcome *none = outcome_new();
        none->refused = g_strdup(CHECKPOINT_UNFIT);
        return none;
    }
    Outcome *outcome = search(source, options, begun, contents, until_race, options->resumed ? &stream : NULL, &ending);
    if (ending == ENDED_AT_RACE && outcome->refused == NULL) {
        outcome_free(outcome);
        contents = until_race = false;
        outcome = search(source, options, begun, contents, until_race, NULL, &ending);
    }
    bool unfounded = options->resumed != NULL && outcome->complete && !has_race(outcome);       /* contents are left out for a race */
    if ((ending != ENDED_UNKNOWN && !unfounded) || outcome->refused != NULL || contents || !options->contents)
        return outcome;
    outcome_free(outcome);
    return search(source, options, begun, true, false, NULL, &ending);
}
