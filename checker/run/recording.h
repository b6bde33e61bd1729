/* recording.h - a scheduled run as bytes: its steps in order, its copies, and the end of each core.
 *
 *     child: recording_save, after the schedule -> bytes travel with the finding -> parent: recording_load -> pictures, cursor, code flows
 *
 * Ownership:   results belong to the caller.
 * Errors:      NULL if the bytes are damaged or name what the program does not have.
 */
#pragma once
#include <glib.h>
#include "../facts/record.h"

GBytes *recording_save(const Record *record);   /* after execution_end */
Record *recording_load(Program *program, GBytes *recording);    /* record_free */
