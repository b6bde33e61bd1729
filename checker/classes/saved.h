/* saved.h - a search over classes written down between two rounds, and taken up again.
 *
 * What is known of the program is written as the questions that its cores were asked, in order: asked again, they give the same stages and
 * the same ids. Explorers are written as their choices and the frames of their own.
 *
 * Errors:      saved_read: false, and nothing can be done with the units, if the bytes are not those of a search over this program.
 */
#pragma once
#include "units.h"

void saved_write(Units *units, Checkpoint *checkpoint);
bool saved_read(Units *units, GBytes *bytes);   /* into new units */
