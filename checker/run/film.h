/* film.h - a scheduled run kept as bytes: its steps in the order in which they happened, its copies, and where each core stands in the end.
 *
 *     child: film_save, once the schedule was done -> bytes travel with the finding -> parent: film_load -> pictures, walking, code flows
 *
 * Ownership:   results belong to the caller.
 * Errors:      NULL where the bytes are damaged or name what the program does not have.
 */
#pragma once
#include <glib.h>
#include "../facts/record.h"

GBytes *film_save(const Record *record);        /* after execution_end */
Record *film_load(Program *program, GBytes *film);              /* record_free */
