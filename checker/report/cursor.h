/* cursor.h - a position in a replayed run, and the state there.
 *
 *     cursor_new -> [ cursor_to | cursor_next_of_device -> cursor_show_step, ... ]* -> cursor_free
 *
 * Position p: after p steps, 0 to cursor_steps.
 * Ownership:   borrows result and record; texts are appended to the caller's string.
 */
#pragma once
#include "../check/check.h"
#include "source.h"

typedef struct Cursor Cursor;

Cursor *cursor_new(const CheckResult *result, const Finding *finding, const Record *record, Source *source);
void cursor_free(Cursor *cursor);
unsigned cursor_steps(const Cursor *cursor);
unsigned cursor_position(const Cursor *cursor);
void cursor_to(Cursor *cursor, unsigned position);    /* beyond the end: the end */
bool cursor_next_of_device(Cursor *cursor, uint32_t device, bool back);               /* false: it does no more; stays */
void cursor_show_step(const Cursor *cursor, GString *out);                 /* the last step that was done, or what the end is about */
void cursor_show_counts(const Cursor *cursor, GString *out);               /* semaphores that are not zero */
void cursor_show_buffers(const Cursor *cursor, GString *out);              /* who wrote what last, newest first */
void cursor_show_waits(const Cursor *cursor, GString *out);                /* each core's next step, and what it lacks */
