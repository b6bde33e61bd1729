/* results.c - end states in contents mode: the program's own expectations, and whether every schedule hands back the same. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../../model/machine.h"
#include "dump.h"
#include "found.h"
#include "judge.h"
#include "lives.h"
#include "memory.h"
#include <string.h>

struct Results {
    bool any;
    uint64_t hash;                              /* of the first end state */
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

static uint64_t hash_results(Walk *walk, Machine *machine)
{
    XXH3_state_t *state = XXH3_createState();
    XXH3_64bits_reset(state);
    for (uint32_t object = 0; object < walk->program->objects; object++) {
        const Decl *decl = program_decl(walk->program, program_object_decl(walk->program, object));
        if (!program_decl_is_result(decl))
            continue;
        const Contents *contents = machine_contents(machine, object);
        XXH3_64bits_update(state, contents->bytes, (size_t)contents->elements * dtype_size_bytes(decl->dtype));
        XXH3_64bits_update(state, contents->written, (size_t)contents->elements);
    }
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
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
    uint64_t hash = hash_results(walk, machine);
    if (walk->results == NULL)
        walk->results = g_new0(Results, 1);
    Results *results = walk->results;
    if (results->any && hash != results->hash && !results->differ) {
        results->differ = true;
        found_add(walk, &(Sighting){.id = FAULT_DIVERGENCE, .event = {NONE, NONE}, .object = NONE, .turn = NONE});
    }
    if (!results->any)
        results->hash = hash;
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
