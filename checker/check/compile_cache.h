/* compile_cache.h - what the compiler made of the same text before, kept in $XDG_CACHE_HOME/heddle/modules (~/.cache).
 *
 * The key is of all that the compiler reads: the preprocessed text, the command, the folder, the compiler's own file, and the
 * environment that it heeds. A command that may read more (libraries, plugins, assembly that includes files) is not cached. An entry
 * has a checksum; one that is damaged, or of another version, counts as not there. Entries may be removed at any time, and those not
 * used for longest are: see ROOM_BYTES.
 *
 * Errors:      none: without a cache the compiler runs.
 */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef struct Compiled {
    char *output, *side, *said;                 /* g_malloc, each with a NUL behind its end; side NULL: there was none */
    gsize output_bytes, side_bytes, said_bytes;
} Compiled;

/* argv: of the compiler, up to a NULL. text: what it reads, preprocessed. The key as hexadecimal digits; g_free. NULL: not to be cached. */
char *compile_cache_key(char *const *argv, const char *text);
bool compile_cache_find(const char *key, Compiled *compiled);
void compile_cache_keep(const char *key, const Compiled *compiled);
void compiled_clear(Compiled *compiled);
