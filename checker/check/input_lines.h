/* input_lines.h - inputs that somebody else chooses: lines of standard input, each answered by a line of standard output.
 *
 * A line holds the input's values, in order. The answer is "right", "wrong", "unsure" (only a check of its own decides), or "refused": the
 * program does not take it. What is wrong or unsure is checked at the end, as in any search.
 */
#pragma once
#include "input_state.h"

bool input_lines_read(InputSearch *search, char **error);       /* sets the next input; false: there is none, or it is no input */
void input_lines_answer(const InputSearch *search);
