/* advice_look.c - advice about the unchanged program: waits that different signals can satisfy, counts above what a wait needs, copies over
 * more than one hop, steps that name a scope before it is open. Once for each line, with its first example.
 */
#include "../check/check.h"
#include "../proof/prove.h"
#include "../report/message.h"
#include "advise.h"
#include "whatif.h"

static bool is_said(const CheckResult *result, AdviceId id, uint32_t site)
{
    for (guint i = 0; i < result->advice->len; i++) {
        const Advice *advice = result->advice->pdata[i];
        if (advice->id == id && advice->places > 0 && advice->place[0].site == site)
            return true;
    }
    return false;
}

static char *rival_text(const Program *program, const HintSignal *rival)
{
    g_autofree char *device = program_describe_core(program, rival->core), *place = program_describe_site(program, rival->site);
    return rival->copy == NONE ? g_strdup_printf("the signal of %s at %s", device, place)
        : g_strdup_printf("copy %u of %s (%s)", rival->copy, device, place);
}

static void add_hint(CheckResult *result, const Hint *hint)
{
    const Program *program = result->program;
    g_autofree char *semaphore = program_describe_semaphore(program, hint->place.object), *text = NULL;
    if (is_said(result, hint->advice, hint->place.site))
        return;
    if (hint->advice == ADVICE_AMBIGUOUS_WAIT) {
        g_autofree char *one = rival_text(program, &hint->rival[0]), *other = rival_text(program, &hint->rival[1]);
        text = g_strdup_printf("the wait on %s can be satisfied by %s or by %s, depending on the schedule", semaphore, one, other);
    } else {
        text = g_strdup_printf("%s can be at %" G_GINT64_FORMAT " where this wait needs %" G_GINT64_FORMAT, semaphore, hint->have,
                               hint->need);
    }
    check_add_advice(result, hint->advice, text, &hint->place);
}

static void look_at_waits(CheckResult *result)
{
    g_autoptr(GArray) hints = prove_hints(result->record);
    for (guint i = 0; i < hints->len; i++)
        add_hint(result, &g_array_index(hints, Hint, i));
}

static void look_at_hops(CheckResult *result)
{
    const Program *program = result->program;
    for (size_t i = 0; i < result->record->copies.count; i++) {
        const Copy *copy = &STORE(Copy, &result->record->copies, i);
        uint32_t from = copy->core / program->cores_per_device;
        uint32_t far = copy->remote ? mesh_hops(&program->mesh, from, copy->target_device) : 0;
        if (far <= 1 || is_said(result, ADVICE_NON_NEIGHBOUR, copy->site))
            continue;
        const Place place = { .core = copy->core, .position = copy->position, .copy = NONE, .kind = STEP_COPY_START, .site = copy->site,
                              .object = NONE, .region = NONE };
        g_autofree char *device = program_describe_device(program, from), *to = program_describe_device(program, copy->target_device);
        g_autofree char *text = g_strdup_printf("copy %u of %s goes %u hops, to %s: it shares links with other traffic", copy->ordinal,
                                                device, far, to);
        check_add_advice(result, ADVICE_NON_NEIGHBOUR, text, &place);
    }
}

static void add_early(CheckResult *result, const CheckResult *changed, const Finding *finding, const Place *place)
{
    g_autofree char *message = message_text(changed, finding);
    g_autofree char *text = g_strdup_printf("%s; with --scopes static it counts for the scope to come, with --scopes strict it is a fault",
                                            message);
    check_add_advice(result, ADVICE_EARLY_SIGNAL, text, place);
}

/* The same site in this program. */
static uint32_t site_in(Program *program, const Program *other, uint32_t id)
{
    const Site *site = program_get_site(other, id);
    uint32_t caller = program_caller(other, id);
    uint32_t own = program_site(program, program_text(other, site->file), program_text(other, site->function), site->line, site->counter);
    return caller == NONE ? own : program_site_called(program, own, site_in(program, other, caller));
}

/* Steps that are lifetime faults under --scopes strict. */
static void look_at_scopes(CheckResult *result)
{
    Knobs strict = result->spec->knobs;
    bool scopes = false;
    for (uint32_t d = 0; d < result->program->decls.count; d++)
        scopes |= program_decl(result->program, d)->life == LIFE_SCOPE;
    if (!scopes || strict.scopes == SCOPES_STRICT)
        return;
    strict.scopes = SCOPES_STRICT;
    CheckResult *changed = whatif_check(result, NULL, &strict, false);
    for (guint i = 0; changed->verdict == VERDICT_FAULTY && i < changed->outcome->findings->len; i++) {
        const Finding *finding = changed->outcome->findings->pdata[i];
        if (finding->id != FAULT_LIFETIME || finding->have >= 0 || finding->places == 0)
            continue;
        Place place = finding->place[0];
        place.site = site_in(result->program, changed->program, place.site);
        place.object = place.region = NONE;
        if (!is_said(result, ADVICE_EARLY_SIGNAL, place.site))
            add_early(result, changed, finding, &place);
    }
    check_result_free(changed);
}

void check_look_for_advice(CheckResult *result)
{
    if ((result->verdict != VERDICT_VERIFIED && result->verdict != VERDICT_FAULTY) || !whatif_is_small(result))
        return;
    look_at_waits(result);
    look_at_hops(result);
    if (result->verdict == VERDICT_VERIFIED)
        look_at_scopes(result);
}
