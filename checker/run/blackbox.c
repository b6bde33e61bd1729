/* blackbox.c - one entry a move, written before the move is done. */
#include "blackbox.h"

/* What the move is to do; site NONE: that cannot be told. */
static Place place_of_move(Execution *execution, Move move)
{
    const Request *request = move.copy == NONE ? execution_pending(execution, move.core) : NULL;
    uint32_t copy = move.copy == NONE ? NONE : execution_find_copy(execution, move.core, move.copy);
    if (request != NULL)
        return place_of_step(&request->step, execution_position(execution, move.core));
    if (copy != NONE)
        return place_of_moment(&STORE(Copy, &execution_record(execution)->copies, copy), move.moment);
    return (Place){ .core = move.core, .copy = move.copy, .kind = move.copy == NONE ? STEP_ENTER : move.moment, .site = NONE,
                    .object = NONE, .region = NONE };
}

void blackbox_note(Store *box, Execution *execution, Move move)
{
    *(Noted *)store_push(box, 1) = (Noted){ move, place_of_move(execution, move) };
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
