/* line_map.h - finds the lines of a saved schedule again, by their text, after the source was edited.
 *
 * A schedule keeps the text of each source line of its moves, as fields "code FILE:LINE TEXT".
 *
 * Ownership:   texts belong to the caller.
 * Errors:      none; a line whose text is gone gets number 0; a line of an unreadable file keeps its number.
 */
#pragma once
#include <glib.h>

GPtrArray *line_map_fields(const GPtrArray *lines);               /* of char*: the contents of the fields for these moves (of char*) */
/* code: of char*, "FILE:LINE TEXT" as read. Rewrites the places at the ends of the lines. */
void line_map_apply(GPtrArray *lines, const GPtrArray *code);
