/* input.h - the input of a program: what PROGRAM leaves open, one integer for each choice and each element of a table.
 *
 * PROGRAM asks for these integers one after the other, and each has a domain, from `least` to `greatest`, which may depend on those before.
 * An input is the list of answers. It is given as a list of values; what the list does not reach is generated from the seed, above the
 * least value, which authors rarely forget to try; or it is the least value.
 */
#pragma once
#include "drawn.h"
#include "program.h"

static inline const Drawn *input_drawn(const Program *program, size_t at) { return &STORE(Drawn, &program->drawn, at); }
/* Behind the elements of the table that one at `first` is the first of; behind a choice. */
size_t input_end_of(const Program *program, size_t first);
/* The next one; false: the given value is outside of its domain. */
bool input_draw(Program *program, int64_t least, int64_t greatest, uint32_t table, int64_t *value);
bool input_has_tables(const Program *program);
/* After PROGRAM: did it not apply, but might to other values than those that were generated? Then it starts over, with the least ones. */
bool input_try_least(Program *program);
/* After PROGRAM: were all given values asked for? */
bool input_is_used_up(const Program *program);
