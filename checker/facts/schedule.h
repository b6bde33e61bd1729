/* schedule.h - a schedule: the sequence of moves that decides an execution; and how a move reads in a saved schedule.
 *
 * A move names its agent: a core, or one copy by its issuer and ordinal, with the moment. One line a move:
 *
 *     core <device>.<core> @<position> <kind of step> <file>:<line>
 *     copy <device>.<core> #<ordinal> <moment> <file>:<line of its start>
 *
 * What follows the agent describes the move when the schedule was made; replay uses the agent only.
 */
#pragma once
#include <glib.h>
#include "record.h"

typedef struct Move {
    uint32_t core;                              /* who moves, or who issued the copy */
    uint32_t copy;                              /* ordinal of the copy on that core, or NONE: the core itself moves */
    uint8_t moment;                             /* StepKind of the moment (EARLY_SEND, READ, EARLY_RECEIVE, WRITE); copies only */
} Move;

char *schedule_line(const Program *program, Move move, uint32_t position, StepKind kind, uint32_t site);        /* g_malloc */
bool schedule_parse_line(uint32_t devices, uint32_t cores_per_device, const char *line, Move *move);
/* The order of a record as moves, and a line for each (lines may be NULL). */
GArray *schedule_of_record(const Record *record, GPtrArray *lines);
