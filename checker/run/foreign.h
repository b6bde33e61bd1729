/* foreign.h - what user code calls in libraries that are not its own: malloc and free become those of heap.h, functions without a state
 * of their own stay, and all others are refused where a kernel or an author's function calls them. PROGRAM may call anything.
 */
#pragma once
#include <link.h>
#include <stdbool.h>

/* Leaves the object's RELRO segment writable. of_user: is the object one whose code is watched? Calls from there are looked at. */
void foreign_watch(const struct link_map *object, bool (*of_user)(const struct link_map *));
const char *foreign_symbol_at(const struct link_map *object, ElfW(Addr) offset, bool thread_local);    /* interned; NULL: unnamed */
