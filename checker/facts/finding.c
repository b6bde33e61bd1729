/* finding.c - findings as values: their order, when two are the same fault, and the hash of an end state.
 *
 * All searches report through this file, so that "the same fault" and "the same end state" mean the same for all.
 */
#include "finding.h"
#include <string.h>

#include "../../model/moment.h"
#include "../../model/rng.h"
#include "finding_inside.h"

Place place_of_step(const Step *step, uint32_t position)
{
    bool memory = step_on_memory(step->kind), counter = step_on_counter(step->kind);
    return (Place){ .core = step->core, .position = position, .copy = NONE, .kind = step->kind, .site = step->site,
                    .object = memory || counter ? step->object : NONE, .region = memory ? step->value : NONE, .launch = step->launch };
}

Place place_of_moment(const Copy *copy, StepKind moment)
{
    bool read = moment_at_source(moment);
    return (Place){ .core = copy->core, .position = copy->position, .copy = copy->ordinal, .kind = (uint8_t)moment, .site = copy->site,
                    .label = copy->label, .described = copy->described,
                    .object = read ? copy->source : copy->target, .region = read ? copy->source_region : copy->target_region };
}

Finding *finding_new(FaultId id)
{
    Finding *finding = g_new0(Finding, 1);
    finding->id = id;
    finding->count = 1;
    finding->object = NONE;
    finding->cause = (Cause){ CAUSE_UNKNOWN, NONE, NONE };
    return finding;
}

enum { CLASHES_MAX = 1024 };                    /* of one finding; beyond that its lines race on any object */

static void add_clash(Finding *finding, const Clash *clash)
{
    Clash kept = *clash;
    if (finding->clashes == NULL)
        finding->clashes = g_array_new(FALSE, FALSE, sizeof(Clash));
    if (finding->clashes->len >= CLASHES_MAX)
        kept.object = kept.region = NONE;
    for (guint i = finding->clashes->len; i-- > 0;)
        if (memcmp(&g_array_index(finding->clashes, Clash, i), &kept, sizeof kept) == 0)
            return;
    g_array_append_val(finding->clashes, kept);
}

static bool place_reads(const Place *place)
{
    return place->kind == STEP_LOAD || place->kind == STEP_SWAP || place->kind == STEP_READ;
}

void finding_add_clashes(Finding *finding, const Place place[2])
{
    for (unsigned i = 0; i < 2; i++) {
        const Place *own = &place[i], *other = &place[1 - i];
        bool other_writes = other->kind == STEP_STORE || other->kind == STEP_SWAP || other->kind == STEP_WRITE;
        Clash clash;
        memset(&clash, 0, sizeof clash);
        clash.site = own->site, clash.object = own->object, clash.region = other->region;
        if (other_writes && place_reads(own))
            add_clash(finding, &clash);
        clash.write = 1;
        if (other_writes && own->kind != STEP_LOAD && own->kind != STEP_READ)
            add_clash(finding, &clash);
    }
}

void finding_take_message(Finding *finding, const char *message)
{
    const char *why = message ? strstr(message, FAULT_WHY) : NULL;
    finding->message = why ? g_strndup(message, (gsize)(why - message)) : g_strdup(message);
    if (why && finding->why == NULL)
        finding->why = g_strdup(why + strlen(FAULT_WHY));
}

void finding_free(Finding *finding)
{
    if (!finding)
        return;
    g_free(finding->message);
    g_free(finding->why);
    if (finding->instances)
        g_array_free(finding->instances, TRUE);
    if (finding->clashes)
        g_array_free(finding->clashes, TRUE);
    if (finding->delays)
        g_array_free(finding->delays, TRUE);
    if (finding->moves)
        g_array_free(finding->moves, TRUE);
    if (finding->lines)
        g_ptr_array_free(finding->lines, TRUE);
    g_free(finding->departure);
    g_bytes_unref(finding->recording);
    g_free(finding);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_texts(const Program *program, uint32_t a, uint32_t b)
{
    return strcmp(program_text(program, a), program_text(program, b));
}

/* By id, in the order of first use; by file and line where threads gave out the ids in no fixed order. program NULL: by id. */
static int compare_site(const Program *program, uint32_t a, uint32_t b)
{
    uint32_t in_order = program != NULL ? program->sites_in_order : 0;
    if (in_order == 0 || a < in_order || b < in_order || a >= program->sites.count || b >= program->sites.count)
        return compare_numbers(a, b);
    const Site *x = program_get_site(program, a), *y = program_get_site(program, b);
    int order = compare_texts(program, x->file, y->file);
    if (!order)
        order = compare_numbers(x->line, y->line);
    if (!order)
        order = compare_numbers(x->counter, y->counter);
    if (!order)
        order = compare_texts(program, x->function, y->function);
    if (!order && x->caller != y->caller)
        order = x->caller && y->caller ? compare_site(program, x->caller - 1, y->caller - 1) : compare_numbers(x->caller, y->caller);
    return order ? order : compare_numbers(a, b);
}

/* The sites of a finding in ascending order; NONE where there is no place. */
static void sorted_sites(const Program *program, const Finding *finding, uint32_t site[2])
{
    site[0] = finding->places > 0 ? finding->place[0].site : NONE;
    site[1] = finding->places > 1 ? finding->place[1].site : NONE;
    if (finding->places > 1 && compare_site(program, site[0], site[1]) > 0) {
        uint32_t swap = site[0];
        site[0] = site[1];
        site[1] = swap;
    }
}

static int compare_sites(const Program *program, const Finding *a, const Finding *b)
{
    uint32_t left[2], right[2];
    sorted_sites(program, a, left);
    sorted_sites(program, b, right);
    int order = compare_numbers(a->id, b->id);
    if (!order)
        order = compare_site(program, left[0], right[0]);
    return order ? order : compare_site(program, left[1], right[1]);
}

static int compare_places(const Place *a, const Place *b)
{
    int order = compare_numbers(a->core, b->core);
    if (!order)
        order = compare_numbers(a->position, b->position);
    if (!order)
        order = compare_numbers(a->copy, b->copy);
    return order ? order : compare_numbers(a->kind, b->kind);
}

int finding_compare(const Finding *a, const Finding *b)
{
    int order = compare_sites(NULL, a, b);
    if (!order)
        order = compare_numbers(a->object_is_semaphore, b->object_is_semaphore);
    if (!order)
        order = compare_numbers(a->object, b->object);
    if (!order)
        order = compare_numbers(a->places, b->places);
    for (unsigned i = 0; !order && i < a->places; i++)
        order = compare_places(&a->place[i], &b->place[i]);
    return order;
}

static uint32_t decl_of(const Program *program, const Finding *finding)
{
    if (finding->object == NONE)
        return NONE;
    return finding->object_is_semaphore ? program_semaphore_decl(program, finding->object) : program_object_decl(program, finding->object);
}

static char *site_key(const Program *program, uint32_t id)
{
    if (id >= program->sites.count)
        return g_strdup("-");
    GString *key = g_string_new(NULL);
    for (; id != NONE; id = program_caller(program, id)) {
        const Site *site = program_get_site(program, id);
        g_string_append_printf(key, "%s:%u:%u:%s:", program_text(program, site->file), site->line, site->counter,
                               program_text(program, site->function));
    }
    return g_string_free(key, FALSE);
}

char *finding_key(const Program *program, const Finding *finding)
{
    g_autofree char *first = finding->places > 0 ? site_key(program, finding->place[0].site) : g_strdup("");
    g_autofree char *second = finding->places > 1 ? site_key(program, finding->place[1].site) : g_strdup("");
    bool swapped = finding->places > 1 && strcmp(first, second) > 0;
    uint32_t decl = decl_of(program, finding);
    GString *key = g_string_new(fault_name(finding->id));
    g_string_append_printf(key, " %s %s %d", swapped ? second : first, swapped ? first : second, finding->object_is_semaphore);
    if (decl != NONE) {
        const Decl *d = program_decl(program, decl);
        g_autofree char *declared = site_key(program, d->site);
        g_string_append_printf(key, " %s %s %s", declared, program_text(program, d->name), program_text(program, d->exempt[finding->id]));
    }
    return g_string_free(key, FALSE);
}

bool finding_exemptions_exist(const Program *program)
{
    for (uint32_t d = 0; d < program->decls.count; d++)
        for (unsigned id = 0; id < FAULT_COUNT; id++)
            if (program_decl(program, d)->exempt[id] != 0)
                return true;
    return false;
}

const Decl *finding_decl(const Program *program, const Finding *finding)
{
    uint32_t decl = decl_of(program, finding);
    return decl == NONE ? NULL : program_decl(program, decl);
}

const char *finding_exemption(const Program *program, const Finding *finding)
{
    const Decl *decl = finding_decl(program, finding);
    uint32_t reason = decl == NULL ? 0 : decl->exempt[finding->id];
    return reason == 0 ? NULL : program_text(program, reason);
}

Outcome *outcome_new(void)
{
    Outcome *outcome = g_new0(Outcome, 1);
    outcome->findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
    outcome->limits = g_ptr_array_new();
    outcome->complete = true;
    outcome->rotated = outcome->redundant = UINT64_MAX;
    outcome->executions = outcome->classes = outcome->states = outcome->transitions = outcome->steps = outcome->conflicts = UINT64_MAX;
    outcome->end_states = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    return outcome;
}

void outcome_free(Outcome *outcome)
{
    if (!outcome)
        return;
    g_ptr_array_free(outcome->findings, TRUE);
    g_ptr_array_free(outcome->limits, TRUE);
    g_array_free(outcome->end_states, TRUE);
    g_free(outcome->promise);
    g_free(outcome->stopped);
    g_free(outcome->refused);
    g_free(outcome->contradiction);
    g_free(outcome);
}

void outcome_drop_unreached(Outcome *outcome)
{
    GPtrArray *findings = outcome->findings;
    bool race = false;
    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = g_ptr_array_index(findings, i);
        race |= finding->id == FAULT_RACE && finding->shown;
    }
    for (guint i = findings->len; race && i-- > 0;)
        if (!((const Finding *)g_ptr_array_index(findings, i))->shown)
            g_ptr_array_remove_index(findings, i);
}

void outcome_add_limit(Outcome *outcome, const char *limit)
{
    outcome->complete = false;
    for (guint i = 0; i < outcome->limits->len; i++)
        if (g_str_equal(g_ptr_array_index(outcome->limits, i), limit))
            return;
    g_ptr_array_add(outcome->limits, (gpointer)limit);
}

/* One source line is one declaration, though each execution of a scope and each launch has its own object of it. Exemptions are compared,
 * too: an exempt object must not cover the others. */
static int compare_declarations(const Program *program, const Finding *a, const Finding *b)
{
    uint32_t left = decl_of(program, a), right = decl_of(program, b);
    if (left == right || left == NONE || right == NONE)
        return compare_numbers(left, right);
    const Decl *x = program_decl(program, left), *y = program_decl(program, right);
    int order = compare_site(program, x->site, y->site);
    if (!order)
        order = compare_numbers(x->name, y->name);
    return order ? order : compare_numbers(x->exempt[a->id], y->exempt[b->id]);
}

static int compare_keys(const Program *program, const Finding *a, const Finding *b)
{
    int order = compare_sites(program, a, b);
    if (!order)
        order = compare_numbers(a->object_is_semaphore, b->object_is_semaphore);
    return order ? order : compare_declarations(program, a, b);
}

/* Among findings of one key: by launch and ordinal, not by the order of first use. */
static int compare_objects(const Program *program, const Finding *a, const Finding *b)
{
    uint32_t left = decl_of(program, a), right = decl_of(program, b);
    if (program->sites_in_order == 0 || left == right || left == NONE || right == NONE)
        return 0;
    const Decl *x = program_decl(program, left), *y = program_decl(program, right);
    int order = compare_numbers(x->launch, y->launch);
    return order ? order : compare_numbers(x->ordinal, y->ordinal);
}

static gint compare_for_settling(gconstpointer left, gconstpointer right, gpointer program)
{
    const Finding *a = *(Finding *const *)left, *b = *(Finding *const *)right;
    int order = compare_keys(program, a, b);
    if (!order)
        order = compare_objects(program, a, b);
    return order ? order : finding_compare(a, b);
}

void outcome_settle(Outcome *outcome, const Program *program)
{
    GPtrArray *findings = outcome->findings;
    g_ptr_array_sort_with_data(findings, compare_for_settling, (gpointer)program);
    guint kept = 0;
    for (guint i = 0; i < findings->len; i++) {
        Finding *finding = findings->pdata[i], *last = kept ? findings->pdata[kept - 1] : NULL;
        if (last && compare_keys(program, last, finding) == 0) {
            instances_merge(last, finding, outcome->summed);
            for (guint k = 0; finding->clashes != NULL && k < finding->clashes->len; k++)
                add_clash(last, &g_array_index(finding->clashes, Clash, k));
            finding_free(finding);
        } else {
            findings->pdata[kept++] = finding;
        }
    }
    for (guint i = kept; i < findings->len; i++)
        findings->pdata[i] = NULL;
    g_ptr_array_set_size(findings, (gint)kept);
}

uint64_t outcome_end_state(const uint32_t *position, uint32_t cores, const int64_t *count, uint32_t semaphores)
{
    uint64_t hash = rng_mix(cores);
    for (uint32_t core = 0; core < cores; core++)
        hash = rng_mix(hash ^ position[core]);
    for (uint32_t semaphore = 0; semaphore < semaphores; semaphore++)
        if (count[semaphore])
            hash = rng_mix(rng_mix(hash ^ semaphore) ^ (uint64_t)count[semaphore]);
    return hash;
}
