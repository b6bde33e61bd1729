/* unset_locals.h - which locals a kernel may read before they are set, from the compiler's output; and how to give them other values.
 *
 * Locals start as bytes of 0xfe (-ftrivial-auto-var-init=pattern). The compiler drops an initial value that nothing can read: those left in
 * its final form of the program are the ones that may matter.
 *
 * Ownership:   results belong to the caller (g_free).
 * Errors:      none.
 */
#pragma once
#include <glib.h>

/* Of gcc's -fdump-tree-optimized-lineno: "x (k.c:5), or y (k.c:9)"; NULL: none is left. dump NULL: the result says that
 * some local, without its name, may be. */
char *unset_locals_find(const char *dump);
/* Bytes of 0x01: large, positive and true. Ones: the four-byte number 1, except where memset sets the bytes. */
typedef enum UnsetValue { UNSET_BYTES_OF_ONE, UNSET_ONES, UNSET_VALUES } UnsetValue;
/* The assembly of a module with that initial value in place of 0xfe. zero: the assembly with initial value 0; numbers that both have are
 * the author's own. */
char *unset_locals_replace(const char *assembly, const char *zero, UnsetValue value);
