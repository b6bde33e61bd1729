/* unset.h - what a compiler's answer says of locals that a kernel may read before they are set, and how to give them another value.
 *
 * Locals begin as a pattern of bytes 0xfe (-ftrivial-auto-var-init=pattern). Where the compiler sees that nobody can read it, it makes no
 * such beginning: what is left of them in its last form of the program is all that may matter.
 *
 * Ownership:   results belong to the caller (g_free).
 * Errors:      none.
 */
#pragma once
#include <glib.h>

/* Of gcc's -fdump-tree-optimized-lineno: "x (k.c:5), or y (k.c:9)"; NULL: none is left. dump NULL: nothing is known of them. */
char *unset_locals(const char *dump);
/* Bytes 0x01: large and positive, true; numbers 1 of four bytes, but where memset sets them. */
typedef enum UnsetValue { UNSET_BYTES_OF_ONE, UNSET_ONES, UNSET_VALUES } UnsetValue;
/* The assembly of a module, where locals begin as that in place of 0xfe. zero: the same with locals that begin as 0, whose other numbers
 * are the author's. */
char *unset_replace(const char *assembly, const char *zero, UnsetValue value);
