/* raised.c - faults that need no comparison of steps: those that the run itself raised, and loads of unwritten bytes.
 *
 * A step that stops its core does so in every execution of a conflict-free program, so its causal past suffices to show it.
 */
#include <glib.h>
#include "../../model/expectation.h"
#include "../facts/instances.h"
#include "prover.h"

/* Results are judged when all is done, and a poll is endless only when no other core can move; other faults show when the core has done
 * its step. */
static GArray *moves_to(Prover *prover, const Raised *raised)
{
    bool at_end = expectation_at(prover->program, raised->site) != NULL || raised->fault == FAULT_NO_PROGRESS;
    if (at_end || raised->position >= index_length(prover->index, raised->core))
        return witness_whole_record(prover);
    Event step = index_event(prover->index, raised->core, raised->position);
    Goal goal = { .done = &step, .dones = 1, .semaphore = NONE };
    return witness_moves(prover, &goal, NULL, 0);
}

/* What the same core raised at the same place before; NULL: nothing. */
static Finding *raised_before(const Prover *prover, const Raised *raised)
{
    const GPtrArray *findings = prover->outcome->findings;
    for (guint i = 0; i < findings->len; i++) {
        Finding *finding = findings->pdata[i];
        const Place *place = finding->place;
        if (finding->id == (FaultId)raised->fault && place->core == raised->core && place->site == raised->site
            && place->object == raised->object)
            return finding;
    }
    return NULL;
}

/* Of a poll that raises a fault at each look, only the first needs a schedule. */
static void count_again(Finding *finding, const Raised *raised)
{
    Place place = finding->place[0];
    place.position = raised->position;
    if (finding->instances == NULL)
        instances_add(finding, instance_of(finding, finding->place));
    if (finding->instances->len < INSTANCES_MAX)
        instances_add(finding, instance_of(finding, &place));
    finding->count++;
}

static void add_raised(Prover *prover, const Raised *raised)
{
    Finding *before = raised_before(prover, raised);
    if (before != NULL) {
        count_again(before, raised);
        return;
    }
    Finding *finding = finding_new((FaultId)raised->fault);
    bool step = raised->position < index_length(prover->index, raised->core);
    uint32_t launch = step ? index_step(prover->index, raised->core, raised->position)->launch : 0;
    finding->places = 1;
    finding->place[0] = (Place){ .core = raised->core, .position = raised->position, .copy = NONE, .kind = STEP_STOP, .site = raised->site,
                                 .object = raised->object, .region = raised->region, .launch = launch };
    if (step)
        finding->place[0].kind = index_step(prover->index, raised->core, raised->position)->kind;
    finding_take_message(finding, raised->message);
    finding->moves = moves_to(prover, raised);
    bool looked = raised->fault == FAULT_ASSERT || raised->fault == FAULT_NO_PROGRESS;
    if (looked && expectation_at(prover->program, raised->site) == NULL)
        prover->cause = &finding->cause, finding->why = looks_before(prover, raised);
    g_ptr_array_add(prover->outcome->findings, finding);
}

static bool overlaps(const Prover *prover, uint32_t object, uint32_t region, uint32_t load)
{
    const Region *loaded = program_get_region(prover->program, races_region(prover->index, load));
    return object == races_object(prover->index, load) && region_overlaps(program_get_region(prover->program, region), loaded);
}

/* All writes to the load's bytes, other than its own. */
static void list_writes(const Prover *prover, uint32_t load, Pile *writes)
{
    const Index *index = prover->index;
    for (uint32_t slot = 0; slot < index->first[index->cores]; slot++) {
        const Step *step = index_step_at(index, slot);
        Event write = races_event(index, slot);
        if ((step->kind == STEP_STORE || step->kind == STEP_SWAP) && slot != load && overlaps(prover, step->object, step->value, load))
            *(Event *)pile_push(writes, 1) = write;
    }
    for (uint32_t copy = 0; copy < index->copies; copy++) {
        Event write = index_moment(index, copy, STEP_WRITE);
        if (overlaps(prover, index_copy(index, copy)->target, index_copy(index, copy)->target_region, load))
            *(Event *)pile_push(writes, 1) = write;
    }
}

/* Can a write to the load's bytes be done, or be next, without the load? */
static bool any_write_without(Prover *prover, uint32_t load, const Pile *writes)
{
    Event event = races_event(prover->index, load);
    Closure *closure = order_closure(prover->order);
    closure_bar(closure, &event);
    closure_run(closure, NULL);
    bool any = false;
    for (size_t i = 0; i < writes->count && !any; i++) {
        const Event *write = &PILE(Event, writes, i);
        any = closure_done(closure, write) || closure_next(closure, write);
    }
    return any;
}

static bool race_is_exempt(const Prover *prover, uint32_t load)
{
    return program_decl(prover->program, program_object_decl(prover->program, races_object(prover->index, load)))->exempt[FAULT_RACE] != 0;
}

static bool is_unwritten(Prover *prover, uint32_t load)
{
    Arena scratch;
    arena_init(&scratch, prover->arena->budget);
    Pile writes;
    pile_init(&writes, &scratch, sizeof(Event));
    list_writes(prover, load, &writes);
    Event event = races_event(prover->index, load);
    bool unwritten = race_is_exempt(prover, load) ? order_reaches_without(prover->order, &event, pile_base(&writes), writes.count)
        : !any_write_without(prover, load, &writes);
    arena_clear(&scratch);
    return unwritten;
}

static void add_unwritten(Prover *prover, uint32_t load)
{
    if (prover->races->racing && prover->races->racing[load] && !race_is_exempt(prover, load))
        return;                                 /* reported as a race */
    FaultTally fault = { .id = FAULT_UNINITIALISED, .a = races_event(prover->index, load), .places = 1,
                         .object = races_object(prover->index, load) };
    prover_add(prover, &fault);
}

void raised_check(Prover *prover)
{
    for (size_t i = 0; i < prover->record->raised.count; i++)
        if (record_is_judged(&STORE(Raised, &prover->record->raised, i)))
            add_raised(prover, &STORE(Raised, &prover->record->raised, i));
    for (size_t i = 0; i < prover->races->unwritten.count; i++)
        add_unwritten(prover, PILE(uint32_t, &prover->races->unwritten, i));
    for (size_t i = 0; i < prover->races->unsure.count; i++)
        if (is_unwritten(prover, PILE(uint32_t, &prover->races->unsure, i)))
            add_unwritten(prover, PILE(uint32_t, &prover->races->unsure, i));
}
