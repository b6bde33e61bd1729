/* printable.h - text for a terminal: control and formatting characters, which names may contain, become escapes such as \x1b.
 *
 * Ownership:   results belong to the caller (g_free).
 */
#pragma once

/* Tabs and newlines stay, and so do the sequences in `keep`, which NULL ends; keep NULL: none. */
char *printable_text(const char *text, const char *const *keep);
char *printable_line(const char *text);         /* newlines become \n: the result is one line */
