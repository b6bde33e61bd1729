/* resume.h - a search between two levels, in a checkpoint: what was unrolled, which states are known and which come next, what was found.
 *
 * Trees and components are grown again by the transitions that made something new, in their order: so they get the same ids.
 */
#pragma once
#include "findings.h"

void resume_write(const StateSpace *space, const Frontier *frontier, const Findings *findings);        /* a checkpoint, after a level */
bool resume_asked_contents(GBytes *resumed);    /* see enumerate.h */
/* options->resumed: which of the searches that such a check may need was under way. */
bool resume_open(Codec *codec, const EnumerateOptions *options, bool *contents, bool *until_race);
bool resume_grow(Codec *codec, StateSpace *space);    /* before anything else is done with a space that was set up */
bool resume_layout(Codec *codec, StateSpace *space, Frontier *frontier);     /* of its keys, before tables are made for them */
bool resume_fill(Codec *codec, StateSpace *space, Frontier *frontier, Findings *findings);   /* its level, in place of the start */
