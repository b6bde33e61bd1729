/* deadlock.c - a deadlock in words: cores grouped by how they are stuck, what they wait for, which core could help and why it cannot; what
 * took the signals that came; and the cycle of needs.
 */
#include "../../model/counter.h"
#include "stuck_cores.h"
#include "unheard.h"

enum { GROUPS_SHOWN = 4, CORES_SHOWN = 4, HELPERS_SHOWN = 3, CYCLE_SHOWN = 8 };

typedef struct StuckGroup {                     /* cores stuck at one line in the same way */
    const Step *pending;                        /* of the first */
    uint32_t decl;
    int64_t have;
    uint32_t help;                              /* site of the signal that would help; NONE: there is none */
    GArray *cores;
} StuckGroup;

static int64_t count_at(const Stuck *stuck, const Step *pending)
{
    return step_is_join(pending->kind) ? 0 : stuck->prover->index->final_count[pending->object];
}

static StuckGroup group_of(const Stuck *stuck, uint32_t core)
{
    const Step *pending = &stuck_end(stuck, core)->pending;
    StuckGroup group = { pending, NONE, count_at(stuck, pending), NONE, NULL };
    if (step_is_join(pending->kind))
        return group;
    group.decl = program_semaphore_decl(stuck->prover->program, pending->object);
    g_autoptr(GArray) helpers = stuck_helpers(stuck, core);
    if (helpers->len > 0)
        group.help = g_array_index(helpers, Helper, 0).site;
    return group;
}

static bool same_group(const StuckGroup *a, const StuckGroup *b)
{
    return a->pending->site == b->pending->site && a->pending->kind == b->pending->kind && a->decl == b->decl && a->have == b->have
        && a->pending->value == b->pending->value && a->help == b->help;
}

static void free_group(gpointer group)
{
    g_array_unref(((StuckGroup *)group)->cores);
}

static GArray *group_all(const Stuck *stuck)
{
    GArray *groups = g_array_new(FALSE, FALSE, sizeof(StuckGroup));
    g_array_set_clear_func(groups, free_group);
    for (uint32_t core = 0; core < stuck->prover->index->cores; core++) {
        if (stuck_end(stuck, core)->end != CORE_BLOCKED)
            continue;
        StuckGroup fresh = group_of(stuck, core), *group = NULL;
        for (guint i = 0; i < groups->len && group == NULL; i++)
            if (same_group(&g_array_index(groups, StuckGroup, i), &fresh))
                group = &g_array_index(groups, StuckGroup, i);
        if (group == NULL) {
            fresh.cores = g_array_new(FALSE, FALSE, sizeof core);
            g_array_append_val(groups, fresh);
            group = &g_array_index(groups, StuckGroup, groups->len - 1);
        }
        g_array_append_val(group->cores, core);
    }
    return groups;
}

/* "device 0, device 1 and 5 more", or "devices 0 to 6" */
static void append_cores(const Prover *prover, GString *text, const GArray *cores)
{
    uint32_t first = g_array_index(cores, uint32_t, 0), last = g_array_index(cores, uint32_t, cores->len - 1);
    if (prover->index->per_device == 1 && cores->len > 2 && last - first + 1 == cores->len) {
        g_string_append_printf(text, "devices %u to %u", first, last);
        return;
    }
    guint shown = cores->len > CORES_SHOWN + 1 ? CORES_SHOWN : cores->len;
    for (guint i = 0; i < shown; i++) {
        g_autofree char *name = program_describe_core(prover->program, g_array_index(cores, uint32_t, i));
        g_string_append_printf(text, "%s%s", i == 0 ? "" : i + 1 == cores->len ? " and " : ", ", name);
    }
    if (cores->len > shown)
        g_string_append_printf(text, " and %u more", cores->len - shown);
}

static uint32_t element_of(const Program *program, uint32_t semaphore)
{
    const Decl *decl = program_decl(program, program_semaphore_decl(program, semaphore));
    return (semaphore - decl->first_semaphore) % decl->elements;
}

/* "its own b", or "its own (s[0] of device 0, s[1] of device 1)" if their elements differ; "b of device 0" for one core. */
static char *name_semaphores(const Stuck *stuck, const StuckGroup *group)
{
    const Program *program = stuck->prover->program;
    GString *text = g_string_new(NULL);
    bool differ = false;
    for (guint i = 0; i < group->cores->len; i++) {
        uint32_t semaphore = stuck_end(stuck, g_array_index(group->cores, uint32_t, i))->pending.object;
        g_autofree char *name = program_describe_semaphore(program, semaphore);
        differ |= element_of(program, semaphore) != element_of(program, group->pending->object);
        if (i < CORES_SHOWN)
            g_string_append_printf(text, "%s%s", i == 0 ? "" : ", ", name);
    }
    if (group->cores->len == 1)
        return g_string_free(text, FALSE);
    if (group->cores->len > CORES_SHOWN)
        g_string_append_printf(text, " and %u more", group->cores->len - CORES_SHOWN);
    g_string_prepend(text, "its own (");
    g_string_append_c(text, ')');
    if (!differ) {
        g_autofree char *name = program_describe_semaphore(program, group->pending->object);
        *g_strrstr(name, " of ") = '\0';
        g_string_printf(text, "its own %s", name);
    }
    return g_string_free(text, FALSE);
}

static void append_join(const Stuck *stuck, GString *text, const StuckGroup *group)
{
    const Prover *prover = stuck->prover;
    const Step *pending = group->pending;
    g_autoptr(GArray) missing = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    const Join join = join_of(prover->program, pending);
    for (uint32_t c = join.first; c < join.last; c++)
        if (stuck_is_missing(stuck, &join, c))
            g_array_append_val(missing, c);
    g_autofree char *where = program_describe_site(prover->program, pending->site);
    g_string_append_printf(text, " %s at the %s at %s", group->cores->len > 1 ? "stand" : "stands", step_kind_name((StepKind)pending->kind),
                           where);
    if (missing->len == 0)
        return;
    g_string_append(text, ", which ");
    append_cores(prover, text, missing);
    uint32_t first = g_array_index(missing, uint32_t, 0);
    const CoreState *end = stuck_end(stuck, first);
    g_string_append(text, " will never reach");
    g_autofree char *name = missing->len > 1 ? program_describe_core(prover->program, first) : g_strdup("");
    g_autofree char *of = g_strconcat(name, *name ? " " : "", NULL);
    if (end->end == CORE_FINISHED)
        g_string_append_printf(text, " (%sfinished)", of);
    if (end->end == CORE_BLOCKED) {
        g_autofree char *there = program_describe_site(prover->program, end->pending.site);
        g_string_append_printf(text, " (%sstuck at %s)", of, there);
    }
}

static void append_wait(const Stuck *stuck, GString *text, const StuckGroup *group)
{
    const Prover *prover = stuck->prover;
    bool many = group->cores->len > 1;
    g_autofree char *where = program_describe_site(prover->program, group->pending->site);
    g_autofree char *name = name_semaphores(stuck, group);
    g_string_append_printf(text, many ? " wait at %s, each on %s" : " waits at %s on %s", where, name);
    g_string_append_printf(text, ": the count is %" G_GINT64_FORMAT ", it needs %d", group->have, (int32_t)group->pending->value);
}

/* From a word's values in the order of the record: when the wait could last have passed, and which step ended that. */
typedef struct Chance {
    const Step *made, *ended, *last;            /* last: the last step that touched the word; NULL: none */
    int64_t value;                              /* the value that satisfied the wait */
} Chance;

static Chance last_chance(const Prover *prover, const Step *wait)
{
    const Store *steps = &prover->record->steps;
    int64_t value = program_decl(prover->program, program_semaphore_decl(prover->program, wait->object))->initial;
    Chance chance = { NULL, NULL, NULL, 0 };
    for (size_t i = 0; i < steps->count; i++) {
        const Step *step = &STORE(Step, steps, i);
        if (step->object != wait->object || !counter_writes(step, value))
            continue;
        int64_t before = value;
        value = counter_after(step, value);
        if (counter_permits(wait, before) && !counter_permits(wait, value))
            chance.made = chance.last, chance.ended = step, chance.value = before;
        chance.last = step;
    }
    return chance;
}

/* Whoever changed the word too early may have heard only of itself. */
static void append_deaf(const Prover *prover, GString *text, const Step *early)
{
    uint32_t position = 0;
    while (index_step(prover->index, early->core, position) != early)
        position++;
    const Event event = index_event(prover->index, early->core, position);
    unheard_but_itself(prover, text, &event);
}

static void append_flag_wait(const Stuck *stuck, GString *text, const StuckGroup *group)
{
    const Prover *prover = stuck->prover;
    const Step *pending = group->pending;
    bool many = group->cores->len > 1;
    g_autofree char *flag = name_semaphores(stuck, group), *where = program_describe_site(prover->program, pending->site);
    g_string_append_printf(text, " %s at %s%s until %s %s %d, but it is %" G_GINT64_FORMAT, many ? "wait" : "waits", where,
                           many ? ", each" : "", flag, compare_words((Compare)pending->extra), (int32_t)pending->value, group->have);
    Chance chance = last_chance(prover, pending);
    if (chance.ended != NULL) {
        g_autofree char *made = chance.made ? step_words(prover->program, chance.made) : NULL;
        g_autofree char *ended = step_words(prover->program, chance.ended);
        g_autofree char *of = many ? program_describe_semaphore(prover->program, pending->object) : g_strdup("It");
        g_string_append_printf(text, ". %s was %" G_GINT64_FORMAT ", which would do, %s%s, until %s: that signal was lost", of,
                               chance.value, made ? "after " : "in the beginning", made ? made : "", ended);
        append_deaf(prover, text, chance.ended);
    } else if (chance.last == NULL) {
        g_string_append(text, ", its initial value");
    } else {
        g_autofree char *last = step_words(prover->program, chance.last);
        g_string_append_printf(text, "; the last to touch it was %s", last);
    }
}

static const char *stuck_where(const Stuck *stuck, uint32_t core, char **text)
{
    *text = program_describe_site(stuck->prover->program, stuck_end(stuck, core)->pending.site);
    return *text;
}

/* Are the signals of all helpers needed, or of any one? */
static void append_and_or(GString *text, const GArray *helpers, uint32_t self, int64_t missing)
{
    int64_t sum = 0, least = INT64_MAX;
    guint others = 0;
    for (guint i = 0; i < helpers->len; i++) {
        const Helper *helper = &g_array_index(helpers, Helper, i);
        if (helper->core == self)
            continue;
        others++;
        sum += helper->gives, least = MIN(least, helper->gives);
    }
    if (sum < missing)
        g_string_append_printf(text, "; that would still be %" G_GINT64_FORMAT " too few", missing - sum);
    else if (others > 1 && least >= missing)
        g_string_append(text, "; any of these would do");
    else if (others > 1 && sum - least < missing)
        g_string_append(text, "; it needs all of these");
}

/* The cores that would signal later, but are stuck themselves. False: there is none but the core itself. */
static bool append_helpers(const Stuck *stuck, GString *text, const StuckGroup *group, const GArray *helpers)
{
    const Prover *prover = stuck->prover;
    uint32_t self = g_array_index(group->cores, uint32_t, 0);
    guint shown = 0, others = 0;
    bool flag = group->pending->kind == STEP_FLAG_WAIT;
    for (guint i = 0; i < helpers->len; i++)
        others += g_array_index(helpers, Helper, i).core != self;
    if (others == 0)
        return false;
    g_autofree char *core = program_describe_core(prover->program, self);
    g_string_append(text, group->cores->len > 1 ? ". That of " : ". ");
    if (group->cores->len > 1)
        g_string_append_printf(text, "%s ", core);
    else
        g_string_append(text, "It ");
    g_string_append(text, flag ? "would be changed by" : "would be signalled by");
    for (guint i = 0; i < helpers->len && shown < HELPERS_SHOWN; i++) {
        const Helper *helper = &g_array_index(helpers, Helper, i);
        if (helper->core == self)
            continue;
        g_autofree char *name = program_describe_core(prover->program, helper->core);
        g_autofree char *where = program_describe_site(prover->program, helper->site), *there = NULL;
        g_string_append_printf(text, "%s %s at %s, which is stuck before that at %s", shown++ > 0 ? " and by" : "", name, where,
                               stuck_where(stuck, helper->core, &there));
    }
    if (others > shown)
        g_string_append_printf(text, " and by %u more", others - shown);
    if (!flag && g_array_index(helpers, Helper, 0).foreseen)
        append_and_or(text, helpers, self, (int64_t)(int32_t)group->pending->value - group->have);
    return true;
}

static void append_nobody(const Stuck *stuck, GString *text, const StuckGroup *group, const GArray *helpers)
{
    const Prover *prover = stuck->prover;
    bool many = group->cores->len > 1;
    if (helpers->len > 0) {
        g_autofree char *where = program_describe_site(prover->program, g_array_index(helpers, Helper, 0).site);
        g_autofree char *self = program_describe_core(prover->program, g_array_index(group->cores, uint32_t, 0));
        g_string_append_printf(text, ". Only %s would signal it, at %s, after this wait", many ? "each itself" : self, where);
    } else if (stuck->foreseen) {
        g_string_append(text, stuck->any_vague ? ". As far as can be foreseen, no core will signal it" : ". No core will signal it");
    }
}

/* The signals that came, and the waits that took them. */
static void append_history(const Stuck *stuck, GString *text, const Step *wait)
{
    const Prover *prover = stuck->prover;
    const Index *index = prover->index;
    g_autoptr(GArray) signals = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    int64_t given = 0;
    for (uint32_t i = index->signal_first[wait->object]; i < index->signal_first[wait->object + 1]; i++) {
        g_array_append_val(signals, i);
        given += index->signal[i].inc;
    }
    if (signals->len == 0) {
        g_string_append(text, stuck->foreseen ? ", and none ever has" : "; no core has signalled it");
        return;
    }
    g_autofree char *givers = givers_words(prover, signals);
    g_autoptr(GString) waits = g_string_new(NULL);
    int64_t taken = leftover_waits(prover, waits, wait->object);
    g_string_append_printf(text, ". It was given %" G_GINT64_FORMAT ", by %s", given, givers);
    if (taken > 0)
        g_string_append_printf(text, "; %" G_GINT64_FORMAT " of that was taken before, at %s", taken, waits->str);
}

/* A count that no wait takes, on a semaphore of the same name: the signal may have gone to the wrong one. */
static void append_elsewhere(const Stuck *stuck, GString *text, const Step *wait)
{
    const Prover *prover = stuck->prover;
    const Index *index = prover->index;
    const Decl *decl = program_decl(prover->program, program_semaphore_decl(prover->program, wait->object));
    for (uint32_t i = 0; i < decl->elements * index->cores; i++) {
        uint32_t semaphore = decl->first_semaphore + i, owner = i / decl->elements;
        const CoreState *end = stuck_end(stuck, owner);
        if (semaphore == wait->object || semaphore >= index->semaphores || index->final_count[semaphore] <= 0
            || (end->end == CORE_BLOCKED && end->pending.object == semaphore))
            continue;
        g_autoptr(GArray) last = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        int64_t left = index->final_count[semaphore];
        for (uint32_t s = index->signal_first[semaphore + 1]; s-- > index->signal_first[semaphore] && left > 0;) {
            g_array_append_val(last, s);
            left -= index->signal[s].inc;
        }
        g_autofree char *name = program_describe_semaphore(prover->program, semaphore), *givers = givers_words(prover, last);
        g_string_append_printf(text, ". But %s holds %" G_GINT64_FORMAT " that nobody takes, from %s", name, index->final_count[semaphore],
                               givers);
        return;
    }
}

static void append_group(const Stuck *stuck, GString *text, const StuckGroup *group)
{
    gsize begin = text->len;
    append_cores(stuck->prover, text, group->cores);
    text->str[begin] = g_ascii_toupper(text->str[begin]);
    if (step_is_join(group->pending->kind)) {
        append_join(stuck, text, group);
        return;
    }
    bool flag = group->pending->kind == STEP_FLAG_WAIT;
    (flag ? append_flag_wait : append_wait)(stuck, text, group);
    g_autoptr(GArray) helpers = stuck_helpers(stuck, g_array_index(group->cores, uint32_t, 0));
    if (append_helpers(stuck, text, group, helpers))
        return;
    append_nobody(stuck, text, group, helpers);
    if (!flag) {
        if (helpers->len == 0)
            append_history(stuck, text, group->pending);
        append_elsewhere(stuck, text, group->pending);
    }
}

static void append_path(const Prover *prover, GString *text, const GArray *path, guint from)
{
    guint length = path->len - from;
    g_string_append(text, "The cycle: ");
    for (guint i = from; i < path->len; i++) {
        bool left_out = length > CYCLE_SHOWN && i >= from + CYCLE_SHOWN / 2 && i + CYCLE_SHOWN / 2 < path->len;
        g_autofree char *name = program_describe_core(prover->program, g_array_index(path, uint32_t, i));
        if (!left_out)
            g_string_append_printf(text, "%s needs ", name);
        else if (i == from + CYCLE_SHOWN / 2)
            g_string_append(text, "... ");
    }
    g_autofree char *name = program_describe_core(prover->program, g_array_index(path, uint32_t, from));
    g_string_append(text, name);
    if (length > CYCLE_SHOWN)
        g_string_append_printf(text, " (%u cores)", length);
    g_string_append_c(text, '.');
}

/* Follows needs from a core until one repeats. False: they lead to no cycle. */
static bool append_cycle(const Stuck *stuck, GString *text, uint32_t from, uint32_t *seen)
{
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof from);
    uint32_t core = from;
    while (core != NONE && stuck_end(stuck, core)->end == CORE_BLOCKED && !seen[core]) {
        g_array_append_val(path, core);
        seen[core] = path->len;
        core = stuck_needs(stuck, core);
    }
    guint begins = core != NONE && seen[core] > 0 ? seen[core] - 1 : path->len;
    if (begins >= path->len || g_array_index(path, uint32_t, begins) != core || path->len - begins < 2)
        return false;
    append_path(stuck->prover, text, path, begins);
    return true;
}

static char *describe(const Stuck *stuck)
{
    GString *text = g_string_new(NULL);
    g_autoptr(GArray) groups = group_all(stuck);
    guint more = 0;
    for (guint i = 0; i < groups->len; i++) {
        const StuckGroup *group = &g_array_index(groups, StuckGroup, i);
        if (i >= GROUPS_SHOWN) {
            more += group->cores->len;
            continue;
        }
        append_group(stuck, text, group);
        g_string_append(text, ".\n");
    }
    if (more > 0)
        g_string_append_printf(text, "%u more cores are stuck.\n", more);
    g_autofree uint32_t *seen = g_new0(uint32_t, stuck->prover->index->cores);
    bool told = false;
    for (uint32_t core = 0; core < stuck->prover->index->cores && !told; core++)
        told = stuck_end(stuck, core)->end == CORE_BLOCKED && !seen[core] && append_cycle(stuck, text, core, seen);
    g_strchomp(text->str);
    return g_string_free(text, FALSE);
}

/* What the first stuck core waits for, or the last of those that it needs in turn. */
static Cause cause_of(const Stuck *stuck)
{
    const uint32_t cores = stuck->prover->index->cores;
    uint32_t core = 0;
    while (core < cores && stuck_end(stuck, core)->end != CORE_BLOCKED)
        core++;
    if (core == cores)
        return (Cause){ CAUSE_UNKNOWN, NONE, NONE };
    uint32_t needed = stuck_needs(stuck, core);
    for (uint32_t steps = 0; steps < cores && needed != NONE && stuck_end(stuck, needed)->end == CORE_BLOCKED; steps++)
        core = needed, needed = stuck_needs(stuck, core);
    const Step *pending = &stuck_end(stuck, core)->pending;
    return (Cause){ needed == NONE ? CAUSE_UNSERVED : CAUSE_STUCK, pending->site, step_on_counter(pending->kind) ? pending->object : NONE };
}

void deadlock_check(Prover *prover)
{
    if (!prover->index->blocked || prover->index->stopped || prover->index->running)
        return;
    Finding *finding = finding_new(FAULT_DEADLOCK);
    Stuck *stuck = stuck_new(prover);
    prover->cause = &finding->cause;
    finding->why = describe(stuck);
    finding->cause = cause_of(stuck);
    finding->moves = witness_whole_record(prover);
    g_ptr_array_add(prover->outcome->findings, finding);
}
