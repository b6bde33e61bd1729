/* line_map.h - where the source lines that a saved schedule names are now, after the file was edited: found by their text.
 *
 * A schedule keeps the text of each line that its moves name, as fields "code FILE:LINE TEXT".
 *
 * Ownership:   texts belong to the caller.
 * Errors:      none; a line whose text is gone gets the number 0, one of a file that cannot be read keeps its own.
 */
#pragma once
#include <glib.h>

GPtrArray *line_map_fields(const GPtrArray *lines);               /* of char*: what the fields say for these moves (of char*) */
/* code: of char*, "FILE:LINE TEXT" as read back. Rewrites the places at the ends of the lines. */
void line_map_apply(GPtrArray *lines, const GPtrArray *code);
