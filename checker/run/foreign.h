/* foreign.h - calls from user code into other libraries: malloc and free become those of heap.h, functions without state are allowed, and
 * all others are refused if a kernel or an author's function calls them. PROGRAM may call anything.
 */
#pragma once
#include <link.h>
#include <stdbool.h>

/* Leaves the object's RELRO segment writable. of_user: calls from this object are checked. */
void foreign_watch(const struct link_map *object, bool (*of_user)(const struct link_map *));
const char *foreign_symbol_at(const struct link_map *object, ElfW(Addr) offset, bool thread_local);    /* interned; NULL: unnamed */
