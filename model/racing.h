/* racing.h - which accesses of a program read or leave values that depend on a race, and what such values have reached.
 *
 *     racing_add (by the search that found the race) -> runs mark elements: machine.c -> do_memory.c, promises: racing_reach
 *
 * A race of a load with a write makes the loaded value racing, a race of two writes the value that they leave; the mark moves along with
 * the element (tile.h). A core that observes a marked element is steered: all that it stores afterwards is marked, too. So unmarked values
 * are the same in every execution, as long as no core is steered. What a load gets from outside its buffer is racing, too: nobody knows it.
 *
 * Ownership:   the program. Ids are never reused, so clashes stay valid over all runs of one process.
 */
#pragma once
#include "program.h"
#include "tile.h"

void racing_add(Program *program, const Clash *clash);
bool racing_any(const Program *program);
/* A number for the marks of an access by that line, the same in all runs; 0: it makes none. */
uint64_t racing_of(const Program *program, uint32_t site, uint32_t object, bool write);
/* The marks of `bytes` bytes from the offset in the object, for a number from racing_of. */
uint8_t racing_marks(const Program *program, uint64_t racing, int64_t offset, size_t bytes);

void racing_reach(Program *program, ReachKind kind, uint32_t unit, uint32_t site, uint8_t marks);
bool racing_reached(const Program *program, ReachKind kind, uint8_t marks);     /* did a value with one of the marks reach one of these? */
bool racing_reached_any(const Program *program, uint8_t marks);
