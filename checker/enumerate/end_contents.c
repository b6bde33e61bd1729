/* end_contents.c - end states in contents mode: the program's own expectations, and whether every schedule hands back the same. */
#include "../../model/machine.h"
#include "../../model/racing.h"
#include "dump.h"
#include "found.h"
#include "judge.h"
#include "lives.h"
#include "memory.h"
#include <string.h>

struct Results {
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
    found_add(walk, &(Sighting){.id = unwritten ? FAULT_UNINITIALISED : FAULT_ASSERT, .places = 1, .object = NONE, .turn = NONE,
                                .event = {intern_add(&walk->events, &place, sizeof place), NONE},
                                .message = program_text(walk->program, text)});
}

void results_check(Walk *walk)
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
        walk->results = g_new0(Results, 1);
    Results *results = walk->results;
    bool comparable = results->any && marks == results->marks;
    if (results->any && !comparable)            /* which elements hang on the race differs */
        racing_reach(walk->program, REACH_RESULT, 0, NONE, ELEMENT_EXEMPT);
    if (comparable && hash != results->hash && !results->differ) {
        results->differ = true;
        found_add(walk, &(Sighting){.id = FAULT_DIVERGENCE, .event = {NONE, NONE}, .object = NONE, .turn = NONE});
    }
    if (!results->any)
        results->hash = hash, results->marks = marks;
    results->any = true;
}

void results_save(const Walk *walk)
{
    const Results none = {.any = false};
    dump_put(walk, walk->results ? walk->results : &none, sizeof none);
}

void results_load(Walk *walk, Dump *dump)
{
    const void *results = dump_take(dump, sizeof *walk->results);
    if (results == NULL)
        return;
    const unsigned char *any = results, *differ = any + offsetof(Results, differ);
    walk->results = g_new0(Results, 1);
    if (*any > 1 || *differ > *any) {
        dump->bad = true;
        return;
    }
    memcpy(walk->results, results, sizeof *walk->results);
    dump->bad |= (!walk->results->any && walk->results->hash != 0) || (walk->results->any && !walk->contents)
        || (walk->results->differ && !found_has(walk->found, FAULT_DIVERGENCE));
}
