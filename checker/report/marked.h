/* marked.h - text as Markdown that says what it says: no name formats, links, mentions anybody or becomes HTML.
 *
 * Each appends to the caller's string one piece of at most `most` bytes (0: any length), and "..." where it was cut.
 */
#pragma once
#include <glib.h>

void marked_text(GString *out, const char *text, gsize most);           /* one line */
void marked_code(GString *out, const char *text);                       /* one line, between backticks */
void marked_block(GString *out, const char *language, const char *text);    /* lines between fences */
