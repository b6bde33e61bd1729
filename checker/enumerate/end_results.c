/* end_results.c - end states in contents mode: the program's own expectations, and whether every schedule hands back the same. */
#include "../../model/machine.h"
#include "../../model/racing.h"
#include "findings.h"
#include "inspect.h"
#include "lives.h"
#include "memory.h"
#include "stream.h"
#include <string.h>

struct EndResults {
    bool any;
    uint64_t hash, marks;                       /* of the first end state; and of which of its elements hang on a race */
    bool differ;
};

static void see_unexpected(Walk *walk, const Expectation *expectation, uint32_t device, const char *message)
{
    uint32_t core = device * walk->program->cores_per_device;
    const Node *node = walk_node(walk, core, walk->id[core]);
    Place place;
    memset(&place, 0, sizeof place);
    place.core = core, place.position = node->position ? node->position - 1 : 0, place.copy = NONE, place.kind = STEP_EXIT;
    place.site = expectation->site, place.object = place.region = NONE;
    place.launch = node->exited ? node->exited - 1 : 0;
    bool unwritten = message != NULL && g_str_has_prefix(message, EXPECTATION_UNWRITTEN);
    uint32_t text = program_string(walk->program, message ? message : "a result differs from the expected one");
    findings_add(walk, &(Sighting){.id = unwritten ? FAULT_UNINITIALISED : FAULT_ASSERT, .places = 1, .object = NONE, .transition = NONE,
                                .event = {intern_add(&walk->events, &place, sizeof place), NONE},
                                .message = program_text(walk->program, text)});
}

void end_results_check(Walk *walk)
{
    Machine *machine = contents_machine(walk, walk->id);
    for (size_t i = 0; i < walk->program->expectations.count; i++) {
        const Expectation *expectation = &STORE(Expectation, &walk->program->expectations, i);
        for (uint32_t device = 0; device < walk->program->devices; device++) {
            g_autofree char *message = NULL;
            if (!expectation->holds(machine, expectation, device, &message))
                see_unexpected(walk, expectation, device, message);
        }
    }
    machine_tell_reached_results(machine);
    uint64_t hash = machine_hash_results(machine), marks = machine_hash_marks(machine);
    if (walk->results == NULL)
        walk->results = g_new0(EndResults, 1);
    EndResults *results = walk->results;
    bool comparable = results->any && marks == results->marks;
    if (results->any && !comparable)            /* which elements hang on the race differs */
        racing_reach(walk->program, REACH_RESULT, 0, NONE, ELEMENT_EXEMPT);
    if (comparable && hash != results->hash && !results->differ) {
        results->differ = true;
        findings_add(walk, &(Sighting){.id = FAULT_DIVERGENCE, .event = {NONE, NONE}, .object = NONE, .transition = NONE});
    }
    if (!results->any)
        results->hash = hash, results->marks = marks;
    results->any = true;
}

void end_results_save(const Walk *walk)
{
    const EndResults none = {.any = false};
    stream_put(walk, walk->results ? walk->results : &none, sizeof none);
}

void end_results_load(Walk *walk, Stream *stream)
{
    const void *results = stream_take(stream, sizeof *walk->results);
    if (results == NULL)
        return;
    const unsigned char *any = results, *differ = any + offsetof(EndResults, differ);
    walk->results = g_new0(EndResults, 1);
    if (*any > 1 || *differ > *any) {
        stream->bad = true;
        return;
    }
    memcpy(walk->results, results, sizeof *walk->results);
    stream->bad |= (!walk->results->any && walk->results->hash != 0) || (walk->results->any && !walk->contents)
        || (walk->results->differ && !findings_has(walk->findings, FAULT_DIVERGENCE));
}
