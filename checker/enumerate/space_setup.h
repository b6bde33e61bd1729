/* space_setup.h - a state space with the start of every core. */
#pragma once
#include "space.h"

void space_setup(StateSpace *space, UnrollSource *source, const EnumerateOptions *options, bool contents);
void space_clear(StateSpace *space);
