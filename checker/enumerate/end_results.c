/* end_results.c - end states in contents mode: the program's own expectations, and whether every schedule hands back the same. */
#include "end_results.h"
#include <string.h>
#include "../../model/expectation.h"
#include "../../model/racing.h"
#include "contents.h"

static void see_unmet(StateSpace *space, Findings *findings, const Unmet *unmet)
{
    uint32_t core = unmet->core, id = findings->state[core], position = space_node(space, core, id)->position;
    uint32_t exited = space_past(space, core, id)->exited;
    Place place;
    memset(&place, 0, sizeof place);
    place.core = core, place.position = position ? position - 1 : 0, place.copy = NONE, place.kind = STEP_EXIT;
    place.site = unmet->site, place.object = place.region = NONE;
    place.launch = exited ? exited - 1 : 0;
    findings_add(space, findings, &(Sighting){.id = unmet->fault, .places = 1, .object = NONE, .transition = NONE,
                                              .event = {intern_add(&space->events, &place, sizeof place), NONE},
                                              .message = unmet->message});
}

void end_results_check(StateSpace *space, Findings *findings)
{
    Machine *machine = contents_machine(space, findings->state);
    g_autoptr(GArray) unmet = expectation_judge(machine);
    for (guint i = 0; i < unmet->len; i++)
        see_unmet(space, findings, &g_array_index(unmet, Unmet, i));
    uint64_t hash = machine_hash_results(machine), marks = machine_hash_marks(machine);
    EndResults *results = &findings->results;
    bool comparable = results->any && marks == results->marks;
    if (results->any && !comparable)            /* which elements hang on the race differs */
        racing_reach(space->program, REACH_RESULT, 0, NONE, ELEMENT_EXEMPT);
    if (comparable && hash != results->hash && !results->differ) {
        results->differ = true;
        findings_add(space, findings, &(Sighting){.id = FAULT_DIVERGENCE, .event = {NONE, NONE}, .object = NONE, .transition = NONE});
    }
    if (!results->any)
        results->hash = hash, results->marks = marks;
    results->any = true;
}

void end_results_carry(Codec *codec, const StateSpace *space, Findings *findings)
{
    EndResults *results = &findings->results;
    codec_bool(codec, &results->any);
    CODEC_PLAIN(codec, results->hash);
    CODEC_PLAIN(codec, results->marks);
    codec_bool(codec, &results->differ);
    codec_check(codec, results->any ? space->contents : results->hash == 0 && !results->differ);
    codec_check(codec, !results->differ || findings_has(findings, FAULT_DIVERGENCE));
}
