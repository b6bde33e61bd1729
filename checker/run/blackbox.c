/* blackbox.c - one entry a move, written before the move is done. */
#include "blackbox.h"

static void note_copy(Place *place, Execution *execution, Move move)
{
    const Record *record = execution_record(execution);
    uint32_t index = execution_find_copy(execution, move.core, move.copy);
    place->kind = move.moment;
    if (index == NONE)
        return;
    const Copy *copy = &STORE(Copy, &record->copies, index);
    bool read = move.moment == STEP_READ || move.moment == STEP_EARLY_SEND;
    place->position = copy->position, place->site = copy->site;
    place->object = read ? copy->source : copy->target, place->region = read ? copy->source_region : copy->target_region;
}

static void note_step(Place *place, Execution *execution, Move move)
{
    const Request *request = execution_pending(execution, move.core);
    if (request == NULL)
        return;
    const Step *step = &request->step;
    bool memory = step->kind <= STEP_SWAP, counter = step->kind >= STEP_SIGNAL && step->kind <= STEP_EXPECT_COUNT;
    place->position = execution_position(execution, move.core), place->kind = step->kind, place->site = step->site;
    place->launch = step->launch;
    place->object = memory || counter ? step->object : NONE, place->region = memory ? step->value : NONE;
}

void blackbox_note(Store *box, Execution *execution, Move move)
{
    Place place = { .core = move.core, .copy = move.copy, .kind = STEP_ENTER, .site = NONE, .object = NONE, .region = NONE };
    if (move.copy != NONE)
        note_copy(&place, execution, move);
    else
        note_step(&place, execution, move);
    *(Noted *)store_push(box, 1) = (Noted){ move, place };
}

GArray *blackbox_moves(const Store *box, const Program *program, GPtrArray *lines)
{
    GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (size_t i = 0; i < box->count; i++) {
        const Noted *noted = &STORE(Noted, box, i);
        g_array_append_val(moves, noted->move);
        g_ptr_array_add(lines, schedule_line(program, noted->move, noted->place.position, (StepKind)noted->place.kind, noted->place.site));
    }
    return moves;
}

bool blackbox_last(const Store *box, uint32_t core, Place *place)
{
    for (size_t i = box->count; i-- > 0;) {
        const Noted *noted = &STORE(Noted, box, i);
        if (noted->move.core != core || noted->move.copy != NONE || noted->place.site == NONE)
            continue;
        *place = noted->place;
        return true;
    }
    return false;
}
