/* saved.h - a search over classes written down between two rounds, and taken up again.
 *
 * The tree is written as the questions that its cores were asked, in order: asked again, they give the same nodes with the same ids.
 * Explorers are written as their choices and the frames of their own.
 *
 * Errors:      saved_read: false if the bytes are not those of a search over this program; the units can then only be freed.
 */
#pragma once
#include "units.h"

void saved_write(Units *units, Checkpoint *checkpoint);
bool saved_read(Units *units, GBytes *bytes);   /* into new units */
