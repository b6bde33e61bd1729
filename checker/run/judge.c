/* judge.c - a predicate per fault: does the current state show it? The table in finding.h says where each schedule ends. */
#include "judge.h"
#include "../../model/dependence.h"
#include "../../model/join.h"

static Move move_of(const Place *place)
{
    bool moment = place->copy != NONE;
    return (Move){ place->core, place->copy, moment ? place->kind : 0 };
}

/* The move of a join belongs to its first member: one of those that have reached it must be enabled. */
static bool join_is_next(Execution *e, const Request *request)
{
    const Program *program = machine_program(execution_machine(e));
    for (uint32_t c = 0; c < program->cores; c++) {
        const Request *other = execution_pending(e, c);
        if (other != NULL && join_is_same(program, &other->step, &request->step) && execution_is_enabled(e, (Move){ c, NONE, 0 }))
            return true;
    }
    return false;
}

/* A racing value may have led the core elsewhere, to a step that differs only by its place in the source. */
static bool is_at(const Place *place, uint32_t site)
{
    return place->site == NONE || place->site == site;
}

static bool moment_is_next(Execution *e, const Place *place)
{
    uint32_t index = execution_find_copy(e, place->core, place->copy);
    return index != NONE && is_at(place, STORE(Copy, &execution_record(e)->copies, index).site) && execution_is_enabled(e, move_of(place));
}

/* Is the place's step the next of its agent, and enabled? */
bool judge_is_next(Execution *e, const Place *place)
{
    if (place->copy != NONE)
        return moment_is_next(e, place);
    const Request *request = execution_pending(e, place->core);
    if (request == NULL || execution_position(e, place->core) != place->position || request->step.kind != place->kind
        || !is_at(place, request->step.site))
        return false;
    if (step_is_join(request->step.kind))
        return join_is_next(e, request);
    return execution_is_enabled(e, move_of(place));
}

typedef struct PlaceAccess { uint32_t object, region; bool write, valid; } PlaceAccess;

static PlaceAccess access_at(Execution *e, const Place *place)
{
    const Record *record = execution_record(e);
    if (place->copy != NONE) {
        uint32_t index = execution_find_copy(e, place->core, place->copy);
        if (index == NONE)
            return (PlaceAccess){ 0 };
        const Copy *copy = &STORE(Copy, &record->copies, index);
        if (place->kind == STEP_READ)
            return (PlaceAccess){ copy->source, copy->source_region, false, true };
        return (PlaceAccess){ copy->target, copy->target_region, true, place->kind == STEP_WRITE };
    }
    const Request *request = execution_pending(e, place->core);
    bool memory = request->step.kind == STEP_LOAD || request->step.kind == STEP_STORE || request->step.kind == STEP_SWAP;
    return (PlaceAccess){ request->step.object, request->step.value, request->step.kind != STEP_LOAD, memory };
}

static bool shows_race(Execution *e, const Finding *finding)
{
    if (!judge_is_next(e, &finding->place[0]) || !judge_is_next(e, &finding->place[1]))
        return false;
    const Program *program = machine_program(execution_machine(e));
    PlaceAccess a = access_at(e, &finding->place[0]), b = access_at(e, &finding->place[1]);
    return a.valid && b.valid && a.object == b.object && (a.write || b.write)
        && region_overlaps(program_get_region(program, a.region), program_get_region(program, b.region));
}

static bool shows_lifetime(Execution *e, const Finding *finding)
{
    if (!judge_is_next(e, &finding->place[0]))
        return false;
    const Program *program = machine_program(execution_machine(e));
    uint32_t object = finding->object, decl;
    if (finding->object_is_semaphore) {
        decl = program_semaphore_decl(program, object);
        object = program_decl(program, decl)->first_object + program_semaphore_core(program, object);
    } else {
        decl = program_object_decl(program, object);
    }
    LifeState state = execution_life(e, decl, object, finding->place[0].core);
    return state == (finding->have < 0 ? LIFE_NOT_BEGUN : LIFE_ENDED);
}

static bool nothing_moves(Execution *e, bool *all_finished)
{
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    execution_enabled(e, moves);
    *all_finished = true;
    for (uint32_t c = 0; c < machine_program(execution_machine(e))->cores; c++)
        *all_finished &= execution_pending(e, c) == NULL;
    return moves->len == 0;
}

static bool shows_deadlock(Execution *e)
{
    bool finished;
    return nothing_moves(e, &finished) && !finished;
}

static bool shows_leftover(Execution *e, const Finding *finding)
{
    if (machine_count(execution_machine(e), finding->object) <= 0)
        return false;
    bool finished;
    if (finding->places == 0)                   /* a barrier semaphore: at the end of the program */
        return nothing_moves(e, &finished) && finished;
    return judge_is_next(e, &finding->place[0]);
}

static bool shows_in_flight(Execution *e, const Finding *finding)
{
    uint32_t index = execution_find_copy(e, finding->place[0].core, finding->place[0].copy);
    return index != NONE && judge_is_next(e, &finding->place[1]) && !execution_moment_done(e, index, finding->place[0].kind);
}

static bool shows_raised(Execution *e, const Finding *finding)
{
    const Record *record = execution_record(e);
    for (size_t i = 0; i < record->raised.count; i++) {
        const Raised *raised = &STORE(Raised, &record->raised, i);
        if (raised->fault == finding->id && raised->core == finding->place[0].core && raised->site == finding->place[0].site
            && record_is_judged(raised))
            return true;
    }
    return false;
}

/* Does the step change nothing but its core? Not an expectation: if it fails, it is a fault. */
static bool leaves_no_trace(Execution *e, const Step *step)
{
    int64_t seen = step->kind == STEP_FLAG_CAS ? machine_count(execution_machine(e), step->object) : 0;
    return step->kind != STEP_EXPECT_COUNT && dependence_leaves_no_trace(step, seen);
}

void judge_find_poll(Execution *e, Place *place)
{
    const Move move = { place->core, NONE, 0 };
    const Request *request = execution_pending(e, place->core);
    while (request != NULL && execution_position(e, place->core) < place->position && leaves_no_trace(e, &request->step)
           && execution_do(e, move))
        request = execution_pending(e, place->core);
    if (request != NULL)
        place->site = request->step.site, place->object = request->step.object, place->launch = request->step.launch;
}

/* For ROUNDS rounds, which stand for ever, cores only poll, and the finding's core passes its line again. */
static bool shows_no_progress(Execution *e, const Finding *finding)
{
    enum { ROUNDS = 64 };
    g_autoptr(GArray) moves = g_array_new(FALSE, FALSE, sizeof(Move));
    bool seen = false;
    for (unsigned round = 0; round < ROUNDS; round++) {
        execution_enabled(e, moves);
        for (guint i = 0; i < moves->len; i++) {
            const Move *move = &g_array_index(moves, Move, i);
            const Request *request = move->copy == NONE ? execution_pending(e, move->core) : NULL;
            if (request == NULL || !leaves_no_trace(e, &request->step))
                return false;
            seen |= move->core == finding->place[0].core && request->step.site == finding->place[0].site;
            execution_do(e, *move);
        }
    }
    return seen;
}

static bool shows_uninitialised(Execution *e, const Finding *finding)
{
    if (finding->message != NULL || !judge_is_next(e, &finding->place[0]))
        return shows_raised(e, finding);
    PlaceAccess access = access_at(e, &finding->place[0]);
    return access.valid && !machine_any_written(execution_machine(e), access.object, access.region);
}

static bool shows_mismatch(Execution *e, const Finding *finding)
{
    if (!judge_is_next(e, &finding->place[0]))
        return false;
    uint32_t index = execution_find_copy(e, finding->place[1].core, finding->place[1].copy);
    return index == NONE || !execution_moment_done(e, index, finding->place[1].kind);
}

bool judge_shows(Execution *e, const Finding *finding)
{
    switch ((unsigned)finding->id) {
    case FAULT_RACE:
        return shows_race(e, finding);
    case FAULT_LIFETIME:
        return shows_lifetime(e, finding);
    case FAULT_DEADLOCK:
        return shows_deadlock(e);
    case FAULT_LEFTOVER:
        return shows_leftover(e, finding);
    case FAULT_IN_FLIGHT:
        return shows_in_flight(e, finding);
    case FAULT_UNINITIALISED:
        return shows_uninitialised(e, finding);
    case FAULT_MISMATCH:
        return shows_mismatch(e, finding);
    case FAULT_OVERFLOW:
        return machine_count(execution_machine(e), finding->object) > finding->need;
    case FAULT_NO_PROGRESS:
        return shows_raised(e, finding) || shows_no_progress(e, finding);
    default:
        return fault_stops_core(finding->id) && shows_raised(e, finding);
    }
}
