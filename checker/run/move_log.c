/* move_log.c - one entry a move, written before the move is done. */
#include "move_log.h"

/* The step that the move does; site NONE: unknown. */
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

void move_log_note(Store *log, Execution *execution, Move move)
{
    *(LoggedMove *)store_push(log, 1) = (LoggedMove){ move, place_of_move(execution, move) };
}

GArray *move_log_moves(const Store *log, const Program *program, GPtrArray *lines)
{
    GArray *moves = g_array_new(FALSE, FALSE, sizeof(Move));
    for (size_t i = 0; i < log->count; i++) {
        const LoggedMove *noted = &STORE(LoggedMove, log, i);
        g_array_append_val(moves, noted->move);
        g_ptr_array_add(lines, schedule_line(program, noted->move, noted->place.position, (StepKind)noted->place.kind, noted->place.site));
    }
    return moves;
}

bool move_log_last(const Store *log, uint32_t core, Place *place)
{
    for (size_t i = log->count; i-- > 0;) {
        const LoggedMove *noted = &STORE(LoggedMove, log, i);
        if (noted->move.core != core || noted->move.copy != NONE || noted->place.site == NONE)
            continue;
        *place = noted->place;
        return true;
    }
    return false;
}
