/* poll.c - seeing that a core which polls has come back to where it was.
 *
 * Only steps that leave no trace may lie between the two points. There are two rules, by where the core's states are compared:
 *
 *   POLL_AFTER_LOOK  right after an observation, by fingerprints (unroll.h). The first look in vain is a step of its own, so that each
 *                    state in which somebody looks in vain is told apart. Without fingerprints, or after very many looks, the evidence is
 *                    the steps alone: a cycle of observations and steps that was gone through twice in the same way, and that goes on the
 *                    same way when the core is fed it many more times.
 *   POLL_AT_LOOK     where the core is about to look again, state by state (UnrollSource.same). A look in vain leads back to itself,
 *                    whatever it saw. After very many looks the nearest one is taken for it.
 *
 * What is not seen but concluded is a guess (a core may count its looks), and the tree says so.
 */
#include "../../model/dependence.h"
#include "../../model/sane.h"
#include "tree.h"

enum { LOOKS_MAX = 1000 };                      /* looks in vain before a loop is guessed */
enum { CYCLES_FED = 64, CYCLE_MAX = 16 };
enum { COMPARED_MAX = 4 };                      /* earlier looks that states are compared with */

/* The node before, if the step between left no trace; else NONE. */
static uint32_t step_back(const Tree *tree, uint32_t node)
{
    uint32_t parent = tree_node(tree, node)->parent;
    bool traceless = parent != NONE && dependence_leaves_no_trace(&tree_node(tree, parent)->step, tree_node(tree, node)->seen);
    return traceless ? parent : NONE;
}

static bool same_step(const UnrollStep *a, const UnrollStep *b)
{
    return a->step.kind == b->step.kind && a->step.site == b->step.site && a->step.object == b->step.object
        && a->step.value == b->step.value && a->step.extra == b->step.extra && a->view == b->view;
}

/* ---- right after a look ---- */

/* The observation before the one that led to `node`, if only traceless steps lie between; else NONE. */
static uint32_t observation_before(const Tree *tree, uint32_t node)
{
    do
        node = step_back(tree, node);
    while (node != NONE && !tree_node(tree, node)->observed);
    return node;
}

/* Are the observations that led to a and b equal, and the steps that follow them up to the next one? */
static bool same_segment(const Tree *tree, uint32_t a, uint32_t b)
{
    if (tree_node(tree, a)->seen != tree_node(tree, b)->seen)
        return false;
    for (;; a++, b++) {                         /* a segment's nodes are consecutive */
        const TreeNode *one = tree_node(tree, a), *other = tree_node(tree, b);
        if ((one->unrolled == NONE) != (other->unrolled == NONE))
            return false;
        if (one->unrolled == NONE)
            return true;
        if (!same_step(tree_step(tree, one->unrolled), tree_step(tree, other->unrolled)))
            return false;
        if (one->observes)
            return true;
    }
}

/* Feeds the core the cycle of observations again and again: does it always do the same steps? */
static bool goes_on(Tree *tree, const uint32_t *cycle, uint32_t length)
{
    uint32_t core = tree_node(tree, cycle[0])->step.core;
    g_autoptr(GArray) observed = tree_observations(tree, cycle[0]), steps = g_array_new(FALSE, TRUE, sizeof(UnrollStep));
    bool same = true;
    for (uint32_t i = 0; same && i < CYCLES_FED * length; i++) {
        uint32_t expected = cycle[length - 1 - i % length];
        Observation next = g_array_index(observed, Observation, observed->len - length);
        g_array_append_val(observed, next);
        g_array_set_size(steps, 0);
        const Observation *all = (const Observation *)(const void *)observed->data;
        same = tree->source->extend(tree->source->self, core, all, observed->len, tree->contents, steps) == UNROLL_OBSERVES;
        for (guint s = 0; same && s < steps->len; s++)
            same = tree_node(tree, expected + s)->unrolled != NONE
                && same_step(tree_unrolled(tree, expected + s), &g_array_index(steps, UnrollStep, s));
    }
    return same;
}

static uint32_t find_by_steps(Tree *tree, uint32_t node)
{
    uint32_t back[2 * CYCLE_MAX + 1], length = 0;
    for (uint32_t at = node; at != NONE && length < G_N_ELEMENTS(back); at = observation_before(tree, at))
        back[length++] = at;
    for (uint32_t period = 1; 2 * period <= length; period++) {
        bool repeats = true;
        for (uint32_t i = 0; repeats && i < period; i++)
            repeats = same_segment(tree, back[i], back[i + period]);
        if (repeats && goes_on(tree, back, period))
            return back[period];
    }
    return NONE;
}

static uint32_t find_after_look(Tree *tree, uint32_t node, const GArray *observed, bool *guessed)
{
    UnrollSource *source = tree->source;
    const Observation *all = (const Observation *)(const void *)observed->data;
    uint32_t looks = 0, core = tree_node(tree, node)->step.core;
    uint64_t print = source->fingerprint == NULL ? 0 : source->fingerprint(source->self, core, all, observed->len, tree->contents);
    tree_node(tree, node)->fingerprint = print;
    *guessed = print == 0;
    for (uint32_t at = observation_before(tree, node); at != NONE && !*guessed; at = observation_before(tree, at)) {
        *guessed = ++looks == LOOKS_MAX;
        if (!*guessed && (tree_node(tree, at)->fingerprint == print || tree->hasty))
            return at;
    }
    return *guessed ? find_by_steps(tree, node) : NONE;
}

/* ---- at the next look ---- */

/* Where the core was before `node` when it was about to do the step of `look`. */
static uint32_t look_before(const Tree *tree, uint32_t node, uint32_t look)
{
    do
        node = step_back(tree, node);
    while (node != NONE && !(tree_node(tree, node)->observes && same_step(tree_unrolled(tree, node), tree_unrolled(tree, look))));
    return node;
}

/* Whether the object lives at the first look in vain may matter: then that look is a step of its own, though later ones are not. Only of a
 * sibling's scope, and where scopes are strict, may a core look at what is not open yet. */
static bool first_look_counts(const Tree *tree, uint32_t node)
{
    const Program *program = tree->source->program;
    const TreeNode *at = tree_node(tree, node);
    if (!step_on_counter(at->step.kind) || program->knobs.scopes != SCOPES_STRICT
        || program_semaphore_core(program, at->step.object) == at->step.core
        || program_decl(program, program_semaphore_decl(program, at->step.object))->life != LIFE_SCOPE)
        return false;
    return !at->observed || !same_step(tree_unrolled(tree, at->parent), tree_unrolled(tree, node));
}

static uint32_t find_at_look(Tree *tree, uint32_t last, const GArray *observed, bool *guessed)
{
    UnrollSource *source = tree->source;
    uint32_t looks = 0, nearest = NONE, core = tree_node(tree, last)->step.core;
    for (uint32_t at = look_before(tree, last, last); at != NONE; at = look_before(tree, at, last)) {
        if (tree_node(tree, last)->parent == at && first_look_counts(tree, at))
            continue;
        nearest = looks++ == 0 ? at : nearest;
        *guessed = looks == LOOKS_MAX;
        if (*guessed)
            return nearest;
        if (looks > COMPARED_MAX)
            continue;
        g_autoptr(GArray) earlier = tree_observations(tree, at);
        if (source->same(source->self, core, earlier, observed, tree->contents))
            return at;
    }
    return NONE;
}

/* ---- */

void poll_close(Tree *tree, uint32_t first, const GArray *observed)
{
    uint32_t last = (uint32_t)tree->nodes.count - 1, end = tree->rule == POLL_AT_LOOK ? last : first, same = NONE;
    bool guessed = false;
    if (!tree_node(tree, first)->observed)
        return;
    if (tree->rule == POLL_AFTER_LOOK)
        same = find_after_look(tree, first, observed, &guessed);
    else if (tree->source->same != NULL && tree_node(tree, last)->observes)
        same = find_at_look(tree, last, observed, &guessed);
    if (same == NONE)
        return;
    tree_node(tree, end)->same = same;
    tree->folds++;
    tree->guessed |= guessed;
    for (uint32_t at = end; at != same;) {
        at = tree_node(tree, at)->parent;
        tree_node(tree, at)->loops = true;
        tree_node(tree, at)->guessed |= guessed;
    }
    SANE_NOW_AND_THEN(tree->folds, poll_assert_sane(tree));
}

void poll_assert_sane(const Tree *tree)
{
    uint32_t folds = 0;
    for (uint32_t id = 0; id < tree->nodes.count; id++) {
        const uint32_t same = tree_node(tree, id)->same;
        folds += same != id;
        for (uint32_t at = id; at != same;) {
            at = step_back(tree, at);
            g_assert(at != NONE && tree_node(tree, at)->loops && (!tree_node(tree, at)->guessed || tree->guessed));
        }
    }
    g_assert(folds == tree->folds);
}
