/* input_pairs.h - pairs of places whose accesses conflict: two agents at the same elements of a buffer, and one of them writes. */
#pragma once
#include "../facts/record.h"
#include "input_state.h"

/* Did the run have such a pair that none before had? */
bool input_pairs(InputSearch *search, const Record *record);
