/* racing.h - which accesses of a program give or leave values that are nobody's, and what such values have reached.
 *
 *     racing_add (by whoever found the races) -> runs mark elements: machine.c -> core.c, promises: racing_reach
 *
 * A race of a load with a write makes what is loaded racing, one of two writes what lies there afterwards; elements carry the mark along
 * (tile.h). A core that looks at a marked element is steered: whatever it stores from then on is marked too. So what is not marked is the
 * same in every execution, as long as no core is steered.
 *
 * Ownership:   the program. Ids never go away, so clashes stay valid over all runs of one process.
 */
#pragma once
#include "program.h"
#include "tile.h"

void racing_add(Program *program, const Clash *clash);
bool racing_any(const Program *program);
/* Of an access of that line: a number for its marks, the same in all runs; 0: it makes none. */
uint64_t racing_of(const Program *program, uint32_t site, uint32_t object, bool write);
/* The marks of `bytes` from the offset in the object, for an access that racing_of gave. */
uint8_t racing_marks(const Program *program, uint64_t racing, int64_t offset, size_t bytes);

void racing_reach(Program *program, ReachKind kind, uint32_t unit, uint32_t site, uint8_t marks);
bool racing_reached(const Program *program, ReachKind kind, uint8_t marks);     /* any, by one of the marks */
bool racing_reached_any(const Program *program, uint8_t marks);
